/**
 * Filters an upstream's answer before the caller gets it: one guard for each answer, with the values that its caller
 * may use and those of the request. The only place that uses the leak guard; it keeps fingerprints, not values.
 */
import type {
  CallGuard,
  Frames,
  Guard,
  MadeBytes,
  NamedBytes,
  StandsFor,
  StreamOptions,
} from '../leak_guard/index.ts'
import { changeBinary, isBinary } from './encoded_headers.ts'
import { Unprintable } from './hidden.ts'
import type { StepPause } from './steps.ts'

/** Bytes that arrive in chunks. */
export type StreamGuard = {
  /** Yields the bytes to send after the chunk, with a pause after each step. */
  push(chunk: Uint8Array): AsyncIterable<Uint8Array>
  /** Pushes a few bytes without pauses. */
  pushNow(chunk: Uint8Array): Uint8Array
  /** Returns the rest, after the last chunk. */
  flush(): Uint8Array
}

/** The known properties of a body before it is read. */
export type GuardedBodyKind = { isJson: boolean; frames?: Frames | undefined } | typeof PART

/** A part of a larger body. Its type is unknown, and replacements must keep the length. */
export const PART = { isJson: false, keepsLength: true } as const

/** An object with a type that its reader may choose: only its first bytes show it. */
export const OBJECT: GuardedBodyKind = { isJson: false }

export interface AnswerGuard {
  /** Whether anything was replaced or dropped so far. */
  readonly redacted: boolean
  /** A whole body, or one message of a WebSocket. */
  redactBody(body: Uint8Array, kind?: GuardedBodyKind): Uint8Array | Promise<Uint8Array>
  /** Redacts values in headers, including encoded ones. Headers with a value in their name are dropped. */
  redactHeaders(headers: Record<string, string>): Record<string, string>
  /** Returns a guard for the one body that arrives in chunks. */
  openStream(kind?: GuardedBodyKind): StreamGuard
}

export type Guarded = {
  /** Every value that the caller may use in the scope of the call. */
  prepared: Guard
  used: readonly NamedBytes[]
  /** Bytes made of values, such as the text of Basic credentials. */
  made: readonly MadeBytes[]
  /** The text for a value in the answer; by default, its placeholder. */
  standsFor?: StandsFor | undefined
}

/** Bytes between two pauses: about a millisecond of work. */
const STEP = 16_384

export class CredentialGuard extends Unprintable implements AnswerGuard {
  readonly #guard: CallGuard
  readonly #pause: StepPause
  #isStreamRedacted: () => boolean = () => false

  constructor({ prepared, used, made, standsFor }: Guarded, pause: StepPause) {
    super()
    this.#guard = prepared.forCall({ used, made, ...(standsFor ? { standsFor } : {}) })
    this.#pause = pause
  }

  get redacted(): boolean {
    return this.#guard.isRedacted || this.#isStreamRedacted()
  }

  redactBody(body: Uint8Array, kind?: GuardedBodyKind): Uint8Array | Promise<Uint8Array> {
    return this.#guard.bodyInSteps(body, optionsOf(kind), this.#pause)
  }

  redactHeaders(headers: Record<string, string>): Record<string, string> {
    let isNamed = false
    // A `|` ends a possible value, and cannot complete one.
    let values = ''
    for (const name in headers) {
      isNamed = this.#guard.isGuardedName(name) || isNamed
      values += `${headers[name]}|`
      if (isBinary(name)) values += decodedOf(headers[name] ?? '')
    }
    if (values === '') return headers
    // Values in response headers are rare, so one test of all headers is far cheaper.
    if (!isNamed && this.#guard.headerValue(values) === values) return headers
    const kept = Object.entries(headers).filter(([name]) => !this.#guard.isGuardedName(name))
    return withoutPrototype(kept.map(([name, value]) => [name, this.#redactHeader(name, value)]))
  }

  #redactHeader(name: string, value: string): string {
    if (!isBinary(name)) return this.#guard.headerValue(value)
    const inside = changeBinary(value, (bytes, encode) => {
      const redacted = this.#guard.body(bytes)
      return redacted === bytes ? null : encode(redacted)
    })
    return this.#guard.headerValue(inside)
  }

  openStream(kind?: GuardedBodyKind): StreamGuard {
    const stream = this.#guard.stream(optionsOf(kind))
    const pause = this.#pause
    this.#isStreamRedacted = () => stream.isRedacted
    return {
      async *push(chunk) {
        const steps = stream.pushInSteps(chunk, STEP)
        let step = steps.next()
        for (; !step.done; step = steps.next()) await pause()
        if (step.value.length > 0) yield step.value
      },
      pushNow: (chunk) => {
        const steps = stream.pushInSteps(chunk, STEP)
        for (;;) {
          const step = steps.next()
          if (step.done) return step.value
        }
      },
      flush: () => stream.flush(),
    }
  }
}

/** Returns all decoded values of a header, separated by `|`. */
function decodedOf(value: string): string {
  let texts = ''
  changeBinary(value, (bytes) => {
    texts += `${bytes.toString('latin1')}|`
    return null
  })
  return texts
}

/** Returns stream options. A body without a known type may still be JSON: its first byte decides. */
function optionsOf(kind: GuardedBodyKind | undefined): StreamOptions {
  if (kind && 'keepsLength' in kind) return kind
  if (!kind?.frames) return kind?.isJson ? IS_JSON : NOT_KNOWN
  return kind.isJson ? { isJson: true, frames: kind.frames } : { frames: kind.frames }
}
const IS_JSON = { isJson: true }
const NOT_KNOWN = {}

/** A header called `__proto__` is only a header. */
function withoutPrototype(entries: Iterable<readonly [string, string]>): Record<string, string> {
  const record: Record<string, string> = Object.create(null)
  for (const [name, value] of entries) record[name] = value
  return record
}
