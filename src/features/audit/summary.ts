/**
 * Counts without counting: whole days and hours come from the rollups, what is not folded into
 * them yet from the deltas, and only the ends of a range that are no whole hours from the records. One
 * statement reads all three, so that they belong to the same moment.
 */
import { type SQL, sql } from 'drizzle-orm'
import { decisionCounts, type RequestDecision } from '../../audit/decision_hours.ts'
import { isInBucket, termOf } from '../../audit/terms.ts'
import type { Grant } from '../../core/grant.ts'
import type { Reading } from '../../database/open.ts'

type Range = { since?: Date | undefined; until?: Date | undefined }

/** Half-open ranges, in milliseconds since 1970; one that ends before it begins is empty. */
type Span = readonly [from: number, to: number]

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const BEGINNING = Date.parse('0001-01-01T00:00:00Z')
const END = Date.parse('9999-12-31T00:00:00Z')
/** The entries of a list in the summary, the most frequent first. */
export const MAX_LISTED = 1000
const MAX_DAYS = 90
/** Counts of names (one agent, host or credential on one day or hour) that are added up, the newest. */
const MAX_READ = 50_000

export type CountRow = {
  dimension: 'total' | 'agent' | 'domain' | 'credential'
  /** The day of a total. */
  value: string
  requests: number
  allowed: number
  blocked: number
  errors: number
  redacted: number
  /** Only for agents. */
  last_used_at: string | null
  /** False where the range has more than `MAX_READ` counts of names. */
  is_whole: boolean
}

/** With a decision, only the requests that ended with it. `last_used_at` covers all requests. */
export async function summarise(
  tx: Reading,
  { workspaceId }: Grant<'audit.read'>,
  { decision, ...range }: Range & { decision?: RequestDecision | undefined },
) {
  const rows = await tx.execute<CountRow>(statement(workspaceId, spansOf(range), decision))
  const { totals, ...summary } = summaryOf(rows)
  return { totals: decision ? { ...totals, redacted: null } : totals, ...summary }
}

export function summaryOf(rows: readonly CountRow[]) {
  const of = (dimension: CountRow['dimension']) => rows.filter((row) => row.dimension === dimension)
  const days = of('total').sort((a, b) => (a.value < b.value ? -1 : 1))
  const sum = (field: 'requests' | 'allowed' | 'blocked' | 'errors' | 'redacted') =>
    days.reduce((total, row) => total + row[field], 0)
  return {
    totals: {
      ...{ requests: sum('requests'), allowed: sum('allowed'), blocked: sum('blocked') },
      ...{ errors: sum('errors'), redacted: sum('redacted') },
    },
    by_agent: sortByCount(of('agent')).map(({ value, requests, last_used_at }) => ({
      agent_id: value,
      count: requests,
      last_used_at: new Date(last_used_at ?? 0),
    })),
    by_domain: sortByCount(of('domain')).map(({ value: domain, requests: count }) => ({
      domain,
      count,
    })),
    by_credential: sortByCount(of('credential')).map(
      ({ value: credential_ref, requests: count }) => ({ credential_ref, count }),
    ),
    by_day: days.slice(-MAX_DAYS).map(({ value, requests, allowed, blocked, errors }) => ({
      ...{ date: value, count: requests },
      ...{ allowed, blocked, errors },
    })),
    is_whole: rows.every((row) => row.is_whole),
  }
}

function sortByCount(rows: CountRow[]): CountRow[] {
  return rows.sort((a, b) => b.requests - a.requests || (a.value < b.value ? -1 : 1))
}

type Spans = {
  days: Span
  hours: readonly [Span, Span]
  /** All whole hours, also those of whole days: what the deltas count. */
  deltas: Span
  records: readonly [Span, Span]
  whole: Span
}

/** Cuts a range into whole days, whole hours on both sides of them, and what is left at the ends. */
function spansOf({ since, until }: Range): Spans {
  const from = since?.getTime() ?? BEGINNING
  const to = until?.getTime() ?? END
  const whole: Span = [from, to]
  const nothing: Span = [to, to]
  const [firstHour, lastHour] = [roundUp(from, HOUR_MS), roundDown(to, HOUR_MS)]
  if (firstHour > lastHour) {
    const records = [whole, nothing] as const
    return { days: nothing, hours: [nothing, nothing], deltas: nothing, records, whole }
  }
  const deltas: Span = [firstHour, lastHour]
  const records = [
    [from, firstHour],
    [lastHour, to],
  ] as const
  const [firstDay, lastDay] = [roundUp(firstHour, DAY_MS), roundDown(lastHour, DAY_MS)]
  if (firstDay > lastDay) return { days: nothing, hours: [deltas, nothing], deltas, records, whole }
  return {
    days: [firstDay, lastDay],
    hours: [
      [firstHour, firstDay],
      [lastDay, lastHour],
    ],
    deltas,
    records,
    whole,
  }
}

function roundUp(time: number, unit: number): number {
  return Math.ceil(time / unit) * unit
}

function roundDown(time: number, unit: number): number {
  return Math.floor(time / unit) * unit
}

function statement(
  workspaceId: string,
  { days, hours, deltas, records, whole }: Spans,
  decision: RequestDecision | undefined,
): SQL {
  const count = (each: RequestDecision) =>
    decision === undefined || decision === each
      ? sql`coalesce(sum(${decisionCounts[each]}), 0)`
      : sql`0`
  const requests = decision === undefined ? sql`sum(requests)` : count(decision)
  const rollups: Rollups[] = [
    { grain: 'day', span: days },
    { grain: 'hour', span: hours[0] },
    { grain: 'hour', span: hours[1] },
  ]
  const end = sql`${new Date(whole[1]).toISOString()}::timestamptz`
  return sql`
    with unfolded as (
      select workspace_id, hour, agent_id, target_domain, credential_ref,
        requests, allowed, blocked, errors, redacted
      from audit_deltas where workspace_id = ${workspaceId} and ${isWithin(sql`hour`, deltas)}
      union all
      select workspace_id, date_trunc('hour', timestamp, 'UTC'), agent_id, target_domain, credential_ref,
        1, (decision = 'allowed')::int, (decision = 'blocked')::int, (decision = 'error')::int, redacted::int
      from audit_logs where workspace_id = ${workspaceId} and is_request(source, action)
        and (${isWithin(sql`timestamp`, records[0])} or ${isWithin(sql`timestamp`, records[1])})
    ), named as (
      ${sql.join(
        rollups.map((each) => selectNewestNames(workspaceId, each)),
        sql` union all `,
      )}
    ), parts as (
      ${splitByDimension(sql`unfolded`)}
      union all ${sql.join(
        rollups.map((each) => totalsIn(workspaceId, each)),
        sql` union all `,
      )}
      union all select * from named
    ), counts as (
      select dimension,
        case dimension when 'total' then to_char(bucket at time zone 'UTC', 'YYYY-MM-DD') else value end as value,
        ${requests}::float8 as requests, ${count('allowed')}::float8 as allowed,
        ${count('blocked')}::float8 as blocked, ${count('error')}::float8 as errors,
        coalesce(sum(redacted), 0)::float8 as redacted
      from parts group by 1, 2 having ${requests} > 0
    ), most_frequent as (
      select * from (
        select counts.*, row_number() over (partition by dimension order by requests desc, value collate "C") as place
        from counts) as ranked
      where dimension = 'total' or place <= ${MAX_LISTED}
    )
    select most_frequent.*, (select count(*) <= ${MAX_READ} from named) as is_whole, case dimension when 'agent' then (
      select to_char(max(timestamp) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      from (
        select audit_bucket(${end}) as bucket
        union all (select bucket from audit_terms
        where term = ${termOf(workspaceId, 'caller', sql`most_frequent.value`)} and bucket < audit_bucket(${end})
        order by bucket desc limit 1)
      ) as newest cross join lateral (
        select timestamp from audit_logs
        where workspace_id = ${workspaceId} and ${isInBucket} and agent_id = most_frequent.value
          and is_request(source, action) and ${isWithin(sql`timestamp`, whole)}
        order by timestamp desc limit 1
      ) as last
    ) end as last_used_at
    from most_frequent`
}

type Rollups = { grain: 'day' | 'hour'; span: Span }

/** One row for each bucket. The index leads from one bucket to the one before it, past the bucket's names. */
function totalsIn(workspaceId: string, { grain, span }: Rollups): SQL {
  const buildBefore = (end: SQL) => sql`(select bucket from audit_rollups
    where workspace_id = ${workspaceId} and grain = ${grain} and ${isWithin(sql`bucket`, span)} and bucket < ${end}
    order by bucket desc limit 1)`
  return sql`select total.* from (
      with recursive buckets as (
        select ${buildBefore(sql`'infinity'::timestamptz`)} as bucket
        union all select ${buildBefore(sql`buckets.bucket`)} from buckets where buckets.bucket is not null)
      select bucket from buckets where bucket is not null) as known
    cross join lateral (
      select ${ROLLUP} from audit_rollups r where r.workspace_id = ${workspaceId} and r.grain = ${grain}
        and r.bucket = known.bucket and r.dimension = 'total' limit 1) as total`
}

/** Names are made by clients, so a range may have any number of them: the newest are counted. */
function selectNewestNames(workspaceId: string, { grain, span }: Rollups): SQL {
  return sql`(select ${ROLLUP} from audit_rollups r
    where workspace_id = ${workspaceId} and grain = ${grain} and ${isWithin(sql`bucket`, span)} and dimension <> 'total'
    order by bucket desc limit ${MAX_READ + 1})`
}

const ROLLUP = sql.raw(
  'r.workspace_id, r.dimension, r.value, r.bucket, r.requests, r.allowed, r.blocked, r.errors, r.redacted',
)

function isWithin(column: SQL, [from, to]: Span): SQL {
  const text = (time: number) => new Date(time).toISOString()
  return sql`(${column} >= ${text(from)}::timestamptz and ${column} < ${text(to)}::timestamptz)`
}

/** Characters of a name by which requests are counted: the index of the counts takes no row of several thousand. */
const MAX_NAME = 500

/** Rows in the shape of `audit_deltas`, as rows of `audit_rollups` without their grain. */
export function splitByDimension(source: SQL): SQL {
  return sql`
    select workspace_id, dimension, left(value, ${MAX_NAME}::int) as value, hour as bucket, requests, allowed, blocked, errors, redacted
    from ${source} cross join lateral (
      select 'total' as dimension, '' as value
      union all select 'agent', agent_id
      union all select 'domain', target_domain where target_domain is not null
      union all select distinct 'credential', unnest(string_to_array(credential_ref, ','))
    ) as part`
}
