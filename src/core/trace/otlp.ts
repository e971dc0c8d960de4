/** OTLP/JSON (opentelemetry-proto 1, ExportTraceServiceRequest): the request to a collector. */
import type { Attributes, Ended, Kind } from './span.ts'

const KINDS: Record<Kind, number> = { internal: 1, server: 2, client: 3 }
const STATUS_ERROR = 2
/** The span's parent is elsewhere, and of a caller (SpanFlags). */
const IS_REMOTE = 0x300

export function otlpOf(spans: readonly Ended[], resource: Attributes, version: string): string {
  const scope = { name: 'cloakroom', version }
  const scopeSpans = [{ scope, spans: spans.map(spanOf) }]
  return JSON.stringify({
    resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }],
  })
}

function spanOf({ traceId, spanId, parentId, name, kind, ...span }: Ended): object {
  return {
    traceId,
    spanId,
    ...(parentId === null ? {} : { parentSpanId: parentId }),
    ...(kind === 'server' && parentId !== null ? { flags: IS_REMOTE | 1 } : {}),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanosecondsOf(span.from),
    endTimeUnixNano: nanosecondsOf(span.to),
    attributes: attributesOf(span.attributes),
    events: span.events.map((event) => ({
      timeUnixNano: nanosecondsOf(event.at),
      name: event.name,
    })),
    ...(span.isError ? { status: { code: STATUS_ERROR } } : {}),
  }
}

/** Returns text: a number has too few digits. */
function nanosecondsOf(ms: number): string {
  const whole = Math.floor(ms)
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, '0')}`
}

function attributesOf(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: anyValueOf(value) }],
  )
}

function anyValueOf(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
