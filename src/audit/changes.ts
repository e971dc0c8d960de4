/** Changes of the control plane, stored in the transaction that made them: both happen or neither. */
import { sql } from 'drizzle-orm'
import { prepared } from '../database/prepared.ts'
import { auditLogs } from '../database/schema/index.ts'
import type { Actor, Change, StoreChanges } from '../http/recorder.ts'

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
