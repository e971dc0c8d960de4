/** Functions that the runtime does faster than our code; `native.browser.ts` has the same for browsers. */

/** CRC-32/IEEE of bytes, or of the UTF-8 of a text, as an unsigned number. */
export function crc32(data: Uint8Array | string): number {
  return Bun.hash.crc32(data)
}

/** A new time-ordered id (RFC 9562, section 5.7): what every row of the product is named by. */
export function uuidv7(): string {
  return Bun.randomUUIDv7()
}
