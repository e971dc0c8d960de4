/**
 * Handles the workspaces of a deleted account: the person leaves those with other owners,
 * their personal one goes with everything in it, and one that would have no owner left keeps them here.
 */

import { Fault } from '../../core/fault.ts'
import type { Caller } from '../../core/grant.ts'
import type { Transaction } from '../../database/open.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import type { AuditAction, UnboundAudit } from '../../http/recorder.ts'
import { authorise } from '../../identity/authorise.ts'
import { isSignedId } from '../../sigchain/index.ts'
import { type Place, selectPlaces } from './memberships.ts'
import {
  countMembers,
  declineInvitations,
  deleteMember,
  deleteWorkspaceRow,
  hasOtherOwner,
  requireRekey,
} from './queries.ts'

type Leaving = { tx: Transaction; caller: Caller; audit: UnboundAudit }

/**
 * Returns whether there was anything to leave, which is on record then.
 *
 * @throws Fault `last_owner` with the list of workspaces that would have no owner, `conflict` with the list of
 *   signed ones
 */
export async function leaveAll(leaving: Leaving): Promise<boolean> {
  const { tx, caller } = leaving
  // By ID for everybody, so that two people who leave the same workspaces do not wait for each other.
  const places = await selectPlaces(tx, caller.userId)
  await requireUnsigned(leaving, places)
  const orphaned: Place[] = []
  await declineAll(
    leaving,
    places.filter(({ status }) => status === 'invited').map(({ id }) => id),
  )
  for (const place of places) {
    if (place.status === 'active' && !(await leave(leaving, place))) orphaned.push(place)
  }
  if (orphaned.length > 0) throw buildLastOwnerFault(orphaned)
  return places.length > 0
}

/** Leaving a signed workspace needs a separate link, unlike an invitation. A personal one without others is deleted. */
async function requireUnsigned({ tx }: Leaving, places: readonly Place[]): Promise<void> {
  const signed: Place[] = []
  for (const place of places) {
    if (!isSignedId(place.id) || place.status === 'invited') continue
    const goes =
      place.type === 'personal' && (await countMembers(tx, { workspaceId: place.id })) === 1
    if (!goes) signed.push(place)
  }
  if (signed.length === 0) return
  throw new Fault('conflict', {
    message: 'Some workspaces are signed. Leave or delete them first with your signature.',
    fields: fieldsOf(signed),
  })
}

function buildLastOwnerFault(orphaned: readonly Place[]): Fault {
  return new Fault('last_owner', {
    message: 'Some workspaces would have no owner. Make another member an owner, or delete them.',
    fields: fieldsOf(orphaned),
  })
}

function fieldsOf(places: readonly Place[]) {
  return places.map(({ id, name }) => ({ path: id, message: name }))
}

/** Strangers decide how many invitations there are: a few statements for all of them. */
async function declineAll(
  { tx, caller, audit }: Leaving,
  workspaceIds: readonly string[],
): Promise<void> {
  for (const id of await declineInvitations(tx, caller, workspaceIds))
    recordOwn({ caller, audit }, id, 'member.declined')
}

/** False where nobody else owns it. */
async function leave({ tx, caller, audit }: Leaving, { id, name }: Place): Promise<boolean> {
  const grant = await authorise(tx, caller, 'workspace.read', { workspaceId: id })
  const { type } = await lockWorkspace(tx, grant)
  const isOnlyOwner = grant.role === 'owner' && !(await hasOtherOwner(tx, grant, caller.userId))
  if (isOnlyOwner && type === 'personal' && (await countMembers(tx, grant)) === 1) {
    const deleting = await authorise(tx, caller, 'workspace.delete', { workspaceId: id })
    await deleteWorkspaceRow(tx, deleting)
    const resource = { type: 'workspace', id, name }
    audit.by(deleting).record({ action: 'workspace.deleted', resource })
    return true
  }
  if (isOnlyOwner) return false
  await deleteMember(tx, grant, caller.userId)
  await requireRekey(tx, id)
  recordOwn({ caller, audit }, id, 'member.left')
  return true
}

/** A person's change to their membership. */
export function recordOwn(
  { caller: { userId, email }, audit }: Pick<Leaving, 'caller' | 'audit'>,
  workspaceId: string,
  action: AuditAction,
): void {
  const resource = { type: 'member', id: userId, name: email }
  audit.by({ workspaceId, userId, email }).record({ action, resource })
}
