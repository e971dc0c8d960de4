/**
 * Members: who is in, in which role, and how they go. Every change holds the workspace's lock, so that
 * two owners who demote each other at once cannot leave it without one.
 */
import type { Transaction } from '../../platform/db/open.ts'
import { lockWorkspace } from '../../platform/db/workspace_lock.ts'
import { Fault } from '../../platform/fault.ts'
import type { Grant } from '../../platform/grant.ts'
import { openPager } from '../../platform/http/page.ts'
import type { Action, Change } from '../../platform/http/recorder.ts'
import { created } from '../../platform/http/reply.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { email, isUuid } from '../../platform/http/validate.ts'
import type { FeatureServices } from '../../platform/services.ts'
import { type MemberChange, mayChangeMember } from '../../sigchain/index.ts'
import { changeMemberRole, inviteMembersEndpoint, listMembers, removeMember } from './contract.ts'
import { invitationChanges, inviteMembers } from './invite.ts'
import {
  countOwners,
  deleteMember,
  type MemberRef,
  requireRekey,
  selectMember,
  selectMembers,
  showMember,
  updateRole,
} from './queries.ts'

export function memberRoutes({ outer, config }: FeatureServices): Route[] {
  const pager = openPager(config)
  return [
    route(listMembers, async ({ tx, grant, query }) => {
      const [after] = pager.start('members', query.cursor) ?? []
      const rows = await selectMembers(tx, grant, { after, limit: query.limit })
      return pager.cut('members', rows, query.limit, (row) => [row.email], showMember)
    }),
    route(inviteMembersEndpoint, async ({ tx, grant, audit, body }) => {
      const outcomes = await inviteMembers(tx, outer, grant, body)
      const changes = invitationChanges(outcomes)
      if (changes.length === 0) {
        audit.unchanged()
        return outcomes
      }
      audit.record(...changes)
      return created(outcomes)
    }),
    route(changeMemberRole, async ({ tx, grant, audit, params, body: { role } }) => {
      const target = await lockMember(tx, grant, params.member)
      requireMayChange(grant, { kind: 'set_role', from: target.role, to: role })
      if (role === target.role) {
        audit.unchanged()
        return showMember(target)
      }
      if (role !== 'owner') await requireOtherOwner(tx, grant, target)
      await updateRole(tx, grant, target.user_id, role)
      const action = role === 'owner' ? 'workspace.ownership_transferred' : 'member.role_changed'
      audit.record(change(action, target))
      return showMember(await findMember(tx, grant, { userId: target.user_id }))
    }),
    route(removeMember, async ({ tx, grant, audit, params }) => {
      const target = await lockMember(tx, grant, params.member)
      const self = target.user_id === grant.userId
      requireMayChange(grant, { kind: 'remove', from: target.role, self })
      await requireOtherOwner(tx, grant, target)
      await deleteMember(tx, grant, target.user_id)
      await requireRekey(tx, grant.workspaceId)
      audit.record(change(self ? 'member.left' : 'member.removed', target))
      return undefined
    }),
  ]
}

type Manager = Grant<'workspace.read' | 'member.manage'>
type Member = Awaited<ReturnType<typeof findMember>>

/** The member that the path names, with the workspace locked. */
async function lockMember(tx: Transaction, grant: Manager, named: string): Promise<Member> {
  await lockWorkspace(tx, grant)
  return findMember(tx, grant, refOf(named))
}

async function findMember(tx: Transaction, grant: Manager, ref: MemberRef) {
  const member = await selectMember(tx, grant, ref)
  if (!member) throw new Fault('not_found')
  return member
}

/** What is neither an id nor an address names no member. */
function refOf(named: string): MemberRef {
  if (isUuid(named)) return { userId: named }
  const address = email.safeParse(named)
  if (!address.success) throw new Fault('not_found')
  return { email: address.data }
}

function requireMayChange(grant: Grant, change: MemberChange): void {
  if (!mayChangeMember(grant.role, change)) throw new Fault('forbidden')
}

/** An invited owner does not count: they might decline. */
async function requireOtherOwner(tx: Transaction, grant: Manager, target: Member): Promise<void> {
  if (target.role !== 'owner' || target.status !== 'active') return
  if ((await countOwners(tx, grant)) < 2) throw new Fault('last_owner')
}

function change(action: Action, { user_id: id, email: name }: Member): Change {
  return { action, resource: { type: 'member', id, name } }
}
