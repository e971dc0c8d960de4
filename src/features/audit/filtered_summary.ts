/**
 * The summary of a filter. Counts are kept by one name at a time, so that what has a project, a method or two names is
 * counted from the records: those of the buckets of a rare filter, or else the newest of the range.
 */
import { and, type SQL, sql } from 'drizzle-orm'
import type { RequestDecision } from '../../audit/decision_hours.ts'
import { bucketOf, isInBucket, reaches } from '../../audit/terms.ts'
import type { Grant } from '../../core/grant.ts'
import type { Database, Reading } from '../../database/open.ts'
import type { RecordFilters } from './contract.ts'
import { FIRST, isRequest, matches } from './matching.ts'
import { countBuckets, type Terms, termsOf } from './search.ts'
import { type CountRow, MAX_LISTED, summaryOf } from './summary.ts'

/** Records that are read where the filter is not rare: a tenth of a second in an embedded database. */
const MAX_READ = 100_000
/** Buckets of a filter that is rare. */
const MAX_BUCKETS = 5_000

/** With an action the records of that action are counted, and requests otherwise. */
export function summariseFiltered(
  reading: Database,
  { workspaceId }: Grant<'audit.read'>,
  filters: RecordFilters,
) {
  return reading.transaction(async (tx) => {
    await tx.execute(HASHING)
    const rare = await findRareTerms(tx, termsOf(workspaceId, filters))
    const edge = rare ? null : await edgeOf(tx, workspaceId, filters)
    const which = and(
      matches(workspaceId, edge ? { ...filters, since: edge } : filters),
      filters.action === undefined ? isRequest : undefined,
    )
    const source = rare
      ? selectFromBuckets(rare, which, filters)
      : sql`select ${COLUMNS} from audit_logs where ${which}`
    return summaryOf(await tx.execute<CountRow>(statement(source, edge === null)))
  })
}

/**
 * As for lists, the planner would JIT-compile a fast query. It also expects a day and a combination of names for each
 * record, and would sort all of them on disk. 64 MB for hashing are for those; a few MB are used.
 */
const HASHING = sql`select set_config('jit', 'off', true), set_config('enable_sort', 'off', true),
  set_config('work_mem', '4MB', true), set_config('hash_mem_multiplier', '16', true)`

async function findRareTerms(tx: Reading, terms: readonly Terms[]): Promise<Terms | null> {
  if (terms.length === 0) return null
  const counts = await countBuckets(tx, terms, MAX_BUCKETS)
  const fewest = Math.min(...counts)
  return fewest < MAX_BUCKETS ? (terms[counts.indexOf(fewest)] ?? null) : null
}

/** The moment of the oldest record that is read; null where all of the range are. */
async function edgeOf(tx: Reading, workspaceId: string, { since, until, action }: RecordFilters) {
  if (action === undefined && (await countRequests(tx, workspaceId, since)) < MAX_READ) return null
  const [row] = await tx.execute<{ at: string }>(sql`
    select timestamp::text as at from audit_logs where ${matches(workspaceId, { since, until })}
    order by timestamp desc offset ${MAX_READ} limit 1`)
  return row ? new Date(row.at) : null
}

/** From the day of a moment on, without those that are not folded yet: to count them takes longer. */
async function countRequests(tx: Reading, workspaceId: string, since: Date | undefined) {
  const [row] = await tx.execute<{ count: number }>(sql`
    select coalesce(sum(requests), 0)::float8 as count from audit_rollups
    where workspace_id = ${workspaceId} and grain = 'day' and dimension = 'total' and value = ''
      and bucket >= date_trunc('day', ${(since ?? FIRST).toISOString()}::timestamptz, 'UTC')`)
  return row?.count ?? 0
}

const COLUMNS = sql.raw(
  'audit_logs.timestamp, agent_id, target_domain, credential_ref, decision, redacted',
)

function selectFromBuckets(
  terms: Terms,
  which: SQL | undefined,
  { since, until }: RecordFilters,
): SQL {
  const within = and(
    sql`term in (${sql.join([...terms], sql`, `)})`,
    since && reaches(since),
    until && sql`bucket <= ${bucketOf(until)}`,
  )
  return sql`select found.* from (select distinct bucket from audit_terms where ${within}) as buckets
    cross join lateral (select ${COLUMNS} from audit_logs where ${and(which, isInBucket)} offset 0) as found
    limit ${MAX_READ}`
}

const COUNTS = sql.raw('requests, allowed, blocked, errors, redacted')
/** Only days are counted by decision. */
const REQUESTS = sql.raw('sum(requests), 0, 0, 0, 0, max(last)')
const DAY = sql.raw(`date_bin('1 day', timestamp, timestamptz '2000-01-01 00:00:00+00')`)

/**
 * Two groupings take each record once: its day, and its names together, of which there are few. The lists then add up
 * groups. Four groupings, each with every count, took twice the time.
 */
function statement(source: SQL, isWhole: boolean): SQL {
  return sql`
    with grouped as materialized (
      select day, decision, redacted, agent_id, target_domain, credential_ref, grouping(day) = 0 as of_day,
        count(*)::float8 as requests, max(timestamp) as last
      from (select *, ${DAY} as day from (${source}) as picked) as dated
      group by grouping sets ((day, decision, redacted), (agent_id, target_domain, credential_ref))
    ), counts (dimension, value, ${COUNTS}, last) as (
      select 'total', to_char(day at time zone 'UTC', 'YYYY-MM-DD'), sum(requests), ${countsOf('allowed')},
        ${countsOf('blocked')}, ${countsOf('error')}, coalesce(sum(requests) filter (where redacted), 0), max(last)
        from grouped where of_day group by day
      union all select 'agent', agent_id, ${REQUESTS} from grouped where not of_day group by agent_id
      union all select 'domain', target_domain, ${REQUESTS} from grouped
        where not of_day and target_domain is not null group by target_domain
      union all select 'credential', name, ${REQUESTS} from grouped
        cross join lateral (select distinct unnest(string_to_array(credential_ref, ',')) as name) as named
        where not of_day group by name
    )
    select dimension, value, ${COUNTS}, ${isWhole} as is_whole,
      to_char(last at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as last_used_at
    from (select counts.*, row_number() over (partition by dimension order by requests desc, value collate "C") as place
      from counts) as ranked
    where dimension = 'total' or place <= ${MAX_LISTED}`
}

function countsOf(decision: RequestDecision): SQL {
  return sql`coalesce(sum(requests) filter (where decision = ${decision}), 0)`
}
