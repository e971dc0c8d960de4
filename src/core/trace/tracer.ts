/**
 * Begins the trace of a request, and decides whether it is exported. Requests of strangers never export more than a few
 * traces a second, regardless of `traceparent` and its sampling flag.
 */
import { readAuthorities } from '../config/authorities.ts'
import type { Config } from '../config/config.ts'
import type { Log } from '../log.ts'
import { Exporter } from './exporter.ts'
import { type Attributes, Span, Trace } from './span.ts'
import { parseTraceparent } from './traceparent.ts'

export type TraceCounts = {
  /** Counts of spans by outcome: `exported`, `dropped`, `failed`. */
  spans: Record<string, number>
  waiting: number
  /** Traces of unauthenticated requests that were over their bound. */
  strangers: number
}

export type Tracer = {
  /** `null` for a request that is not sampled, for any caller. */
  begin(traceparent: string | null, attributes: Attributes): Span | null
  readonly counts: TraceCounts
  flush(): Promise<void>
  close(timeoutMs: number): Promise<void>
}

/** Traces of requests by strangers, per second and in a burst. */
const STRANGERS = 10

type Settings = Pick<
  Config,
  | 'OTEL_EXPORTER_OTLP_ENDPOINT'
  | 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
  | 'OTEL_EXPORTER_OTLP_HEADERS'
  | 'OTEL_EXPORTER_OTLP_CERTIFICATE'
  | 'OTEL_SERVICE_NAME'
  | 'OTEL_TRACES_SAMPLER'
  | 'OTEL_TRACES_SAMPLER_ARG'
>

/** `null` without a collector: then nothing is traced. @throws ConfigError when its certificate cannot be read */
export function openTracer(config: Settings, log: Log): Tracer | null {
  const url = urlOf(config)
  if (url === null) return null
  const exporter = new Exporter(
    {
      url,
      headers: Object.fromEntries(config.OTEL_EXPORTER_OTLP_HEADERS),
      serviceName: config.OTEL_SERVICE_NAME,
      ca: readAuthorities(config.OTEL_EXPORTER_OTLP_CERTIFICATE, 'OTEL_EXPORTER_OTLP_CERTIFICATE'),
    },
    log,
  )
  const { isParentBased, ratio } = samplerOf(config)
  const strangers = new Allowance(STRANGERS)
  let refused = 0
  const sample = new WeakSet<Trace>()
  const keeps = (trace: Trace) => {
    if (trace.isOfKnown && isParentBased && trace.remote) return trace.remote.isSampled
    if (!sample.has(trace)) return false
    if (trace.isOfKnown || strangers.take()) return true
    refused += 1
    return false
  }
  const sink = {
    keeps,
    add: (span: Parameters<Exporter['add']>[0]) => exporter.add(span),
    drop: () => {
      exporter.counts.dropped += 1
    },
  }
  return {
    begin: (traceparent, attributes) => {
      const remote = parseTraceparent(traceparent)
      const isSampled = Math.random() < ratio
      if (!isSampled && !(isParentBased && remote?.isSampled)) return null
      const trace = new Trace(remote, sink)
      if (isSampled) sample.add(trace)
      return new Span(trace, null, {
        name: 'request',
        kind: 'server',
        attributes: { ...attributes },
      })
    },
    get counts() {
      return { spans: exporter.counts, waiting: exporter.waiting, strangers: refused }
    },
    flush: () => exporter.flush(),
    close: (timeoutMs) => exporter.close(timeoutMs),
  }
}

function urlOf(config: Settings): string | null {
  if (config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  const base = config.OTEL_EXPORTER_OTLP_ENDPOINT
  return base ? `${base.replace(/\/+$/, '')}/v1/traces` : null
}

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share }: Settings) {
  const kind = name.replace('parentbased_', '')
  const ratio = kind === 'always_on' ? 1 : kind === 'always_off' ? 0 : share
  return { isParentBased: kind !== name, ratio }
}

/** Allows a burst of this size, and as many each second. */
class Allowance {
  readonly #perSecond: number
  #left: number
  #at = performance.now()

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#left = perSecond
  }

  take(): boolean {
    const now = performance.now()
    const refill = ((now - this.#at) / 1000) * this.#perSecond
    this.#left = Math.min(this.#perSecond, this.#left + refill)
    this.#at = now
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
