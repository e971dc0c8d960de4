/**
 * HPKE messages (protocol 3.2): `0x01 || enc32 || ciphertext || tag`. The info label and the additional data bind a
 * message to its kind, workspace, recipient and place, so that a message moved to another row does not open.
 */
import * as hpke from 'hpke'
import { type Bytes, concat, utf8 } from './encoding.ts'
import { hpkeOpen } from './hpke_open.ts'
import { isLowOrder } from './low_order.ts'

const VERSION = 1
const ENCAPSULATED_BYTES = 32
/** Bytes that sealing adds: version, encapsulated key and tag. */
export const HPKE_OVERHEAD_BYTES = 1 + ENCAPSULATED_BYTES + 16

const suite = new hpke.CipherSuite(
  hpke.KEM_DHKEM_X25519_HKDF_SHA256,
  hpke.KDF_HKDF_SHA256,
  hpke.AEAD_AES_256_GCM,
)

/** Throws for a public key of low order. */
export async function sealHpke(
  publicKey: Uint8Array,
  label: string,
  additionalData: Uint8Array,
  plaintext: Uint8Array,
): Promise<Bytes> {
  if (isLowOrder(publicKey)) throw new Error('the public key is of low order')
  const recipient = await suite.DeserializePublicKey(publicKey)
  const { encapsulatedSecret, ciphertext } = await suite.Seal(recipient, plaintext, {
    info: utf8(label),
    aad: additionalData,
  })
  return concat(Uint8Array.of(VERSION), encapsulatedSecret, ciphertext)
}

/** The plaintext, or `null` for a message that does not open with this key at this place. */
export function openHpke(
  privateKey: Uint8Array,
  label: string,
  additionalData: () => Uint8Array,
  message: Uint8Array,
): Bytes | null {
  if (!hasHpkeForm(message)) return null
  const border = 1 + ENCAPSULATED_BYTES
  try {
    return hpkeOpen(privateKey, {
      encapsulatedKey: message.subarray(1, border),
      ciphertext: message.subarray(border),
      info: utf8(label),
      additionalData: additionalData(),
    })
  } catch {
    // A point of low order, or a key or place of another form.
    return null
  }
}

/** Whether the bytes have a message's version and at least its shortest length. */
export function hasHpkeForm(bytes: Uint8Array): boolean {
  return bytes.length >= HPKE_OVERHEAD_BYTES && bytes[0] === VERSION
}
