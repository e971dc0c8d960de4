/** One at a time on a PostgreSQL: the second is told who holds it. The embedded database has one process. */
import type { Sql } from 'postgres'
import { nameWithKeys } from '../../platform/db/live_keys.ts'
import type { Connection } from '../../platform/db/open.ts'
import { RekeyProblem } from './problem.ts'

const ADVISORY_LOCK = 6_021_023_016

type Database = Pick<Connection, 'sql' | 'connectBesides'> & { encryptionKey: string }

/** Runs the work on the pool while a session that no pooler lends holds the lock. @throws RekeyProblem */
export async function alone<T>(
  { sql, connectBesides, encryptionKey }: Database,
  work: () => Promise<T>,
): Promise<T> {
  const besides = connectBesides(nameWithKeys(encryptionKey))
  // A reserved one is not made anew while it lives.
  const holding = await besides.reserve()
  try {
    const [row] = await holding<{ mine: boolean }[]>`
      select pg_try_advisory_lock(${ADVISORY_LOCK}) as mine`
    if (!row?.mine) throw new RekeyProblem(await inUse(sql))
    return await work()
  } finally {
    await holding`select pg_advisory_unlock_all()`.catch(() => {})
    holding.release()
    await besides.end({ timeout: 5 })
  }
}

async function inUse(sql: Sql): Promise<string> {
  const [holder] = await sql<{ pid: number; since: string; place: string }[]>`
    select a.pid, to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since,
      coalesce(host(a.client_addr), 'this machine') as place
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and a.datname = current_database() and l.granted and l.objsubid = 1
      and (l.classid::bigint << 32) | l.objid::bigint = ${ADVISORY_LOCK}`
  const who = holder
    ? `backend ${holder.pid} of PostgreSQL, from ${holder.place}, since ${holder.since}`
    : 'it ends just now'
  return `another rekey-outer is at work: ${who}`
}
