/**
 * The primitives that the synchronous half of protocol 3 is built from: HKDF-SHA256, HMAC-SHA256, SHA-256,
 * AES-256-GCM and X25519. `node:crypto` is 10 to 20 times faster than Web
 * Crypto for messages of this size, and these calls lie on the path of every resolved request.
 * Labels and additional data belong to the callers. Browsers get `primitives.browser.ts`.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import { type Bytes, concat } from './encoding.ts'
import { type GcmMessage, gcmMessage, KEY_BYTES, requireNonce, TAG_BYTES } from './gcm_message.ts'

export { type GcmMessage, gcmMessage, KEY_BYTES, NONCE_BYTES, TAG_BYTES } from './gcm_message.ts'

const CIPHER = 'aes-256-gcm'
// RFC 8410, section 7: the fixed DER prefix of a PKCS#8 X25519 private key.
const PKCS8_X25519 = Uint8Array.fromHex('302e020100300506032b656e04220420')
// Likewise for a public key.
const SPKI_X25519 = Uint8Array.fromHex('302a300506032b656e032100')

export function sha256(data: Uint8Array | string): Bytes {
  return new Uint8Array(createHash('sha256').update(data).digest())
}

/** HKDF-SHA256 (RFC 5869), extract and expand, 32 bytes. A text represents its UTF-8 bytes. */
export function hkdf(secret: Uint8Array, salt: Uint8Array, info: Uint8Array | string): Bytes {
  return new Uint8Array(hkdfSync('sha256', secret, salt, info, KEY_BYTES))
}

/** AES-256-GCM (SP 800-38D): ciphertext followed by the 16-byte tag. */
export function sealGcm(
  key: Uint8Array,
  nonce: Uint8Array,
  additionalData: Uint8Array,
  plaintext: Uint8Array,
): Bytes {
  requireNonce(nonce)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(additionalData)
  return concat(cipher.update(plaintext), cipher.final(), cipher.getAuthTag())
}

/** Opens a ciphertext that `sealGcm` made; `null` if the tag does not match. */
export function openGcm(
  key: Uint8Array,
  nonce: Uint8Array,
  additionalData: Uint8Array,
  sealed: Uint8Array,
): Bytes | null {
  const message = gcmMessage(nonce, additionalData, sealed)
  return message && openGcmMessage(key, message)
}

/** Opens a message that is opened repeatedly, and was parsed once. */
export function openGcmMessage(key: Uint8Array, message: GcmMessage): Bytes | null {
  // Omit the options, which take a tenth of the time: they would only give the tag's length, always 16 bytes.
  const decipher = createDecipheriv(CIPHER, key, message.nonce)
  decipher.setAAD(message.additionalData)
  decipher.setAuthTag(message.tag)
  const plaintext = decipher.update(message.ciphertext)
  try {
    decipher.final()
    return new Uint8Array(plaintext)
  } catch {
    return null
  } finally {
    // Whether released or not, the working buffer must not linger with plaintext in it.
    plaintext.fill(0)
  }
}

/** HMAC-SHA256 (RFC 2104). */
export function hmac(key: Uint8Array, data: Uint8Array): Bytes {
  return new Uint8Array(createHmac('sha256', key).update(data).digest())
}

/** The public half of 32 raw private bytes (RFC 7748, section 6.1). Throws for another length. */
export function x25519PublicKey(privateKey: Uint8Array): Bytes {
  return toPublicKeyBytes(toPrivateKeyObject(privateKey))
}

/**
 * Returns the shared secret of two key pairs, and the own public key, which protocols include in their hash. Throws for
 * keys of another length, and for a public key of low order (RFC 7748, section 6.1).
 */
export function x25519(
  privateKey: Uint8Array,
  theirPublicKey: Uint8Array,
): { shared: Uint8Array; publicKey: Bytes } {
  requireKey(theirPublicKey)
  const ours = toPrivateKeyObject(privateKey)
  const theirs = createPublicKey({
    key: Buffer.concat([SPKI_X25519, theirPublicKey]),
    format: 'der',
    type: 'spki',
  })
  const shared = diffieHellman({ privateKey: ours, publicKey: theirs })
  if (shared.every((byte) => byte === 0)) throw new Error('the public key is of low order')
  return { shared, publicKey: toPublicKeyBytes(ours) }
}

function toPrivateKeyObject(privateKey: Uint8Array): KeyObject {
  requireKey(privateKey)
  return createPrivateKey({
    key: Buffer.concat([PKCS8_X25519, privateKey]),
    format: 'der',
    type: 'pkcs8',
  })
}

function toPublicKeyBytes(privateKey: KeyObject): Bytes {
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  return new Uint8Array(spki.subarray(-KEY_BYTES))
}

function requireKey(key: Uint8Array): void {
  if (key.length !== KEY_BYTES) throw new RangeError('an X25519 key has 32 bytes')
}
