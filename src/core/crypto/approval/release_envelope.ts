/** Release envelopes (protocol 14.3): HPKE carries the value of one held secret to one token, for one approval. */
import { type Bytes, lp, uuidToBytes } from '../encoding.ts'
import { HPKE_OVERHEAD_BYTES, hasHpkeForm, openHpke, sealHpke } from '../hpke_message.ts'

export type ReleasePlace = {
  workspaceId: string
  tokenId: string
  approvalId: string
  projectId: string
  environment: string
  key: string
}

const LABEL = 'cloakroom/v3/release-envelope'
/** Bytes that a secret may have at most. */
const MAX_VALUE_BYTES = 98_304
/** Bytes of the longest envelope. */
export const MAX_RELEASE_ENVELOPE_BYTES = HPKE_OVERHEAD_BYTES + MAX_VALUE_BYTES

/** Throws for a public key of low order. */
export async function sealRelease(
  place: ReleasePlace,
  tokenPublicKey: Uint8Array,
  value: Uint8Array,
): Promise<Bytes> {
  if (value.length > MAX_VALUE_BYTES) throw new RangeError('a released value has at most 96 KiB')
  return sealHpke(tokenPublicKey, LABEL, placeData(place), value)
}

/** The value, or `null` for an envelope that does not open with this key at this place. */
export function openRelease(
  place: ReleasePlace,
  tokenPrivateKey: Uint8Array,
  envelope: Uint8Array,
): Bytes | null {
  if (!isReleaseEnvelope(envelope)) return null
  return openHpke(tokenPrivateKey, LABEL, () => placeData(place), envelope)
}

/** Whether the bytes have the form that the server demands before it stores them. */
export function isReleaseEnvelope(bytes: Uint8Array): boolean {
  return hasHpkeForm(bytes) && bytes.length <= MAX_RELEASE_ENVELOPE_BYTES
}

function placeData(place: ReleasePlace): Bytes {
  return lp(
    uuidToBytes(place.workspaceId),
    uuidToBytes(place.tokenId),
    uuidToBytes(place.approvalId),
    uuidToBytes(place.projectId),
    place.environment,
    place.key,
  )
}
