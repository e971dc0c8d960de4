/**
 * Grants: what an administrator signed that a token may do. A token's row says the same, as a copy; signed
 * again, a grant differs only in signer and time, so that no wider earlier grant exists.
 */
import { and, eq } from 'drizzle-orm'
import { toBase64 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import type { Reading, Transaction } from '../../database/open.ts'
import { tokenGrants, tokens } from '../../database/schema/index.ts'
import {
  type Chain,
  isSameGrant,
  isSameNarrowing,
  readNarrowing,
  readText,
  type SignedText,
  type TokenGrant,
  verifyEnvelope,
  verifyGrant,
} from '../../sigchain/index.ts'
import { buildRefusedFault, requireSigned, verifyOrRefuse } from './accepting.ts'

/** The sender, and the roles of all members at that time. */
export type Sender = { workspaceId: string; userId: string; chain: Chain; now: Date }

/** A received grant: `path` is its position in the request. */
export type SentGrant = { signed: SignedText; path: string }

/** The row of a token that exists. */
export const grantedColumns = {
  id: tokens.id,
  kind: tokens.kind,
  agentId: tokens.agentId,
  label: tokens.label,
  publicKey: tokens.publicKey,
  capabilities: tokens.capabilities,
  hosts: tokens.hosts,
  secrets: tokens.secrets,
  limits: tokens.limits,
  projectId: tokens.projectId,
  environment: tokens.environment,
  expiresAt: tokens.expiresAt,
}

export type GrantedToken = Pick<typeof tokens.$inferSelect, keyof typeof grantedColumns>

/**
 * The content of a grant that is valid for a token with that key.
 *
 * @throws Fault `link_refused`
 */
export async function acceptGrant(
  { userId, chain, now }: Sender,
  token: { id: string; publicKey: string },
  { signed, path }: SentGrant,
): Promise<TokenGrant> {
  const text = await verifyOrRefuse(userId, path, () => verifyGrant(chain, signed, token, now))
  const isOver = text.expires_at !== null && Date.parse(text.expires_at) <= +now
  if (isOver) throw buildRefusedFault(path, 'the grant has already ended')
  return text
}

/**
 * Checks a grant of an existing token: it matches the row and the previous statement. It is stored,
 * with a new binding or the one that is there.
 *
 * @throws Fault `link_refused`, `link_required`
 */
export async function grantAgain(
  { tx, sender }: { tx: Transaction; sender: Sender },
  token: GrantedToken,
  sent: SentGrant & { binding?: string | undefined },
): Promise<void> {
  const place = { workspaceId: sender.workspaceId, tokenId: token.id }
  const before = await selectGrant(tx, place)
  await requireSameGrant(sender, token, before?.statement, sent)
  // The secret of a token and its first link never change, so a different binding is invalid: it would permanently end the token.
  if (before && sent.binding !== undefined && sent.binding !== toBase64(before.binding))
    throw buildRefusedFault(formatBindingPath(sent), 'it differs from the stored one')
  await storeGrant(tx, place, sent)
}

/** @throws Fault `link_refused` for a grant that differs from the row or the previous statement */
export async function requireSameGrant(
  sender: Sender,
  token: GrantedToken,
  before: string | undefined,
  sent: SentGrant,
): Promise<void> {
  const { id, publicKey } = token
  const text = await acceptGrant(sender, { id, publicKey: toBase64(publicKey) }, sent)
  const isSame = !before || isSameGrant(text, readText('grant', before))
  const isNarrowedSo = isSameNarrowing(readNarrowing(text), token)
  if (!isSame || !isNarrowedSo || !isSameGrant(text, { ...text, ...saidOf(token) }))
    throw buildRefusedFault(
      sent.path,
      'it differs from the previous grant: create a new token instead',
    )
}

function saidOf(token: GrantedToken) {
  return {
    kind: token.kind,
    agent_id: token.agentId,
    label: token.label,
    capabilities: [...token.capabilities] as TokenGrant['capabilities'],
    project_id: token.projectId,
    environment: token.environment,
    expires_at: token.expiresAt?.toISOString() ?? null,
  }
}

type Place = { workspaceId: string; tokenId: string }

export async function selectGrant(tx: Reading, { workspaceId, tokenId }: Place) {
  const [found] = await tx
    .select()
    .from(tokenGrants)
    .where(and(eq(tokenGrants.tokenId, tokenId), eq(tokenGrants.workspaceId, workspaceId)))
  return found && { ...found, signature: toBase64(found.signature) }
}

/** With a new `binding`, or the one that is stored. @throws Fault `link_required` where neither is */
export async function storeGrant(
  tx: Transaction,
  place: Place,
  sent: SentGrant & { binding?: string | undefined },
): Promise<void> {
  const { signed } = sent
  const binding = sent.binding === undefined ? undefined : Uint8Array.fromBase64(sent.binding)
  const set = {
    statement: signed.statement,
    signature: Uint8Array.fromBase64(signed.signature),
    ...(binding && { binding }),
  }
  if (binding) {
    await tx
      .insert(tokenGrants)
      .values({ ...place, ...set, binding })
      .onConflictDoUpdate({ target: tokenGrants.tokenId, set })
    return
  }
  const stored = await tx
    .update(tokenGrants)
    .set(set)
    .where(
      and(eq(tokenGrants.tokenId, place.tokenId), eq(tokenGrants.workspaceId, place.workspaceId)),
    )
    .returning({ tokenId: tokenGrants.tokenId })
  if (stored.length > 0) return
  throw new Fault('link_required', {
    fields: [{ path: formatBindingPath(sent), message: 'is missing' }],
  })
}

function formatBindingPath({ path }: SentGrant): string {
  return path.replace(/grant$/, 'binding')
}

/** An envelope as it is sent, with its statement beside it in a signed workspace. */
type Sent = {
  project_id: string
  environment: string
  epoch: number
  envelope: string
} & Partial<Record<keyof SignedText, string | undefined>>

/** As it is stored; null in plain workspaces. */
export type StoredStatement = { statement: string | null; signature: Uint8Array | null }

/**
 * The envelope's statement, verified for it; `path` is the entry's place in the body.
 *
 * @throws Fault `link_required`, `link_refused`
 */
export async function acceptEnvelope(
  { workspaceId, userId, tokenId }: { workspaceId: string; userId: string; tokenId: string },
  chain: Chain | null,
  { statement, signature, ...sent }: Sent,
  path: string,
): Promise<StoredStatement> {
  const given =
    statement !== undefined && signature !== undefined ? { statement, signature } : undefined
  const signed = requireSigned(workspaceId, given, `${path}.statement`)
  if (!signed || !chain) return { statement: null, signature: null }
  const envelope = Uint8Array.fromBase64(sent.envelope)
  const { project_id: projectId, environment, epoch } = sent
  const entry = { tokenId, projectId, environment, epoch, envelope }
  await verifyOrRefuse(userId, path, () => verifyEnvelope(chain, signed, entry))
  return { statement: signed.statement, signature: Uint8Array.fromBase64(signed.signature) }
}
