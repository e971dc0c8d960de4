/**
 * Announces signed state that a transaction stored, once it has committed: shown state must not disappear later, and
 * rolled-back state never existed.
 */
import { sql } from 'drizzle-orm'
import { Semaphores } from '../core/async/semaphore.ts'
import { describeError, type Log } from '../core/log.ts'
import { runUntraced } from '../core/trace/span.ts'
import type { Database, Transaction } from './open.ts'

/** A chain or an environment, with the number and hash of its newest stored state. */
export type SignedNote = { name: string; number: number; hash: string; head: number }

const notes = new WeakMap<Transaction, SignedNote[]>()
const conditions = new WeakMap<Transaction, Promise<unknown>[]>()

export function noteSigned(tx: Transaction, note: SignedNote): void {
  notes.get(tx)?.push(note)
}

/**
 * Adds a condition of the whole transaction, such as a quota. The handler continues without waiting for it, which saves
 * a round trip; nothing is committed before it holds. Outside of a request's transaction, this waits for it.
 */
export async function demandBeforeCommit(
  tx: Transaction,
  condition: Promise<unknown>,
): Promise<void> {
  const demanded = conditions.get(tx)
  if (!demanded) {
    await condition
    return
  }
  condition.catch(() => {})
  demanded.push(condition)
}

/**
 * Simultaneous transactions, in this process, of one workspace and of one person in it. More would wait for the
 * workspace's lock, each with a connection that the requests of other workspaces need. A client that writes without
 * pause queues with two requests, so that another member's revoke comes soon.
 */
const AT_ONCE = { queue: 1_000, waitMs: 5_000 }
const turns = new WeakMap<Database, { workspaces: Semaphores; people: Semaphores }>()

type Changer = { workspaceId: string; userId: string }

function runInTurn<T>(db: Database, changer: Changer | null, task: () => Promise<T>): Promise<T> {
  if (!changer) return task()
  const { workspaces, people } = turns.get(db) ?? {
    workspaces: new Semaphores({ ...AT_ONCE, width: 4 }),
    people: new Semaphores({ ...AT_ONCE, width: 2 }),
  }
  turns.set(db, { workspaces, people })
  const { workspaceId, userId } = changer
  return people.run(`${workspaceId} ${userId}`, () => workspaces.run(workspaceId, task))
}

/** `changer` is the person and the workspace, if known in advance. */
export async function transactNoting<T>(
  services: { db: Database; log: Log; onSigned?: ((note: SignedNote) => void) | undefined },
  change: (tx: Transaction) => Promise<T>,
  changer: Changer | null = null,
): Promise<T> {
  const noted: SignedNote[] = []
  const act = async (tx: Transaction) => {
    notes.set(tx, noted)
    const demanded: Promise<unknown>[] = []
    conditions.set(tx, demanded)
    const result = await change(tx)
    await Promise.all(demanded)
    return result
  }
  const result = await runInTurn(services.db, changer, () => transactWithLockReport(services, act))
  for (const note of noted) services.onSigned?.(note)
  return result
}

/** Milliseconds until the log names the holder of the lock that a change waits for; after five seconds it ends. */
const REPORT_MS = 2_500

/**
 * A database user may keep a lock for as long as they like: then requests end as unavailable, do not take all
 * connections (connection/pool.ts), and the log names the session.
 */
function transactWithLockReport<T>(
  { db, log }: { db: Database; log: Log },
  change: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return db.transaction(async (tx) => {
    const reportTimer = runUntraced(() =>
      setTimeout(() => void reportLockHolders(db, log), REPORT_MS),
    )
    try {
      return await change(tx)
    } finally {
      clearTimeout(reportTimer)
    }
  })
}

/** Logs the locks' holders. If waiting statements hold every connection, this runs when the first times out. */
async function reportLockHolders(db: Database, log: Log): Promise<void> {
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
    log.warning('changes are blocked by locks of other database sessions', { sessions })
  } catch (error) {
    log.warning('the sessions that hold locks could not be listed', describeError(error))
  }
}
