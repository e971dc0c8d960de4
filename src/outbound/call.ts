/**
 * What a caller asks for, in one form for both ways of asking: the JSON of POST /v1/resolve, and a
 * plain HTTP request through /v1/forward/.
 */
import type { OutboundCall } from '../resolver/contract.ts'
import type { Signing } from './signing.ts'

/** A body that is here, or one that still arrives; `length` in bytes where the caller declared it. */
export type CallBody =
  | { bytes: Uint8Array }
  | { stream: ReadableStream<Uint8Array>; length: number | null }
  | null

export type Call = {
  targetUrl: string
  method: string
  headers: Record<string, string>
  body: CallBody
  projectId: string | null
  environment: string | null
  /** Milliseconds for the whole call; between two signs of life unless the answer is `whole`. */
  timeoutMs: number
  /** Wrapped in JSON, passed on as it arrives, or a WebSocket. */
  answer: 'whole' | 'streamed' | 'socket'
  signing: Signing | null
  /** The resolver's own origin, where links in the answer's headers have to lead through it. */
  leadBackTo: string | null
}

export function callOf(body: OutboundCall, accept: string | null, defaultTimeoutMs: number): Call {
  const wantsStream = body.stream ?? /\btext\/event-stream\b/i.test(accept ?? '')
  return {
    targetUrl: body.target_url,
    method: body.method,
    headers: body.headers,
    body: bodyOf(body),
    projectId: body.project_id ?? null,
    environment: body.environment ?? null,
    timeoutMs: body.timeout_ms ?? defaultTimeoutMs,
    answer: wantsStream ? 'streamed' : 'whole',
    signing: body.sign ?? null,
    leadBackTo: null,
  }
}

/** The body's bytes, where they are here. */
export function bytesOf(body: CallBody): Uint8Array | null {
  return body !== null && 'bytes' in body ? body.bytes : null
}

export function contentTypeOf(headers: Record<string, string>): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
}

function bodyOf({ body, body_encoding }: OutboundCall): CallBody {
  if (body === null || body === undefined) return null
  const bytes =
    body_encoding === 'base64' ? Uint8Array.fromBase64(body) : new TextEncoder().encode(body)
  return { bytes }
}
