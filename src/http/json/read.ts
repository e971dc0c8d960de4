/**
 * The one reader of JSON bodies (protocol 2). It refuses what parsers
 * disagree about: duplicate keys, invalid UTF-8, a byte order mark, the keys that reach into
 * prototypes, and deep nesting. It reads in steps, so that megabytes leave time for others, and keeps
 * nothing that the contract cannot admit, so that no body takes more memory than a good one.
 */
import { isUtf8 } from 'node:buffer'
import { TimeSlice } from '../../core/async/time_slice.ts'
import { Fault, type FieldFault } from '../../core/fault.ts'
import { type Bounds, unbounded } from './bounds.ts'
import { Containers } from './containers.ts'
import { readSmall } from './read_small.ts'
import { JsonTokens } from './tokens.ts'

/** Bytes that are read between two looks at the clock: at worst a millisecond of work. */
const STEP = 32_768

export type ReadJson = {
  value: unknown
  /** Lists and maps that are too long. Their contents were not checked. */
  tooLong: FieldFault[]
  /** Faults whose values may be missing from the result. With any fault, the body must be refused. */
  cut: FieldFault[]
}

/**
 * Reads a UTF-8 JSON text (RFC 8259), a large one in time slices.
 *
 * @throws Fault `malformed_json`
 */
export function readJsonBytes(
  bytes: Uint8Array,
  bounds: Bounds = unbounded,
): ReadJson | Promise<ReadJson> {
  const value = readSmall(bytes, bounds)
  return value === undefined ? readInSlices(bytes, bounds) : { value, tooLong: [], cut: [] }
}

async function readInSlices(bytes: Uint8Array, bounds: Bounds): Promise<ReadJson> {
  const reader = new JsonReader(bytes, bounds)
  const slice = new TimeSlice()
  while (!reader.read(STEP)) if (slice.isSpent) await slice.waitForNextSlice()
  return reader.result
}

/**
 * Reads a whole text at once, only with the reader.
 *
 * @throws Fault `malformed_json`
 */
export function readExactly(bytes: Uint8Array, bounds: Bounds = unbounded): ReadJson {
  const reader = new JsonReader(bytes, bounds)
  while (!reader.read(STEP));
  return reader.result
}

const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const COMMA = 44
const COLON = 58
const QUOTE = 34

/** The tokens that may come next. */
type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end' | 'nothing'

class JsonReader {
  readonly #tokens: JsonTokens
  readonly #containers: Containers
  #expected: Expected = 'value'

  constructor(bytes: Uint8Array, bounds: Bounds) {
    if (!isUtf8(bytes)) {
      throw new Fault('malformed_json', { message: 'The request body is not valid UTF-8.' })
    }
    this.#tokens = new JsonTokens(bytes)
    this.#containers = new Containers(bounds)
  }

  get result(): ReadJson {
    const { root, tooLong, cut } = this.#containers
    return { value: root, tooLong, cut }
  }

  /** Reads about so many bytes; whether that was all. */
  read(count: number): boolean {
    const tokens = this.#tokens
    const until = tokens.at + count
    while (tokens.at < until) {
      // A long text is read in pieces.
      if (tokens.isInText && !this.#text(until)) return false
      const code = tokens.skipSpace(until)
      if (code === null) return this.#end()
      if (tokens.at < until) this.#take(code)
    }
    return false
  }

  #end(): boolean {
    if (this.#expected !== 'nothing') throw buildMalformedFault()
    return true
  }

  #take(code: number): void {
    const expected = this.#expected
    if (expected === ':') this.#colon()
    else if (expected === ', or end') this.#separator(code)
    else if (expected === 'key' || (expected === 'key or }' && code !== CLOSE_OBJECT)) this.#key()
    else if (expected === 'value' || (expected === 'value or ]' && code !== CLOSE_ARRAY)) {
      this.#value(code)
    } else this.#close(code)
  }

  #colon(): void {
    this.#tokens.take(COLON)
    this.#expected = 'value'
  }

  #separator(code: number): void {
    if (code === COMMA && !this.#containers.isAtRoot) {
      this.#tokens.take(COMMA)
      this.#expected = this.#containers.isInObject ? 'key' : 'value'
    } else this.#close(code)
  }

  #close(code: number): void {
    if (this.#containers.isAtRoot) throw buildMalformedFault()
    const opened = this.#containers.isInObject ? CLOSE_OBJECT : CLOSE_ARRAY
    if (code !== opened) throw buildMalformedFault()
    this.#tokens.take(code)
    this.#containers.close()
    this.#finishValue()
  }

  #key(): void {
    this.#tokens.openText(Number.POSITIVE_INFINITY)
    this.#expected = 'key'
  }

  #value(code: number): void {
    const containers = this.#containers
    if (code === QUOTE) {
      this.#tokens.openText(containers.beginText())
      this.#expected = 'value'
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      this.#tokens.take(code)
      containers.open(code === OPEN_OBJECT)
      this.#expected = code === OPEN_OBJECT ? 'key or }' : 'value or ]'
    } else {
      containers.add(this.#tokens.scalar(code))
      this.#finishValue()
    }
  }

  /** Goes on with a text; whether it has ended. */
  #text(until: number): boolean {
    const text = this.#tokens.readText(until)
    if (text === null) return false
    if (this.#expected === 'key') {
      this.#containers.name(text)
      this.#expected = ':'
    } else {
      this.#containers.endText(text)
      this.#finishValue()
    }
    return true
  }

  #finishValue(): void {
    this.#expected = this.#containers.isAtRoot ? 'nothing' : ', or end'
  }
}

function buildMalformedFault(): Fault {
  return new Fault('malformed_json')
}
