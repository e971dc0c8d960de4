/**
 * The byte forms of the protocol: length prefixes (protocol 3), UUIDs, base64, base62 (protocol 4).
 * Decoders return `null` for anything but the one canonical text of a byte string, so that two
 * different texts can never stand for the same stored value. Nothing here touches a key. The
 * module uses web platform globals only, apart from `crc32` and the ids, which the runtime has.
 */
import { uuidv7 } from './native.ts'

export { crc32, uuidv7 } from './native.ts'

const encoder = new TextEncoder()
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const looseDecoder = new TextDecoder('utf-8', { ignoreBOM: true })
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE64URL = /^[A-Za-z0-9_-]*={0,2}$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A byte array without shared memory: what Web Crypto accepts. */
export type Bytes = Uint8Array<ArrayBuffer>

/** Returns the UTF-8 of a text. A lone surrogate becomes U+FFFD, as the Encoding Standard defines. */
export function utf8(text: string): Bytes {
  return encoder.encode(text)
}

/** The text of strict UTF-8, else `null`. A byte order mark is a character like any other. */
export function fromUtf8(bytes: Uint8Array): string | null {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return null
  }
}

/** Decodes bytes that may not be UTF-8. Invalid sequences become U+FFFD. */
export function readUtf8(bytes: Uint8Array): string {
  return looseDecoder.decode(bytes)
}

/** `a || b || …` of protocol 3. */
export function concat(...parts: readonly Uint8Array[]): Bytes {
  let length = 0
  for (const part of parts) length += part.length
  const joined = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}

/** Returns four bytes, big-endian. Throws RangeError for a value that is not an integer from 0 to 2^32 - 1. */
export function u32be(value: number): Bytes {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
    throw new RangeError('u32be takes an unsigned 32-bit integer')
  }
  const bytes = new Uint8Array(4)
  writeU32(bytes, 0, value)
  return bytes
}

/** `lp(x) = u32be(byteLength(x)) || x` of protocol 3, of each field; text counts as its UTF-8 bytes. */
export function lp(...fields: readonly (Uint8Array | string)[]): Bytes {
  const parts: Uint8Array[] = []
  let length = 0
  for (const field of fields) {
    const bytes = typeof field === 'string' ? utf8(field) : field
    parts.push(bytes)
    length += 4 + bytes.length
  }
  const joined = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    writeU32(joined, offset, part.length)
    joined.set(part, offset + 4)
    offset += 4 + part.length
  }
  return joined
}

function writeU32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 24
  bytes[offset + 1] = value >>> 16
  bytes[offset + 2] = value >>> 8
  bytes[offset + 3] = value
}

/** The 16 raw bytes of a UUID of any version. Throws TypeError for any other text. */
export function uuidToBytes(uuid: string): Bytes {
  if (!UUID.test(uuid)) throw new TypeError('not a UUID')
  return Uint8Array.fromHex(uuid.replaceAll('-', ''))
}

/** The lower-case text of 16 raw bytes. Throws TypeError for another length. */
export function bytesToUuid(bytes: Uint8Array): string {
  if (bytes.length !== 16) throw new TypeError('a UUID has 16 bytes')
  const hex = bytes.toHex()
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)]
  return `${groups.join('-')}-${hex.slice(20)}`
}

/** Standard base64 with padding: the wire form of every binary field. */
export function toBase64(bytes: Uint8Array): string {
  return bytes.toBase64()
}

/** The bytes of canonical, padded base64 (RFC 4648, section 4), else `null`. */
export function fromBase64(text: string): Bytes | null {
  const bytes = decodeBase64(text, 'base64')
  return bytes !== null && bytes.toBase64() === text ? bytes : null
}

/** URL-safe base64 without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
}

/** The bytes of canonical URL-safe base64 (RFC 4648, section 5), padded or not, else `null`. */
export function fromBase64Url(text: string): Bytes | null {
  if (!BASE64URL.test(text)) return null
  const bare = text.replace(/=+$/, '')
  const padded = bare.padEnd(Math.ceil(bare.length / 4) * 4, '=')
  if (text !== bare && text !== padded) return null
  const bytes = decodeBase64(padded, 'base64url')
  return bytes !== null && toBase64Url(bytes) === bare ? bytes : null
}

// The strict mode of the platform still skips white space: both callers compare with a re-encoding.
function decodeBase64(text: string, alphabet: 'base64' | 'base64url'): Bytes | null {
  try {
    return Uint8Array.fromBase64(text, { alphabet, lastChunkHandling: 'strict' })
  } catch {
    return null
  }
}

/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  return bytes.toHex()
}

/**
 * The bytes as one big-endian integer in base62 (`0-9A-Za-z`), left-padded with `0` to `length`
 * characters. Throws RangeError when the integer does not fit.
 */
export function encodeBase62(bytes: Uint8Array, length: number): string {
  const quotient = Uint8Array.from(bytes)
  let text = ''
  for (let position = 0; position < length; position++) {
    let remainder = 0
    for (let index = 0; index < quotient.length; index++) {
      const dividend = remainder * 256 + (quotient[index] ?? 0)
      quotient[index] = Math.floor(dividend / 62)
      remainder = dividend % 62
    }
    text = BASE62.charAt(remainder) + text
  }
  if (quotient.some((byte) => byte !== 0)) throw new RangeError('the bytes do not fit')
  return text
}

/** The value of each ASCII character as a digit, -1 for other characters. */
const BASE62_VALUES = Int8Array.from({ length: 128 }, (_, code) =>
  BASE62.indexOf(String.fromCharCode(code)),
)

/** Inverse of `encodeBase62`; `null` for a foreign character or more than `byteLength` bytes. */
export function decodeBase62(text: string, byteLength: number): Bytes | null {
  const bytes = new Uint8Array(byteLength)
  for (let at = 0; at < text.length; at++) {
    let carry = BASE62_VALUES[text.charCodeAt(at)] ?? -1
    if (carry < 0) return null
    for (let index = byteLength - 1; index >= 0; index--) {
      const value = (bytes[index] ?? 0) * 62 + carry
      bytes[index] = value & 0xff
      carry = value >>> 8
    }
    if (carry !== 0) return null
  }
  return bytes
}

/**
 * Returns a new id like `uuidv7`, but of version 8 (RFC 9562, section 5.8). Such an id marks signed workspaces and
 * their tokens: it requires signatures.
 */
export function uuidv8(): string {
  const id = uuidv7()
  return `${id.slice(0, 14)}8${id.slice(15)}`
}
