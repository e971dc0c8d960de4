/** Pins the ID of a name when it is first seen, and refuses another one. */
import {
  type ChangedName,
  findChangedName,
  findTakenName,
  type KnownNames,
  type Named,
  type NameList,
} from '../../client/known_names.ts'
import { isUuid } from '../../core/validation/validate.ts'
import { type Kind, requireItem } from '../named.ts'
import { CliError } from '../terminal/cli_error.ts'

/** By ID, or by a name with an unchanged meaning. @throws CliError */
export function requireKnown<T extends Named>(
  known: KnownNames,
  list: NameList,
  all: readonly T[],
  typed: string,
  kind: Kind,
): T {
  // An id is no name: who calls theirs by the id of another would be taken for that one.
  const meant = isUuid(typed) ? all.filter(({ id }) => id === typed) : all
  const found = requireItem(meant, typed, kind)
  if (found.id !== typed) demandKnown(known, list, found, `the ${kind.what} ${typed}`)
  return found
}

/** `subject` is the item in words. @throws CliError `changed_name` */
export function demandKnown(
  known: KnownNames,
  list: NameList,
  named: Named,
  subject: string,
): void {
  const changed = findChangedName(known, list, named, subject)
  if (changed === null) return
  const [what = ''] = list.match(/workspace|project|agent/) ?? []
  throw new CliError(
    'changed_name',
    `${changed.message}; nothing was done`,
    `find out who renamed it; to accept the new ID: cloakroom ${what} accept-name ${named.id}`,
  )
}

/** Rejects keys of an account that were replaced before. @throws CliError `changed_key` */
export function learnKeys(known: KnownNames, email: string, ...newer: readonly string[]): void {
  const list: NameList = `keys of ${email.toLowerCase()}`
  const [newest, ...older] = known.idsOf(list, '')
  const [now = ''] = newer
  if (older.includes(now)) {
    throw new CliError(
      'changed_key',
      `the server shows replaced keys of ${email}; nothing was saved`,
      'contact the server operator: was it restored from a backup?',
    )
  }
  if (newest !== now) known.accept(list, '', [...newer, ...(newest ? [newest] : []), ...older])
}

/** @throws CliError `changed_name` */
export function demandNew(known: KnownNames, list: NameList, named: Named): void {
  const taken = findTakenName(known, list, named)
  if (taken) throw new CliError('changed_name', `${taken.message}; it is not used`, helpFor(taken))
}

function helpFor({ before, named }: ChangedName): string {
  return before.length === 0
    ? 'contact the server operator'
    : `if the old one was deleted, accept the new one: cloakroom project accept-name ${named.id}`
}
