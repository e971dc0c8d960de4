/** Text in a file of this machine, under a key that only its holder can derive, and bound to the plaintext beside it. */
import { concat, fromBase64, fromUtf8, toBase64, utf8 } from '../core/crypto/encoding.ts'
import { hkdf, KEY_BYTES, NONCE_BYTES, openGcm, sealGcm } from '../core/crypto/primitives.ts'
import { generateRandomBytes } from '../core/crypto/random.ts'

/** `salt` is b64 of 32 bytes: each file has a separate key. */
export type Binding = { label: string; salt: string; bound: Uint8Array }

export function generateSalt(): string {
  return toBase64(generateRandomBytes(KEY_BYTES))
}

/** b64 of nonce, ciphertext and tag. */
export function sealText(
  secret: Uint8Array,
  { label, salt, bound }: Binding,
  text: string,
): string {
  const nonce = generateRandomBytes(NONCE_BYTES)
  const key = hkdf(secret, fromBase64(salt) ?? new Uint8Array(), label)
  return toBase64(concat(nonce, sealGcm(key, nonce, bound, utf8(text))))
}

/** `null` for altered text, or text sealed by another holder. */
export function openText(secret: Uint8Array, binding: Binding, sealed: string): string | null {
  const [salt, bytes] = [fromBase64(binding.salt), fromBase64(sealed)]
  if (salt?.length !== KEY_BYTES || bytes === null || bytes.length < NONCE_BYTES) return null
  const key = hkdf(secret, salt, binding.label)
  const ciphertext = bytes.subarray(NONCE_BYTES)
  const plaintext = openGcm(key, bytes.subarray(0, NONCE_BYTES), binding.bound, ciphertext)
  return plaintext && fromUtf8(plaintext)
}
