/**
 * Placeholders that go out as text, because the policy of their secret does not list the place (protocol 6.3). An
 * echo of one looks like success, so the answer, the audit and the clients name each of them.
 */
import { commandFix, Fault } from '../platform/fault.ts'
import { type Unfilled, unfilledCommand, unfilledText } from '../platform/unfilled.ts'
import type { Permission } from './policy/permission.ts'

/** Distinct names that are looked up; a body that speaks of more is text. */
const MAX_NAMES = 16

/**
 * Of what stands there as text, the names of secrets that the caller may use.
 *
 * @throws Unread
 */
export function unfilledOf(texts: readonly Unfilled[], permission: Permission): Unfilled[] {
  const named = new Set(texts.map(({ name }) => name))
  const names = [...named].filter((name) => permission.covers?.(name) ?? true).slice(0, MAX_NAMES)
  if (names.length === 0) return []
  const known = new Set(permission.secrets(names).map(({ name }) => name))
  const pairs = texts.filter(({ name }) => known.has(name))
  return pairs.filter(
    ({ name, place }, index) =>
      pairs.findIndex((one) => one.name === name && one.place === place) === index,
  )
}

/** @throws Fault `placeholder_not_allowed` */
export function refuseUnfilled([first]: readonly Unfilled[]): void {
  if (!first) return
  const command = unfilledCommand(first)
  throw new Fault('placeholder_not_allowed', {
    message: unfilledText(first),
    fix: command && commandFix(...command),
  })
}
