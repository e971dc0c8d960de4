/** What storing entries would change, by name: values are compared and never shown. */
import { isSamePolicy } from '../../core/crypto/secret_value.ts'
import type { Entry } from '../sealing.ts'
import type { StoredValue } from './stored.ts'

export type Change = 'new' | 'value' | 'policy' | 'same'
export type Compared = { entry: Entry; change: Change }

export function comparedWith(
  stored: ReadonlyMap<string, StoredValue>,
  entries: readonly Entry[],
): Compared[] {
  return entries.map((entry) => ({ entry, change: changeOf(entry, stored.get(entry.key)) }))
}

function changeOf({ value, policy }: Entry, before: StoredValue | undefined): Change {
  if (!before) return 'new'
  if (before.value !== value) return 'value'
  return isSamePolicy(policy, before.policy) ? 'same' : 'policy'
}

export function changedOf(compared: readonly Compared[]): Entry[] {
  return compared.flatMap(({ entry, change }) => (change === 'same' ? [] : entry))
}
