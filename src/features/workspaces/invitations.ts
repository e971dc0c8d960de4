/** Accepting or declining an invitation. Before, a person sees the envelope and the name, and nothing else. */

import { Fault } from '../../core/fault.ts'
import type { Caller } from '../../core/grant.ts'
import { requireQuota } from '../../database/limits/quota.ts'
import { lockWorkspaceRow } from '../../database/workspace_lock.ts'
import type { Action, UnboundAudit } from '../../http/recorder.ts'
import { type Route, route } from '../../http/route.ts'
import { acceptLink, chainOf, type SignedServices } from '../links/index.ts'
import { acceptInvitation, declineInvitation } from './contract.ts'
import { listWorkspaces } from './memberships.ts'
import { acceptOwn, declineOwn, requireRekey } from './queries.ts'
import { removalOf } from './signed_members.ts'

export function invitationRoutes(services: SignedServices): Route[] {
  return [
    route(acceptInvitation, ({ caller, transaction, params: { workspace_id: workspaceId } }) =>
      transaction(async (tx, audit) => {
        await lockWorkspaceRow(tx, workspaceId)
        if (!(await acceptOwn(tx, caller, workspaceId))) throw new Fault('not_found')
        await requireQuota(tx, services.config, 'workspaces', caller.userId)
        record(audit, caller, workspaceId, 'member.accepted')
        const [workspace] = await listWorkspaces(tx, services.outer, caller.userId, { workspaceId })
        if (!workspace) throw new Fault('not_found')
        return workspace
      }),
    ),
    route(declineInvitation, ({ caller, transaction, params, body: { link } }) =>
      transaction(async (tx, audit) => {
        const { workspace_id: workspaceId } = params
        await lockWorkspaceRow(tx, workspaceId)
        if (!(await declineOwn(tx, caller, workspaceId))) throw new Fault('not_found')
        // Declining is always possible: a stranger may have signed what cannot be read or followed.
        if (link) {
          const changing = { tx, grant: { workspaceId, userId: caller.userId } }
          const chain = await chainOf(changing, services)
          await acceptLink(changing, chain, link, removalOf(chain, caller.userId))
        }
        await requireRekey(tx, workspaceId)
        record(audit, caller, workspaceId, 'member.declined')
        return undefined
      }),
    ),
  ]
}

function record(
  audit: UnboundAudit,
  { userId, email }: Caller,
  workspaceId: string,
  action: Action,
): void {
  const resource = { type: 'member', id: userId, name: email }
  audit.by({ workspaceId, userId, email }).record({ action, resource })
}
