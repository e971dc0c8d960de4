/**
 * Ed25519 (RFC 8032) by Web Crypto, which servers, workers and browsers share. Keys and signatures on which
 * implementations disagree are refused here first: otherwise, one signature could be valid for the server and invalid
 * for a client.
 */
import { type Bytes, concat, fromBase64Url } from './encoding.ts'

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
const FIELD = 2n ** 255n - 19n
const EIGHTH = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n
/** The y coordinates of the eight points of low order. */
const LOW_ORDER = new Set([0n, 1n, FIELD - 1n, EIGHTH, FIELD - EIGHTH])
// RFC 8410, section 7: the fixed DER prefix of a PKCS#8 Ed25519 private key.
const PKCS8_PREFIX = Uint8Array.fromHex('302e020100300506032b657004220420')

/** A key that signs, and its public half in raw bytes. */
export type SigningKey = { privateKey: CryptoKey; publicKey: Bytes }

/** The key of a private key in the form of RFC 8032: 32 bytes. It cannot be exported. */
export async function signingKeyOf(secret: Uint8Array): Promise<SigningKey> {
  if (secret.length !== KEY_BYTES) throw new RangeError('an Ed25519 private key has 32 bytes')
  const der = concat(PKCS8_PREFIX, secret)
  const exportable = await crypto.subtle.importKey('pkcs8', der, 'Ed25519', true, ['sign'])
  const { x = '' } = await crypto.subtle.exportKey('jwk', exportable)
  const publicKey = fromBase64Url(x)
  if (publicKey === null) throw new Error('the platform returned no public key')
  const privateKey = await crypto.subtle.importKey('pkcs8', der, 'Ed25519', false, ['sign'])
  return { privateKey, publicKey }
}

export async function signEd25519(privateKey: CryptoKey, data: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, data))
}

/** Without cofactor, and with S below the order, as Web Crypto does it; false too for unsound points. */
export async function verifyEd25519(
  publicKey: Bytes,
  data: Bytes,
  signature: Bytes,
): Promise<boolean> {
  if (signature.length !== SIGNATURE_BYTES || !isSoundPoint(publicKey)) return false
  if (!isSoundPoint(signature.subarray(0, KEY_BYTES))) return false
  const key = await crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify'])
  return crypto.subtle.verify('Ed25519', key, signature, data)
}

/**
 * Whether 32 bytes are neither of low order nor a second spelling of a point. With a key of low order, signatures are
 * valid for texts that were never signed.
 */
export function isSoundPoint(bytes: Uint8Array): boolean {
  const y = readLittleEndian(bytes) & (2n ** 255n - 1n)
  return bytes.length === KEY_BYTES && y < FIELD && !LOW_ORDER.has(y)
}

function readLittleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytes.toReversed().toHex() || '0'}`)
}
