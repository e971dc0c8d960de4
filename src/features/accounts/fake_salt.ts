/**
 * What prelogin says about an address without an account: a salt that looks like any other and stays
 * the same, because it is a MAC of the address under the first SECRET_KEY. Who asks twice, or on another
 * process, learns nothing (protocol 5.1).
 */
import { createHmac } from 'node:crypto'
import { toBase64, utf8 } from '../../platform/crypto/encoding.ts'
import { secretKeysOf } from '../../platform/crypto/pepper.ts'
import { hkdf } from '../../platform/crypto/primitives.ts'

const SALT_BYTES = 16

/** The function that maps a lower-case address to its fake salt, in base64. */
export function openFakeSalts(secretKeys: string): (email: string) => string {
  const key = hkdf(utf8(secretKeysOf(secretKeys)[0]), new Uint8Array(0), 'cloakroom/v1/prelogin')
  return (email) =>
    toBase64(createHmac('sha256', key).update(email).digest().subarray(0, SALT_BYTES))
}
