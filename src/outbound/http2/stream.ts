/** Shared functions for calls over an HTTP/2 stream, with or without gRPC. */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2'
import { hasRoom } from '../../core/async/streams.ts'
import { Fault } from '../../core/fault.ts'
import { bytesOf, type CallBody } from '../call.ts'

/** The head of an answer. Its trailers arrive later, perhaps before the body is read. */
export type Head = {
  status: number
  headers: IncomingHttpHeaders
  isAll: boolean
  trailers: IncomingHttpHeaders | null
}

/** @throws Error of a stream that ends without */
export function headOf(stream: ClientHttp2Stream): Promise<Head> {
  const { promise, resolve, reject } = Promise.withResolvers<Head>()
  stream.once('response', ({ ':status': status = 0, ...headers }, flags) => {
    const isAll = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
    const head: Head = { status, headers, isAll, trailers: null }
    stream.once('trailers', (trailers) => {
      head.trailers = trailers
    })
    resolve(head)
  })
  // Later errors reach the reader of the answer.
  stream.on('error', reject)
  stream.once('close', () => reject(new Fault('upstream_protocol_error')))
  return promise
}

/** Reads immediately: the runtime reports a stream that ends before it has a reader as aborted. */
export function readAtOnce<T>(pieces: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  const first = pieces.next()
  first.catch(() => {})
  return (async function* () {
    for (let read = await first; !read.done; read = await pieces.next()) yield read.value
  })()
}

/** Returns a reader of the sent body. It is cancelled if the answer ends before the request. */
export function readerOf(
  body: CallBody,
  stream: ClientHttp2Stream,
): ReadableStreamDefaultReader<Uint8Array> {
  const bytes = () => new Blob([(bytesOf(body) ?? '') as never]).stream()
  const reader = (body && 'stream' in body ? body.stream : bytes()).getReader()
  stream.once('close', () => void reader.cancel().catch(() => {}))
  return reader
}

/** Whether more may be written, once the upstream accepts it. */
export async function write(stream: ClientHttp2Stream, bytes: Uint8Array): Promise<boolean> {
  if (stream.writable && !stream.write(bytes)) await hasRoom(stream)
  return stream.writable
}
