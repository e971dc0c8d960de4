import type { Sql } from 'postgres'

/** The holder of a lock, for people. `since` is the start of the holder's session, RFC 3339. */
export type LockHolder = { pid: number; user: string; since: string; place: string }

/** Returns the holder of an advisory lock with one number in this database; `null` if it is free. */
export async function lockHolder(sql: Sql, lock: number): Promise<LockHolder | null> {
  const [holder] = await sql<LockHolder[]>`
    select a.pid, coalesce(a.usename, '?') as "user", coalesce(host(a.client_addr), 'this machine') as place,
      to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and a.datname = current_database() and l.granted and l.objsubid = 1
      and (l.classid::bigint << 32) | l.objid::bigint = ${lock}`
  return holder ?? null
}
