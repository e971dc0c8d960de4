/**
 * Steps 10 and 11 of the resolver for gRPC, with messages in both directions simultaneously over HTTP/2: the caller's
 * as they arrive, the upstream's one by one, guarded. The answer is a `Response` of frames with the trailers as the
 * last (`frames.ts`); a failed one also ends in trailers, with the reason.
 *
 * Limits: 4 MiB for a message of either side, and the deadline as the longest silence of both. A credential that the
 * upstream spreads over several messages is not recognised.
 */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2'
import { chunksOf, streamOf } from '../../core/async/streams.ts'
import { type BodyAccount, BodyMeter } from '../../core/body_memory.ts'
import { Fault } from '../../core/fault.ts'
import { toBreakingFault } from '../answer/breaking.ts'
import { completeHeaders, dropForeign } from '../answer/own_headers.ts'
import type { ReceivedHeaders } from '../answer/part.ts'
import type { Ending } from '../answer/stream.ts'
import type { Call, CallBody } from '../call.ts'
import type { CallDeadline } from '../deadline.ts'
import { isBase64, isBinary } from '../encoded_headers.ts'
import type { AnswerGuard } from '../guard.ts'
import { headerBytes, isSendable, MAX_HEADER_BYTES, presentHeaders } from '../headers.ts'
import { type Head, headOf, readAtOnce, readerOf, write } from '../http2/stream.ts'
import { linksAmong } from '../links.ts'
import {
  CALLERS,
  encodeGrpcFrame,
  framesOf,
  type GrpcFrame,
  isGrpc,
  trailersFrame,
  UPSTREAMS,
} from './frames.ts'
import { guardMessage } from './messages.ts'
import { grpcRefusal, grpcStatusOfHttp, percentEncoded } from './status.ts'

type Options = Sending & {
  guard: AnswerGuard
  requestId: string
  takesMarks: boolean
  onEnd(status: number, ending: Ending): void
}

/** A separate message (`google.rpc.Status`), which gives the lengths of its fields. */
const STATUS_DETAILS = 'grpc-status-details-bin'

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants

/** @throws Fault `upstream_*` while there is no answer */
export async function exchangeGrpc(stream: ClientHttp2Stream, options: Options): Promise<Response> {
  const { deadline, bodies } = options
  const giveUp = () => stream.close(NGHTTP2_CANCEL)
  deadline.signal.addEventListener('abort', giveUp, { once: true })
  if (deadline.signal.aborted) giveUp()
  try {
    const head = headOf(stream)
    const frames = readAtOnce(
      framesOf(deadline.watchChunks(stream), UPSTREAMS, new BodyMeter(bodies)),
    )
    void sendMessages(stream, options)
    return answerOf(stream, frames, await head, options)
  } catch (error) {
    // The upstream did not process it (RFC 9113, section 8.7), as on a connection that ends meanwhile: it may be sent
    // again.
    const isRefused = stream.rstCode === NGHTTP2_REFUSED_STREAM && !deadline.signal.aborted
    giveUp()
    throw isRefused ? new Fault('upstream_unreachable') : toBreakingFault(error, deadline)
  }
}

function answerOf(
  stream: ClientHttp2Stream,
  frames: AsyncIterable<GrpcFrame>,
  head: Head,
  options: Options,
): Response {
  const { guard, requestId } = options
  const { status, isAll } = head
  const presented = presentedOf(head.headers, guard)
  const isAnswer = status === 200 && isGrpc(presented['content-type'])
  const headers = completeHeaders(isAnswer ? presented : toTrailersWithoutGrpc(status), requestId)
  if (isAnswer && !isAll) {
    return new Response(framesIn(stream, frames, head, options), { headers })
  }
  stream.close(NGHTTP2_CANCEL)
  options.deadline.clear()
  options.onEnd(status, { fault: null, redacted: guard.redacted })
  return new Response(null, { headers })
}

/** Returns trailers for an answer of a proxy before the upstream, or of a server without gRPC. */
function toTrailersWithoutGrpc(status: number): Record<string, string> {
  return {
    'content-type': 'application/grpc',
    'grpc-status': String(grpcStatusOfHttp(status)),
    'grpc-message': `The API returned HTTP ${status} instead of gRPC.`,
  }
}

/** @throws Fault `upstream_protocol_error` for more than 64 KiB */
function presentedOf(headers: IncomingHttpHeaders, guard: AnswerGuard): Record<string, string> {
  const received: [string, string][] = Object.entries(headers).map(([name, value]) => [
    name,
    [value].flat().join(', '),
  ])
  if (headerBytes(received) > MAX_HEADER_BYTES) throw new Fault('upstream_protocol_error')
  const shown = presentHeaders(Object.fromEntries(received) as ReceivedHeaders)
  // A gRPC call follows no links.
  for (const name of Object.keys(linksAmong(shown))) delete shown[name]
  const text = shown['grpc-message']
  if (text !== undefined && !isSendable(text)) shown['grpc-message'] = percentEncoded(text)
  const redacted = guard.redactHeaders(shown)
  const kept = Object.entries(redacted).filter(
    ([name, value]) => isSendable(value) && (value === shown[name] || mayDiffer(name, value)),
  )
  return Object.fromEntries(kept)
}

/** Whether a redacted header may be sent: binary metadata must stay base64, and status details cannot change. */
function mayDiffer(name: string, value: string): boolean {
  return !isBinary(name) || (isBase64(value) && name !== STATUS_DETAILS)
}

function framesIn(
  stream: ClientHttp2Stream,
  frames: AsyncIterable<GrpcFrame>,
  head: Head,
  options: Options,
): ReadableStream<Uint8Array> {
  const { deadline, guard, onEnd } = options
  let ended = false
  const end = (fault: Fault | null) => {
    if (ended) return
    ended = true
    deadline.clear()
    onEnd(200, { fault, redacted: guard.redacted })
  }
  // Also ends the response of a caller that never reads.
  deadline.signal.addEventListener('abort', () => {
    end(deadline.isUnwanted ? null : (deadline.refusal ?? new Fault('upstream_timeout')))
  })
  const guarded = guardFrames(stream, frames, head, options, end)
  return streamOf(guarded, () => {
    end(null)
    deadline.abort()
  })
}

async function* guardFrames(
  stream: ClientHttp2Stream,
  frames: AsyncIterable<GrpcFrame>,
  head: Head,
  { guard, deadline, turn, takesMarks }: Options,
  end: (fault: Fault | null) => void,
): AsyncGenerator<Uint8Array, void> {
  const coding = [head.headers['grpc-encoding']].flat()[0]
  try {
    yield trailersFrame({})
    for await (const frame of frames) {
      await turn(frame.payload.length)
      yield await guardMessage(frame, { guard, coding, takesMarks })
    }
    // A closed connection looks like a completed response.
    if (!head.trailers) throw new Fault('upstream_protocol_error')
    const presented = presentedOf(head.trailers, guard)
    dropForeign(presented)
    end(null)
    yield trailersFrame(presented)
  } catch (error) {
    const fault = toBreakingFault(error, deadline)
    end(fault)
    yield trailersFrame(grpcRefusal(fault))
  } finally {
    stream.close(head.trailers ? NGHTTP2_NO_ERROR : NGHTTP2_CANCEL)
  }
}

type Sending = {
  body: CallBody
  checkMessage?: Call['checkMessage']
  deadline: CallDeadline
  /** Counts buffered messages in both directions. */
  bodies: BodyAccount
  /** Resolves when this many bytes may be handled; `null` if they may be handled now. */
  turn(bytes: number): Promise<void> | null
}

/**
 * Sends the messages of a caller. Each is read whole first, and has the upstream's size limit. They are sent as they
 * arrive, and as the upstream accepts them. A body that breaks off ends the call, as does a refused one.
 */
async function sendMessages(
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
