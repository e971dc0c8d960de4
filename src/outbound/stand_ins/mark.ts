/**
 * A mark stands in an answer where the guard found a value, in place of its placeholder, for a proxy that
 * puts its own text there. The proxy draws the word that marks begin with, and the upstream never sees it:
 * so nothing that an upstream sends is taken for a find, not even the name of a placeholder.
 */
import { SECRET_NAME } from '../../platform/secret_name.ts'

/** What a proxy may say. */
export const MARK = /^~[A-Za-z0-9]{20,40}~$/

/** `isEscaped` where the text that is put there has to be written as the inside of a JSON string. */
export function markOf(mark: string, name: string, isEscaped: boolean): string {
  return `${mark}${isEscaped ? '1' : '0'}${name}~`
}

/** What follows the mark: whether to escape, and the name. */
export const AFTER_MARK = new RegExp(`^([01])(${SECRET_NAME})~`)
export const MAX_AFTER_MARK = 1 + 128 + 1
