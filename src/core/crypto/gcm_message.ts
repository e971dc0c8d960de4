/** The form of a message sealed with AES-256-GCM (protocol 3), for every platform. */

export const KEY_BYTES = 32
export const NONCE_BYTES = 12
export const TAG_BYTES = 16

/** The parts of a message that `sealGcm` made. */
export type GcmMessage = {
  nonce: Uint8Array
  additionalData: Uint8Array
  ciphertext: Uint8Array
  tag: Uint8Array
}

/** Splits a message; `null` if it is too short for a tag. */
export function gcmMessage(
  nonce: Uint8Array,
  additionalData: Uint8Array,
  sealed: Uint8Array,
): GcmMessage | null {
  if (sealed.length < TAG_BYTES) return null
  requireNonce(nonce)
  const border = sealed.length - TAG_BYTES
  const [ciphertext, tag] = [sealed.subarray(0, border), sealed.subarray(border)]
  return { nonce, additionalData, ciphertext, tag }
}

/** Requires 12 bytes, the only length in the protocol: GCM hashes a nonce of another length into its counter. */
export function requireNonce(nonce: Uint8Array): void {
  if (nonce.length !== NONCE_BYTES) throw new RangeError('a nonce has 12 bytes')
}
