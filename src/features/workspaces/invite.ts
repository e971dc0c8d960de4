/**
 * Invitations. One function serves the members' endpoint, the making of a workspace and the invitation
 * through a project, so that all of them obey the same rules. The inviter's client has sealed the
 * workspace key for each invitee; the server only stores the envelopes.
 */
import { and, eq, inArray, sql } from 'drizzle-orm'
import { toBase64 } from '../../core/crypto/encoding.ts'
import type { OuterLayer } from '../../core/crypto/outer_layer.ts'
import { Fault } from '../../core/fault.ts'
import type { Grant, Role } from '../../core/grant.ts'
import { countHourly } from '../../database/limits/hourly_quota.ts'
import { requireQuota } from '../../database/limits/quota.ts'
import type { Transaction } from '../../database/open.ts'
import { memberships, users } from '../../database/schema/index.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import type { Change } from '../../http/recorder.ts'
import type { PublicIdentity, SignedText } from '../../sigchain/index.ts'
import { acceptLink, type Claim, chainOf, type SignedServices } from '../links/index.ts'
import { requireMayChange } from './member_rights.ts'
import { sealEnvelope } from './memberships.ts'
import type { inviteStatuses, WorkspaceInvite } from './shapes.ts'

type Invitation = {
  invites: readonly WorkspaceInvite[]
  epoch?: number | undefined
  link?: SignedText | undefined
}

export type InviteOutcome = {
  userId: string | null
  email: string
  status: (typeof inviteStatuses)[number]
  /** The role of the person, or the role after accepting. */
  role: Role | null
}

/**
 * Invites people who have an account and are not members; a pending invitation is replaced. Returns the
 * outcomes in the order given; the caller records `invitationChanges`.
 *
 * @throws Fault `forbidden` for the whole batch when one entry is not the caller's to give,
 *   `epoch_conflict`, and what `acceptLink` throws
 */
export async function inviteMembers(
  changing: { tx: Transaction; grant: Grant<'member.manage'> },
  services: SignedServices,
  { invites, epoch, link }: Invitation,
): Promise<InviteOutcome[]> {
  const { tx, grant } = changing
  const workspace = await lockWorkspace(tx, grant)
  if (epoch !== undefined && epoch !== workspace.epoch) throw new Fault('epoch_conflict')
  const people = await findPeople(
    tx,
    grant,
    invites.map((entry) => entry.email),
  )
  const judged = invites.map((entry) => ({ entry, person: people.get(entry.email) ?? null }))
  for (const { entry, person } of judged) requireMayInvite(grant, entry, person)
  const chain = await chainOf(changing, services)
  const isSigned = chain !== null
  const invited = judged.flatMap(({ entry, person }) =>
    person && outcomeOf(entry, person, isSigned).status === 'invited' ? [{ entry, person }] : [],
  )
  const members = invited.flatMap(({ entry: { role }, person: { userId, email, keys } }) =>
    keys ? [{ user_id: userId, email, role, ...keys }] : [],
  )
  const claim: Claim | null = members.length > 0 ? { type: 'members.put', body: { members } } : null
  await acceptLink(changing, chain, link, claim)
  await upsertInvitations(tx, services.outer, grant, invited)
  await Promise.all([
    requireRoom(changing, services, invited),
    ...invited.map((one) => announceInvitation(changing, services, one)),
  ])
  return judged.map(({ entry, person }) => outcomeOf(entry, person, isSigned))
}

/** An invitation that replaces one adds nothing, and counts as sent all the same. */
async function requireRoom(
  { tx, grant }: { tx: Transaction; grant: Grant<'member.manage'> },
  services: SignedServices,
  invited: readonly { person: Person }[],
): Promise<void> {
  const { config } = services
  const added = invited.filter(({ person }) => person.status === null)
  if (added.length > 0) await requireQuota(tx, config, 'members', grant.workspaceId)
  // In one order, since each is locked.
  for (const userId of added.map(({ person }) => person.userId).sort())
    await requireQuota(tx, config, 'invitations', userId)
  for (const _ of invited) await countHourly(tx, services, 'sentInvitations', grant.userId)
}

async function announceInvitation(
  { tx, grant }: { tx: Transaction; grant: Grant<'member.manage'> },
  { notices }: SignedServices,
  { entry: { role }, person: { userId, email } }: { entry: WorkspaceInvite; person: Person },
): Promise<void> {
  const event = 'member.invited' as const
  const cause = `${event}/${userId}/${Bun.randomUUIDv7()}`
  const fields = { member: email, code: role }
  await notices.announce(grant.workspaceId, { event, cause, fields }, tx)
}

/** The data that the caller of `inviteMembers` records with its outcomes. */
export function invitationChanges(outcomes: readonly InviteOutcome[]): Change[] {
  return outcomes
    .filter(({ status }) => status === 'invited')
    .map(({ userId, email }) => ({
      action: 'member.invited',
      resource: { type: 'member', id: userId, name: email },
    }))
}

/** The roles in which people of the workspace act already, by address; invitations do not count. */
export async function readActiveRoles(
  tx: Transaction,
  grant: Grant,
  emails: readonly string[],
): Promise<Map<string, Role>> {
  const people = await findPeople(tx, grant, emails)
  return new Map(
    [...people.values()].flatMap(({ email, status, role }) =>
      status === 'active' && role ? [[email, role]] : [],
    ),
  )
}

type Person = {
  userId: string
  email: string
  role: Role | null
  status: 'active' | 'invited' | null
  /** Null for who cannot sign. */
  keys: PublicIdentity | null
}

async function findPeople(
  tx: Transaction,
  grant: Grant,
  emails: readonly string[],
): Promise<Map<string, Person>> {
  if (emails.length === 0) return new Map()
  const found = await tx
    .select({
      userId: users.id,
      email: users.email,
      role: memberships.role,
      status: memberships.status,
      signing: users.signingKey,
      sealing: users.publicKey,
    })
    .from(users)
    .leftJoin(
      memberships,
      and(eq(memberships.userId, users.id), eq(memberships.workspaceId, grant.workspaceId)),
    )
    .where(inArray(users.email, [...emails]))
    // A person who is replacing their keys is invited with the new ones.
    .for('key share', { of: users })
  return new Map(
    found.map(({ signing, sealing, ...person }) => {
      const keys = signing && { signing_key: toBase64(signing), public_key: toBase64(sealing) }
      return [person.email, { ...person, keys }]
    }),
  )
}

function requireMayInvite(grant: Grant, { role }: WorkspaceInvite, person: Person | null): void {
  const pending = person?.status === 'invited' ? person.role : null
  requireMayChange(grant, { kind: 'invite', role, pending })
}

async function upsertInvitations(
  tx: Transaction,
  outer: OuterLayer,
  { workspaceId }: Grant<'member.manage'>,
  invited: readonly { entry: WorkspaceInvite; person: Person }[],
): Promise<void> {
  if (invited.length === 0) return
  const rows = invited.map(async ({ entry, person: { userId } }) => ({
    workspaceId,
    userId,
    role: entry.role,
    status: 'invited' as const,
    encryptedWorkspaceKey: await sealEnvelope(
      outer,
      { workspaceId, userId },
      entry.encrypted_workspace_key,
    ),
  }))
  await tx
    .insert(memberships)
    .values(await Promise.all(rows))
    .onConflictDoUpdate({
      target: [memberships.workspaceId, memberships.userId],
      set: {
        role: sql`excluded.role`,
        encryptedWorkspaceKey: sql`excluded.encrypted_workspace_key`,
        updatedAt: sql`now()`,
      },
      // A person who accepted in the meantime is a member, whatever this invitation would make of them.
      setWhere: eq(memberships.status, 'invited'),
    })
}

function outcomeOf(
  { email, role }: WorkspaceInvite,
  person: Person | null,
  isSigned: boolean,
): InviteOutcome {
  if (!person) return { userId: null, email, status: 'user_not_found', role: null }
  const { userId, status, keys } = person
  if (status === 'active') return { userId, email, status: 'already_member', role: person.role }
  if (isSigned && !keys) return { userId, email, status: 'no_signing_key', role: null }
  return { userId, email, status: 'invited', role }
}
