/**
 * What a transaction stores that members signed, said once it has committed: what was shown to somebody must
 * not be gone later, and what was rolled back never was.
 */
import { sql } from 'drizzle-orm'
import { describeError, type Log } from '../core/log.ts'
import { untraced } from '../core/trace/span.ts'
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

/** Milliseconds that a statement waits for a lock, and milliseconds until the log names its holder. */
const WAIT_MS = 5_000
const TELL_MS = 2_500

/**
 * Limits how long a change waits for a lock of another session. A database user may keep one for as long as they
 * like: then requests end as unavailable, do not take all connections, and the log names the session.
 */
function transactImpatiently<T>(
  { db, log }: { db: Database; log: Log },
  change: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.execute(sql`select set_config('lock_timeout', ${String(WAIT_MS)}, true)`)
    const telling = untraced(() => setTimeout(() => void tellHolders(db, log), TELL_MS))
    try {
      return await change(tx)
    } finally {
      clearTimeout(telling)
    }
  })
}

/** Logs who holds the locks. If the waiting statements hold every connection, this runs when the first of them times out. */
async function tellHolders(db: Database, log: Log): Promise<void> {
  try {
    const holders = await db.execute<{ pid: number; user: string }>(sql`
      select distinct holder.pid, holder.usename as "user" from pg_stat_activity waiting
      cross join lateral unnest(pg_blocking_pids(waiting.pid)) as held(pid)
      join pg_stat_activity holder on holder.pid = held.pid
      where waiting.wait_event_type = 'Lock' and waiting.usename = current_user
        and waiting.datname = current_database()
      order by 1`)
    if (holders.length === 0) return
    const sessions = holders.map(({ pid, user }) => `${pid} of ${user}`).join(', ')
    log.warning('changes wait for locks of other sessions of the database', { sessions })
  } catch (error) {
    log.warning('who holds a lock could not be asked', describeError(error))
  }
}
