/**
 * The protocol's cryptography a second time, from the text of the protocol and RFC 9180 with only Web Crypto: if the
 * product and its own client had the same error, this would not open.
 */

type Bytes = Uint8Array<ArrayBuffer>

const { subtle } = crypto

export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text)
}

export function join(...parts: Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

export function random(length: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(length))
}

export function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

export function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
}

export function base64url(bytes: Uint8Array): string {
  return base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

export function u32(value: number): Bytes {
  return bigEndian(BigInt(value), 4)
}

export function uuid(text: string): Bytes {
  return bigEndian(BigInt(`0x${text.replaceAll('-', '')}`), 16)
}

/** Each part with its length in front. */
export function lp(...parts: Uint8Array[]): Bytes {
  return join(...parts.flatMap((part) => [u32(part.length), part]))
}

function bigEndian(value: bigint, length: number): Bytes {
  const digits = value.toString(16).padStart(2 * length, '0')
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

export async function hkdf(key: Bytes, salt: Bytes, info: Bytes): Promise<Bytes> {
  const imported = await subtle.importKey('raw', key, 'HKDF', false, ['deriveBits'])
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt, info }
  return new Uint8Array(await subtle.deriveBits(algorithm, imported, 256))
}

async function gcm(
  key: Bytes,
  usage: 'encrypt' | 'decrypt',
  nonce: Bytes,
  aad: Bytes,
  text: Bytes,
) {
  const imported = await subtle.importKey('raw', key, 'AES-GCM', false, [usage])
  const algorithm = { name: 'AES-GCM', iv: nonce, additionalData: aad }
  return new Uint8Array(await subtle[usage](algorithm, imported, text))
}

/** `header || nonce12 || ciphertext || tag`. */
export async function seal(key: Bytes, header: Bytes, aad: Bytes, text: Bytes): Promise<Bytes> {
  const nonce = random(12)
  return join(header, nonce, await gcm(key, 'encrypt', nonce, aad, text))
}

export function open(key: Bytes, header: number, aad: Bytes, sealed: Bytes): Promise<Bytes> {
  return gcm(key, 'decrypt', sealed.slice(header, header + 12), aad, sealed.slice(header + 12))
}

export type KeyPair = { privateKey: Bytes; publicKey: Bytes }

/** RFC 8410, section 7: the bytes before the 32 bytes of an X25519 private key. */
const PKCS8 = Uint8Array.from([
  0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x04, 0x22, 0x04, 0x20,
])
/** RFC 7748, section 4.1: the u-coordinate 9. */
const BASE_POINT = Uint8Array.from({ length: 32 }, (_, index) => (index === 0 ? 9 : 0))

async function x25519(privateKey: Bytes, publicKey: Bytes): Promise<Bytes> {
  const form = join(PKCS8, privateKey)
  const own = await subtle.importKey('pkcs8', form, 'X25519', false, ['deriveBits'])
  const other = await subtle.importKey('raw', publicKey, 'X25519', false, [])
  return new Uint8Array(await subtle.deriveBits({ name: 'X25519', public: other }, own, 256))
}

export async function keyPairOf(privateKey: Bytes): Promise<KeyPair> {
  return { privateKey, publicKey: await x25519(privateKey, BASE_POINT) }
}

/** RFC 9180, section 7: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM. */
const KEM = join(utf8('KEM'), Uint8Array.of(0, 0x20))
const SUITE = join(utf8('HPKE'), Uint8Array.of(0, 0x20, 0, 1, 0, 2))
const NOTHING = new Uint8Array(0)

async function hmac(key: Bytes, message: Bytes): Promise<Bytes> {
  // A key of no bytes is the same as one block of zeros (RFC 2104, section 2).
  const raw = key.length === 0 ? new Uint8Array(64) : key
  const imported = await subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ])
  return new Uint8Array(await subtle.sign('HMAC', imported, message))
}

/** RFC 9180, section 4: LabeledExtract. */
function extract(suite: Bytes, salt: Bytes, label: string, material: Bytes): Promise<Bytes> {
  return hmac(salt, join(utf8('HPKE-v1'), suite, utf8(label), material))
}

/** RFC 9180, section 4: LabeledExpand, for at most one block. */
async function expand(suite: Bytes, secret: Bytes, label: string, info: Bytes, length: number) {
  const labelled = join(Uint8Array.of(0, length), utf8('HPKE-v1'), suite, utf8(label), info)
  return (await hmac(secret, join(labelled, Uint8Array.of(1)))).slice(0, length)
}

/** RFC 9180, section 5.1: the key schedule of the base mode. */
async function schedule(shared: Bytes, info: Bytes): Promise<{ key: Bytes; nonce: Bytes }> {
  const context = join(
    Uint8Array.of(0),
    await extract(SUITE, NOTHING, 'psk_id_hash', NOTHING),
    await extract(SUITE, NOTHING, 'info_hash', info),
  )
  const secret = await extract(SUITE, shared, 'secret', NOTHING)
  const key = await expand(SUITE, secret, 'key', context, 32)
  return { key, nonce: await expand(SUITE, secret, 'base_nonce', context, 12) }
}

async function sharedSecret(dh: Bytes, sender: Bytes, recipient: Bytes): Promise<Bytes> {
  const secret = await extract(KEM, NOTHING, 'eae_prk', dh)
  return expand(KEM, secret, 'shared_secret', join(sender, recipient), 32)
}

/** `0x01 || enc32 || ciphertext || tag`. */
export async function sealEnvelope(
  recipient: Bytes,
  info: string,
  aad: Bytes,
  text: Bytes,
): Promise<Bytes> {
  const sender = await keyPairOf(random(32))
  const dh = await x25519(sender.privateKey, recipient)
  const shared = await sharedSecret(dh, sender.publicKey, recipient)
  const { key, nonce } = await schedule(shared, utf8(info))
  const sealed = await gcm(key, 'encrypt', nonce, aad, text)
  return join(Uint8Array.of(1), sender.publicKey, sealed)
}

export async function openEnvelope(
  { privateKey, publicKey }: KeyPair,
  info: string,
  aad: Bytes,
  envelope: Bytes,
): Promise<Bytes> {
  const sender = envelope.slice(1, 33)
  const shared = await sharedSecret(await x25519(privateKey, sender), sender, publicKey)
  const { key, nonce } = await schedule(shared, utf8(info))
  return gcm(key, 'decrypt', nonce, aad, envelope.slice(33))
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function fromBase62(text: string, length: number): Bytes {
  const value = [...text].reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n)
  return bigEndian(value, length)
}

export type ParsedToken = {
  prefix: string
  id: Bytes
  secret: Bytes
  checksum: number
  crc: number
}

/** Protocol 4: prefix, 22 characters of id, 43 of secret, 6 of CRC-32. */
export function parseToken(token: string): ParsedToken {
  const {
    prefix = '',
    id = '',
    secret = '',
    sum = '',
  } = /^(?<prefix>svc_[a-z]{3}_)(?<id>.{22})(?<secret>.{43})(?<sum>.{6})$/.exec(token)?.groups ?? {}
  return {
    prefix,
    id: fromBase62(id, 16),
    secret: fromBase62(secret, 32),
    checksum: fromBase62(sum, 4).reduce((value, byte) => value * 256 + byte, 0),
    crc: crc32(utf8(token.slice(0, -6))),
  }
}

/** CRC-32/IEEE, bit by bit. */
function crc32(bytes: Bytes): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await subtle.digest('SHA-256', bytes))
}
