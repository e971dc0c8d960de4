/**
 * Enqueues notices: one row for each subscribed target. Each target has its own share of the queue, so an unavailable
 * target cannot fill it.
 */
import { sql } from 'drizzle-orm'
import type { Clock } from '../core/clock.ts'
import type { Config } from '../core/config/config.ts'
import { describeError, type Log } from '../core/log.ts'
import type { Reading, Transaction } from '../database/open.ts'
import { boundFields, MAX_CAUSE, type Notice } from './notice.ts'

/** The channel that wakes sending processes. */
export const QUEUED_NOTICES = 'cloakroom_notices'

/** Milliseconds between two lines of the log about refused notices. */
const LOG_EVERY_MS = 60_000

type Parts = {
  db: Reading
  config: Pick<Config, 'QUOTA_NOTICES'>
  clock: Clock
  log: Log
}

export class Notices {
  readonly #parts: Parts
  readonly #wakers = new Set<() => void>()
  /** Notices that were refused since the last line of the log. */
  #refused = 0
  #loggedAt = Number.NEGATIVE_INFINITY

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Queues a notice. With `tx` it is queued if the transaction commits, and an error is thrown. Without, an error is
   * logged only: no call is delayed or fails because a notice could not be stored.
   */
  async announce(workspaceId: string, notice: Notice, tx?: Transaction): Promise<void> {
    try {
      await this.#enqueue(tx ?? this.#parts.db, workspaceId, notice)
    } catch (error) {
      if (tx) throw error
      const { event } = notice
      this.#parts.log.warning('a notice could not be queued', { event, ...describeError(error) })
    }
  }

  /** Calls back soon after notices were queued by this process. */
  onQueued(wake: () => void): void {
    this.#wakers.add(wake)
  }

  /** Call it after notices were queued without `announce`. */
  wake(): void {
    for (const wake of this.#wakers) wake()
  }

  async #enqueue(db: Reading, workspaceId: string, { event, cause, fields }: Notice) {
    const body = JSON.stringify(boundFields(fields))
    const most = this.#parts.config.QUOTA_NOTICES
    const [row] = await db.execute<{ added: number; refused: number }>(
      enqueueStatement({ workspaceId, event, cause: cause.slice(0, MAX_CAUSE), body, most }),
    )
    const { added, refused } = row ?? { added: 0, refused: 0 }
    if (refused > 0) this.#logRefused(workspaceId, refused)
    if (added > 0) this.wake()
  }

  #logRefused(workspaceId: string, count: number): void {
    const { log, clock } = this.#parts
    this.#refused += count
    const now = clock.now()
    if (now - this.#loggedAt < LOG_EVERY_MS) return
    log.warning('the notice queue is full: new notices are dropped', {
      workspace_id: workspaceId,
      count: this.#refused,
      setting: 'QUOTA_NOTICES',
    })
    this.#refused = 0
    this.#loggedAt = now
  }
}

type Enqueued = { workspaceId: string; event: string; cause: string; body: string; most: number }

/**
 * A target's share is the quota divided by the workspace's targets. It bounds both the notices that wait and those of an
 * hour. The notification is delivered when the transaction commits.
 */
function enqueueStatement({ workspaceId, event, cause, body, most }: Enqueued) {
  const id = sql`${workspaceId}::text::uuid`
  return sql`
    with targets as (
      select id, events from notice_targets where workspace_id = ${id} and deleted_at is null),
    share as (
      select greatest(1, ${most}::int / greatest(1, count(*)))::int as most from targets),
    interested as (
      select t.id, exists (select from notices n where n.target_id = t.id and n.cause = ${cause}) as is_known,
        (select count(*) from notices n where n.target_id = t.id and n.status = 'queued') < share.most
        and (select count(*) from notices n where n.workspace_id = ${id} and n.target_id = t.id
          and n.created_at > now() - interval '1 hour') < share.most as has_room
      from targets t cross join share where jsonb_exists(t.events, ${event})),
    added as (
      insert into notices (id, workspace_id, target_id, event, cause, body, next_at)
      select gen_random_uuid(), ${id}, id, ${event}, ${cause}, ${body}::text::jsonb, now()
      from interested where has_room and not is_known
      on conflict (target_id, cause) do nothing returning id),
    woken as (
      select pg_notify(${QUEUED_NOTICES}, ${workspaceId}::text) from added limit 1)
    select (select count(*)::int from added) as added, (select count(*)::int from woken) as woken,
      (select count(*)::int from interested where not has_room and not is_known) as refused`
}
