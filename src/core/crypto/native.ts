/** Functions that the runtime executes faster than JavaScript; `native.browser.ts` has equal ones for browsers. */

/** CRC-32/IEEE of bytes, or of the UTF-8 of a text, as an unsigned number. */
export function crc32(data: Uint8Array | string): number {
  return Bun.hash.crc32(data)
}

/** Returns a new time-ordered id (RFC 9562, section 5.7), the id of every row of the product. */
export function uuidv7(): string {
  return Bun.randomUUIDv7()
}
