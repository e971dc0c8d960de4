/** The messages of a caller, each whole before it is sent, and no longer than those of an upstream may be. */
import { type ClientHttp2Stream, constants } from 'node:http2'
import { Fault } from '../../platform/fault.ts'
import { chunksOf, hasRoom } from '../../platform/streams.ts'
import { bytesOf, type Call, type CallBody } from '../call.ts'
import type { Deadline } from '../deadline.ts'
import { CALLERS, encodeGrpcFrame, framesOf } from './frames.ts'

export type Sending = {
  body: CallBody
  checkMessage?: Call['checkMessage']
  deadline: Deadline
  /** Resolves when so many bytes may be handled; `null` when that is now. */
  turn(bytes: number): Promise<void> | null
}

/** As they come, and as the upstream takes them. A body that breaks off ends the call, and one that is refused. */
export async function sendMessages(
  stream: ClientHttp2Stream,
  { body, checkMessage, deadline, turn }: Sending,
): Promise<void> {
  const reader = readerOf(body)
  // An answer may end before the request has.
  stream.once('close', () => void reader.cancel().catch(() => {}))
  try {
    for await (const { flags, payload } of framesOf(chunksOf(reader), CALLERS)) {
      checkMessage?.(payload)
      await turn(payload.length)
      if (!stream.writable) return
      if (!stream.write(encodeGrpcFrame(flags, payload))) await hasRoom(stream)
    }
    stream.end()
  } catch (error) {
    if (error instanceof Fault && stream.writable) deadline.refuse(error)
    stream.close(constants.NGHTTP2_CANCEL)
  }
}

function readerOf(body: CallBody): ReadableStreamDefaultReader<Uint8Array> {
  const stream =
    body && 'stream' in body ? body.stream : new Blob([(bytesOf(body) ?? '') as never]).stream()
  return stream.getReader()
}
