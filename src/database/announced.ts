/**
 * Versions that serve on one PostgreSQL. Each process announces its version in the name of its listening connection:
 * one per process, and not through a pooler. The ids of its keys follow (live_keys.ts).
 */
import type postgres from 'postgres'
import { version } from '../../package.json'
import { LISTENER, withKeys } from './keys/live_keys.ts'
import { migrations } from './migrations/migrate.ts'

/** Returns a name such as `cloakroom/0.1.0 0018_backups 1a2b3c4d`: version, schema and keys. */
export const formatAnnouncedName = (encryptionKey: string) =>
  withKeys(`${LISTENER}${version} ${migrations.at(-1)?.name}`, encryptionKey)

/** `null` for a process from before versions were announced, if that can be determined. */
export type Announced = { version: string | null; processes: number }

export async function readAnnouncedVersions(sql: postgres.TransactionSql): Promise<Announced[]> {
  const rows = await sql<Announced[]>`
    select substring(application_name from ${`^${LISTENER}(\\S+ \\S+)`}) as version,
      count(*)::int as processes
    from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and (application_name like ${`${LISTENER}%`}
        or (application_name = 'cloakroom' or application_name like 'cloakroom %') and query ilike 'listen %')
    group by 1 order by 1 nulls first`
  return [...rows]
}
