/**
 * Guards the messages of an answer, each read whole: a value in one cannot be removed, since the surrounding bytes give
 * its length. So a message with a find is passed on only to a proxy that has a text of the same length for it, and
 * otherwise ends the call.
 */
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { Fault } from '../../core/fault.ts'
import type { AnswerGuard } from '../guard.ts'
import { encodeGrpcFrame, FLAGS, type GrpcFrame, MAX_GRPC_MESSAGE_BYTES } from './frames.ts'

type Decoder = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>

/** Not requested, but some upstreams use the compression of the caller's messages. */
const decoders: Record<string, Decoder> = {
  gzip: promisify(zlib.gunzip),
  deflate: promisify(zlib.inflate),
}

export type MessageOptions = {
  guard: AnswerGuard
  /** The value of the header `grpc-encoding`. */
  coding: string | undefined
  /** Whether the caller supports marks. */
  takesMarks: boolean
}

/**
 * Returns the frame to pass on.
 *
 * @throws Fault `upstream_protocol_error` for one that cannot be read, or must not go on; `upstream_too_large`
 */
export async function guardMessage(
  { flags, payload }: GrpcFrame,
  { guard, coding, takesMarks }: MessageOptions,
): Promise<Uint8Array> {
  if (flags !== FLAGS.message && flags !== FLAGS.compressed) throw buildBrokenFault()
  const message = flags === FLAGS.compressed ? await decodePayload(coding, payload) : payload
  const redacted = await guard.redactBody(message)
  if (Buffer.compare(redacted, message) === 0) return encodeGrpcFrame(flags, payload)
  if (!takesMarks) throw buildHeldCredentialFault()
  const length = Buffer.alloc(4)
  length.writeUInt32BE(message.length)
  return encodeGrpcFrame(FLAGS.marked, Buffer.concat([length, redacted]))
}

/** Returns a message with marks for values, and its original length. */
export function readMarked(payload: Uint8Array): { length: number; text: Uint8Array } {
  const length = new DataView(payload.buffer, payload.byteOffset).getUint32(0)
  return { length, text: payload.subarray(4) }
}

export function buildHeldCredentialFault(): Fault {
  return new Fault('upstream_protocol_error', {
    message:
      'A message from the API contains a credential that cannot be redacted without breaking the message.',
  })
}

async function decodePayload(coding = '', payload: Uint8Array): Promise<Uint8Array> {
  const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
  if (!decoder) throw buildBrokenFault()
  try {
    return await decoder(payload, { maxOutputLength: MAX_GRPC_MESSAGE_BYTES })
  } catch (cause) {
    const isLarge =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE'
    throw isLarge ? new Fault('upstream_too_large', { cause }) : buildBrokenFault()
  }
}

function buildBrokenFault(): Fault {
  return new Fault('upstream_protocol_error')
}
