/** `native.ts` in a browser. */
import { bytesToUuid, utf8 } from './encoding.ts'
import { generateRandomBytes } from './random.ts'

const POLYNOMIAL = 0xedb88320
const TIME_BYTES = 6

export function crc32(data: Uint8Array | string): number {
  let crc = -1
  for (const byte of typeof data === 'string' ? utf8(data) : data) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0)
  }
  return ~crc >>> 0
}

/** Milliseconds, then random bytes, with version and variant (RFC 9562, section 5.7). */
export function uuidv7(): string {
  const bytes = generateRandomBytes(16)
  const time = Date.now()
    .toString(16)
    .padStart(TIME_BYTES * 2, '0')
  bytes.set(Uint8Array.fromHex(time))
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return bytesToUuid(bytes)
}
