/** Control-plane changes, recorded in the transaction of the change: both happen or neither. */
import type { Transaction } from '../platform/db/open.ts'
import { auditLogs } from '../platform/db/schema/index.ts'
import type { Grant } from '../platform/grant.ts'

/** What was done: a past participle after the kind of thing, `token.revoked`. */
export type Action =
  | `allowlist.${'added' | 'removed'}`
  | `workspace.${'created' | 'renamed' | 'deleted' | 'rekeyed' | 'ownership_transferred'}`
  | `member.${'invited' | 'accepted' | 'declined' | 'role_changed' | 'removed' | 'left'}`
  | `project.${'created' | 'updated' | 'deleted'}`
  | `secret.${'created' | 'updated' | 'deleted' | 'rolled_back'}`
  | `agent.${'created' | 'deleted'}`
  | `token.${'issued' | 'revoked' | 'provisioned' | 'grant_removed'}`

export type Change = {
  action: Action
  resource: { type: string; id: string | null; name: string | null }
  projectId?: string | undefined
  environment?: string | undefined
}

/** Who is written into the record: a grant, or a person who has none yet (accepting an invitation). */
type Actor = Pick<Grant, 'workspaceId' | 'userId' | 'email'>

/** Records changes by name and id, never by value. */
export async function recordChanges(
  tx: Transaction,
  actor: Actor,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return
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
      decision: 'allowed' as const,
      action,
      resource,
    })),
  )
}
