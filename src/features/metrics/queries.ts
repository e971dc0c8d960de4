/**
 * A day's figures at its end, or the current ones for today. Deleted people, workspaces, projects and secrets are missing
 * (docs/guides/monitoring.md, "Daily figures").
 */
import { desc, lt, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../database/open.ts'
import { dailyMetrics } from '../../database/schema/index.ts'
import type { Page } from '../../http/page.ts'
import { endOfDay } from './days.ts'

export type StoredDay = typeof dailyMetrics.$inferSelect

const TOP_DOMAINS = 10

/** One row more than the page holds, newest first. */
export function selectDays(db: Database, { after: [before], limit }: Page): Promise<StoredDay[]> {
  return db
    .select()
    .from(dailyMetrics)
    .where(before === undefined ? undefined : lt(dailyMetrics.date, before))
    .orderBy(desc(dailyMetrics.date))
    .limit(limit + 1)
}

/** `now` in milliseconds since 1970. */
export async function measureDay(tx: Transaction, day: string, now: number): Promise<StoredDay> {
  const [row] = await tx.execute(statement(day, now))
  const { topDomains, ...counts } = row as Omit<StoredDay, 'topDomains'> & { topDomains: string }
  return { ...counts, date: day, topDomains: JSON.parse(topDomains), computedAt: new Date(now) }
}

/**
 * Calls are read by the time of recording, which is indexed: it is that of the call but for the clocks
 * of different machines, for which there is a day on both sides. A call has no action.
 */
function statement(day: string, now: number) {
  const start = sql`${day}::timestamp at time zone 'UTC'`
  const end = sql`${new Date(endOfDay(day)).toISOString()}::timestamptz`
  const moment = sql`${new Date(Math.min(endOfDay(day), now)).toISOString()}::timestamptz`
  return sql`
    with recorded as materialized (
      select registration_id, decision, redacted, duration_ms, target_domain, action
      from audit_logs where source = 'resolver' and timestamp >= ${start} and timestamp < ${end}
        and recorded_at >= ${start} - interval '1 day' and recorded_at < ${end} + interval '1 day'
    ), calls as (select * from recorded where action is null),
    durations as (select duration_ms from calls where decision = 'allowed' and duration_ms is not null),
    frequent as (
      select target_domain as domain, count(*) as calls from calls where target_domain is not null
      group by 1 order by 2 desc, 1 limit ${TOP_DOMAINS}
    )
    select ${populations({ start, end, moment })},
      (select count(*) from user_activity where day = ${day}::date)::float8 as dau,
      (select count(distinct user_id) from user_activity
        where day > ${day}::date - 7 and day <= ${day}::date)::float8 as wau,
      (select count(distinct user_id) from user_activity
        where day > ${day}::date - 30 and day <= ${day}::date)::float8 as mau,
      (select count(*) from calls)::float8 as "resolverCalls",
      (select count(*) from calls where decision = 'blocked')::float8 as "resolverBlocked",
      (select count(*) from calls where redacted)::float8 as "resolverRedacted",
      (select count(*) from calls where decision = 'error')::float8 as "resolverErrors",
      (select count(distinct registration_id) from recorded)::float8 as "activeAgents",
      (select percentile_disc(0.5) within group (order by duration_ms) from durations) as "resolverP50Ms",
      (select percentile_disc(0.95) within group (order by duration_ms) from durations) as "resolverP95Ms",
      (select count(*) from recorded where action = 'credentials.read' and decision = 'allowed')::float8 as "workloadDeliveries",
      (select coalesce(json_agg(json_build_object('domain', domain, 'calls', calls)
        order by calls desc, domain), '[]')::text from frequent) as "topDomains"`
}

type Day = Record<'start' | 'end' | 'moment', ReturnType<typeof sql>>

/** Deleted agents and revoked tokens stay in their tables, so that these are exact for any day. */
function populations({ start, end, moment }: Day) {
  return sql`
    (select count(*) from users where created_at < ${end})::float8 as "totalUsers",
    (select count(*) from users where created_at >= ${start} and created_at < ${end})::float8 as "newUsers",
    (select count(*) from workspaces where created_at < ${end})::float8 as "totalWorkspaces",
    (select count(*) from projects where created_at < ${end})::float8 as "totalProjects",
    (select count(*) from secrets where created_at < ${end})::float8 as "totalSecrets",
    (select count(*) from agents where created_at < ${end}
      and (deleted_at is null or deleted_at >= ${end}))::float8 as "totalAgents",
    (select count(*) from tokens where created_at < ${end}
      and (revoked_at is null or revoked_at >= ${end})
      and (expires_at is null or expires_at > ${moment}))::float8 as "activeTokens"`
}
