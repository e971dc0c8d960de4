/**
 * Updates the workspaces of a person with new keys: in each of them their envelope is replaced, a signed one
 * takes the link that says so, and all need a rekey, since the old key may be known to others. Invitations may be left
 * out: strangers send them, with whatever is in them.
 */
import { and, eq, sql } from 'drizzle-orm'
import { Fault, type FieldFault } from '../../core/fault.ts'
import type { Caller } from '../../core/grant.ts'
import type { Transaction } from '../../database/open.ts'
import { memberships } from '../../database/schema/index.ts'
import { lockWorkspaceRow } from '../../database/workspace_lock.ts'
import type { UnboundAudit } from '../../http/recorder.ts'
import type { Chain, PublicIdentity, SignedText } from '../../sigchain/index.ts'
import type { KeptGrants } from '../agents/index.ts'
import { acceptLink, type Claim, chainOf, type SignedServices } from '../links/index.ts'
import { type EnvelopePlace, sealEnvelope } from './memberships.ts'
import { requireRekey } from './queries.ts'
import { endSigned } from './signed_members.ts'

type Entry = {
  workspace_id: string
  encrypted_workspace_key: string
  epoch?: number | undefined
  link?: SignedText | undefined
  /** The person's grants that are signed again, with the new key. */
  grants?: KeptGrants | undefined
}
/** With the epoch that the workspace is at. */
type Locked = Entry & { current: number }

type NewOwnKeys = PublicIdentity & { locked: readonly Locked[] }
type Changing = { tx: Transaction; caller: Caller; audit: UnboundAudit }

/**
 * Holds all of them, in one order for everybody, until the transaction ends.
 *
 * @throws Fault `validation_error` for what is named twice, `not_found` for what is not the caller's
 */
export async function lockAll(
  tx: Transaction,
  caller: Caller,
  entries: readonly Entry[],
): Promise<Locked[]> {
  const own = await selectOwn(tx, caller)
  const ids = entries.map(({ workspace_id: id }) => id)
  refuse(
    entries.flatMap((entry, index) =>
      ids.indexOf(entry.workspace_id) < index
        ? [{ path: `workspaces.${index}.workspace_id`, message: 'is given twice' }]
        : [],
    ),
  )
  if (!ids.every((id) => own.has(id))) throw new Fault('not_found')
  const locked: Locked[] = []
  const inOrder = entries.toSorted((one, other) => (one.workspace_id < other.workspace_id ? -1 : 1))
  for (const entry of inOrder) {
    const { epoch: current } = await lockWorkspaceRow(tx, entry.workspace_id)
    locked.push({ ...entry, current })
  }
  return locked
}

/**
 * To be called with the person's row locked, so that no membership comes, and before it has the new keys. Returns
 * whether there was any workspace, which is on record then.
 *
 * @throws Fault `validation_error` with the list of what is missing, `not_found`, `epoch_conflict`, and what
 *   `acceptLink` throws
 */
export async function replaceOwn(
  { tx, caller, audit }: Changing,
  services: SignedServices,
  { locked, signing_key, public_key }: NewOwnKeys,
): Promise<boolean> {
  const { userId, email } = caller
  const named = new Set(locked.map(({ workspace_id: id }) => id))
  const own = await selectOwn(tx, caller)
  const missing = [...own].flatMap(([id, status]) =>
    status === 'active' && !named.has(id) ? [id] : [],
  )
  refuse(missing.map((id) => ({ path: `workspaces.${id}`, message: 'is missing' })))
  if (![...named].every((id) => own.has(id))) throw new Fault('not_found')
  for (const { workspace_id: workspaceId, link, ...entry } of locked) {
    if ((entry.epoch ?? entry.current) !== entry.current) throw new Fault('epoch_conflict')
    const changing = { tx, grant: { workspaceId, userId } }
    const chain = await chainOf(changing, services)
    const rotation = rotationOf(chain, userId, { signing_key, public_key })
    const after = await acceptLink(changing, chain, link, rotation)
    const recording = audit.by({ workspaceId, userId, email })
    const { grants: kept, current: epoch } = entry
    const ending = { before: chain, after, userId, kept, epoch }
    await endSigned({ ...changing, audit: recording, caller }, services, ending)
    await storeEnvelope(tx, services, { workspaceId, userId }, entry.encrypted_workspace_key)
    await requireRekey(tx, workspaceId)
    const resource = { type: 'member', id: userId, name: email }
    recording.record({ action: 'member.keys_rotated', resource })
  }
  return locked.length > 0
}

/** Null for who is no member there. */
function rotationOf(chain: Chain | null, userId: string, keys: PublicIdentity): Claim | null {
  return chain?.members.has(userId) ? { type: 'keys.rotated', body: keys } : null
}

async function selectOwn(tx: Transaction, { userId }: Caller) {
  const rows = await tx
    .select({ id: memberships.workspaceId, status: memberships.status })
    .from(memberships)
    .where(eq(memberships.userId, userId))
  return new Map(rows.map(({ id, status }) => [id, status]))
}

async function storeEnvelope(
  tx: Transaction,
  { outer }: SignedServices,
  place: EnvelopePlace,
  envelope: string,
): Promise<void> {
  const { workspaceId, userId } = place
  await tx
    .update(memberships)
    .set({
      encryptedWorkspaceKey: await sealEnvelope(outer, place, envelope),
      updatedAt: sql`now()`,
    })
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.userId, userId)))
}

function refuse(fields: FieldFault[]): void {
  if (fields.length > 0) throw new Fault('validation_error', { fields })
}
