/**
 * What a caller asks for, in one form for both ways of asking: the JSON of POST /v1/resolve, and a
 * plain HTTP request through /v1/forward/.
 */
import type { OutboundCall } from './contract.ts'
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
  /** Milliseconds for the whole call; between two bytes when the answer is streamed. */
  timeoutMs: number
  /** Whether the upstream's answer is passed on as it arrives instead of being wrapped in JSON. */
  streamed: boolean
  signing: Signing | null
}

export function callOf(body: OutboundCall, accept: string | null, defaultTimeoutMs: number): Call {
  return {
    targetUrl: body.target_url,
    method: body.method,
    headers: body.headers,
    body: bodyOf(body),
    projectId: body.project_id ?? null,
    environment: body.environment ?? null,
    timeoutMs: body.timeout_ms ?? defaultTimeoutMs,
    streamed: body.stream ?? /\btext\/event-stream\b/i.test(accept ?? ''),
    signing: body.sign ?? null,
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
