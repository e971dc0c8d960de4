/**
 * Envelopes (protocol 3.2): HPKE base mode (RFC 9180) carries a workspace key to a member, or an
 * environment key to a token. The info label and the additional data bind an envelope to its kind,
 * workspace, recipient, place and epoch, so that one moved to another row does not open.
 */
import { type Bytes, fromBase64, lp, toBase64, u32be, uuidToBytes } from './encoding.ts'
import { HPKE_OVERHEAD_BYTES, hasHpkeForm, openHpke, sealHpke } from './hpke_message.ts'

/** `recipientPublicKey` is 32 raw bytes. */
export type MemberEnvelopePlace = {
  workspaceId: string
  recipientPublicKey: Uint8Array
  epoch: number
}

export type TokenEnvelopePlace = {
  workspaceId: string
  tokenId: string
  projectId: string
  environment: string
  epoch: number
}

const KEY_BYTES = 32
const ENVELOPE_BYTES = HPKE_OVERHEAD_BYTES + KEY_BYTES
const MEMBER_LABEL = 'cloakroom/v1/member-envelope'
const TOKEN_LABEL = 'cloakroom/v1/token-envelope'

/** The workspace key for one member, as b64. Throws for a public key of low order. */
export async function sealMemberEnvelope(
  place: MemberEnvelopePlace,
  workspaceKey: Uint8Array,
): Promise<string> {
  return sealKey(place.recipientPublicKey, MEMBER_LABEL, memberData(place), workspaceKey)
}

/** The workspace key, or `null` for an envelope that does not open with this key at this place. */
export async function openMemberEnvelope(
  place: MemberEnvelopePlace,
  recipientPrivateKey: Uint8Array,
  envelope: string,
): Promise<Uint8Array | null> {
  const bytes = fromBase64(envelope)
  if (bytes === null) return null
  return openKey(recipientPrivateKey, MEMBER_LABEL, () => memberData(place), bytes)
}

/** An environment key for one token, as b64. Throws for a public key of low order. */
export async function sealTokenEnvelope(
  place: TokenEnvelopePlace,
  recipientPublicKey: Uint8Array,
  environmentKey: Uint8Array,
): Promise<string> {
  return sealKey(recipientPublicKey, TOKEN_LABEL, tokenData(place), environmentKey)
}

/** The environment key, or `null` for an envelope that does not open with this key at this place. */
export function openTokenEnvelope(
  place: TokenEnvelopePlace,
  tokenPrivateKey: Uint8Array,
  envelope: Uint8Array,
): Uint8Array | null {
  return openKey(tokenPrivateKey, TOKEN_LABEL, () => tokenData(place), envelope)
}

/** Whether the bytes have the form the server demands of token envelopes before it stores them. */
export function isTokenEnvelope(bytes: Uint8Array): boolean {
  return hasEnvelopeForm(bytes)
}

async function sealKey(
  publicKey: Uint8Array,
  label: string,
  additionalData: Uint8Array,
  key: Uint8Array,
): Promise<string> {
  if (key.length !== KEY_BYTES) throw new RangeError('an envelope carries a key of 32 bytes')
  return toBase64(await sealHpke(publicKey, label, additionalData, key))
}

function openKey(
  privateKey: Uint8Array,
  label: string,
  additionalData: () => Uint8Array,
  envelope: Uint8Array,
): Uint8Array | null {
  return hasEnvelopeForm(envelope) ? openHpke(privateKey, label, additionalData, envelope) : null
}

// Both kinds carry one key of 32 bytes, so they have the same form.
function hasEnvelopeForm(bytes: Uint8Array): boolean {
  return bytes.length === ENVELOPE_BYTES && hasHpkeForm(bytes)
}

function memberData(place: MemberEnvelopePlace): Bytes {
  return lp(uuidToBytes(place.workspaceId), place.recipientPublicKey, u32be(place.epoch))
}

function tokenData(place: TokenEnvelopePlace): Bytes {
  return lp(
    uuidToBytes(place.workspaceId),
    uuidToBytes(place.tokenId),
    uuidToBytes(place.projectId),
    place.environment,
    u32be(place.epoch),
  )
}
