/** Changes of the control plane, stored in the transaction that made them: both happen or neither. */
import { sql } from 'drizzle-orm'
import type { Database } from '../database/open.ts'
import { prepared } from '../database/prepared.ts'
import { auditLogs } from '../database/schema/index.ts'
import type { Actor, Change, StoreChanges, StoreDenial } from '../http/recorder.ts'
import { isInBucket, termOf } from './terms.ts'

/** What reads leave, and most changes, is one record. */
const insertOne = prepared((db) => {
  const { placeholder } = sql
  return db
    .insert(auditLogs)
    .values({
      id: placeholder('id'),
      workspaceId: placeholder('workspaceId'),
      timestamp: placeholder('timestamp'),
      source: placeholder('source'),
      identityLevel: placeholder('identityLevel'),
      agentId: placeholder('agentId'),
      registrationId: placeholder('registrationId'),
      userId: placeholder('userId'),
      projectId: placeholder('projectId'),
      environment: placeholder('environment'),
      credentialRef: placeholder('credentialRef'),
      decision: placeholder('decision'),
      action: placeholder('action'),
      resource: placeholder('resource'),
    })
    .prepare('change')
})

export const storeChanges: StoreChanges = async (tx, actor, changes) => {
  const rows = changes.map((change) => rowOf(actor, change))
  const [only, another] = rows
  if (only && !another) await insertOne(tx).execute(only)
  else await tx.insert(auditLogs).values(rows)
}

function rowOf(actor: Actor, { action, resource, registrationId, projectId, environment }: Change) {
  return {
    id: Bun.randomUUIDv7(),
    workspaceId: actor.workspaceId,
    timestamp: new Date(),
    source: 'control_plane' as const,
    identityLevel: 'user' as const,
    agentId: actor.email,
    registrationId: registrationId ?? null,
    userId: actor.userId,
    projectId: projectId ?? null,
    environment: environment ?? null,
    credentialRef: resource.type === 'secret' ? resource.name : null,
    decision: 'allowed' as const,
    action,
    resource,
  }
}

/** First half of the key of the lock; the second is a hash of person and action. */
const DENIALS = 6_021_023

/**
 * Refusals by role, on record: those who may do something see who probes for it.
 *
 * At most one a minute for a person and an action: who is refused often must not fill the trail.
 */
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
