/**
 * The link that a change of a signed workspace carries: it must continue the chain, follow its rules, be signed by the
 * session's person, and match the call exactly. It is stored in the transaction of the change, under the workspace's
 * lock.
 */
import canonicalize from 'canonicalize'
import { type ChainCache, hasRoomFor } from '../../access/signed/chains.ts'
import { UnreadBefore } from '../../core/async/unread.ts'
import { Fault } from '../../core/fault.ts'
import type { Database, Reading, Transaction } from '../../database/open.ts'
import { noteSigned } from '../../database/signed_notes.ts'
import {
  type Chain,
  emptyChain,
  extend,
  isSignedId,
  type Link,
  Refusal,
  readLink,
  type SignedText,
} from '../../sigchain/index.ts'
import { insertLink, type Named, selectLinks, selectNamed } from './queries.ts'

/** The actor and the changed workspace. */
type Changing = { tx: Transaction; grant: { workspaceId: string; userId: string } }

/** The required content of a link, except the commitment to a key, which only clients can check. */
export type Claim = {
  [Type in Link['type']]: {
    type: Type
    body: Omit<Extract<Link, { type: Type }>['body'], 'key_commitment'>
  }
}[Link['type']]

/** The room in a chain that is reserved for links that end something. */
const RESERVED = { links: 1_000, size: 2 * 1_048_576 }
const NONE = { links: 0, size: 0 }

/** Uncommitted links, by transaction. No cache may see them. */
const uncommitted = new WeakMap<Reading, Set<string>>()

/**
 * The verified chain of the workspace, as it is before the change; null for one that is not signed.
 *
 * @throws Fault `unverified_state`, and UnreadBefore where it has to be verified from its beginning: others would
 *   wait for the transaction meanwhile, which is therefore begun again
 */
export async function chainOf(
  { tx, grant: { workspaceId } }: { tx: Reading; grant: { workspaceId: string } },
  { db, chains }: { db: Database; chains: ChainCache },
): Promise<Chain | null> {
  if (!isSignedId(workspaceId)) return null
  if (uncommitted.get(tx)?.has(workspaceId))
    throw new TypeError('the chain grew in this transaction')
  const read = (reader: Reading) =>
    chains.of(workspaceId, (after) => selectLinks(reader, workspaceId, after))
  if (!chains.has(workspaceId)) throw new UnreadBefore(() => read(db))
  return read(tx)
}

/**
 * The chain with the link of a call, which is stored. `claim` is what the call does, or null for nothing: then
 * it carries no link. The previous chain comes from `chainOf`, under the workspace's lock.
 *
 * @throws Fault `link_required`, `link_refused`, `conflict`, `last_owner`
 */
export async function acceptLink(
  changing: Changing,
  before: Chain | null,
  link: SignedText | undefined,
  claim: Claim | null,
): Promise<Chain | null> {
  if (before === null) {
    if (link) throw buildRefusedFault('The workspace is not signed and accepts no links.')
    return null
  }
  if (link) return append(changing, before, link, claim)
  if (claim) throw new Fault('link_required')
  return before
}

/**
 * Accepts the first link of a new workspace. Its founder has just been stored.
 *
 * @throws Fault `link_required`, `link_refused`
 */
export async function acceptFirstLink(
  changing: Changing,
  link: SignedText | undefined,
): Promise<void> {
  const { workspaceId, userId } = changing.grant
  if (!isSignedId(workspaceId)) {
    if (link) throw buildRefusedFault('The ID of a signed workspace must be a UUID of version 8.')
    return
  }
  if (!link) throw new Fault('link_required')
  const founder = await selectNamed(changing.tx, userId)
  const claim: Claim | null = founder && { type: 'workspace.created', body: { founder, epoch: 1 } }
  await append(changing, emptyChain(workspaceId), link, claim)
}

async function append(
  { tx, grant: { workspaceId, userId } }: Changing,
  before: Chain,
  link: SignedText,
  claim: Claim | null,
): Promise<Chain> {
  const reserved = claim && endsSomething(before, userId, claim) ? NONE : RESERVED
  if (!hasRoomFor(before, link.statement.length, reserved))
    throw buildRefusedFault('The chain has reached its maximum length.')
  const chain = await extendChain(before, link)
  const said = readLink(link)
  if (claim === null || !isSaid(said, claim))
    throw buildRefusedFault('The link differs from the request.')
  const signer = (before.seq === 0 ? chain : before).members.get(userId)
  const stored = await selectNamed(tx, userId)
  if (said.signer !== userId || !signer || !stored || !hasKeysOf(signer, stored))
    throw buildRefusedFault('The link is not signed with the account keys of this session.')
  uncommitted.set(tx, new Set(uncommitted.get(tx)).add(workspaceId))
  await insertLink(tx, workspaceId, chain.seq, link)
  const { seq, head } = chain
  noteSigned(tx, { name: workspaceId, number: seq, hash: head, head: seq })
  return chain
}

/**
 * Reserved so that a nearly full chain can still revoke. Administrators can use it for revocations, and a leaving
 * member for one link.
 */
function endsSomething({ members }: Chain, signer: string, { type, body }: Claim): boolean {
  if (type === 'members.removed' && body.user_ids.join() === signer) return true
  const role = members.get(signer)?.role
  if (role !== 'owner' && role !== 'admin') return false
  if (type === 'members.put') return body.members.every(({ user_id: id }) => members.has(id))
  return type === 'allowlist.changed' ? body.add.length === 0 : true
}

async function extendChain(before: Chain, link: SignedText): Promise<Chain> {
  try {
    return await extend(before, [link])
  } catch (error) {
    throw error instanceof Refusal ? faultOf(error) : error
  }
}

function faultOf(refusal: Refusal): Fault {
  const { reason, detail } = refusal
  // Without a detail it is the place of the link that is wrong, which another link has taken.
  if (reason === 'order' && detail === undefined) return new Fault('conflict', { cause: refusal })
  if (reason === 'last_owner') return new Fault('last_owner', { cause: refusal })
  return buildRefusedFault(`The link was rejected: ${refusal.message}.`, refusal)
}

function isSaid({ type, body }: Link, claim: Claim): boolean {
  if (type !== claim.type) return false
  const said = new Map(Object.entries(body))
  return Object.entries(claim.body).every(([name, value]) => asSet(said.get(name)) === asSet(value))
}

/** Lists are compared in any order. Duplicates were refused before. */
function asSet(value: unknown): string | undefined {
  return Array.isArray(value)
    ? value
        .map((entry) => canonicalize(entry))
        .sort()
        .join()
    : canonicalize(value)
}

function hasKeysOf(member: Named, stored: Named): boolean {
  return member.signing_key === stored.signing_key && member.public_key === stored.public_key
}

function buildRefusedFault(message: string, cause?: Refusal): Fault {
  return new Fault('link_refused', { message, cause })
}
