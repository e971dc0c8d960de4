/** Builds every response: its headers, and the shape for both listeners. */

import type { z } from 'zod'
import { Fault, formatInWords } from '../core/fault.ts'
import { adviceOf } from './advice.ts'
import type { Endpoint } from './endpoint.ts'
import { jsonResponse } from './json/write.ts'
import { shape } from './validation/shape.ts'

type ReplyOptions = {
  status?: 200 | 201 | 503
  message?: string
  /** For lists: where the next page starts, or `null` on the last. */
  nextCursor?: string | null
  /** The fields of the endpoint besides `data`. */
  beside?: object
  /** Values of `Set-Cookie`. */
  cookies?: readonly string[]
}

/** The return value of a handler with more than data. */
export class Reply<T> {
  readonly data: T
  readonly options: ReplyOptions

  constructor(data: T, options: ReplyOptions) {
    this.data = data
    this.options = options
  }
}

export function replyCreated<T>(data: T, message?: string): Reply<T> {
  return new Reply(data, message === undefined ? { status: 201 } : { status: 201, message })
}

/**
 * A file that is read while it is made, after the transaction of its handler has ended: `chunks` opens
 * what it needs for as long as each piece takes, and is ended by `return` when the client disconnects.
 */
export class Download {
  readonly fileName: string
  readonly chunks: () => AsyncGenerator<string, void>

  constructor(fileName: string, chunks: () => AsyncGenerator<string, void>) {
    this.fileName = fileName
    this.chunks = chunks
  }
}

/** Events as they happen. `stop` is called when the client disconnects, which ends the wait of `chunks`. */
export class EventStream {
  readonly chunks: () => AsyncGenerator<string, void>
  readonly stop: () => void

  constructor(chunks: () => AsyncGenerator<string, void>, stop: () => void) {
    this.chunks = chunks
    this.stop = stop
  }
}

export type Surface = 'control-plane' | 'resolver'

const COMMON = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}
const COMMON_HEADERS = new Headers(COMMON)

/** On every response that the application makes (protocol 2). */
export function buildCommonHeaders(requestId: string): Record<string, string> {
  return { 'x-request-id': requestId, ...COMMON }
}

/**
 * These headers, and others in which only the ID of the request changes. For what is called often: a copy of
 * headers costs the runtime less than to read a record.
 */
export function headersWith(requestId: string, others: Record<string, string>): Headers {
  const headers = new Headers(COMMON_HEADERS)
  headers.set('x-request-id', requestId)
  for (const name in others) {
    if (!Object.hasOwn(COMMON, name)) headers.set(name, others[name] ?? '')
  }
  return headers
}

/**
 * Shapes a handler's result by the contract. Fields outside of the schema are removed. Missing required fields are a
 * server bug, so 500. `onPiece` is called for each piece of a download.
 */
export function present(
  endpoint: Endpoint,
  result: unknown,
  headers: Record<string, string>,
  onPiece: () => void = () => {},
): Response {
  if (result instanceof Download) return presentDownload(endpoint, result, headers, onPiece)
  if (result instanceof EventStream) return presentEvents(result, headers, onPiece)
  const { data, options } = result instanceof Reply ? result : new Reply(result, {})
  const status = options.status ?? (endpoint.success === 201 ? 201 : 200)
  const leaving = shapeResult(endpoint, endpoint.result, data)
  if (endpoint.bare) {
    // Health is the one success with a status that implies a header.
    return jsonResponse(
      leaving,
      { status, headers: { ...listImpliedHeaders(status), ...headers } },
      onPiece,
    )
  }
  const body = {
    status: 'success',
    ...(options.message === undefined ? {} : { message: options.message }),
    ...(leaving === undefined ? {} : { data: leaving }),
    ...(endpoint.beside
      ? Object(shapeResult(endpoint, endpoint.beside, options.beside ?? {}))
      : {}),
    ...(endpoint.paged ? { pagination: { next_cursor: options.nextCursor ?? null } } : {}),
  }
  return withCookies(jsonResponse(body, { status, headers }, onPiece), options)
}

function withCookies(response: Response, { cookies = [] }: ReplyOptions): Response {
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  return response
}

function presentDownload(
  { mediaType = 'application/octet-stream' }: Endpoint,
  { fileName, chunks }: Download,
  headers: Record<string, string>,
  onPiece: () => void,
): Response {
  return new Response(streamOf(chunks(), onPiece), {
    headers: {
      ...headers,
      'content-type': mediaType,
      'content-disposition': `attachment; filename="${fileName}"`,
    },
  })
}

function presentEvents(
  { chunks, stop }: EventStream,
  headers: Record<string, string>,
  onPiece: () => void,
): Response {
  return new Response(streamOf(chunks(), onPiece, stop), {
    // A proxy on the way that collects an answer before it passes it on would show nothing.
    headers: { ...headers, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
  })
}

/** One chunk is made when the last one was taken: a slow client costs no memory. */
function streamOf(
  source: AsyncGenerator<string, void>,
  onPiece: () => void,
  stop: () => void = () => {},
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const next = await source.next()
        onPiece()
        if (next.done) controller.close()
        else controller.enqueue(encoder.encode(next.value))
      },
      cancel: async () => {
        stop()
        await source.return()
      },
    },
    { highWaterMark: 0 },
  )
}

function shapeResult({ name }: Endpoint, schema: z.ZodType | undefined, result: unknown): unknown {
  if (!schema) return undefined
  const outcome = shape(schema, result)
  if ('data' in outcome) return outcome.data
  const paths = outcome.error.issues.map((issue) => issue.path.join('.')).join(', ')
  throw new Fault('internal_error', {
    cause: new Error(`the response of ${name} violates its contract at: ${paths}`),
  })
}

/**
 * The response for a fault, in the shape of the listener that it left through. The resolver's have no
 * `fields`: what was refused goes into the sentence, as the first field of a 422 does everywhere.
 */
export function presentFault(fault: Fault, surface: Surface, requestId: string): Response {
  const headers = {
    ...buildCommonHeaders(requestId),
    'x-service-error': fault.code,
    ...listImpliedHeaders(fault.status),
    ...fault.headers,
  }
  const { code: error_code, message, fields } = fault
  const body =
    surface === 'resolver'
      ? { error_code, message: formatInWords(message, fields), ...adviceOf(fault) }
      : {
          status: 'failure',
          error_code,
          message: fault.status === 422 ? formatInWords(message, fields?.slice(0, 1)) : message,
          ...(fields ? { fields } : {}),
          ...adviceOf(fault),
          request_id: requestId,
        }
  return Response.json(body, { status: fault.status, headers })
}

function listImpliedHeaders(status: number): Record<string, string> {
  if (status === 401) return { 'www-authenticate': 'Bearer' }
  if (status === 429 || status === 503) return { 'retry-after': '1' }
  return {}
}
