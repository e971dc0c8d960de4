/**
 * Which keys of the outer layer the processes on one PostgreSQL have: each says the ids, never the keys, in
 * the name that its connections have there. So a key is neither taken away from what another process still
 * makes, nor used before all have it.
 */
import type { Sql } from 'postgres'
import { outerKeysIn } from '../crypto/outer_keys.ts'

const NAME = 'cloakroom'
/** As many as the 63 bytes of such a name hold. */
const MAX_IDS = 5

/** `cloakroom 1a2b3c4d 5e6f7a8b`: the id of the key that encrypts, then the others. */
export function nameWithKeys(encryptionKey: string): string {
  // A command that opens nothing has none.
  const ids = encryptionKey === '' ? ['-'] : outerKeysIn(encryptionKey).map(({ id }) => id)
  return [NAME, ...ids.slice(0, MAX_IDS)].join(' ')
}

/** A connection in use; `ids` is empty for a process of an earlier version, which does not say its keys. */
export type LiveKeys = { ids: string[]; pid: number; user: string; place: string }

/** Whatever has such a name: any user of the database may take one. */
export async function liveKeys(sql: Sql): Promise<LiveKeys[]> {
  const rows = await sql<({ name: string } & Omit<LiveKeys, 'ids'>)[]>`
    select application_name as name, pid, coalesce(usename, '?') as "user",
      coalesce(host(client_addr), 'this machine') as place
    from pg_stat_activity
    where datname = current_database() and (application_name = ${NAME} or application_name like ${`${NAME} %`})
    order by pid`
  return rows
    .map(({ name, ...who }) => ({ ids: name.split(' ').slice(1), ...who }))
    .filter(({ ids: [first] }) => first !== '-')
}
