/**
 * Placeholders that are sent as text, because the policy of their secret does not list the place (protocol 6.3). An
 * echo of one looks like success, so the response, the audit log and the clients list each of them.
 */
import { commandFix, Fault } from '../../core/fault.ts'
import { listAllowedLocations } from '../../core/policy/policy.ts'
import {
  buildUnfilledCommand,
  describeUnfilled,
  MAX_UNFILLED,
  type Unfilled,
} from '../../core/policy/unfilled.ts'
import type { CallPermission } from '../policy/permission.ts'

/**
 * Keeps the placeholders whose secrets the caller may use, at most 16 and each once. A body that mentions more names
 * is text: only the first 16 are looked up.
 *
 * @throws Unread
 */
export function unfilledOf(texts: readonly Unfilled[], permission: CallPermission): Unfilled[] {
  const named = new Set(texts.map(({ name }) => name))
  const names = [...named]
    .filter((name) => permission.covers?.(name) ?? true)
    .slice(0, MAX_UNFILLED)
  if (names.length === 0) return []
  const known = new Map(permission.secrets(names).map((secret) => [secret.name, secret.policy]))
  const pairs = texts
    .filter(({ name }) => known.has(name))
    .map((text) => ({ ...text, allowed: listAllowedLocations(known.get(text.name) ?? null) }))
  const distinct = pairs.filter(
    ({ name, place }, index) =>
      pairs.findIndex((one) => one.name === name && one.place === place) === index,
  )
  return distinct.slice(0, MAX_UNFILLED)
}

/** @throws Fault `placeholder_not_allowed` */
export function refuseUnfilled([first]: readonly Unfilled[]): void {
  if (!first) return
  const command = buildUnfilledCommand(first)
  throw new Fault('placeholder_not_allowed', {
    message: describeUnfilled(first),
    fix: command && commandFix(...command),
  })
}
