/** HTTP/2 frames by hand (RFC 9113, section 4.1), for peers that violate the protocol. */

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const END_HEADERS = 4

export function http2Frame(
  type: number,
  { flags = 0, stream = 0, payload = new Uint8Array() as Uint8Array } = {},
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Four bytes. */
export function uint32(number: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(number)
  return bytes
}

/** A header that enters no table (RFC 7541, section 6.2.2); both shorter than 127 characters. */
export function headerField(name: string, value: string): Uint8Array {
  const text = (part: string) => Buffer.concat([Uint8Array.of(part.length), Buffer.from(part)])
  return Buffer.concat([Uint8Array.of(0), text(name), text(value)])
}

/** `:status: 200`, by the static table. */
export const STATUS_200 = Uint8Array.of(0x88)
