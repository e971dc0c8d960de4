/**
 * Sends spans to a collector, and reads only the status of its answers: a bounded queue, one request at a time with a
 * deadline, no redirects. A collector that is unavailable, slow or hostile costs spans.
 *
 * OpenTelemetry's SDK in its place would be twelve packages for 200 lines. Its exporter keeps up to 4 MB of an answer
 * and puts it into its errors, and its batches take spans before it is known whether a stranger sent the request.
 */
import { version } from '../../../package.json'
import { endsWithin } from '../async/timeout.ts'
import { type PendingTimer, systemTimers, type Timers } from '../async/timers.ts'
import { describeError, type Log } from '../log.ts'
import { otlpOf } from './otlp.ts'
import type { Ended } from './span.ts'

/** Spans that wait, and that go in one request; the defaults of OpenTelemetry's own batches. */
const MAX_WAITING = 2048
const BATCH = 512
/** Milliseconds between batches, and that a collector has for its answer. */
const INTERVAL_MS = 5_000
const TIMEOUT_MS = 10_000
/** Statuses with which a collector postpones (OTLP/HTTP, "Failures"). */
const LATER = new Set([429, 502, 503, 504])
/** Times that a batch is sent, and milliseconds before the second; then twice as many. */
const ATTEMPTS = 3
const FIRST_WAIT_MS = 1_000

export type Collector = {
  url: string
  headers: Record<string, string>
  serviceName: string
  /** PEM of the authorities that it is trusted by, in place of the built-in ones. */
  ca?: string | undefined
}

export class Exporter {
  /** Spans that were taken, that found no room, and that the collector did not take. */
  readonly counts = { exported: 0, dropped: 0, failed: 0 }
  readonly #collector: Collector
  readonly #log: Log
  readonly #timers: Timers
  readonly #timer: PendingTimer
  readonly #closing = new AbortController()
  #waiting: Ended[] = []
  #sending: Promise<void> | null = null
  #isFailing = false

  constructor(collector: Collector, log: Log, timers = systemTimers) {
    this.#collector = collector
    this.#log = log
    this.#timers = timers
    this.#timer = timers.setRepeating(INTERVAL_MS, () => this.#begin())
  }

  add(span: Ended): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.counts.dropped += 1
      return
    }
    this.#waiting.push(span)
    if (this.#waiting.length >= BATCH) this.#begin()
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Sends all waiting spans. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#sending) {
      this.#begin()
      await this.#sending
    }
  }

  /** Sends the last spans, within this many milliseconds. */
  async close(timeoutMs: number): Promise<void> {
    this.#timer.cancel()
    await endsWithin(timeoutMs, this.flush())
    this.counts.dropped += this.#waiting.splice(0).length
    this.#closing.abort()
  }

  #begin(): void {
    if (this.#sending || this.#waiting.length === 0) return
    this.#sending = this.#send(this.#waiting.splice(0, BATCH)).finally(() => {
      this.#sending = null
      if (this.#waiting.length >= BATCH) this.#begin()
    })
  }

  async #send(spans: readonly Ended[]): Promise<void> {
    const { serviceName } = this.#collector
    const body = otlpOf(spans, resourceOf(serviceName), version)
    for (let attempt = 1; ; attempt += 1) {
      const { isTaken, isLater, why } = await this.#post(body)
      if (isTaken) {
        this.counts.exported += spans.length
        this.#isFailing = false
        return
      }
      // Once until it works again: a collector that is unavailable must not fill the log.
      if (!this.#isFailing) this.#log.warning('traces could not be exported', { why })
      this.#isFailing = true
      if (!isLater || attempt === ATTEMPTS || this.#closing.signal.aborted) break
      const waitMs = FIRST_WAIT_MS * 2 ** (attempt - 1)
      await endsWithin(waitMs, waitForAbort(this.#closing.signal), this.#timers)
    }
    this.counts.failed += spans.length
  }

  async #post(body: string): Promise<{ isTaken: boolean; isLater: boolean; why: string }> {
    const { url, headers, ca } = this.#collector
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        redirect: 'manual',
        proxy: false,
        decompress: false,
        verbose: false,
        tls: { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
        signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.#closing.signal]),
      } as unknown as BunFetchRequestInit)
      const { ok, status } = response
      // Never read: it may have no end.
      await response.body?.cancel()
      return { isTaken: ok, isLater: LATER.has(status), why: String(status) }
    } catch (error) {
      const { code, error: name } = describeError(error)
      return { isTaken: false, isLater: true, why: String(code ?? name) }
    }
  }
}

function resourceOf(serviceName: string) {
  return {
    'service.name': serviceName,
    'service.version': version,
    'service.instance.id': String(process.pid),
    'telemetry.sdk.name': 'cloakroom',
    'telemetry.sdk.language': 'nodejs',
  }
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
