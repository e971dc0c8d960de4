/** Notices to one target, with any events: the test, and the last one of a deleted target. */
import { sql } from 'drizzle-orm'
import type { Transaction } from '../database/open.ts'
import type { TEST_EVENT } from './message.ts'
import { boundFields, type NoticeEvent, type NoticeFields } from './notice.ts'

export type Direct = {
  id: string
  workspaceId: string
  targetId: string
  event: NoticeEvent | typeof TEST_EVENT
  cause: string
  fields: NoticeFields
}

/** The sweep of upkeep.ts deletes the row later. From now on, only the last notice is sent to the target. */
export async function endTarget(tx: Transaction, goodbye: Direct): Promise<void> {
  const target = sql`${goodbye.targetId}::text::uuid`
  await tx.execute(sql`
    update notices set status = 'failed', next_at = clock_timestamp(), last_error = 'target_deleted'
    where target_id = ${target} and status = 'queued' and cause <> ${goodbye.cause}`)
  await queueFor(tx, goodbye)
  await tx.execute(sql`update notice_targets set deleted_at = now() where id = ${target}`)
}

export async function queueFor(tx: Transaction, direct: Direct): Promise<void> {
  const { id, workspaceId, targetId, event, cause, fields } = direct
  const body = JSON.stringify(boundFields(fields))
  await tx.execute(sql`
    insert into notices (id, workspace_id, target_id, event, cause, body, next_at)
    values (${id}::text::uuid, ${workspaceId}::text::uuid, ${targetId}::text::uuid, ${event}, ${cause},
      ${body}::text::jsonb, now())
    on conflict (target_id, cause) do nothing`)
}
