/**
 * A host's listener for programs that only support HTTP/2, mainly gRPC clients: the runtime's own server has neither
 * trailers nor bidirectional messages. It converts requests to the common form, appends trailers to gRPC responses, and
 * formats refusals for gRPC.
 */
import http2, {
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { createServer, type TLSSocket } from 'node:tls'
import { hasRoom, streamOf } from '../core/async/streams.ts'
import { Fault, faultCodes } from '../core/fault.ts'
import { presentFault } from '../http/reply.ts'
import { encodeGrpcFrame, FLAGS, framesOf, isGrpc, readTrailers } from '../outbound/grpc/frames.ts'
import { grpcRefusal, grpcStatusOfHttp } from '../outbound/grpc/status.ts'
import { MAX_HEADER_BYTES } from '../outbound/headers.ts'
import { MeteredWire, PREFACE_BYTES } from '../outbound/http2/metered_wire.ts'
import { Scheduler } from '../outbound/scheduler.ts'
import { FRAMES_PER_TURN } from '../outbound/websocket/frame_weight.ts'
import type { Leaf } from './authority.ts'
import type { BackendHandler } from './backend.ts'
import { recordFault } from './record.ts'

const { NGHTTP2_FLAG_END_STREAM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } = http2.constants

const SETTINGS = {
  enablePush: false,
  maxConcurrentStreams: 256,
  maxHeaderListSize: MAX_HEADER_BYTES,
}

/** Listens at a path of the file system. */
export async function openHttp2Listener(path: string, leaf: Leaf, handler: BackendHandler) {
  const wires = new Set<TLSSocket>()
  const frames = new Scheduler(FRAMES_PER_TURN)
  const http = http2.createServer({ settings: SETTINGS })
  http.on('stream', (stream: ServerHttp2Stream, headers, flags) => {
    void serve(stream, headers, flags, handler)
  })
  http.on('sessionError', () => {})
  const options = { ...leaf, ALPNProtocols: ['h2'] }
  const server = createServer(options, (wire) => {
    const id = Bun.randomUUIDv7()
    wires.add(wire)
    wire.once('close', () => wires.delete(wire))
    const turn = (count: number) => frames.take(id, count)
    http.emit('connection', new MeteredWire(wire, { turn, skipped: PREFACE_BYTES }))
  })
  server.on('tlsClientError', () => {})
  const listening = Promise.withResolvers<void>()
  server.once('error', listening.reject)
  server.listen(path, () => listening.resolve())
  await listening.promise
  return {
    /** Lets running streams end by themselves, unless `isAll`. */
    stop: (isAll = false) => {
      server.close()
      if (isAll) for (const wire of wires) wire.destroy()
    },
  }
}

async function serve(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  handler: BackendHandler,
): Promise<void> {
  const gone = new AbortController()
  // The event `close` handles its end.
  stream.on('error', () => {})
  stream.once('close', () => gone.abort())
  const isWhole = (flags & NGHTTP2_FLAG_END_STREAM) !== 0
  try {
    const response = await answerOf(() => requestOf(stream, headers, isWhole, gone.signal), handler)
    if (stream.destroyed) await response.body?.cancel()
    else if (isGrpc(headers['content-type'])) await sendCall(stream, response)
    else await send(stream, response, headers[':method'] === 'HEAD')
  } catch {
    stream.close(NGHTTP2_INTERNAL_ERROR)
  }
}

async function answerOf(read: () => Request, handler: BackendHandler): Promise<Response> {
  try {
    const response = await handler(read(), () => false)
    return response ?? new Response(null, { status: 501 })
  } catch (error) {
    return presentFault(recordFault(error), 'resolver', Bun.randomUUIDv7())
  }
}

function requestOf(
  stream: ServerHttp2Stream,
  sent: IncomingHttpHeaders,
  isWhole: boolean,
  signal: AbortSignal,
): Request {
  const {
    ':method': method = '',
    ':path': path = '',
    ':authority': authority = sent.host ?? '',
  } = sent
  const headers = new Headers()
  for (const [name, value] of Object.entries(sent)) {
    if (!name.startsWith(':')) headers.set(name, [value].flat().join(', '))
  }
  headers.set('host', authority)
  const url = `https://${authority}${path}`
  if (!path.startsWith('/') || !URL.canParse(url)) throw new Fault('invalid_target')
  const body =
    isWhole || method === 'GET' || method === 'HEAD' ? null : streamOf(chunksFrom(stream), () => {})
  return new Request(url, { method, headers, body, signal })
}

/** Yields chunks on demand. Further data of the program waits in its window. */
async function* chunksFrom(stream: ServerHttp2Stream): AsyncGenerator<Uint8Array, void> {
  yield* stream
  if (stream.aborted) throw new Error('the client disconnected')
}

/** A program that has not ended its half by then receives a reset (RFC 9113, section 8.1). */
async function send(stream: ServerHttp2Stream, response: Response, isHead: boolean) {
  const { body } = response
  if (body === null || isHead) {
    await body?.cancel()
    return sendOnlyHead(stream, headOf(response))
  }
  stream.respond(headOf(response))
  for await (const chunk of body) await write(stream, chunk)
  stream.end(() => stream.close(NGHTTP2_NO_ERROR))
}

/** An answer of gRPC, or a refusal in the form that it has there, after which the stream is closed, too. */
async function sendCall(stream: ServerHttp2Stream, response: Response): Promise<void> {
  if (!isGrpc(response.headers.get('content-type'))) {
    const trailers = await refusalIn(response)
    return sendOnlyHead(stream, {
      ':status': 200,
      'content-type': 'application/grpc',
      ...trailers,
    })
  }
  if (response.body === null || response.headers.has('grpc-status')) {
    await response.body?.cancel()
    return sendOnlyHead(stream, headOf(response))
  }
  let trailers = grpcRefusal({ code: 'unavailable', message: 'The response was cut off.' })
  stream.once('wantTrailers', () => {
    stream.sendTrailers(trailers)
    stream.close(NGHTTP2_NO_ERROR)
  })
  stream.respond(headOf(response), { waitForTrailers: true })
  try {
    for await (const { flags, payload } of framesOf(response.body)) {
      if (flags === FLAGS.trailers)
        trailers = payload.length === 0 ? trailers : readTrailers(payload)
      else await write(stream, encodeGrpcFrame(flags, payload))
    }
  } finally {
    stream.end()
  }
}

function sendOnlyHead(stream: ServerHttp2Stream, head: OutgoingHttpHeaders): void {
  stream.respond(head, { endStream: true })
  stream.close(NGHTTP2_NO_ERROR)
}

async function refusalIn(response: Response): Promise<Record<string, string>> {
  const { headers, status } = response
  const given = headers.get('x-service-error')
  const code = faultCodes.find((known) => known === given)
  const { message } = await response.json().catch(() => ({}))
  const id = headers.get('x-service-request-id') ?? headers.get('x-request-id')
  return {
    ...(code
      ? grpcRefusal({ code, message: String(message) })
      : { 'grpc-status': String(grpcStatusOfHttp(status)), 'grpc-message': `HTTP ${status}` }),
    ...(id === null ? {} : { 'x-service-request-id': id }),
  }
}

/** Frames mark a body's end. The length of an omitted body is sent as it is. */
function headOf({ status, headers, body }: Response) {
  const { 'content-length': length, ...others } = Object.fromEntries(headers)
  const ofHead = body === null && length !== undefined ? { 'content-length': length } : {}
  return { ':status': status, ...others, ...ofHead }
}

/** Resolves when the program accepts more. @throws Error if it disconnected */
async function write(stream: ServerHttp2Stream, chunk: Uint8Array): Promise<void> {
  if (stream.destroyed) throw new Error('the client disconnected')
  if (!stream.write(chunk)) await hasRoom(stream)
}
