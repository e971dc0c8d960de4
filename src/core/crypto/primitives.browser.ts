/**
 * `primitives.ts` in a browser, which has no synchronous cryptography: the build of the console takes this file in
 * its place. The published vectors run over both.
 */
import { gcm } from '@noble/ciphers/aes.js'
import { x25519 as curve } from '@noble/curves/ed25519.js'
import { hkdf as nobleHkdf } from '@noble/hashes/hkdf.js'
import { hmac as nobleHmac } from '@noble/hashes/hmac.js'
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import { type Bytes, concat, utf8 } from './encoding.ts'
import { type GcmMessage, gcmMessage, KEY_BYTES, requireNonce } from './gcm_message.ts'

export { type GcmMessage, gcmMessage, KEY_BYTES, NONCE_BYTES, TAG_BYTES } from './gcm_message.ts'

export function sha256(data: Uint8Array | string): Bytes {
  return Uint8Array.from(nobleSha256(bytesOf(data)))
}

export function hkdf(secret: Uint8Array, salt: Uint8Array, info: Uint8Array | string): Bytes {
  return Uint8Array.from(nobleHkdf(nobleSha256, secret, salt, bytesOf(info), KEY_BYTES))
}

export function hmac(key: Uint8Array, data: Uint8Array): Bytes {
  return Uint8Array.from(nobleHmac(nobleSha256, key, data))
}

export function sealGcm(
  key: Uint8Array,
  nonce: Uint8Array,
  additionalData: Uint8Array,
  plaintext: Uint8Array,
): Bytes {
  requireNonce(nonce)
  requireKey(key)
  return Uint8Array.from(gcm(key, nonce, additionalData).encrypt(plaintext))
}

export function openGcm(
  key: Uint8Array,
  nonce: Uint8Array,
  additionalData: Uint8Array,
  sealed: Uint8Array,
): Bytes | null {
  const message = gcmMessage(nonce, additionalData, sealed)
  return message && openGcmMessage(key, message)
}

export function openGcmMessage(key: Uint8Array, message: GcmMessage): Bytes | null {
  requireKey(key)
  const { nonce, additionalData, ciphertext, tag } = message
  try {
    return Uint8Array.from(gcm(key, nonce, additionalData).decrypt(concat(ciphertext, tag)))
  } catch {
    return null
  }
}

export function x25519PublicKey(privateKey: Uint8Array): Bytes {
  requireKey(privateKey)
  return Uint8Array.from(curve.getPublicKey(privateKey))
}

export function x25519(
  privateKey: Uint8Array,
  theirPublicKey: Uint8Array,
): { shared: Uint8Array; publicKey: Bytes } {
  requireKey(theirPublicKey)
  const publicKey = x25519PublicKey(privateKey)
  return { shared: curve.getSharedSecret(privateKey, theirPublicKey), publicKey }
}

function requireKey(key: Uint8Array): void {
  if (key.length !== KEY_BYTES) throw new RangeError('a key has 32 bytes')
}

function bytesOf(data: Uint8Array | string): Uint8Array {
  return typeof data === 'string' ? utf8(data) : data
}
