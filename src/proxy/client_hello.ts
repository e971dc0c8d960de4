/**
 * Reads the offered protocols (ALPN, RFC 7301) from a TLS ClientHello (RFC 8446, section 4.1.2). It only selects one of
 * our own listeners; the TLS library performs the handshake.
 */

const HANDSHAKE = 22
const CLIENT_HELLO = 1
const ALPN = 16
/** The most bytes of a record's payload. No client fills more than one with its hello. */
const MAX_RECORD_BYTES = 16_384

/** Returns `null` while bytes are missing; an empty list without a ClientHello, or for one that offers no protocols. */
export function readOfferedProtocols(bytes: Uint8Array): string[] | null {
  if (bytes[0] !== undefined && bytes[0] !== HANDSHAKE) return []
  if (bytes.length < 5) return null
  const length = u16(bytes, 3)
  if (length > MAX_RECORD_BYTES) return []
  if (bytes.length < 5 + length) return null
  try {
    return protocolsIn(new Reader(bytes.subarray(5, 5 + length)))
  } catch (error) {
    if (error instanceof RangeError) return []
    throw error
  }
}

function protocolsIn(hello: Reader): string[] {
  if (hello.number(1) !== CLIENT_HELLO) return []
  hello.take(3 + 2 + 32) // length, legacy version, random
  hello.take(hello.number(1)) // session id
  hello.take(hello.number(2)) // cipher suites
  hello.take(hello.number(1)) // compression methods
  const extensions = new Reader(hello.take(hello.number(2)))
  while (extensions.left > 0) {
    const type = extensions.number(2)
    const data = extensions.take(extensions.number(2))
    if (type === ALPN) return namesIn(new Reader(data))
  }
  return []
}

function namesIn(data: Reader): string[] {
  const list = new Reader(data.take(data.number(2)))
  const names: string[] = []
  while (list.left > 0) names.push(Buffer.from(list.take(list.number(1))).toString('latin1'))
  return names
}

class Reader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  /** @throws RangeError at the end, as `take` */
  number(size: 1 | 2): number {
    const bytes = this.take(size)
    return size === 1 ? (bytes[0] ?? 0) : u16(bytes, 0)
  }

  take(size: number): Uint8Array {
    if (size > this.left) throw new RangeError('the ClientHello is truncated')
    this.#at += size
    return this.#bytes.subarray(this.#at - size, this.#at)
  }
}

function u16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}
