/**
 * The control plane's part, once a minute: announces events that depend on time, and deletes ended notices. Causes
 * prevent duplicates from several control planes.
 */
import { Cron } from 'croner'
import { sql } from 'drizzle-orm'
import { describeError, type Log } from '../core/log.ts'
import type { Database } from '../database/open.ts'
import type { Notices } from './notices.ts'

type Parts = { db: Database; log: Log; notices: Notices }

/** Maximum rows per statement, so that others do not wait for long. */
const BATCH = 1_000
/** Days for which ended notices stay in the delivery log. */
const KEPT_DAYS = 7

export function scheduleNotices(parts: Parts): { stop(): void } {
  return new Cron('29 * * * * *', { protect: true, unref: true }, () => keepNotices(parts))
}

export async function keepNotices({ db, log, notices }: Parts): Promise<void> {
  try {
    await announceExpiring(db, notices)
    await announceRekeys(db, notices)
    await sweepNotices(db)
  } catch (error) {
    log.warning('notice maintenance failed', describeError(error))
  }
}

type Expiring = {
  id: string
  workspace_id: string
  label: string
  agent: string | null
  expires_at: string
  threshold: string
}

/** Seven days before and one day before, unless the token's whole life is shorter than that. */
async function announceExpiring(db: Database, notices: Notices): Promise<void> {
  const rows = await db.execute<Expiring>(sql`
    select t.id, t.workspace_id, t.label, a.name as agent, h.threshold,
      to_char(t.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as expires_at
    from tokens t
    cross join lateral (select case when t.expires_at < now() + interval '1 day' then '1d' else '7d' end as threshold) h
    left join agents a on a.id = t.agent_id
    where t.revoked_at is null and t.expires_at > now() and t.expires_at < now() + interval '7 days'
      and t.created_at < t.expires_at - case h.threshold when '1d' then interval '1 day' else interval '7 days' end
      and exists (
        select from notice_targets n where n.workspace_id = t.workspace_id and n.deleted_at is null
          and jsonb_exists(n.events, 'token.expiring')
          and not exists (select from notices q
            where q.target_id = n.id and q.cause = 'token.expiring/' || t.id || '/' || h.threshold))
    order by t.expires_at limit ${BATCH}::int`)
  for (const { id, workspace_id, label, agent, expires_at, threshold } of rows)
    await notices.announce(workspace_id, {
      event: 'token.expiring',
      cause: `token.expiring/${id}/${threshold}`,
      fields: { agent: agent ?? undefined, token: label, expires_at },
    })
}

/** Again every week, for as long as the rekey is due. */
async function announceRekeys(db: Database, notices: Notices): Promise<void> {
  const rows = await db.execute<{ id: string; epoch: number }>(sql`
    select w.id, w.epoch::int as epoch from workspaces w
    where w.rekey_required and exists (
      select from notice_targets n where n.workspace_id = w.id and n.deleted_at is null
        and jsonb_exists(n.events, 'rekey.due')
        and not exists (select from notices q
          where q.target_id = n.id and q.cause = 'rekey.due/' || w.epoch))
    limit ${BATCH}::int`)
  for (const { id, epoch } of rows)
    await notices.announce(id, {
      event: 'rekey.due',
      cause: `rekey.due/${epoch}`,
      fields: { command: 'cloakroom workspace rekey' },
    })
}

async function sweepNotices(db: Database): Promise<void> {
  // Needed if no sending process runs.
  await db.execute(sql`
    update notices set status = 'failed', next_at = now(), last_error = coalesce(last_error, 'not_sent')
    where id in (select id from notices where status = 'queued' and created_at < now() - interval '25 hours'
      limit ${BATCH}::int)`)
  await db.execute(sql`
    delete from notices where id in (select id from notices where status in ('delivered', 'failed')
      and next_at < now() - make_interval(days => ${KEPT_DAYS}::int) limit ${BATCH}::int)`)
  await db.execute(sql`
    delete from notice_targets t where t.deleted_at is not null
      and not exists (select from notices n where n.target_id = t.id and n.status = 'queued')`)
}
