/**
 * Serialises conflicting work within one workspace: everything that is sealed under its key, the rekey that replaces
 * the key, and changes of its members.
 */
import { and, eq, sql } from 'drizzle-orm'
import { Fault } from '../core/fault.ts'
import type { Grant } from '../core/grant.ts'
import type { Transaction } from './open.ts'
import { prepareOnce } from './prepared.ts'
import { memberships, workspaces } from './schema/index.ts'

export type LockedWorkspace = {
  name: string
  type: 'personal' | 'shared'
  epoch: number
  rekeyRequired: boolean
}

const selectLocked = prepareOnce((db) =>
  db
    .select({
      name: workspaces.name,
      type: workspaces.type,
      epoch: workspaces.epoch,
      rekeyRequired: workspaces.rekeyRequired,
    })
    .from(workspaces)
    .where(eq(workspaces.id, sql.placeholder('workspaceId')))
    .for('no key update')
    .prepare('workspace_lock'),
)

const selectRole = prepareOnce((db) =>
  db
    .select({ role: memberships.role })
    .from(memberships)
    .where(
      and(
        eq(memberships.workspaceId, sql.placeholder('workspaceId')),
        eq(memberships.userId, sql.placeholder('userId')),
        eq(memberships.status, 'active'),
      ),
    )
    .prepare('role'),
)

/**
 * Holds the workspace until the transaction ends and returns it as it is then. The grant was given
 * before the wait: a caller whose role has changed in the meantime is refused.
 *
 * @throws Fault `not_found` when the workspace or the membership is gone, `conflict` on another role
 */
export async function lockWorkspace(
  tx: Transaction,
  grant: Pick<Grant, 'workspaceId' | 'userId' | 'role'>,
): Promise<LockedWorkspace> {
  const { workspaceId, userId } = grant
  // Sent together: the second one begins when the first one's wait is over, and sees all rows committed by then.
  const [workspace, [membership]] = await Promise.all([
    lockWorkspaceRow(tx, workspaceId),
    selectRole(tx).execute({ workspaceId, userId }),
  ])
  if (!membership) throw new Fault('not_found')
  if (membership.role !== grant.role) throw new Fault('conflict')
  return workspace
}

/**
 * The lock alone, for an invited person, who has no grant.
 *
 * @throws Fault `not_found`
 */
export async function lockWorkspaceRow(
  tx: Transaction,
  workspaceId: string,
): Promise<LockedWorkspace> {
  const [workspace] = await selectLocked(tx).execute({ workspaceId })
  if (!workspace) throw new Fault('not_found')
  return workspace
}
