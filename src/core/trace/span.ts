/**
 * The trace of a request: names, codes, counts and times, never a value. Its attributes are in the audit, too. Without
 * a running trace, the cost is one look-up in an empty store. A trace is kept in memory until its request ends, because
 * only then is it known whether the caller is authenticated. Until then, it has an id of this server: a stranger cannot
 * choose the trace.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Fault } from '../fault.ts'
import { generateId, type TraceContext, traceparentOf } from './traceparent.ts'

export type Attributes = Record<string, string | number | boolean | null | undefined>
type Served = { method: string; route: string | null; status: number }

/** Any token is a method to HTTP; others have one name (semantic conventions). */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export type Kind = 'internal' | 'server' | 'client'

/** A span that has ended; times in milliseconds since 1970. */
export type Ended = {
  traceId: string
  spanId: string
  parentId: string | null
  name: string
  kind: Kind
  from: number
  to: number
  attributes: Attributes
  events: { name: string; at: number }[]
  isError: boolean
}

/** Spans of one trace. Further spans are not exported. */
const MAX_SPANS = 128
/** Characters of an attribute. */
const MAX_TEXT = 256

/** The receiver of a trace's spans. */
export type Sink = {
  /** Decides at a trace's end whether it is exported. */
  keeps(trace: Trace): boolean
  add(span: Ended): void
  /** A span over the limit was dropped. */
  drop(): void
}

export class Trace {
  /** The trace's id: the caller's, once the caller is authenticated. */
  id = generateId(16)
  readonly remote: TraceContext | null
  /** The span of the caller in which this one is. */
  remoteParent: string | null = null
  isOfKnown = false
  readonly #sink: Sink
  #held: Ended[] | null = []
  #isKept = true
  #count = 0

  constructor(remote: TraceContext | null, sink: Sink) {
    this.remote = remote
    this.#sink = sink
  }

  /** Joins the caller's trace, if the caller named one, once the caller is authenticated. */
  know(): void {
    if (this.isOfKnown || this.#held === null) return
    this.isOfKnown = true
    if (!this.remote) return
    this.id = this.remote.traceId
    this.remoteParent = this.remote.spanId
  }

  /** Whether the trace is sampled, as far as decided yet: for strangers, this is decided at the end. */
  get isSampled(): boolean {
    return this.isOfKnown && this.#sink.keeps(this)
  }

  add(span: Omit<Ended, 'traceId'>): void {
    this.#count += 1
    if (this.#count > MAX_SPANS) {
      if (this.#isKept) this.#sink.drop()
      return
    }
    const ended = { ...span, traceId: this.id }
    if (this.#held) this.#held.push(ended)
    else if (this.#isKept) this.#sink.add(ended)
  }

  /** Ends the request's trace. Work that continues after the answer, such as a stream, is exported when it ends. */
  finish(): void {
    const held = this.#held ?? []
    this.#held = null
    this.#isKept = this.#sink.keeps(this)
    if (this.#isKept) for (const span of held) this.#sink.add({ ...span, traceId: this.id })
  }
}

export class Span {
  readonly trace: Trace
  readonly id = generateId(8)
  readonly #parent: Span | null
  #name: string
  readonly #kind: Kind
  #from = readMonotonicTime()
  readonly #attributes: Attributes
  readonly #events: Ended['events'] = []
  #hasEnded = false

  constructor(
    trace: Trace,
    parent: Span | null,
    { name, kind, attributes }: { name: string; kind: Kind; attributes: Attributes },
  ) {
    this.trace = trace
    this.#parent = parent
    this.#name = name
    this.#kind = kind
    this.#attributes = attributes
  }

  child(name: string, attributes: Attributes = {}, kind: Kind = 'internal'): Span {
    return new Span(this.trace, this, { name, kind, attributes: { ...attributes } })
  }

  set(attributes: Attributes): this {
    Object.assign(this.#attributes, attributes)
    return this
  }

  /** The header with which other services name the span. */
  get traceparent(): string {
    const { id: traceId, isSampled } = this.trace
    return traceparentOf({ traceId, spanId: this.id, isSampled })
  }

  /** Restarts the span's time: the work that it represents begins now. */
  begin(): this {
    this.#from = readMonotonicTime()
    return this
  }

  /** Records an event at this moment. */
  note(name: string): void {
    this.#events.push({ name, at: readMonotonicTime() })
  }

  /** Records an error's name only: its message may quote submitted text. */
  fail(error: unknown): void {
    this.set({ 'error.type': nameOf(error) })
    this.end(!(error instanceof Fault) || error.status >= 500)
  }

  /** Ends the trace once the request has its answer, except for work that continues after it. */
  endServed(requestId: string, { method, route, status }: Served): void {
    const shown = METHODS.has(method) ? method : '_OTHER'
    this.#name = route === null ? shown : `${shown} ${route}`
    this.set({
      'cloakroom.request_id': requestId,
      'http.request.method': shown,
      'http.response.status_code': status,
      ...(status >= 500 ? { 'error.type': String(status) } : {}),
    })
    this.end(status >= 500)
    this.trace.finish()
  }

  end(isError = false): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.trace.add({
      spanId: this.id,
      parentId: this.#parent ? this.#parent.id : this.trace.remoteParent,
      name: this.#name,
      kind: this.#kind,
      from: this.#from,
      to: readMonotonicTime(),
      attributes: shortenAttributes(this.#attributes),
      events: this.#events,
      isError,
    })
  }
}

const running = new AsyncLocalStorage<Span | undefined>()

/** The current span, if tracing is on. */
export function getCurrentSpan(): Span | undefined {
  return running.getStore()
}

/** Does work in a span. */
export function runInSpan<T>(span: Span, work: () => T): T {
  return running.run(span, work)
}

/** Runs work that many requests share: it belongs to none of their traces. */
export function runUntraced<T>(work: () => T): T {
  return running.getStore() ? running.run(undefined, work) : work()
}

/** Runs work in a separate span, which ends with it; `work` gets the span if a trace is running. */
export function traceWork<T>(name: string, attributes: Attributes, work: (span?: Span) => T): T {
  const parent = running.getStore()
  if (!parent) return work()
  const span = parent.child(name, attributes)
  try {
    const result = running.run(span, () => work(span))
    if (result instanceof Promise) {
      result.then(
        () => span.end(),
        (error) => span.fail(error),
      )
    } else span.end()
    return result
  } catch (error) {
    span.fail(error)
    throw error
  }
}

/** Returns the ids for log lines. */
export function traceIds(): { trace_id: string; span_id: string } | undefined {
  const span = running.getStore()
  return span && { trace_id: span.trace.id, span_id: span.id }
}

/** Milliseconds since 1970 that only go forward, in fractions. */
function readMonotonicTime(): number {
  return performance.timeOrigin + performance.now()
}

function nameOf(error: unknown): string {
  if (error instanceof Fault) return error.code
  if (!(error instanceof Error)) return typeof error
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

function shortenAttributes(attributes: Attributes): Attributes {
  const entries = Object.entries(attributes).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.slice(0, MAX_TEXT) : value,
  ])
  return Object.fromEntries(entries)
}
