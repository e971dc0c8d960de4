/**
 * Issuing tokens. The server makes one and shows it once, or takes the public half of one that the
 * client made; either way it stores a MAC of its verifier and a public key, with which it can use no token.
 */
import { fromBase64, toBase64 } from '../../platform/crypto/encoding.ts'
import { mintToken, tokenAuth, tokenKeyPair, verifierOf } from '../../platform/crypto/token.ts'
import { Fault } from '../../platform/fault.ts'
import type { Grant } from '../../platform/grant.ts'
import { aboutToken } from '../../platform/http/recorder.ts'
import type { Changing } from '../../platform/http/route.ts'
import type { FeatureServices } from '../../platform/services.ts'
import { provision } from './provision.ts'
import type { Order } from './shapes.ts'
import { type Holder, insertToken, isLabelTaken } from './token_queries.ts'

/** What the database may know of a token, and its text where the server made it. */
type Credential = {
  id: string
  text: string | null
  verifier: Uint8Array
  publicKey: Uint8Array
}

/**
 * Issues a token to a holder, with the envelopes that came with it. The workspace must be locked.
 *
 * @throws Fault `already_exists` for a taken id, or label of a workload, and what `provision` throws
 */
export async function issueToken(
  changing: Changing<Grant<'agent.manage'>>,
  { outer, pepper }: Pick<FeatureServices, 'outer' | 'pepper'>,
  { holder, order, epoch }: { holder: Holder; order: Order; epoch: number },
) {
  const { tx, grant, audit } = changing
  // Of two that work it would not say which one is to be revoked; an agent's are told apart by their ids.
  if (holder.kind === 'workload' && (await isLabelTaken(tx, grant, holder, order.label)))
    throw new Fault('already_exists', { message: 'A token of that label works in the project.' })
  const { text, ...credential } = order.token ? received(order.token) : minted(holder)
  const token = await insertToken(tx, grant, holder, {
    ...credential,
    verifier: pepper.sealVerifier(
      {
        kind: holder.kind === 'agent' ? 'agt' : 'wkl',
        id: credential.id,
        ownerId: grant.workspaceId,
      },
      credential.verifier,
    ),
    label: order.label,
    environment: order.environment,
    capabilities: order.capabilities,
    expiresInDays: order.expires_in_days,
  })
  if (!token) throw new Fault('already_exists', { message: 'The token id is taken.' })
  audit.record({
    action: 'token.issued',
    ...aboutToken(token, holder.agent),
    projectId: token.projectId ?? undefined,
    environment: token.environment ?? undefined,
  })
  const list = order.token?.envelopes ?? []
  const held = { ...token, agent: holder.agent }
  await provision(changing, outer, held, { list, path: 'token.envelopes.', epoch })
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

function minted({ kind }: Holder): Credential {
  const { id, secret, text } = mintToken(kind === 'agent' ? 'agt' : 'wkl')
  const { publicKey } = tokenKeyPair(id, secret)
  return { id, text, verifier: verifierOf(tokenAuth(id, secret)), publicKey }
}

function received({ id, verifier, public_key }: NonNullable<Order['token']>): Credential {
  const [hash, publicKey] = [fromBase64(verifier), fromBase64(public_key)]
  if (!hash || !publicKey) throw new TypeError('a client-made token was not validated')
  return { id, text: null, verifier: hash, publicKey }
}
