/**
 * The workspaces of a person, and the creation of new ones. A workspace never
 * exists without an envelope for its creator, because the server could not make one (protocol 1).
 */
import { and, asc, eq, gt } from 'drizzle-orm'
import { toBase64 } from '../../core/crypto/encoding.ts'
import type { OuterLayer } from '../../core/crypto/outer_layer.ts'
import { Fault } from '../../core/fault.ts'
import type { Role } from '../../core/grant.ts'
import type { Database, Transaction } from '../../database/open.ts'
import { memberships, workspaces } from '../../database/schema/index.ts'
import type { SignedText } from '../../sigchain/index.ts'
import { acceptFirstLink } from '../links/index.ts'

/** Before the result schema shapes it; `membership_id` is the sort key of the list and is not shown. */
export type WorkspaceOfPerson = {
  membership_id: string
  id: string
  name: string
  type: 'personal' | 'shared'
  role: Role
  status: 'active' | 'invited'
  /** Null where the outer layer does not open it. */
  encrypted_workspace_key: string | null
  epoch: number
  rekey_required: boolean
  created_at: Date
  updated_at: Date
}

type ListOptions = {
  /** Only this workspace. */
  workspaceId?: string | undefined
  status?: 'active' | undefined
  /** The `membership_id` after which the page begins. */
  after?: string | undefined
  /** How many rows at most; all unless given. */
  limit?: number | undefined
}

const shown = {
  membership_id: memberships.id,
  id: workspaces.id,
  name: workspaces.name,
  type: workspaces.type,
  role: memberships.role,
  status: memberships.status,
  sealed: memberships.encryptedWorkspaceKey,
  epoch: workspaces.epoch,
  rekey_required: workspaces.rekeyRequired,
  created_at: workspaces.createdAt,
  updated_at: workspaces.updatedAt,
}

/** The workspaces that a person belongs to or is invited to, in the order in which they came to them. */
export async function listWorkspaces(
  db: Database | Transaction,
  outer: OuterLayer,
  userId: string,
  { workspaceId, status, after, limit }: ListOptions = {},
): Promise<WorkspaceOfPerson[]> {
  const query = db
    .select(shown)
    .from(memberships)
    .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
    .where(
      and(
        eq(memberships.userId, userId),
        workspaceId === undefined ? undefined : eq(memberships.workspaceId, workspaceId),
        status === undefined ? undefined : eq(memberships.status, status),
        after === undefined ? undefined : gt(memberships.id, after),
      ),
    )
    .orderBy(asc(memberships.id))
  const rows = await (limit === undefined ? query : query.limit(limit))
  return Promise.all(
    rows.map(async ({ sealed, ...row }) => ({
      ...row,
      encrypted_workspace_key: await openEnvelope(outer, { workspaceId: row.id, userId }, sealed),
    })),
  )
}

export type Place = Pick<WorkspaceOfPerson, 'id' | 'name' | 'type' | 'status'>

/** The same without opening an envelope, by ID. */
export function selectPlaces(tx: Transaction, userId: string): Promise<Place[]> {
  const { id, name, type, status } = shown
  return tx
    .select({ id, name, type, status })
    .from(memberships)
    .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
    .where(eq(memberships.userId, userId))
    .orderBy(asc(workspaces.id))
}

export type NewWorkspace = {
  /** Chosen by the client, because its envelope binds it. */
  id?: string | undefined
  name: string
  type: 'personal' | 'shared'
  ownerId: string
  /** Base64, checked by `encryptedWorkspaceKey`. */
  encryptedWorkspaceKey: string
  /** The ID of a signed workspace, which has UUID version 8. */
  link?: SignedText | undefined
}

/**
 * Creates a workspace with its owner as only member. The caller records `workspace.created`.
 *
 * @throws Fault `already_exists` when the id is taken, by any workspace; `link_required`, `link_refused`
 */
export async function createWorkspace(
  tx: Transaction,
  outer: OuterLayer,
  { id = Bun.randomUUIDv7(), name, type, ownerId, link, ...sent }: NewWorkspace,
): Promise<WorkspaceOfPerson> {
  const { encryptedWorkspaceKey: envelope } = sent
  const [workspace] = await tx
    .insert(workspaces)
    .values({ id, name, type })
    .onConflictDoNothing()
    .returning()
  if (!workspace)
    throw new Fault('already_exists', { message: 'The workspace ID is already used.' })
  const membershipId = Bun.randomUUIDv7()
  const ownership = { role: 'owner', status: 'active' } as const
  await tx.insert(memberships).values({
    ...ownership,
    id: membershipId,
    workspaceId: id,
    userId: ownerId,
    encryptedWorkspaceKey: await sealEnvelope(
      outer,
      { workspaceId: id, userId: ownerId },
      envelope,
    ),
  })
  await acceptFirstLink({ tx, grant: { workspaceId: id, userId: ownerId } }, link)
  return {
    ...ownership,
    membership_id: membershipId,
    id,
    name,
    type,
    encrypted_workspace_key: envelope,
    epoch: workspace.epoch,
    rekey_required: workspace.rekeyRequired,
    created_at: workspace.createdAt,
    updated_at: workspace.updatedAt,
  }
}

/** The member and workspace of an envelope: the row that the outer layer binds it to (protocol 3.4). */
export type EnvelopePlace = { workspaceId: string; userId: string }

/** A member's envelope as it is stored. */
export function sealEnvelope(
  outer: OuterLayer,
  { workspaceId, userId }: EnvelopePlace,
  envelope: string,
): Promise<Uint8Array> {
  const raw = Uint8Array.fromBase64(envelope)
  const row = [{ uuid: workspaceId }, { uuid: userId }]
  return outer.seal('memberships.encrypted_workspace_key', workspaceId, row, raw)
}

/** The envelope as its member sent it; null for one that was altered, so that it costs none of the others. */
async function openEnvelope(
  outer: OuterLayer,
  { workspaceId, userId }: EnvelopePlace,
  sealed: Uint8Array,
): Promise<string | null> {
  const row = [{ uuid: workspaceId }, { uuid: userId }]
  const raw = await outer.open('memberships.encrypted_workspace_key', workspaceId, row, sealed)
  return raw && toBase64(raw)
}
