/**
 * Workspaces: the tenants. Who holds the key of one is decided by its people, who seal it for each
 * other; the server keeps the envelopes and the roles.
 */
import { Fault } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import { countHourly } from '../../database/limits/hourly_quota.ts'
import { requireQuota } from '../../database/limits/quota.ts'
import type { Reading } from '../../database/open.ts'
import { lockWorkspace, lockWorkspaceRow } from '../../database/workspace_lock.ts'
import { type Changing, listRoute, type Route, route } from '../../http/route.ts'
import { authorise } from '../../identity/authorise.ts'
import type { SignedText } from '../../sigchain/index.ts'
import { acceptLink, chainOf, type SignedServices } from '../links/index.ts'
import {
  acceptInvitation,
  createWorkspaceEndpoint,
  declineInvitation,
  deleteWorkspace,
  getWorkspace,
  listWorkspacesEndpoint,
  renameWorkspace,
} from './contract.ts'
import { recordOwn } from './departure.ts'
import { invitationChanges, inviteMembers } from './invite.ts'
import { memberRoutes } from './members.ts'
import { createWorkspace, listWorkspaces } from './memberships.ts'
import { acceptOwn, declineOwn, deleteWorkspaceRow, requireRekey, updateName } from './queries.ts'
import { rekeyRoutes } from './rekey.ts'
import { removalOf } from './signed_members.ts'

export { leaveAll } from './departure.ts'
export {
  type InviteOutcome,
  invitationChanges,
  inviteMembers,
  readActiveRoles,
} from './invite.ts'
export { createWorkspace, listWorkspaces, type WorkspaceOfPerson } from './memberships.ts'
export { lockAll, replaceOwn } from './own_keys.ts'

export function workspaceRoutes(services: SignedServices): Route[] {
  return [
    ...ownRoutes(services),
    ...invitationRoutes(services),
    ...memberRoutes(services),
    ...rekeyRoutes(services),
  ]
}

function ownRoutes(services: SignedServices): Route[] {
  const { db, outer, config } = services
  const show = async (tx: Reading, userId: string, workspaceId: string) => {
    const [workspace] = await listWorkspaces(tx, outer, userId, { workspaceId })
    if (!workspace) throw new Fault('not_found')
    return workspace
  }
  return [
    listRoute(listWorkspacesEndpoint, ({ caller, query }) => ({
      name: 'workspaces',
      read: ({ after: [after], limit }) => {
        const options = { workspaceId: query.workspace_id, after, limit: limit + 1 }
        return listWorkspaces(db, outer, caller.userId, options)
      },
      sortKey: ({ membership_id }) => [membership_id],
    })),
    route(createWorkspaceEndpoint, ({ caller, transaction, body: { invites = [], ...body } }) =>
      transaction(async (tx, audit) => {
        const workspace = await createWorkspace(tx, outer, {
          id: body.id,
          name: body.name,
          type: 'shared',
          ownerId: caller.userId,
          encryptedWorkspaceKey: body.encrypted_workspace_key,
          link: body.link,
        })
        await requireQuota(tx, config, 'workspaces', caller.userId)
        await countHourly(tx, services, 'created', caller.userId)
        const grant = await authorise(tx, caller, 'member.manage', { workspaceId: workspace.id })
        // A chain that was begun in this transaction takes nothing else.
        const outcomes = body.link ? [] : await inviteMembers({ tx, grant }, services, { invites })
        const resource = { type: 'workspace', id: workspace.id, name: workspace.name }
        audit
          .by(grant)
          .record({ action: 'workspace.created', resource }, ...invitationChanges(outcomes))
        return { ...workspace, invites: outcomes }
      }),
    ),
    route(getWorkspace, ({ tx, grant }) => show(tx, grant.userId, grant.workspaceId)),
    route(renameWorkspace, async ({ tx, grant, audit, body }) => {
      const resource = { type: 'workspace', id: grant.workspaceId, name: body.name }
      audit.record({ action: 'workspace.renamed', resource })
      const [, workspace] = await Promise.all([
        updateName(tx, grant, body.name),
        show(tx, grant.userId, grant.workspaceId),
      ])
      return workspace
    }),
    route(deleteWorkspace, ({ body: { link }, ...changing }) => remove(changing, services, link)),
  ]
}

async function remove(
  changing: Changing<Grant<'workspace.delete'>>,
  services: SignedServices,
  link: SignedText | undefined,
): Promise<undefined> {
  const { tx, grant, audit } = changing
  const [{ name, type }, chain] = await Promise.all([
    lockWorkspace(tx, grant),
    chainOf(changing, services),
  ])
  if (type === 'personal')
    throw new Fault('conflict', { message: 'A personal workspace cannot be deleted.' })
  await acceptLink(changing, chain, link, { type: 'workspace.deleted', body: {} })
  const resource = { type: 'workspace', id: grant.workspaceId, name }
  audit.record({ action: 'workspace.deleted', resource })
  await deleteWorkspaceRow(tx, grant)
}

/** Accepting or declining an invitation. Before, a person sees the envelope and the name, and nothing else. */
function invitationRoutes(services: SignedServices): Route[] {
  return [
    route(acceptInvitation, ({ caller, transaction, params: { workspace_id: workspaceId } }) =>
      transaction(async (tx, audit) => {
        await lockWorkspaceRow(tx, workspaceId)
        recordOwn({ caller, audit }, workspaceId, 'member.accepted')
        const [isAccepted, [workspace]] = await Promise.all([
          acceptOwn(tx, caller, workspaceId),
          listWorkspaces(tx, services.outer, caller.userId, { workspaceId }),
          requireQuota(tx, services.config, 'workspaces', caller.userId),
        ])
        if (!isAccepted || !workspace) throw new Fault('not_found')
        return workspace
      }),
    ),
    route(declineInvitation, ({ caller, transaction, params, body: { link } }) =>
      transaction(async (tx, audit) => {
        const { workspace_id: workspaceId } = params
        await lockWorkspaceRow(tx, workspaceId)
        recordOwn({ caller, audit }, workspaceId, 'member.declined')
        const [isDeclined] = await Promise.all([
          declineOwn(tx, caller, workspaceId),
          requireRekey(tx, workspaceId),
        ])
        if (!isDeclined) throw new Fault('not_found')
        // Declining is always possible: a stranger may have signed what cannot be read or followed.
        if (link) {
          const changing = { tx, grant: { workspaceId, userId: caller.userId } }
          const chain = await chainOf(changing, services)
          await acceptLink(changing, chain, link, removalOf(chain, caller.userId))
        }
        return undefined
      }),
    ),
  ]
}
