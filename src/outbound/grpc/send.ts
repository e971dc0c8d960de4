/** The messages of a caller, each whole before it is sent, and no longer than those of an upstream may be. */
import { type ClientHttp2Stream, constants } from 'node:http2'
import { chunksOf } from '../../core/async/streams.ts'
import { type BodyAccount, BodyMeter } from '../../core/body_memory.ts'
import { Fault } from '../../core/fault.ts'
import type { Call, CallBody } from '../call.ts'
import type { Deadline } from '../deadline.ts'
import { readerOf, write } from '../http2/stream.ts'
import { CALLERS, encodeGrpcFrame, framesOf } from './frames.ts'

export type Sending = {
  body: CallBody
  checkMessage?: Call['checkMessage']
  deadline: Deadline
  /** Counts what is held of messages in both directions. */
  bodies: BodyAccount
  /** Resolves when so many bytes may be handled; `null` when that is now. */
  turn(bytes: number): Promise<void> | null
}

/** As they come, and as the upstream takes them. A body that breaks off ends the call, and one that is refused. */
export async function sendMessages(
  stream: ClientHttp2Stream,
  { body, checkMessage, deadline, turn, bodies }: Sending,
): Promise<void> {
  try {
    const chunks = chunksOf(readerOf(body, stream))
    for await (const { flags, payload } of framesOf(chunks, CALLERS, new BodyMeter(bodies))) {
      checkMessage?.(payload)
      await turn(payload.length)
      if (!(await write(stream, encodeGrpcFrame(flags, payload)))) return
    }
    stream.end()
  } catch (error) {
    if (error instanceof Fault && stream.writable) deadline.refuse(error)
    stream.close(constants.NGHTTP2_CANCEL)
  }
}
