/**
 * Members: who is in, in which role, and how they go. Every change holds the workspace's lock, so that
 * two owners who demote each other at once cannot leave it without one.
 */

import { Fault } from '../../core/fault.ts'
import type { Caller, Grant, Role } from '../../core/grant.ts'
import { email, isUuid } from '../../core/validation/validate.ts'
import type { Transaction } from '../../database/open.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import type { AuditAction, Change } from '../../http/recorder.ts'
import { replyCreated } from '../../http/reply.ts'
import { type Changing, listRoute, type Route, route } from '../../http/route.ts'
import type { Chain, SignedText } from '../../sigchain/index.ts'
import type { KeptGrants } from '../agents/index.ts'
import { acceptLink, chainOf, type SignedServices } from '../links/index.ts'
import { changeMemberRole, inviteMembersEndpoint, listMembers, removeMember } from './contract.ts'
import { invitationChanges, inviteMembers } from './invite.ts'
import { requireMayChange } from './member_rights.ts'
import {
  deleteMember,
  hasOtherOwner,
  type MemberRef,
  requireRekey,
  selectMember,
  selectMembers,
  showMember,
  updateRole,
} from './queries.ts'
import { endSigned, removalOf, roleChangeOf } from './signed_members.ts'

export function memberRoutes(services: SignedServices): Route[] {
  return [
    listRoute(listMembers, ({ tx, grant }) => ({
      name: 'members',
      read: (page) => selectMembers(tx, grant, page),
      sortKey: ({ email }) => [email],
      open: (rows) => rows.map(showMember),
    })),
    route(inviteMembersEndpoint, async ({ tx, grant, audit, body }) => {
      const outcomes = await inviteMembers({ tx, grant }, services, body)
      const changes = invitationChanges(outcomes)
      if (changes.length === 0) {
        audit.unchanged()
        return outcomes
      }
      audit.record(...changes)
      return replyCreated(outcomes)
    }),
    route(changeMemberRole, ({ params: { member }, body, ...changing }) =>
      changeRole(changing, services, { named: member, ...body }),
    ),
    route(removeMember, ({ params: { member }, body, ...changing }) =>
      remove(changing, services, { named: member, ...body }),
    ),
  ]
}

type Sent = {
  named: string
  link?: SignedText | undefined
  /** The member's grants that are signed again. */
  grants?: KeptGrants | undefined
}

async function changeRole(
  changing: Changing<Grant<'member.manage'>> & { caller: Caller },
  services: SignedServices,
  { named, role, link, grants: kept }: Sent & { role: Role },
) {
  const { tx, grant, audit } = changing
  const ref = refOf(named)
  const [{ epoch }, target, chain] = await Promise.all([
    lockWorkspace(tx, grant),
    findMember(tx, grant, ref),
    chainOf(changing, services),
  ])
  requireMayChange(grant, { kind: 'set_role', from: target.role, to: role })
  const claim = roleChangeOf(chain, target.user_id, role)
  const after = await acceptLink(changing, chain, link, claim)
  const signed = { before: chain, after, userId: target.user_id, kept, epoch }
  await endSigned(changing, services, signed)
  if (role === target.role && claim === null) {
    audit.unchanged()
    return showMember(target)
  }
  if (role !== 'owner') await requireOtherOwner(tx, grant, target)
  const action = role === 'owner' ? 'workspace.ownership_transferred' : 'member.role_changed'
  audit.record(change(action, target))
  const [, , changed] = await Promise.all([
    updateRole(tx, grant, target.user_id, role),
    // Earlier signatures of a reader are valid until the rekey.
    chain && role === 'read_only' && requireRekey(tx, grant.workspaceId),
    findMember(tx, grant, { userId: target.user_id }),
  ])
  return showMember(changed)
}

async function remove(
  changing: Changing<Manager> & { caller: Caller },
  services: SignedServices,
  { named, link, grants: kept }: Sent,
): Promise<undefined> {
  const { tx, grant, audit } = changing
  const ref = refOf(named)
  const [{ epoch }, chain, stored] = await Promise.all([
    lockWorkspace(tx, grant),
    chainOf(changing, services),
    selectMember(tx, grant, ref),
  ])
  const target = stored ?? findSigned(chain, ref)
  const self = target.user_id === grant.userId
  requireMayChange(grant, { kind: 'remove', from: target.role, self })
  const after = await acceptLink(changing, chain, link, removalOf(chain, target.user_id))
  const signed = { before: chain, after, userId: target.user_id, kept, epoch }
  await endSigned(changing, services, signed)
  await requireOtherOwner(tx, grant, target)
  audit.record(change(self ? 'member.left' : 'member.removed', target))
  await Promise.all([deleteMember(tx, grant, target.user_id), requireRekey(tx, grant.workspaceId)])
}

type Manager = Grant<'workspace.read' | 'member.manage'>
async function findMember(tx: Transaction, grant: Manager, ref: MemberRef) {
  const member = await selectMember(tx, grant, ref)
  if (!member) throw new Fault('not_found')
  return member
}

type Removable = { user_id: string; email: string; role: Role; status: 'active' | 'invited' }

/** A member in the chain of a signed workspace whose row was lost: the link still says it. */
function findSigned(chain: Chain | null, ref: MemberRef): Removable {
  const signed = [...(chain?.members.values() ?? [])].find(({ user_id, email }) =>
    'userId' in ref ? user_id === ref.userId : email === ref.email,
  )
  if (!signed) throw new Fault('not_found')
  return { ...signed, status: 'active' }
}

/** A text that is neither an ID nor an email address matches no member. */
function refOf(named: string): MemberRef {
  if (isUuid(named)) return { userId: named }
  const address = email.safeParse(named)
  if (!address.success) throw new Fault('not_found')
  return { email: address.data }
}

/** An invited owner does not count, as one does in a chain: they might decline. */
async function requireOtherOwner(
  tx: Transaction,
  grant: Manager,
  target: Removable,
): Promise<void> {
  if (target.role !== 'owner' || target.status !== 'active') return
  if (!(await hasOtherOwner(tx, grant, target.user_id))) throw new Fault('last_owner')
}

function change(action: AuditAction, { user_id: id, email: name }: Removable): Change {
  return { action, resource: { type: 'member', id, name } }
}
