/** What storing entries would change, by name: values are compared here and never shown. */
import { isSamePolicy } from '../../platform/crypto/secret_value.ts'
import type { Context } from '../context.ts'
import type { Row } from '../terminal/table.ts'
import type { Entry } from './sealing.ts'
import type { StoredSecret } from './storing.ts'

type Change = 'new' | 'value' | 'policy' | 'same'
type Compared = { entry: Entry; change: Change }

export function comparedWith(
  stored: ReadonlyMap<string, StoredSecret>,
  entries: readonly Entry[],
): Compared[] {
  return entries.map((entry) => ({ entry, change: changeOf(entry, stored.get(entry.key)) }))
}

function changeOf({ value, policy }: Entry, before: StoredSecret | undefined): Change {
  if (!before) return 'new'
  if (before.value !== value) return 'value'
  return isSamePolicy(policy, before.policy) ? 'same' : 'policy'
}

export function changedOf(compared: readonly Compared[]): Entry[] {
  return compared.flatMap(({ entry, change }) => (change === 'same' ? [] : entry))
}

export function namesOf(compared: readonly Compared[], ...changes: Change[]): string[] {
  return compared.flatMap(({ entry, change }) => (changes.includes(change) ? entry.key : []))
}

/** For --dry-run; `more` rows come last. */
export function showChanges(
  { output }: Context,
  compared: readonly Compared[],
  more: readonly Row[] = [],
  data: Row = {},
): void {
  const rows = compared.map(({ entry: { key }, change }) => ({ key, change }))
  output.table([...rows, ...more], [{ field: 'key', whole: true }, 'change'], {
    added: namesOf(compared, 'new'),
    changed: namesOf(compared, 'value', 'policy'),
    same: namesOf(compared, 'same'),
    ...data,
  })
}
