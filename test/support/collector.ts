/** An OpenTelemetry collector: decodes received data as strictly as it can, and passes it to the canary. */
import { z } from 'zod'
import { search } from './canary.ts'

const nanoseconds = z.string().regex(/^\d{19}$/)
const attribute = z.strictObject({
  key: z.string().min(1),
  value: z.union([
    z.strictObject({ stringValue: z.string().max(256) }),
    z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
    z.strictObject({ doubleValue: z.number() }),
    z.strictObject({ boolValue: z.boolean() }),
  ]),
})
const sentSpan = z.strictObject({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  flags: z.number().int().optional(),
  name: z.string().min(1),
  kind: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes: z.array(attribute),
  events: z.array(z.strictObject({ timeUnixNano: nanoseconds, name: z.string() })),
  status: z.strictObject({ code: z.literal(2) }).optional(),
})
const exported = z.strictObject({
  resourceSpans: z.tuple([
    z.strictObject({
      resource: z.strictObject({ attributes: z.array(attribute) }),
      scopeSpans: z.tuple([
        z.strictObject({
          scope: z.strictObject({ name: z.literal('cloakroom'), version: z.string() }),
          spans: z.array(sentSpan).min(1).max(512),
        }),
      ]),
    }),
  ]),
})

export type SentSpan = Omit<z.output<typeof sentSpan>, 'attributes'> & {
  attributes: Record<string, string | number | boolean>
}

export type Collector = {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  origin: string
  spans: SentSpan[]
  requests: { path: string; headers: Headers; text: string }[]
  /** The answer that it returns instead of accepting spans. */
  answer: ((request: Request) => Response | Promise<Response>) | null
  stop(): Promise<void>
}

export function startCollector(): Collector {
  const collector: Omit<Collector, 'origin' | 'stop'> = { spans: [], requests: [], answer: null }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const text = await request.text()
      const { pathname: path } = new URL(request.url)
      collector.requests.push({ path, headers: request.headers, text })
      search('log', 'a batch of spans', text)
      if (collector.answer) return collector.answer(request)
      const { resourceSpans } = exported.parse(JSON.parse(text))
      for (const span of resourceSpans[0].scopeSpans[0].spans)
        collector.spans.push({ ...span, attributes: flat(span.attributes) })
      return Response.json({})
    },
  })
  return Object.assign(collector, {
    origin: server.url.origin,
    stop: () => server.stop(true),
  })
}

function flat(attributes: z.output<typeof attribute>[]): SentSpan['attributes'] {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      if ('intValue' in value) return [key, Number(value.intValue)]
      const [one = ''] = Object.values(value)
      return [key, one]
    }),
  )
}
