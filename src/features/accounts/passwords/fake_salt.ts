/**
 * What prelogin answers for an address without an account: a salt that looks like any other and stays the same, because it
 * is a MAC of the address under a key of the installation. Asking twice, asking another process and asking after a
 * rotation of SECRET_KEY reveal nothing (protocol 5.1).
 */
import { createHmac } from 'node:crypto'
import { toBase64 } from '../../../core/crypto/encoding.ts'

const SALT_BYTES = 16

/** The function that maps a lower-case address to its fake salt, in base64. */
export function openFakeSalts(key: Uint8Array | null): (email: string) => string {
  return (email) => {
    if (key === null) throw new Error('this process has no prelogin key')
    return toBase64(createHmac('sha256', key).update(email).digest().subarray(0, SALT_BYTES))
  }
}
