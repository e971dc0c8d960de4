/** W3C Trace Context, level 2: the header by which a caller's trace goes on in ours, and ours in the upstream's. */

/** One span of a trace, as others name it. */
export type TraceContext = { traceId: string; spanId: string; isSampled: boolean }

/** Versions after 00 may add fields at the end; ff is invalid. */
const FORM = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?$/
const NOTHING = /^0+$/

/** `null` for what is not valid: then a trace begins here. */
export function parseTraceparent(header: string | null): TraceContext | null {
  const [, version = '', traceId = '', spanId = '', flags = '', more] =
    FORM.exec(header ?? '') ?? []
  if (version === '' || (version === '00' && more !== undefined)) return null
  if (NOTHING.test(traceId) || NOTHING.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** A trace that begins here and that the server is asked to keep. */
export function newTrace(): TraceContext {
  return { traceId: randomId(16), spanId: randomId(8), isSampled: true }
}

export function randomId(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex()
}

export function traceparentOf({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}
