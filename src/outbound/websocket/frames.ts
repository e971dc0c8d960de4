/**
 * Frames of the WebSocket protocol (RFC 6455, section 5), as the client of an upstream sends and reads them. An
 * upstream cannot make us buffer more than one message of the permitted size: a frame is refused by its header, before
 * its payload is read.
 */
import { randomBytes } from 'node:crypto'
import { fromUtf8 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'

export const OPCODES = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
export type FrameType = keyof typeof OPCODES

/** One whole message, or one control frame. */
export type SocketMessage = { type: FrameType; payload: Uint8Array }

/** `message` is `null` for a fragment that does not complete one. */
export type ReadFrame = { length: number; message: SocketMessage | null }

type Header = { isFinal: boolean; opcode: number; start: number; length: number }

const CONTINUATION = 0
const MAX_CONTROL_BYTES = 125
const TYPES = new Map<number, FrameType>(
  Object.entries(OPCODES).map(([type, opcode]) => [opcode, type as FrameType]),
)

/** A frame with one whole message, masked as a client must (RFC 6455, section 5.3). */
export function encodeFrame(type: FrameType, payload: Uint8Array): Uint8Array {
  const header = lengthHeader(0x80 | OPCODES[type], payload.length)
  const mask = randomBytes(4)
  const frame = Buffer.concat([header, mask, payload])
  for (let at = 0, start = header.length + 4; at < payload.length; at++) {
    frame[start + at] = (payload[at] ?? 0) ^ (mask[at & 3] ?? 0)
  }
  return frame
}

/** The payload of a close frame; no code represents none given (RFC 6455, section 7.4.1: 1005). */
export function encodeClosing(code: number | null, reason = ''): Uint8Array {
  if (code === null) return new Uint8Array()
  return Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)])
}

/** @throws Fault `upstream_protocol_error` for a code that may not be sent */
export function decodeClosing(payload: Uint8Array): { code: number | null; reason: string } {
  if (payload.length === 0) return { code: null, reason: '' }
  const code = ((payload[0] ?? 0) << 8) | (payload[1] ?? 0)
  if (payload.length === 1 || !isSendableCode(code)) throw buildBrokenFault()
  return { code, reason: decodeText(payload.subarray(2)) }
}

/** RFC 6455, section 7.4: 1004 to 1006 and 1015 are never sent in a frame. */
export function isSendableCode(code: number): boolean {
  const isDefined = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014)
  return isDefined || (code >= 3000 && code <= 4999)
}

/** @throws Fault `upstream_protocol_error` */
export function decodeText(bytes: Uint8Array): string {
  const text = fromUtf8(bytes)
  if (text === null) throw buildBrokenFault()
  return text
}

/** Maximum unjoined fragments: each takes more memory than a byte of text. */
const MAX_FRAGMENTS = 1024

/** Assembles frames from arriving bytes. The caller bounds the unread bytes. */
export class FrameReader {
  readonly #maxBytes: number
  #bytes: Uint8Array = new Uint8Array()
  #from = 0
  /** Chunks that follow `#bytes`. */
  #chunks: Uint8Array[] = []
  #size = 0
  /** Bytes needed for the next step. */
  #needed = 2
  #fragments: Uint8Array[] = []
  #fragmentBytes = 0
  #fragmentType: FrameType | null = null

  /** `maxBytes`: of one message, all its fragments together. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Buffered bytes: unread ones, and the fragments of a message. */
  get held(): number {
    return this.#size + this.#fragmentBytes
  }

  /** Bytes that were not read yet. */
  get size(): number {
    return this.#size
  }

  append(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
  }

  /**
   * The next frame; `null` while it is not whole.
   *
   * @throws Fault `upstream_too_large`, `upstream_protocol_error`
   */
  readNext(): ReadFrame | null {
    while (this.#size >= this.#needed) {
      if (this.#bytes.length - this.#from < this.#needed) this.#join()
      const header = readHeader(this.#bytes, this.#from)
      if (header) this.#check(header)
      // Incomplete header: try again with the next byte.
      const length = header
        ? header.start + header.length - this.#from
        : this.#bytes.length - this.#from + 1
      if (header && this.#bytes.length - this.#from >= length) return this.#read(header, length)
      this.#needed = length
    }
    return null
  }

  #join(): void {
    this.#bytes = Buffer.concat([this.#bytes.subarray(this.#from), ...this.#chunks])
    this.#chunks = []
    this.#from = 0
  }

  #read(header: Header, length: number): ReadFrame {
    this.#from += length
    this.#size -= length
    this.#needed = 2
    const payload = this.#bytes.slice(header.start, this.#from)
    return { length, message: this.#take(header, payload) }
  }

  #check({ isFinal, opcode, length }: Header): void {
    const isControl = opcode >= OPCODES.close
    if (opcode !== CONTINUATION && !TYPES.has(opcode)) throw buildBrokenFault()
    if (isControl && (!isFinal || length > MAX_CONTROL_BYTES)) throw buildBrokenFault()
    if (!isControl && (opcode === CONTINUATION) !== (this.#fragmentType !== null))
      throw buildBrokenFault()
    const total = isControl ? length : this.#fragmentBytes + length
    if (total > this.#maxBytes) throw new Fault('upstream_too_large')
  }

  #take({ isFinal, opcode }: Header, payload: Uint8Array): SocketMessage | null {
    const type = TYPES.get(opcode) ?? this.#fragmentType
    if (type === null) throw buildBrokenFault()
    if (opcode >= OPCODES.close) return { type, payload }
    this.#fragmentType = type
    this.#fragmentBytes += payload.length
    if (payload.length > 0) this.#fragments.push(payload)
    if (!isFinal) {
      if (this.#fragments.length > MAX_FRAGMENTS) this.#fragments = [this.#joinWhole()]
      return null
    }
    const message = { type, payload: this.#joinWhole() }
    this.#fragments = []
    this.#fragmentBytes = 0
    this.#fragmentType = null
    return message
  }

  #joinWhole(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#fragments))
  }
}

function lengthHeader(first: number, length: number): Uint8Array {
  const MASKED = 0x80
  if (length < 126) return Uint8Array.from([first, MASKED | length])
  const header = Buffer.alloc(length < 65_536 ? 4 : 10)
  header[0] = first
  header[1] = MASKED | (length < 65_536 ? 126 : 127)
  if (length < 65_536) header.writeUInt16BE(length, 2)
  else header.writeBigUInt64BE(BigInt(length), 2)
  return header
}

/** Reads a header; `null` until it is complete. Masks and reserved bits are refused, since none was agreed on. */
function readHeader(bytes: Uint8Array, from: number): Header | null {
  const [first, second] = [bytes[from], bytes[from + 1]]
  if (first === undefined || second === undefined) return null
  if ((first & 0x70) !== 0 || (second & 0x80) !== 0) throw buildBrokenFault()
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const form = second & 0x7f
  const start = from + (form === 127 ? 10 : form === 126 ? 4 : 2)
  if (start > bytes.length) return null
  const length =
    form === 127
      ? Number(data.getBigUint64(from + 2))
      : form === 126
        ? data.getUint16(from + 2)
        : form
  return { isFinal: (first & 0x80) !== 0, opcode: first & 0x0f, start, length }
}

function buildBrokenFault(): Fault {
  return new Fault('upstream_protocol_error')
}
