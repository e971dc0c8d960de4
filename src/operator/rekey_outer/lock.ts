/** One at a time on a PostgreSQL: the second is told who holds it. The embedded database has one process. */
import type { Sql } from 'postgres'
import { nameWithKeys } from '../../database/keys/live_keys.ts'
import { lockHolder } from '../../database/lock_holder.ts'
import type { Connection } from '../../database/open.ts'
import { RekeyProblem } from './problem.ts'

const ADVISORY_LOCK = 6_021_023_016

type Database = Pick<Connection, 'sql' | 'connectBesides'> & { encryptionKey: string }

/** Runs the work on the pool while a session that no pooler lends holds the lock. @throws RekeyProblem */
export async function alone<T>(
  { sql, connectBesides, encryptionKey }: Database,
  work: () => Promise<T>,
): Promise<T> {
  // Its one session holds the lock.
  const holding = connectBesides(nameWithKeys(encryptionKey))
  try {
    const [row] = await holding<{ mine: boolean }[]>`
      select pg_try_advisory_lock(${ADVISORY_LOCK}) as mine`.catch((error: { code?: unknown }) => {
      throw new RekeyProblem(
        `no connection could be had for its lock (${error.code}): check DB_LISTEN_HOST and DB_LISTEN_PORT`,
        { cause: error },
      )
    })
    if (!row?.mine) throw new RekeyProblem(await inUse(sql))
    return await work()
  } finally {
    await holding.end({ timeout: 5 })
  }
}

async function inUse(sql: Sql): Promise<string> {
  const holder = await lockHolder(sql, ADVISORY_LOCK)
  const who = holder
    ? `backend ${holder.pid} of PostgreSQL, from ${holder.place}, since ${holder.since}`
    : 'it ends just now'
  return `another rekey-outer is at work: ${who}`
}
