/**
 * Outer-layer keys of all processes on one PostgreSQL. Each process announces its keys' ids, never the keys, in the
 * names of its connections. So a key is not removed while another process still seals with it, and not used before all
 * processes have it. A pooler's sessions keep the name of their last user. Behind a pooler, only each process's
 * listening connection counts, which does not use the pooler.
 */
import type { Sql } from 'postgres'
import { parseOuterKeys } from '../../core/crypto/outer_keys.ts'

const NAME = 'cloakroom'
/** Prefix of the names of listening connections. Version and schema follow, then the ids. */
export const LISTENER = `${NAME}/`
/** Bytes of a name that PostgreSQL keeps. */
const MAX_NAME = 63

/** `cloakroom 1a2b3c4d 5e6f7a8b`: the id of the key that encrypts, then the others. */
export const nameWithKeys = (encryptionKey: string) => withKeys(NAME, encryptionKey)

/** Returns the name with as many ids as fit: at least three, which a test checks. */
export function withKeys(name: string, encryptionKey: string): string {
  // A command without decryption has no keys.
  const ids = encryptionKey === '' ? ['-'] : parseOuterKeys(encryptionKey).map(({ id }) => id)
  return ids.reduce(
    (text, id) => (text.length + 1 + id.length > MAX_NAME ? text : `${text} ${id}`),
    name,
  )
}

/** A connection in use; `ids` is empty for a process of an earlier version, which does not announce its keys. */
export type LiveKeys = { ids: string[]; pid: number; user: string; place: string }

/** Whatever has such a name: any user of the database may take one. */
export async function listLiveKeys(sql: Sql, isPooled = false): Promise<LiveKeys[]> {
  const rows = await sql<({ name: string } & Omit<LiveKeys, 'ids'>)[]>`
    select application_name as name, pid, coalesce(usename, '?') as "user",
      coalesce(host(client_addr), 'this machine') as place
    from pg_stat_activity
    where datname = current_database() and (application_name like ${`${LISTENER}%`}
        or not ${isPooled} and (application_name = ${NAME} or application_name like ${`${NAME} %`}))
    order by pid`
  return rows
    .map(({ name, ...who }) => ({ ids: idsOf(name), ...who }))
    .filter(({ ids: [first] }) => first !== '-')
}

function idsOf(name: string): string[] {
  return name.split(' ').slice(name.startsWith(LISTENER) ? 2 : 1)
}
