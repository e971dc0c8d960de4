/** The changes that storing entries would make, for people. */
import type { Compared, ValueChange } from '../../client/actions/stored_secrets.ts'
import type { Context } from '../context.ts'
import type { Row } from '../terminal/table.ts'

export function namesOf(compared: readonly Compared[], ...changes: ValueChange[]): string[] {
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
