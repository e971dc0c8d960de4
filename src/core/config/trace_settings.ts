/** The settings of traces, with their OpenTelemetry names. */
import { z } from 'zod'
import { tokenPattern } from '../token_pattern.ts'

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const
const samplers = [...SAMPLERS, ...SAMPLERS.map((name) => `parentbased_${name}` as const)] as const

const TOKEN = tokenPattern()

/** `name=value,other=value`, values percent-encoded. */
const pairs = z
  .string()
  .transform((text) => text.split(',').flatMap((pair) => pair.trim() || []))
  .transform((entries, context) => {
    const parsed = entries.map(pairOf)
    if (parsed.every((pair) => pair !== null)) return parsed
    context.addIssue({ code: 'custom', message: 'must be name=value pairs, separated by commas' })
    return z.NEVER
  })

const collector = z
  .string()
  .trim()
  .refine(isCollector, 'must be an http or https address without credentials or fragment')
  .optional()

export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.meta({
    about: 'OTLP collector; traces go to its /v1/traces. Unset: no traces',
    example: 'http://127.0.0.1:4318',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.meta({
    about: 'full OTLP traces address, used unchanged',
    example: 'https://otlp.example.com/v1/traces',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.default([]).meta({
    about: 'headers for the collector, with percent-encoded values',
    example: 'authorization=Bearer%20a-long-random-string',
    secret: true,
  }),
  OTEL_EXPORTER_OTLP_CERTIFICATE: z.string().min(1).optional().meta({
    about: 'PEM file of the certificate authorities for the collector. Unset: built-in authorities',
    example: '/etc/cloakroom/collector-ca.pem',
  }),
  OTEL_SERVICE_NAME: z.string().min(1).max(255).default('cloakroom').meta({
    about: 'service name in traces',
    example: 'cloakroom-eu',
  }),
  OTEL_TRACES_SAMPLER: z.enum(samplers).default('parentbased_always_on').meta({
    about: 'sampler; parentbased samplers follow the traceparent of authenticated callers',
    example: 'parentbased_traceidratio',
  }),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .refine((text) => /^(0(\.\d+)?|1(\.0+)?)$/.test(text), 'must be a number from 0 to 1')
    .transform(Number)
    .default(1)
    .meta({ about: 'sampling ratio of traceidratio', example: '0.05' }),
}

function pairOf(text: string): [string, string] | null {
  const at = text.indexOf('=')
  const name = text.slice(0, Math.max(at, 0)).trim()
  const value = decodeValue(text.slice(at + 1).trim())
  return TOKEN.test(name) && value !== null ? [name, value] : null
}

/** Percent-encoded, and sendable in a header. */
function decodeValue(text: string): string | null {
  try {
    const value = decodeURIComponent(text)
    return /^[\t\x20-\x7e]*$/.test(value) ? value : null
  } catch {
    return null
  }
}

function isCollector(text: string): boolean {
  const url = URL.parse(text)
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    !url.username &&
    !url.password &&
    !text.includes('#')
  )
}
