/**
 * The frames of gRPC: messages after five bytes of flags and length (gRPC over HTTP/2, "Length-Prefixed- Message"). An
 * answer has its trailers in a separate last frame, as in gRPC-Web, since neither `fetch` nor a `Response` has any. An
 * empty frame at the beginning shows that the headers were received.
 */

import type { BodyMeter } from '../../core/body_memory.ts'
import { Fault, type FaultCode } from '../../core/fault.ts'

export type GrpcFrame = { flags: number; payload: Uint8Array }

export const FLAGS = {
  message: 0,
  compressed: 1,
  /** An extension of this product: a message with marks for values, after its original length in four bytes. */
  marked: 0x40,
  trailers: 0x80,
} as const

/** The default limit of gRPC clients for one message, in bytes. */
export const MAX_GRPC_MESSAGE_BYTES = 4 * 1024 * 1024
const PREFIX_BYTES = 5
/** Initial bytes for an incomplete frame, doubled as needed. */
const FIRST_ROOM = 16_384

/** Whether a request or answer of this type is gRPC; gRPC-Web is HTTP like any other. */
export function isGrpc(contentType: string | null | undefined): boolean {
  return /^application\/grpc(?:[+;\s]|$)/i.test(contentType ?? '')
}

export function isGrpcCall({ method, headers }: Request): boolean {
  return method === 'POST' && isGrpc(headers.get('content-type'))
}

export function encodeGrpcFrame(flags: number, payload: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + payload.length)
  frame[0] = flags
  frame.writeUInt32BE(payload.length, 1)
  frame.set(payload, PREFIX_BYTES)
  return frame
}

export function trailersFrame(trailers: Readonly<Record<string, string>>): Uint8Array {
  const lines = Object.entries(trailers).map(([name, value]) => `${name}: ${value}\r\n`)
  return encodeGrpcFrame(FLAGS.trailers, Buffer.from(lines.join(''), 'latin1'))
}

export function readTrailers(payload: Uint8Array): Record<string, string> {
  const lines = Buffer.from(payload).toString('latin1').split('\r\n').filter(Boolean)
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trim()]
    }),
  )
}

/** Fault codes by the sender of the messages: for messages that are too long, and for truncated ones. */
type Side = { tooLarge: FaultCode; cutOff: FaultCode }
export const UPSTREAMS: Side = { tooLarge: 'upstream_too_large', cutOff: 'upstream_protocol_error' }
export const CALLERS: Side = { tooLarge: 'payload_too_large', cutOff: 'validation_error' }

/**
 * Splits chunks of any size into frames. Memory is allocated for received bytes, not for the length in a prefix, and
 * counted by `meter`.
 *
 * @throws Fault of that side for a frame of more than 4 MiB, and for an end inside of a frame
 */
export async function* framesOf(
  chunks: AsyncIterable<Uint8Array>,
  side = UPSTREAMS,
  meter?: BodyMeter,
): AsyncGenerator<GrpcFrame, void> {
  let held = Buffer.alloc(0)
  let size = 0
  for await (const chunk of chunks) {
    meter?.hold(size + chunk.length)
    held = withRoom(held, size, chunk.length)
    held.set(chunk, size)
    size += chunk.length
    let from = 0
    for (
      let frame = frameAt(held, from, size, side);
      frame;
      frame = frameAt(held, from, size, side)
    ) {
      from += PREFIX_BYTES + frame.payload.length
      yield frame
    }
    held.copyWithin(0, from, size)
    size -= from
    meter?.hold(size)
    // Frees the buffer of a large message during a long stream.
    if (size === 0 && held.length > FIRST_ROOM) held = Buffer.alloc(0)
  }
  if (size > 0)
    throw new Fault(side.cutOff, { message: 'A gRPC message is shorter than its declared length.' })
}

function withRoom(held: Buffer<ArrayBuffer>, size: number, more: number): Buffer<ArrayBuffer> {
  if (size + more <= held.length) return held
  const grown = Buffer.alloc(Math.max(FIRST_ROOM, 2 * held.length, size + more))
  held.copy(grown, 0, 0, size)
  return grown
}

/** `null` while it is not whole. The payload is a copy. */
function frameAt(bytes: Buffer, from: number, end: number, { tooLarge }: Side): GrpcFrame | null {
  if (end - from < PREFIX_BYTES) return null
  const length = bytes.readUInt32BE(from + 1)
  if (length > MAX_GRPC_MESSAGE_BYTES)
    throw new Fault(tooLarge, { message: 'A gRPC message can have at most 4 MiB.' })
  const start = from + PREFIX_BYTES
  if (end - start < length) return null
  return {
    flags: bytes[from] ?? 0,
    payload: Uint8Array.prototype.slice.call(bytes, start, start + length),
  }
}
