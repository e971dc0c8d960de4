/**
 * Which versions serve on one PostgreSQL: each process says its own in the name of the connection that it listens on,
 * one a process.
 */
import type postgres from 'postgres'
import { version } from '../../../package.json'
import { migrations } from './migrations/migrate.ts'

const PREFIX = 'cloakroom/'

/** Such as `cloakroom/0.1.0 0018_backups`: version and schema. */
export const announcedName = `${PREFIX}${version} ${migrations.at(-1)?.name}`

/** `null`: of before versions were said, where that can be told. */
export type Announced = { version: string | null; processes: number }

export async function announcedVersions(sql: postgres.TransactionSql): Promise<Announced[]> {
  const rows = await sql<Announced[]>`
    select case when application_name like ${`${PREFIX}%`} then substr(application_name, ${PREFIX.length + 1}::int) end as version,
      count(*)::int as processes
    from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and (application_name like ${`${PREFIX}%`}
        or (application_name = 'cloakroom' or application_name like 'cloakroom %') and query ilike 'listen %')
    group by 1 order by 1 nulls first`
  return [...rows]
}
