/**
 * What a caller asks for, in one form for all ways of asking: the JSON of POST /v1/resolve, a plain HTTP
 * request through /v1/forward/, and one through the local proxy.
 */
import type { LinkBase } from './links.ts'
import type { RequestSigning } from './signing/sign.ts'
import { headerOf } from './signing/signature.ts'

/** Bytes of a body that is held whole: the caller's, and an upstream's decoded one. */
export const BODY_LIMIT = 10 * 1024 * 1024

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
  /** Wrapped in JSON, passed on as it arrives, gRPC, or a WebSocket. */
  answer: 'whole' | 'streamed' | 'grpc' | 'socket'
  /** Looks at each message of gRPC before it is sent. @throws Fault of one that must not be */
  checkMessage?: (message: Uint8Array) => void
  signing: RequestSigning | null
  /** Where links in the answer lead; `null` leaves them as they are. */
  linkBase: LinkBase | null
  /** The host whose link led to this call: its credentials do not count (`withoutCredentials`). */
  from?: string | null
  /** Whether a placeholder that does not count where it is refuses the call (`unfilled.ts`). */
  isStrict?: boolean
  /** How long the call waits for an approval, in milliseconds, and what its caller tells the approver. */
  approval?: { waitMs: number; reason: string | null }
  /** Of the span in which it is sent, for the upstream: instead of one among its headers. */
  traceparent?: string | null
  /** What the guard writes in place of placeholders begins so (`stand_ins/mark.ts`). */
  mark?: string | null
}

/** The body's bytes, where they are here. */
export function bytesOf(body: CallBody): Uint8Array | null {
  return body !== null && 'bytes' in body ? body.bytes : null
}

export function contentTypeOf(headers: Record<string, string>): string | undefined {
  return headerOf(headers, 'content-type')
}
