/**
 * The names of a project's secrets by environment. A project may have 100 environments of 10,000 secrets: each statement
 * reads as many index entries as its page has, times the environments it is about, and never all names.
 */
import { type SQL, sql } from 'drizzle-orm'
import { quotas } from '../../core/config/quotas.ts'
import type { ProjectGrant } from '../../core/grant.ts'
import type { Reading } from '../../database/open.ts'
import type { Page } from '../../http/page.ts'
import type { KeyIn, KeyPlaces } from './coverage.ts'

type Read = ProjectGrant<'project.read' | 'project.write' | 'secret.read'>

/** The environments of the project, one row each: built-in ones, created ones, and those with secrets. */
function environmentsIn({ projectId }: Read): SQL {
  return sql`(select environment from ${sql.raw(quotas.environments.rows)} as known
    where project_id = ${projectId})`
}

/** In no order. */
export async function selectEnvironmentNames(tx: Reading, grant: Read): Promise<string[]> {
  const rows = await tx.execute<{ environment: string }>(sql`${environmentsIn(grant)}`)
  return rows.map(({ environment }) => environment)
}

/** Secrets of one environment that are counted: 100 environments may hold 10,000 each. */
export const MAX_COUNTED = 1_000

export type SecretCount = { secret_count: number; has_more?: true }

/** Counts each environment's secrets by the index, up to `MAX_COUNTED`. */
export async function countSecrets(tx: Reading, grant: Read): Promise<Map<string, SecretCount>> {
  const rows = await tx.execute<{ environment: string; secrets: number }>(sql`
    select environment, (select count(*)::int from (select from secrets s
      where s.project_id = ${grant.projectId} and s.environment = places.environment
      limit ${MAX_COUNTED + 1}) as counted) as secrets
    from ${environmentsIn(grant)} as places`)
  return new Map(rows.map(({ environment, secrets }) => [environment, countOf(secrets)]))
}

function countOf(secrets: number): SecretCount {
  return secrets > MAX_COUNTED
    ? { secret_count: MAX_COUNTED, has_more: true }
    : { secret_count: secrets }
}

/** One row more than the page holds, by name. */
export function selectKeyPlaces(tx: Reading, grant: Read, page: Page): Promise<KeyPlaces[]> {
  return tx.execute<KeyPlaces>(sql`
    select key, json_agg(environment) as environments
    from ${environmentsIn(grant)} as places
      cross join lateral ${selectFirstKeys(grant, sql`places.environment`, page)} as keys
    group by key order by key limit ${page.limit + 1}`) as unknown as Promise<KeyPlaces[]>
}

/** Compares the names in two environments. */
export function selectKeysIn(
  tx: Reading,
  grant: Read,
  { from, to, ...page }: Page & { from: string; to: string },
): Promise<KeyIn[]> {
  return tx.execute<KeyIn>(sql`
    select key, a.here is not null as in_from, b.here is not null as in_to
    from (select key, true as here from ${selectFirstKeys(grant, sql`${from}`, page)} as f) as a
      full join (select key, true as here from ${selectFirstKeys(grant, sql`${to}`, page)} as t) as b using (key)
    order by key limit ${page.limit + 1}`) as unknown as Promise<KeyIn[]>
}

/** A name among the first of several environments is also among the first of one of them. */
function selectFirstKeys(
  { projectId }: Read,
  environment: SQL,
  { after: [after], limit }: Page,
): SQL {
  const beyond = after === undefined ? sql`` : sql`and key > ${after}`
  return sql`(select key from secrets
    where project_id = ${projectId} and environment = ${environment} ${beyond}
    order by key limit ${limit + 1})`
}
