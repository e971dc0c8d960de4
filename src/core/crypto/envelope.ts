/**
 * Envelopes (protocol 3.2): HPKE base mode (RFC 9180) carries a workspace key to a member, or an
 * environment key to a token. The info label and the additional data bind an envelope to its kind,
 * workspace, recipient, place and epoch, so that one moved to another row does not open.
 */
import * as hpke from 'hpke'
import {
  type Bytes,
  concat,
  fromBase64,
  lp,
  toBase64,
  u32be,
  utf8,
  uuidToBytes,
} from './encoding.ts'
import { hpkeOpen } from './hpke_open.ts'
import { isLowOrder } from './low_order.ts'

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

const VERSION = 1
const KEY_BYTES = 32
const ENVELOPE_BYTES = 1 + 32 + KEY_BYTES + 16
const MEMBER_LABEL = 'cloakroom/v1/member-envelope'
const TOKEN_LABEL = 'cloakroom/v1/token-envelope'

const suite = new hpke.CipherSuite(
  hpke.KEM_DHKEM_X25519_HKDF_SHA256,
  hpke.KDF_HKDF_SHA256,
  hpke.AEAD_AES_256_GCM,
)

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
  if (isLowOrder(publicKey)) throw new Error('the public key is of low order')
  const recipient = await suite.DeserializePublicKey(publicKey)
  const { encapsulatedSecret, ciphertext } = await suite.Seal(recipient, key, {
    info: utf8(label),
    aad: additionalData,
  })
  return toBase64(concat(Uint8Array.of(VERSION), encapsulatedSecret, ciphertext))
}

function openKey(
  privateKey: Uint8Array,
  label: string,
  additionalData: () => Uint8Array,
  envelope: Uint8Array,
): Uint8Array | null {
  if (!hasEnvelopeForm(envelope)) return null
  try {
    return hpkeOpen(privateKey, {
      encapsulatedKey: envelope.subarray(1, 33),
      ciphertext: envelope.subarray(33),
      info: utf8(label),
      additionalData: additionalData(),
    })
  } catch {
    // A point of low order, or a key or place of another form.
    return null
  }
}

// Both kinds carry one key of 32 bytes, hence they have the same form.
function hasEnvelopeForm(bytes: Uint8Array): boolean {
  return bytes.length === ENVELOPE_BYTES && bytes[0] === VERSION
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
