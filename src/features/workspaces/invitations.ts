/** The invitee's answer. Before it, a person sees the envelope and the name, and nothing else. */
import { type Action, recordChanges } from '../../audit/changes.ts'
import type { Transaction } from '../../platform/db/open.ts'
import { lockWorkspaceRow } from '../../platform/db/workspace_lock.ts'
import { Fault } from '../../platform/fault.ts'
import type { Caller } from '../../platform/grant.ts'
import { type Route, route } from '../../platform/http/route.ts'
import type { FeatureServices } from '../../platform/services.ts'
import { acceptInvitation, declineInvitation } from './contract.ts'
import { listWorkspaces } from './memberships.ts'
import { acceptOwn, declineOwn, requireRekey } from './queries.ts'

export function invitationRoutes({ db, outer }: FeatureServices): Route[] {
  return [
    route(acceptInvitation, ({ caller, params: { workspace_id: workspaceId } }) =>
      db.transaction(async (tx) => {
        await lockWorkspaceRow(tx, workspaceId)
        if (!(await acceptOwn(tx, caller, workspaceId))) throw new Fault('not_found')
        await record(tx, caller, workspaceId, 'member.accepted')
        const [workspace] = await listWorkspaces(tx, outer, caller.userId, { workspaceId })
        if (!workspace) throw new Fault('not_found')
        return workspace
      }),
    ),
    route(declineInvitation, ({ caller, params: { workspace_id: workspaceId } }) =>
      db.transaction(async (tx) => {
        await lockWorkspaceRow(tx, workspaceId)
        if (!(await declineOwn(tx, caller, workspaceId))) throw new Fault('not_found')
        await requireRekey(tx, workspaceId)
        await record(tx, caller, workspaceId, 'member.declined')
        return undefined
      }),
    ),
  ]
}

function record(
  tx: Transaction,
  { userId, email }: Caller,
  workspaceId: string,
  action: Action,
): Promise<void> {
  const resource = { type: 'member', id: userId, name: email }
  return recordChanges(tx, { workspaceId, userId, email }, [{ action, resource }])
}
