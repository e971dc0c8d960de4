/**
 * A mark replaces a value that the guard found in an answer, instead of the placeholder, for a proxy that puts its own
 * text there. The proxy generates the random prefix of marks, and the upstream never sees it, so an upstream cannot
 * forge a mark, not even with the name of a placeholder.
 */
import { SECRET_NAME } from '../../core/names/secret_name.ts'

/** Marks that a proxy may send. */
export const MARK = /^~[A-Za-z0-9]{20,40}~$/

/** The replacement of a mark: the text, the text escaped for a JSON string, or the Basic credentials as sent. */
export const FORMS = { plain: '0', escaped: '1', sent: '2' } as const
export type MarkForm = (typeof FORMS)[keyof typeof FORMS]

/** Returns a marked name. `sent` is set for the call's Basic credentials as sent. */
export function markOf(mark: string, name: string, isEscaped: boolean, sent?: string): string {
  const form = isEscaped ? FORMS.escaped : FORMS.plain
  return `${mark}${sent === undefined ? form : FORMS.sent}${name}~`
}

/** Matches the text after the mark: its form, and the name. */
export const AFTER_MARK = new RegExp(`^([012])(${SECRET_NAME})~`)
export const MAX_AFTER_MARK = 1 + 128 + 1
