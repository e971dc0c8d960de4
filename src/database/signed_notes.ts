/**
 * What a transaction stores that members signed, said once it has committed: what was shown to somebody must
 * not be gone later, and what was rolled back never was.
 */
import type { Log } from '../core/log.ts'
import { transactImpatiently } from './lock_wait.ts'
import type { Database, Transaction } from './open.ts'

/** A chain or an environment, and the number and hash of the newest that is stored of it. */
export type SignedNote = { name: string; number: number; hash: string; head: number }

const notes = new WeakMap<Transaction, SignedNote[]>()

export function noteSigned(tx: Transaction, note: SignedNote): void {
  notes.get(tx)?.push(note)
}

export async function transactNoting<T>(
  services: { db: Database; log: Log; onSigned?: ((note: SignedNote) => void) | undefined },
  change: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const noted: SignedNote[] = []
  const result = await transactImpatiently(services, (tx) => {
    notes.set(tx, noted)
    return change(tx)
  })
  for (const note of noted) services.onSigned?.(note)
  return result
}
