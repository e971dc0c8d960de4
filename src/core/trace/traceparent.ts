/** W3C Trace Context, level 2: the header that connects a caller's trace to this server's, and to the upstream's. */

/** One span of a trace, as other services name it. */
export type TraceContext = { traceId: string; spanId: string; isSampled: boolean }

/** Versions after 00 may add fields at the end; ff is invalid. */
const FORM = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?$/
const NOTHING = /^0+$/

/** Parses the header; `null` if it is invalid: then a new trace begins. */
export function parseTraceparent(header: string | null): TraceContext | null {
  const [, version = '', traceId = '', spanId = '', flags = '', more] =
    FORM.exec(header ?? '') ?? []
  if (version === '' || (version === '00' && more !== undefined)) return null
  if (NOTHING.test(traceId) || NOTHING.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Creates a trace that begins here, and that the server should keep. */
export function createTrace(): TraceContext {
  return { traceId: generateId(16), spanId: generateId(8), isSampled: true }
}

export function generateId(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex()
}

export function traceparentOf({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}
