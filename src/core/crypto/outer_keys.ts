/** The entries of ENCRYPTION_KEY, and the ids that tell their ciphertexts apart (protocol 3.4). */
import { type Bytes, fromBase64Url } from './encoding.ts'
import { sha256 } from './primitives.ts'

const KEY_BYTES = 32
export const KEY_ID_BYTES = 4

/** `id`: 8 hex digits, the first 4 bytes of SHA-256(key). */
export type OuterKeyEntry = { id: string; bytes: Bytes }

/**
 * Keys of 32 bytes in URL-safe base64, separated by commas; the first encrypts, all decrypt.
 *
 * @throws Error that names an entry but never shows it
 */
export function parseOuterKeys(
  encryptionKey: string,
): [first: OuterKeyEntry, ...others: OuterKeyEntry[]] {
  const keys = encryptionKey.split(',').map((entry, index) => {
    const bytes = fromBase64Url(entry.trim())
    if (bytes?.length !== KEY_BYTES) {
      throw new Error(`entry ${index + 1} is not 32 bytes of URL-safe base64`)
    }
    return { id: sha256(bytes).slice(0, KEY_ID_BYTES).toHex(), bytes }
  })
  const [primary, ...others] = keys
  if (!primary) throw new Error('there is no key')
  // Two keys with one id would make it a matter of luck which of them opens a blob.
  if (new Set(keys.map(({ id }) => id)).size < keys.length) {
    throw new Error('two entries are the same key or have the same key id')
  }
  return [primary, ...others]
}
