/** The same for answers of gRPC, frame by frame: what stands for a value in a message is as long as the value. */

import { chunksOf, streamOf } from '../../core/async/streams.ts'
import {
  encodeGrpcFrame,
  FLAGS,
  framesOf,
  type GrpcFrame,
  readTrailers,
  trailersFrame,
} from '../../outbound/grpc/frames.ts'
import { heldCredential, readMarked } from '../../outbound/grpc/messages.ts'
import { grpcRefusal } from '../../outbound/grpc/status.ts'

type Unmark = {
  inMessage(bytes: Uint8Array): Uint8Array
  inHeaders(headers: Iterable<[name: string, value: string]>): Iterable<[string, string]>
}

export function callWithoutMarks(
  body: ReadableStream<Uint8Array>,
  { inMessage, inHeaders }: Unmark,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const unmarked = ({ flags, payload }: GrpcFrame): Uint8Array | null => {
    if (flags === FLAGS.trailers) {
      return trailersFrame(Object.fromEntries(inHeaders(Object.entries(readTrailers(payload)))))
    }
    if (flags !== FLAGS.marked) return encodeGrpcFrame(flags, payload)
    const { length, text } = readMarked(payload)
    const message = inMessage(text)
    return message.length === length ? encodeGrpcFrame(FLAGS.message, message) : null
  }
  const frames = (async function* () {
    for await (const frame of framesOf(chunksOf(reader))) {
      const changed = unmarked(frame)
      yield changed ?? trailersFrame(grpcRefusal(heldCredential()))
      if (changed) continue
      return void reader.cancel()
    }
  })()
  return streamOf(frames, () => reader.cancel())
}
