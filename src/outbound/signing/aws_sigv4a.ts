/**
 * AWS Signature Version 4A: one signature for several regions, by ECDSA on P-256. The key pair is derived from the
 * access key, with the counter mode of NIST SP 800-108 and HMAC-SHA256.
 */
import {
  createECDH,
  createHmac,
  createPrivateKey,
  createPublicKey,
  sign,
  verify,
} from 'node:crypto'
import { Fault } from '../../core/fault.ts'
import type { AwsSigningKey } from '../../core/signing/aws_sigv4.ts'

export const ALGORITHM_4A = 'AWS4-ECDSA-P256-SHA256'
/** The order of the group less 2: the derived number must be below it, so that it plus 1 is a private key. */
const MOST = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc63254f', 'hex')
const MAX_COUNTER = 254

/** @throws Fault `unusable_secret` in the case that no key can be derived, which does not occur */
export function deriveSigningKey4a(id: string, secret: Uint8Array, scope: string): AwsSigningKey {
  const jwk = pairOf(ecdsaKeyOf(id, secret))
  const key = createPrivateKey({ key: jwk, format: 'jwk' })
  return {
    algorithm: ALGORITHM_4A,
    scope,
    sign: (text) => sign('sha256', Buffer.from(text), key).toString('hex'),
    verifies: (text, signature) =>
      verify('sha256', Buffer.from(text), createPublicKey(key), Buffer.from(signature, 'hex')),
  }
}

export function ecdsaKeyOf(id: string, secret: Uint8Array): Buffer {
  const input = Buffer.concat([Buffer.from('AWS4A'), secret])
  for (let counter = 1; counter <= MAX_COUNTER; counter++) {
    const derived = createHmac('sha256', input)
      .update(u32(1))
      .update(`${ALGORITHM_4A}\0${id}`)
      .update(Buffer.from([counter]))
      .update(u32(256))
      .digest()
    if (Buffer.compare(derived, MOST) <= 0) return incrementBytes(derived)
  }
  throw new Fault('unusable_secret')
}

export function pairOf(privateKey: Buffer) {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(privateKey)
  // Uncompressed: 4, x, y.
  const point = pair.getPublicKey()
  const [x, y] = [point.subarray(1, 33), point.subarray(33)]
  const text = (bytes: Buffer) => bytes.toString('base64url')
  return { kty: 'EC', crv: 'P-256', d: text(privateKey), x: text(x), y: text(y) }
}

function incrementBytes(bytes: Buffer): Buffer {
  const number = BigInt(`0x${bytes.toString('hex')}`) + 1n
  return Buffer.from(number.toString(16).padStart(2 * bytes.length, '0'), 'hex')
}

function u32(number: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(number)
  return bytes
}
