/**
 * The statements of the queue. A process claims a notice by moving its next attempt ahead, so a process that is killed
 * while it sends leaves a notice that is due again a minute later.
 */
import { sql } from 'drizzle-orm'
import type { Reading } from '../database/open.ts'

/** Seconds until another process may send a claimed notice. Longer than sending takes. */
const CLAIM_S = 60
/** Seconds between attempts; the last one repeats. */
const BACKOFF_S = [10, 30, 120, 600, 1_800, 3_600] as const
const MAX_RETRY_AFTER_S = 3_600
const GIVE_UP_HOURS = 24

export type Claimed = {
  id: string
  workspace_id: string
  workspace_name: string
  target_id: string
  type: string
  secret: Uint8Array
  event: string
  body: unknown
  attempts: number
  /** Milliseconds since 1970. */
  created_at: number
  attempted_at: number
}

/** Claims the oldest due notice of each target that is not `busy`, at most `most`. */
export async function claimDue(
  db: Reading,
  { most, busy }: { most: number; busy: readonly string[] },
): Promise<readonly Claimed[]> {
  return await db.execute<Claimed>(sql`
    with due as (
      select n.id from notices n
      where n.status = 'queued' and n.next_at <= clock_timestamp()
        and n.target_id::text not in (select jsonb_array_elements_text(${JSON.stringify(busy)}::text::jsonb))
        and not exists (
          select from notices e where e.target_id = n.target_id and e.status = 'queued'
            and e.next_at <= clock_timestamp() and (e.created_at, e.id) < (n.created_at, n.id))
      order by n.next_at limit ${most}::int for update of n skip locked),
    claimed as (
      update notices n set attempts = n.attempts + 1, attempted_at = clock_timestamp(),
        next_at = clock_timestamp() + make_interval(secs => ${CLAIM_S}::int)
      from due where n.id = due.id and n.status = 'queued' and n.next_at <= clock_timestamp()
      returning n.id, n.workspace_id, n.target_id, n.event, n.body, n.attempts, n.created_at, n.attempted_at)
    select c.id, c.workspace_id, w.name as workspace_name, c.target_id, t.type, t.secret, c.event, c.body, c.attempts,
      (extract(epoch from c.created_at) * 1000)::float8 as created_at,
      (extract(epoch from c.attempted_at) * 1000)::float8 as attempted_at
    from claimed c
    join notice_targets t on t.id = c.target_id and t.workspace_id = c.workspace_id
    join workspaces w on w.id = c.workspace_id`)
}

export async function markDelivered(db: Reading, id: string): Promise<void> {
  await db.execute(sql`
    update notices set status = 'delivered', next_at = clock_timestamp(), last_error = null
    where id = ${id}::text::uuid and status = 'queued'`)
}

export async function markFailed(db: Reading, id: string, error: string): Promise<void> {
  await db.execute(sql`
    update notices set status = 'failed', next_at = clock_timestamp(), last_error = ${error}
    where id = ${id}::text::uuid and status = 'queued'`)
}

type Failed = { id: string; targetId: string; delayS: number; error: string }

/** Delays all of the target's notices, so that an unavailable target is tried once per pause. */
export async function markRetry(db: Reading, { id, targetId, delayS, error }: Failed) {
  const next = sql`clock_timestamp() + make_interval(secs => ${delayS}::float8)`
  const isOver = sql`created_at < clock_timestamp() - make_interval(hours => ${GIVE_UP_HOURS}::int)`
  await db.execute(sql`
    update notices set
      status = case when id = ${id}::text::uuid and ${isOver} then 'failed' else status end,
      last_error = case when id = ${id}::text::uuid then ${error} else last_error end,
      next_at = case when id = ${id}::text::uuid then ${next} else greatest(next_at, ${next}) end
    where target_id = ${targetId}::text::uuid and status = 'queued'`)
}

/** Returns the seconds until the next attempt. A target may require longer, up to an hour. */
export function delayAfter(attempts: number, retryAfterS: number | null): number {
  const step = Math.min(Math.max(attempts, 1), BACKOFF_S.length) - 1
  const own = BACKOFF_S[step] ?? MAX_RETRY_AFTER_S
  return Math.max(own, Math.min(retryAfterS ?? 0, MAX_RETRY_AFTER_S))
}

/** The seconds of a `Retry-After` header, which has a number or a date; `null` for any other text. */
export function readRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const date = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, (date - now) / 1000)
}
