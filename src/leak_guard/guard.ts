/**
 * The leak guard (protocol 6.1): takes values, and returns an answer without them. It recognises guarded values in the
 * encodings and escapes that APIs use, two layers deep, and replaces them by their placeholders. Time is linear in the
 * answer and does not depend on the number of guarded values. A prepared guard keeps keyed fingerprints, not values.
 */

import {
  GuardStream,
  holdsAny,
  joinPieces,
  type SoughtInCall,
  type StreamOptions,
} from './guard_stream.ts'
import { buildFragments } from './matching/fragments.ts'
import {
  Collection,
  type MadeBytes,
  MIN_USED,
  MIN_VALUE,
  type NamedBytes,
} from './matching/guarded.ts'
import { BUILD_STEP, buildPatterns, complete, type Pattern } from './matching/patterns_build.ts'
import { type GuardParts, namePatterns, type Orders, ordersFor, SHORT } from './orders.ts'
import type { Naming } from './release.ts'
import type { SearchOrder } from './search.ts'

/** Bytes of a body between two turns of the event loop. */
const STEP = 16_384

/** Cost of a value in addition to its bytes, in bytes. */
const PER_VALUE = 64

/** Header names that a guard keeps, and the length of one. */
const MAX_CLEAN = 256
const MAX_NAME = 64

/** Lets other tasks run for a moment. */
export type Pause = () => Promise<unknown>

const eventLoopPause: Pause = () => new Promise((resolve) => setImmediate(resolve))

/**
 * Prepares a guard for any number of calls; it can be kept. Time is linear in the values' size. `made` are values that
 * any call can derive from the others.
 */
export function prepareGuard(
  values: readonly NamedBytes[],
  made: readonly MadeBytes[] = [],
): Guard {
  return complete(prepare(values, made))
}

/** Prepares a guard with pauses for other events. */
export async function prepareGuardInSteps(
  values: readonly NamedBytes[],
  pause: Pause = eventLoopPause,
  made: readonly MadeBytes[] = [],
): Promise<Guard> {
  return await runInSteps(prepare(values, made), pause)
}

function* prepare(
  values: readonly NamedBytes[],
  made: readonly MadeBytes[],
): Generator<void, Guard> {
  const collection = new Collection()
  let done = 0
  const isTimeAfter = ({ bytes }: NamedBytes) => {
    done += PER_VALUE + bytes.length
    if (done < BUILD_STEP) return false
    done = 0
    return true
  }
  for (const value of values) {
    collection.addValue(value, MIN_VALUE)
    if (isTimeAfter(value)) yield
  }
  for (const value of made) {
    collection.addMade(value)
    if (isTimeAfter(value)) yield
  }
  const patterns = yield* collection.patterns(SHORT)
  const names = yield* namePatterns(patterns)
  yield
  return new Guard({
    patterns: yield* buildPatterns(patterns, SHORT),
    names: yield* buildPatterns(names, SHORT),
    fragments: yield* buildFragments(collection.stretches),
    holdsEscape: collection.holdsEscape,
  })
}

/** The values that a call adds: used values, and values made of them. */
export type CallValues = {
  readonly used?: readonly NamedBytes[]
  readonly made?: readonly MadeBytes[]
  /** The text for every find; by default, each find's value has a separate text. */
  readonly marker?: string
  /** The text for a value; by default, its placeholder. */
  readonly standsFor?: StandsFor
}

/** `isEscaped` inside a JSON string. `sent` is the caller's text in place of encoded credentials. */
export type StandsFor = (name: string, isEscaped: boolean, sent?: string) => string

const placeholderOf: StandsFor = (name, _, sent) => sent ?? `SVC_SECRET_${name}`

/** Prepared values. It holds no plaintext. */
export class Guard {
  /** The only data of values kept between calls: fingerprints, lengths and names. */
  readonly retained: GuardParts
  /** Names of headers that hold no prepared value: most answers have the same ones. */
  readonly #clean = new Set<string>()

  /** Orders for calls that add no values, which are most calls. */
  readonly #prepared: Orders

  constructor(retained: GuardParts) {
    this.retained = retained
    this.#prepared = ordersFor(retained, [], false)
  }

  /** Returns the guard of one call. Used values of 8 characters or more must be among the prepared ones. */
  forCall({ used = [], made = [], marker, standsFor = placeholderOf }: CallValues = {}): CallGuard {
    const collection = new Collection()
    for (const value of used) collection.addShort(value)
    for (const value of made) collection.addMade(value)
    const added = complete(collection.patterns(MIN_USED))
    const orders = added.length === 0 ? this.#prepared : this.#ordersWith(added, collection)
    const nameSecrets: Naming = ({ names: all, sent }, isEscaped) => {
      if (marker !== undefined) return marker
      const name = all.find((each) => used.some((value) => value.name === each)) ?? all[0]
      return name === undefined ? '[REDACTED]' : standsFor(name, isEscaped, sent)
    }
    const clean = orders === this.#prepared ? this.#clean : new Set<string>()
    return new CallGuard({ order: orders.body, naming: nameSecrets }, orders.names, clean)
  }

  #ordersWith(added: readonly Pattern[], { holdsEscape }: Collection): Orders {
    return ordersFor(this.retained, added, holdsEscape)
  }
}

async function runInSteps<T>(steps: Generator<void, T>, pause: Pause): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await pause()
  }
}

/** Guards the answers of one call. */
export class CallGuard {
  readonly #sought: SoughtInCall
  readonly #names: SearchOrder
  readonly #clean: Set<string>
  #isRedacted = false

  /** @param clean known names of headers in which `names` finds nothing */
  constructor(sought: SoughtInCall, names: SearchOrder, clean: Set<string>) {
    this.#sought = sought
    this.#names = names
    this.#clean = clean
  }

  /** Whether anything has been replaced or dropped so far. Streams report it themselves. */
  get isRedacted(): boolean {
    return this.#isRedacted
  }

  /** The body without the values; the same array when there was none. */
  body(bytes: Uint8Array, options: StreamOptions = {}): Uint8Array {
    const isShort = bytes.length <= STEP && !options.keepsLength
    if (isShort && !holdsAny(this.#sought.order, bytes)) return bytes
    const out: Uint8Array[] = []
    const stream = this.stream({ ...options, length: bytes.length })
    complete(stream.guardWhole(bytes, bytes.length, out))
    return this.#end(bytes, out, stream)
  }

  /** The same; a long one with turns of the event loop between steps of at most a few milliseconds. */
  bodyInSteps(
    bytes: Uint8Array,
    options: StreamOptions = {},
    pause: Pause = eventLoopPause,
  ): Uint8Array | Promise<Uint8Array> {
    if (bytes.length <= STEP) return this.body(bytes, options)
    return this.#guardLongBody(bytes, options, pause)
  }

  async #guardLongBody(
    bytes: Uint8Array,
    options: StreamOptions,
    pause: Pause,
  ): Promise<Uint8Array> {
    const out: Uint8Array[] = []
    const stream = this.stream({ ...options, length: bytes.length })
    await runInSteps(stream.guardWhole(bytes, STEP, out), pause)
    return this.#end(bytes, out, stream)
  }

  /** Returns a guard for an answer in chunks. */
  stream(options: StreamOptions = {}): GuardStream {
    return new GuardStream(this.#sought, options)
  }

  /** A header value as `fetch` gives it: one character for each byte. */
  headerValue(value: string): string {
    const encoding = /^[\0-\xff]*$/.test(value) ? 'latin1' : 'utf8'
    const bytes = Buffer.from(value, encoding)
    const guarded = this.body(bytes, { isJson: false })
    return guarded === bytes ? value : Buffer.from(guarded).toString(encoding)
  }

  /** Whether a header's name holds a guarded value, compared without case: it must be dropped. */
  isGuardedName(name: string): boolean {
    if (this.#clean.has(name)) return false
    const isFound = holdsAny(this.#names, Buffer.from(name.toLowerCase(), 'latin1'))
    this.#isRedacted ||= isFound
    if (!isFound && this.#clean.size < MAX_CLEAN && name.length <= MAX_NAME) {
      this.#clean.add(name)
    }
    return isFound
  }

  #end(bytes: Uint8Array, pieces: readonly Uint8Array[], stream: GuardStream): Uint8Array {
    if (!stream.isRedacted) return bytes
    this.#isRedacted = true
    return joinPieces(pieces)
  }
}
