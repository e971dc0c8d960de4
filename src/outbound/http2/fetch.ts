/**
 * A request that is not gRPC over HTTP/2. The runtime's `fetch` could do it, but not with the check of names in
 * certificates that all connections go through.
 */
import { type ClientHttp2Stream, constants } from 'node:http2'
import { chunksOf, streamOf } from '../../core/async/streams.ts'
import { Fault } from '../../core/fault.ts'
import type { CallBody } from '../call.ts'
import { upstreamFault } from '../connection/fetch.ts'
import type { WireRequest } from '../outbound_request.ts'
import { type Head, headOf, readAtOnce, readerOf, write } from './stream.ts'

/** RFC 9110, section 6.4.1. */
const WITHOUT_BODY = [204, 205, 304]

/**
 * The answer in the form that `fetch` gives it, its body not yet read.
 *
 * @throws Fault `upstream_*`
 */
export async function fetchOver(
  stream: ClientHttp2Stream,
  { method, body }: Pick<WireRequest, 'method' | 'body'>,
  signal: AbortSignal,
): Promise<Response> {
  const giveUp = () => stream.close(constants.NGHTTP2_CANCEL)
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  try {
    const head = headOf(stream)
    const pieces = readAtOnce(piecesOf(stream, head))
    // An error of the request's body is thrown while there is no answer yet.
    const sent = body === null ? head : send(stream, body).then(() => head)
    const { status, headers, isAll } = await Promise.race([head, sent])
    const isWhole = isAll || method === 'HEAD' || WITHOUT_BODY.includes(status)
    if (isWhole && !isAll) giveUp()
    const content = isWhole ? null : streamOf(pieces, giveUp)
    return new Response(content, { status, headers: headersOf(headers) })
  } catch (error) {
    giveUp()
    throw upstreamFault(signal.aborted ? signal.reason : error)
  }
}

/** A truncated body ends the call. */
async function send(stream: ClientHttp2Stream, body: CallBody): Promise<void> {
  try {
    for await (const chunk of chunksOf(readerOf(body, stream))) {
      if (!(await write(stream, chunk))) return
    }
    stream.end()
  } catch (error) {
    stream.close(constants.NGHTTP2_CANCEL)
    throw error
  }
}

/**
 * Yields pieces up to the end. After a lost connection, the runtime resets the stream. The body has its declared length
 * (RFC 9113, section 8.1.1).
 */
async function* piecesOf(
  stream: ClientHttp2Stream,
  head: Promise<Head>,
): AsyncGenerator<Uint8Array, void> {
  let isEnd = false
  stream.once('end', () => {
    isEnd = stream.rstCode === constants.NGHTTP2_NO_ERROR
  })
  let [size, declared] = [0, Number.NaN]
  for await (const chunk of stream) {
    declared = Number((await head).headers['content-length'] ?? Number.NaN)
    size += chunk.length
    if (size > declared) throw new Fault('upstream_protocol_error')
    yield chunk
  }
  if (!isEnd || size < declared) throw new Fault('upstream_protocol_error')
}

function headersOf(received: Head['headers']): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(received)) {
    for (const value of [values ?? []].flat()) headers.append(name, value)
  }
  // Frames prove where a body ends, as chunks do. No other header shows that a response was framed.
  if (!headers.has('content-length')) headers.set('transfer-encoding', 'chunked')
  return headers
}
