/** Workspaces and memberships as rows. Those of a tenant need a grant for it. */
import { and, asc, count, eq, gt, inArray, ne, sql } from 'drizzle-orm'
import { toBase64 } from '../../core/crypto/encoding.ts'
import type { Caller, Grant, Role } from '../../core/grant.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import { memberships, users, workspaces } from '../../database/schema/index.ts'
import type { Page } from '../../http/page.ts'

export async function updateName(
  tx: Transaction,
  grant: Grant<'workspace.update'>,
  name: string,
): Promise<void> {
  await tx
    .update(workspaces)
    .set({ name, updatedAt: sql`now()` })
    .where(eq(workspaces.id, grant.workspaceId))
}

/** Everything in it goes with it; the audit stays. */
export async function deleteWorkspaceRow(
  tx: Transaction,
  grant: Grant<'workspace.delete'>,
): Promise<void> {
  await tx.delete(workspaces).where(eq(workspaces.id, grant.workspaceId))
}

/** Anyone who could open an envelope may have kept the key, so the workspace needs a new one. */
export async function requireRekey(tx: Transaction, workspaceId: string): Promise<void> {
  await tx
    .update(workspaces)
    .set({ rekeyRequired: true, updatedAt: sql`now()` })
    .where(eq(workspaces.id, workspaceId))
}

const shownMember = {
  id: memberships.id,
  user_id: users.id,
  email: users.email,
  first: users.firstName,
  last: users.lastName,
  role: memberships.role,
  status: memberships.status,
  key: users.publicKey,
  signing: users.signingKey,
  created_at: memberships.createdAt,
  updated_at: memberships.updatedAt,
}

type MemberRow = {
  id: string
  user_id: string
  email: string
  first: string
  last: string
  role: Role
  status: 'active' | 'invited'
  key: Uint8Array
  signing: Uint8Array | null
  created_at: Date
  updated_at: Date
}

export function showMember({ first, last, key, signing, ...row }: MemberRow) {
  return {
    ...row,
    name: `${first} ${last}`.trim(),
    public_key: toBase64(key),
    signing_key: signing && toBase64(signing),
  }
}

type Read = Grant<'workspace.read' | 'member.manage'>

/** One row more than the page holds, by address. */
export function selectMembers(
  tx: Reading,
  grant: Read,
  { after: [after], limit }: Page,
): Promise<MemberRow[]> {
  return tx
    .select(shownMember)
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(
        eq(memberships.workspaceId, grant.workspaceId),
        after === undefined ? undefined : gt(users.email, after),
      ),
    )
    .orderBy(asc(users.email))
    .limit(limit + 1)
}

/** The member in a path: by ID or by email address. */
export type MemberRef = { userId: string } | { email: string }

export async function selectMember(
  tx: Transaction,
  grant: Read,
  ref: MemberRef,
): Promise<MemberRow | null> {
  const which = 'userId' in ref ? eq(users.id, ref.userId) : eq(users.email, ref.email)
  const [member] = await tx
    .select(shownMember)
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.workspaceId, grant.workspaceId), which))
  return member ?? null
}

export async function hasOtherOwner(
  tx: Transaction,
  grant: Read,
  userId: string,
): Promise<boolean> {
  const [other] = await tx
    .select({ id: memberships.id })
    .from(memberships)
    .where(
      and(
        eq(memberships.workspaceId, grant.workspaceId),
        eq(memberships.role, 'owner'),
        eq(memberships.status, 'active'),
        ne(memberships.userId, userId),
      ),
    )
    .limit(1)
  return other !== undefined
}

/** Active ones and invited ones. */
export async function countMembers(
  tx: Transaction,
  grant: Pick<Read, 'workspaceId'>,
): Promise<number> {
  const [row] = await tx
    .select({ members: count() })
    .from(memberships)
    .where(eq(memberships.workspaceId, grant.workspaceId))
  return row?.members ?? 0
}

export async function updateRole(
  tx: Transaction,
  grant: Grant<'member.manage'>,
  userId: string,
  role: Role,
): Promise<void> {
  await tx
    .update(memberships)
    .set({ role, updatedAt: sql`now()` })
    .where(and(eq(memberships.workspaceId, grant.workspaceId), eq(memberships.userId, userId)))
}

export async function deleteMember(tx: Transaction, grant: Read, userId: string): Promise<void> {
  await tx
    .delete(memberships)
    .where(and(eq(memberships.workspaceId, grant.workspaceId), eq(memberships.userId, userId)))
}

function ownInvitation({ userId }: Caller, workspaceId: string) {
  return and(
    eq(memberships.workspaceId, workspaceId),
    eq(memberships.userId, userId),
    eq(memberships.status, 'invited'),
  )
}

/** Tells whether there was an invitation. */
export async function acceptOwn(
  tx: Transaction,
  caller: Caller,
  workspaceId: string,
): Promise<boolean> {
  const accepted = await tx
    .update(memberships)
    .set({ status: 'active', updatedAt: sql`now()` })
    .where(ownInvitation(caller, workspaceId))
    .returning({ id: memberships.id })
  return accepted.length > 0
}

/**
 * Locks the workspaces in the order of their IDs, as everyone who locks several, deletes the caller's invitations, and
 * demands new keys of these workspaces. Returns where there was one.
 */
export async function declineInvitations(
  tx: Transaction,
  caller: Caller,
  workspaceIds: readonly string[],
): Promise<string[]> {
  if (workspaceIds.length === 0) return []
  await tx
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(inArray(workspaces.id, [...workspaceIds]))
    .orderBy(asc(workspaces.id))
    .for('no key update')
  const declined = await tx
    .delete(memberships)
    .where(and(eq(memberships.userId, caller.userId), eq(memberships.status, 'invited')))
    .returning({ id: memberships.workspaceId })
  const ids = declined.map(({ id }) => id)
  await tx
    .update(workspaces)
    .set({ rekeyRequired: true, updatedAt: sql`now()` })
    .where(inArray(workspaces.id, ids))
  return ids
}

/** Tells whether there was an invitation. */
export async function declineOwn(
  tx: Transaction,
  caller: Caller,
  workspaceId: string,
): Promise<boolean> {
  const declined = await tx
    .delete(memberships)
    .where(ownInvitation(caller, workspaceId))
    .returning({ id: memberships.id })
  return declined.length > 0
}
