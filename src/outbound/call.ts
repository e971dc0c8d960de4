/**
 * A caller's request, in one form for all sources: the JSON of POST /v1/resolve, a plain HTTP request through
 * /v1/forward/, and one through the local proxy.
 */
import type { LinkBase } from './links.ts'
import type { RequestSigning } from './signing/sign.ts'
import { headerOf } from './signing/signature.ts'

/** Maximum bytes of a buffered body: the caller's, and a decoded upstream body. */
export const BODY_LIMIT = 10 * 1024 * 1024

/** A complete body, or one that still arrives; `length` in bytes if the caller declared it. */
export type CallBody =
  | { bytes: Uint8Array }
  | { stream: ReadableStream<Uint8Array>; length: number | null }
  | null

export type Call = {
  targetUrl: string
  method: string
  headers: Record<string, string>
  body: CallBody
  /** Wrapped in JSON, passed on as it arrives, gRPC, or a WebSocket. */
  answer: 'whole' | 'streamed' | 'grpc' | 'socket'
  /** Checks each gRPC message before it is sent. @throws Fault for a message that must not be sent */
  checkMessage?: (message: Uint8Array) => void
  signing: RequestSigning | null
  /** The base of links in the answer; `null` leaves them unchanged. */
  linkBase: LinkBase | null
  /** The host that linked to this call. Its credentials do not count (`withoutCredentials`). */
  from?: string | null
  /** Whether a placeholder that does not count in its place refuses the call (`unfilled.ts`). */
  isStrict?: boolean
  /** How long the call waits for an approval, in milliseconds, and the caller's reason for the approver. */
  approval?: { waitMs: number; reason: string | null }
  /** The trace context of the sending span, which replaces one among the headers. */
  traceparent?: string | null
  /** The prefix of the guard's replacements, instead of placeholders (`stand_ins/mark.ts`). */
  mark?: string | null
}

/** Returns the bytes of a complete body. */
export function bytesOf(body: CallBody): Uint8Array | null {
  return body !== null && 'bytes' in body ? body.bytes : null
}

export function contentTypeOf(headers: Record<string, string>): string | undefined {
  return headerOf(headers, 'content-type')
}
