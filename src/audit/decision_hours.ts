/**
 * Lists the hours in which requests ended with a decision, by their counts. A list of refused calls then reads only
 * those hours.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Reading } from '../database/open.ts'

/** Requests to count: all of them, or those of the given names. */
export type Counted = {
  dimension: 'total' | 'agent' | 'domain' | 'credential'
  /** Empty for the total. */
  values: readonly string[]
}
export type RequestDecision = 'allowed' | 'blocked' | 'error'

/** The columns of counts that a decision adds to. */
export const decisionCounts = { allowed: sql`allowed`, blocked: sql`blocked`, error: sql`errors` }

/** Whether a record is of the hour that is named `bucket`. */
export const isInHour: SQL = sql`(audit_logs.timestamp >= bucket and audit_logs.timestamp < bucket + interval '1 hour')`

export function hourOf(moment: Date | string | SQL): SQL {
  if (typeof moment === 'string') return sql`date_trunc('hour', ${moment}::timestamptz, 'UTC')`
  if (moment instanceof Date) return hourOf(moment.toISOString())
  return sql`date_trunc('hour', ${moment}, 'UTC')`
}

/** Whether an hour may have such requests. Differences that are not folded yet count for every name. */
export function mayHave(
  workspaceId: string,
  { dimension, values }: Counted,
  decision: RequestDecision,
  hour: SQL,
): SQL {
  const column = decisionCounts[decision]
  const named = sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )
  return sql`(exists (select from audit_rollups r where r.workspace_id = ${workspaceId} and r.grain = 'hour'
      and r.bucket = ${hour} and r.dimension = ${dimension} and r.value in (${named}) and r.${column} > 0 offset 0)
    or ${hour} in (select hour from audit_deltas where workspace_id = ${workspaceId} and ${column} <> 0))`
}

/** Returns the values of `bucket` that `which` selects, in the order of a list, as the database's text. */
export async function selectHours(
  tx: Reading,
  workspaceId: string,
  which: SQL | undefined,
  { order, count }: { order: SQL; count: number },
): Promise<string[]> {
  const buildBefore = (end: SQL) => sql`(select bucket from audit_rollups
    where workspace_id = ${workspaceId} and grain = 'day' and bucket < ${end} order by bucket desc limit 1)`
  const rows = await tx.execute<{ text: string }>(sql`
    with recursive days as (
      select ${buildBefore(sql`'infinity'::timestamptz`)} as day
      union all select ${buildBefore(sql`days.day`)} from days where days.day is not null)
    select bucket::text as text from (
      select hour as bucket from days
        cross join lateral generate_series(day, day + interval '23 hours', interval '1 hour') as hours(hour)
      union select hour from audit_deltas where workspace_id = ${workspaceId}) as known
    where ${which} order by bucket ${order} limit ${count}`)
  return rows.map(({ text }) => text)
}
