/**
 * How long a change waits for a lock of another session. Somebody with a user of the database may keep one for as long
 * as they like: then requests end as unavailable, and do not take all connections, and the log says whose it is.
 */
import { sql } from 'drizzle-orm'
import { describeError, type Log } from '../core/log.ts'
import { untraced } from '../core/trace/span.ts'
import type { Database, Transaction } from './open.ts'

/** Milliseconds that a statement waits, and after which the log says for whom. */
const WAIT_MS = 5_000
const TELL_MS = 2_500

export function transactImpatiently<T>(
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

/** Of all that wait: where they hold all connections, this is asked when the first have given up. */
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
