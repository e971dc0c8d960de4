/** Notice targets and the delivery log as rows. A deleted target is not listed. */
import { and, asc, desc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { Grant } from '../../core/grant.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import { noticeQueue, noticeTargets } from '../../database/schema/index.ts'
import type { Page } from '../../http/page.ts'

type Manage = Grant<'notice.manage'>

const shownTarget = {
  id: noticeTargets.id,
  type: noticeTargets.type,
  host: noticeTargets.host,
  events: noticeTargets.events,
  created_at: noticeTargets.createdAt,
}

function isLive({ workspaceId }: Manage) {
  return and(eq(noticeTargets.workspaceId, workspaceId), isNull(noticeTargets.deletedAt))
}

/** One row more than the page holds, oldest first: ids are UUIDs of version 7. */
export function selectTargets(tx: Reading, grant: Manage, { after: [after], limit }: Page) {
  return tx
    .select(shownTarget)
    .from(noticeTargets)
    .where(and(isLive(grant), after === undefined ? undefined : gt(noticeTargets.id, after)))
    .orderBy(asc(noticeTargets.id))
    .limit(limit + 1)
}

type NewTarget = Pick<
  typeof noticeTargets.$inferInsert,
  'id' | 'type' | 'host' | 'events' | 'secret'
>

export async function insertTarget(tx: Transaction, grant: Manage, target: NewTarget) {
  const { workspaceId, userId: createdBy } = grant
  const [row] = await tx
    .insert(noticeTargets)
    .values({ ...target, workspaceId, createdBy })
    .returning(shownTarget)
  return row
}

/** The target, locked until the transaction ends; `null` for one of another workspace. */
export async function lockTarget(tx: Transaction, grant: Manage, id: string) {
  const [row] = await tx
    .select({ id: noticeTargets.id, type: noticeTargets.type, host: noticeTargets.host })
    .from(noticeTargets)
    .where(and(isLive(grant), eq(noticeTargets.id, id)))
    .for('update')
  return row ?? null
}

export function countQueued(tx: Transaction, grant: Manage, id: string): Promise<number> {
  const { workspaceId, targetId, status } = noticeQueue
  return tx.$count(
    noticeQueue,
    and(eq(workspaceId, grant.workspaceId), eq(targetId, id), eq(status, 'queued')),
  )
}

/** One row more than the page holds, newest first. */
export function selectNotices(
  tx: Reading,
  grant: Manage,
  { after: [createdAt, id], limit }: Page,
  target: string | undefined,
) {
  const { workspaceId, targetId } = noticeQueue
  const moment = sql`${createdAt}::text::timestamptz`
  const isAfter =
    createdAt === undefined
      ? undefined
      : or(
          sql`${noticeQueue.createdAt} < ${moment}`,
          sql`${noticeQueue.createdAt} = ${moment} and ${noticeQueue.id} < ${id}::text::uuid`,
        )
  const ofTarget = target === undefined ? undefined : eq(targetId, target)
  return tx
    .select({
      id: noticeQueue.id,
      target_id: targetId,
      event: noticeQueue.event,
      status: noticeQueue.status,
      attempts: noticeQueue.attempts,
      last_error: noticeQueue.lastError,
      created_at: noticeQueue.createdAt,
      attempted_at: noticeQueue.attemptedAt,
      next_at: noticeQueue.nextAt,
    })
    .from(noticeQueue)
    .where(and(eq(workspaceId, grant.workspaceId), ofTarget, isAfter))
    .orderBy(desc(noticeQueue.createdAt), desc(noticeQueue.id))
    .limit(limit + 1)
}
