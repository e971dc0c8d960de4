/** SHA-256, HKDF-SHA256, HMAC-SHA256 and X25519 by Web Crypto, for code that also runs in browsers. */
import { type Bytes, concat, fromBase64Url, utf8 } from './encoding.ts'

const KEY_BITS = 256
// RFC 8410, section 7: the fixed DER prefix of a PKCS#8 X25519 private key.
const PKCS8_X25519 = Uint8Array.fromHex('302e020100300506032b656e04220420')

export async function webSha256(data: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', data))
}

/** HKDF-SHA256 (RFC 5869), extract and expand, 32 bytes. */
export async function webHkdf(secret: Bytes, salt: Bytes, label: string): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits'])
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt, info: utf8(label) }
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, key, KEY_BITS))
}

export async function webHmac(key: Bytes, data: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', await hmacKey(key), data))
}

/** In constant time. */
export async function webVerifyHmac(key: Bytes, mac: Bytes, data: Bytes): Promise<boolean> {
  return crypto.subtle.verify('HMAC', await hmacKey(key), mac, data)
}

function hmacKey(key: Bytes): Promise<CryptoKey> {
  const parameters = { name: 'HMAC', hash: 'SHA-256' }
  return crypto.subtle.importKey('raw', key, parameters, false, ['sign', 'verify'])
}

/** The public half of 32 raw private bytes (RFC 7748, section 6.1). */
export async function webX25519PublicKey(privateKey: Bytes): Promise<Bytes> {
  const der = concat(PKCS8_X25519, privateKey)
  const key = await crypto.subtle.importKey('pkcs8', der, 'X25519', true, ['deriveBits'])
  const { x = '' } = await crypto.subtle.exportKey('jwk', key)
  const publicKey = fromBase64Url(x)
  if (publicKey === null) throw new Error('the platform returned no public key')
  return publicKey
}
