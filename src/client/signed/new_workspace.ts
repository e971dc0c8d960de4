/** Making a workspace: its key, the envelope of its owner and, where it is to be signed, its first link. */
import { uuidv7, uuidv8 } from '../../core/crypto/encoding.ts'
import { sealMemberEnvelope } from '../../core/crypto/envelope.ts'
import { keyCommitment } from '../../core/crypto/key_commitment.ts'
import {
  type Chain,
  emptyChain,
  extend,
  type Identity,
  type SignedText,
  signLink,
} from '../../sigchain/index.ts'
import { type KnownChain, knownOf } from './chain.ts'

export type Founder = { userId: string; email: string; identity: Identity }

/** With what to keep of its chain. */
export async function newSignedWorkspace(recipientPublicKey: Uint8Array, founder: Founder) {
  const { key, order } = await sealedTo(recipientPublicKey, uuidv8())
  const { known, link } = await firstLink(order.id, key, founder)
  return { known, order: { ...order, link } }
}

/** Without a founder it is a plain one, as older clients made them. */
export async function newWorkspace(recipientPublicKey: Uint8Array, founder: Founder | null) {
  if (founder) return newSignedWorkspace(recipientPublicKey, founder)
  const { order } = await sealedTo(recipientPublicKey, uuidv7())
  return { known: null, order }
}

async function sealedTo(recipientPublicKey: Uint8Array, id: string) {
  const key = crypto.getRandomValues(new Uint8Array(32))
  const place = { workspaceId: id, recipientPublicKey, epoch: 1 }
  return { key, order: { id, encrypted_workspace_key: await sealMemberEnvelope(place, key) } }
}

async function firstLink(
  id: string,
  key: Uint8Array,
  { userId, email, identity }: Founder,
): Promise<{ link: SignedText; known: KnownChain }> {
  const { signing_key, public_key, signingKey } = identity
  const founder = { user_id: userId, email: email.toLowerCase(), signing_key, public_key }
  const body = { founder, epoch: 1, key_commitment: keyCommitment(id, 1, key) } as const
  const said = { type: 'workspace.created', body, signer: userId } as const
  const chain: Chain = emptyChain(id)
  const link = await signLink(chain, { ...said, at: new Date().toISOString() }, signingKey)
  return { link, known: knownOf(await extend(chain, [link])) }
}
