/** Changes of the control plane, stored in the transaction that made them: both happen or neither. */
import { auditLogs } from '../platform/db/schema/index.ts'
import type { StoreChanges } from '../platform/http/recorder.ts'

export const storeChanges: StoreChanges = async (tx, actor, changes) => {
  await tx.insert(auditLogs).values(
    changes.map(({ action, resource, projectId, environment }) => ({
      workspaceId: actor.workspaceId,
      timestamp: new Date(),
      source: 'control_plane' as const,
      identityLevel: 'user' as const,
      agentId: actor.email,
      userId: actor.userId,
      projectId: projectId ?? null,
      environment: environment ?? null,
      credentialRef: resource.type === 'secret' ? resource.name : null,
      decision: 'allowed' as const,
      action,
      resource,
    })),
  )
}
