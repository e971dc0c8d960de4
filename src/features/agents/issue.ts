/**
 * Issuing tokens. The server makes one and shows it once, or takes the public half of one that the
 * client made; either way it stores a MAC of its verifier and a public key, with which it can use no token.
 */

import { toBase64, uuidv7, uuidv8 } from '../../core/crypto/encoding.ts'
import { mintToken, tokenAuth, tokenKeyPair, verifierOf } from '../../core/crypto/token.ts'
import { buildFieldFault, Fault } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import { countHourly } from '../../database/limits/hourly_quota.ts'
import { requireQuota } from '../../database/limits/quota.ts'
import { toTokenResource } from '../../http/recorder.ts'
import type { Changing } from '../../http/route.ts'
import { type Chain, isSignedId } from '../../sigchain/index.ts'
import { chainOf, type SignedServices } from '../links/index.ts'
import { acceptGrant, buildRefusedFault, requireSigned, storeGrant } from '../statements/index.ts'
import { storeEnvelopes } from './provision.ts'
import type { Order } from './shapes.ts'
import { type OrderedTerms, readGrantedTerms, readOrderedTerms } from './terms.ts'
import { type Holder, insertToken, isLabelTaken } from './token_queries.ts'

/** The stored data of a token, and its text if the server generated it. */
type Credential = {
  id: string
  text: string | null
  verifier: Uint8Array
  publicKey: Uint8Array
}

/**
 * Issues a token to a holder, with the envelopes that came with it. The workspace must be locked.
 *
 * @throws Fault `already_exists` for a taken id, or label of a workload; `link_required`, `link_refused`, and
 * what `provision` throws
 */
export async function issueToken(
  changing: Changing<Grant<'agent.manage'>>,
  services: SignedServices,
  { holder, order, epoch }: { holder: Holder; order: Order; epoch: number },
) {
  const { tx, grant, audit } = changing
  const { text, ...credential } = order.token
    ? acceptCredential(order.token, grant)
    : mintCredential(holder, grant)
  const chain = order.token ? await chainOf(changing, services) : null
  const terms = await termsOf(changing, services, { holder, order, chain })
  // With two active tokens of one label, revoking by label would be ambiguous. An agent's tokens differ by ID.
  if (holder.kind === 'workload' && (await isLabelTaken(tx, grant, holder, terms.label)))
    throw new Fault('already_exists', {
      message: 'The project already has an active token with this label.',
    })
  const { id } = credential
  const place = {
    kind: holder.kind === 'agent' ? 'agt' : 'wkl',
    id,
    ownerId: grant.workspaceId,
  } as const
  const verifier = services.pepper.sealVerifier(place, credential.verifier)
  audit.record({
    action: 'token.issued',
    ...toTokenResource({ id, label: terms.label }, holder.agent),
    projectId: holder.projectId ?? undefined,
    environment: terms.environment ?? undefined,
  })
  const [token] = await Promise.all([
    insertToken(tx, grant, holder, { ...credential, ...terms, verifier }),
    requireQuota(tx, services.config, 'liveTokens', grant.workspaceId),
    countHourly(tx, services, 'created', grant.userId),
  ])
  if (!token) throw new Fault('already_exists', { message: 'The token ID is already used.' })
  await storeSentGrant(changing, order)
  const list = order.token?.envelopes ?? []
  const held = { ...token, agent: holder.agent }
  await storeEnvelopes(changing, services, held, { list, path: 'token.envelopes.', epoch, chain })
  return {
    token: text,
    token_id: token.id,
    public_key: toBase64(token.publicKey),
    capabilities: [...token.capabilities],
    label: token.label,
    environment: token.environment,
    expires_at: token.expiresAt,
  }
}

/** In a signed workspace, a token is issued with the terms of its grant. */
async function termsOf(
  changing: Changing<Grant<'agent.manage'>>,
  services: SignedServices,
  { holder, order, chain }: { holder: Holder; order: Order; chain: Chain | null },
): Promise<OrderedTerms> {
  const { workspaceId, userId } = changing.grant
  const signed = order.token && requireSigned(workspaceId, order.token.grant, 'token.grant')
  if (!order.token || !chain || !signed) return readOrderedTerms(holder, order)
  const { id, public_key: publicKey } = order.token
  const now = new Date(services.clock.now())
  const sender = { workspaceId, userId, chain, now }
  const grant = await acceptGrant(sender, { id, publicKey }, { signed, path: 'token.grant' })
  return readGrantedTerms(holder, order, grant, now)
}

/** @throws Fault `link_required`, `link_refused` */
async function storeSentGrant(
  { tx, grant: { workspaceId } }: Changing<Grant<'agent.manage'>>,
  { token }: Order,
): Promise<void> {
  if (token?.binding && !token.grant) throw buildRefusedFault('token.binding', 'it has no grant')
  if (!token?.grant) return
  const sent = { signed: token.grant, binding: token.binding, path: 'token.grant' }
  await storeGrant(tx, { workspaceId, tokenId: token.id }, sent)
}

function mintCredential({ kind }: Holder, { workspaceId }: Grant): Credential {
  const newId = isSignedId(workspaceId) ? uuidv8() : uuidv7()
  const { id, secret, text } = mintToken(kind === 'agent' ? 'agt' : 'wkl', newId)
  const { publicKey } = tokenKeyPair(id, secret)
  return { id, text, verifier: verifierOf(tokenAuth(id, secret)), publicKey }
}

/** @throws Fault `validation_error` for an id that does not say whether the workspace is signed */
function acceptCredential(
  { id, verifier, public_key }: NonNullable<Order['token']>,
  { workspaceId }: Grant,
): Credential {
  const isSigned = isSignedId(workspaceId)
  if (isSignedId(id) !== isSigned) {
    const message = `must ${isSigned ? '' : 'not '}be a UUID of version 8: the workspace is ${isSigned ? '' : 'not '}signed`
    throw buildFieldFault('token.id', message)
  }
  const publicKey = Uint8Array.fromBase64(public_key)
  return { id, text: null, verifier: Uint8Array.fromBase64(verifier), publicKey }
}
