/** Refusals by role, on record: who probes what they may not do is seen by those who may. */
import { sql } from 'drizzle-orm'
import type { Database } from '../database/open.ts'
import { auditLogs } from '../database/schema/index.ts'
import type { StoreDenial } from '../http/recorder.ts'
import { isInBucket, termOf } from './terms.ts'

/** First half of the key of the lock; the second is a hash of person and action. */
const DENIALS = 6_021_023

/** At most one a minute for a person and an action: who is refused often must not fill the trail. */
export const storeDenial: StoreDenial = async (db: Database, actor, action) => {
  const { workspaceId, userId, email, projectId } = actor
  await db.transaction(async (tx) => {
    const about = `${workspaceId} ${userId} ${action}`
    await tx.execute(sql`select pg_advisory_xact_lock(${DENIALS}::int, hashtext(${about}))`)
    const recent = await tx.execute(sql`
      select 1 from audit_terms join audit_logs on ${isInBucket}
      where term = ${termOf(workspaceId, 'action', 'access.denied')} and bucket > now() - interval '61 seconds'
        and workspace_id = ${workspaceId} and action = 'access.denied'
        and timestamp > now() - interval '1 minute'
        and user_id = ${userId} and resource->>'name' = ${action} limit 1`)
    if (recent.length > 0) return
    await tx.insert(auditLogs).values({
      workspaceId,
      timestamp: new Date(),
      source: 'control_plane',
      identityLevel: 'user',
      agentId: email,
      userId,
      projectId: projectId ?? null,
      decision: 'blocked',
      reason: 'forbidden',
      statusCode: 403,
      action: 'access.denied',
      resource: { type: 'endpoint', id: null, name: action },
    })
  })
}
