/**
 * Decodes escapes of one or several kinds, and passes on all other bytes. It sleeps while the text has no escapes: its
 * text then equals its parent's, and it continues from there when it wakes.
 */
import { EscapeReader, findNextEscape, INCOMPLETE, KIND_OF } from './escapes_read.ts'
import { MARGIN } from './feed.ts'
import { MappedFeed } from './mapped_feed.ts'
import { computeKeptBytes, type Reading, Stage } from './stage.ts'

/** After this many bytes without an escape, nothing depends on the last one, except for open strings. */
const IDLE_BYTES = 64
/** Steps for reading a possible escape, where a byte takes one. */
const ESCAPE_WORK = 4

export class UnescapeDecoder {
  readonly #reading: Reading
  readonly #parent: Stage
  readonly #depth: number
  readonly #kinds: number
  readonly #reader: EscapeReader
  #opened: Opened | null = null
  #isAwake = false
  /** Bytes at the end of the text that may be the beginning of an escape. */
  #waiting = 0
  /** Bytes since the last escape. */
  #idleBytes = 0

  constructor(reading: Reading, parent: Stage, depth: number, kinds: number) {
    this.#reading = reading
    this.#parent = parent
    this.#depth = depth
    this.#kinds = kinds
    this.#reader = new EscapeReader(parent.feed.bytes)
  }

  get isAwake(): boolean {
    return this.#isAwake
  }

  /** Wakes if the block has an escape. All decoders wake before any reads, because one may follow another. */
  prepare(from: number, isLast: boolean): void {
    if (this.#isAwake || !this.#hasEscape(from, isLast)) return
    const { feed, stage } = this.#open()
    this.#isAwake = true
    this.#waiting = 0
    this.#idleBytes = IDLE_BYTES
    feed.follow(this.#parent.feed, from)
    stage.follow(this.#parent)
  }

  /** Reads the parent's bytes from `from` on, before the parent's own finders do. */
  read(from: number, isLast: boolean): void {
    if (!this.#isAwake) return
    const parent = this.#parent
    const { feed, stage } = this.#open()
    const wasIdle = parent.isIdle && stage.isIdle
    this.#reading.sink.work += parent.feed.end - from
    this.#decode(feed, from - this.#waiting, isLast)
    stage.read(MARGIN, isLast, parent)
    if (!isLast) feed.keep()
    const isIdleNow = wasIdle && this.#waiting === 0 && this.#idleBytes >= IDLE_BYTES
    this.#isAwake = !isLast && !(isIdleNow && stage.isIdle && !stage.isDecoding)
  }

  /** Continues from the state of the other one, in a parent with equal text up to this point. */
  follow(other: UnescapeDecoder): void {
    if (!other.#isAwake || !other.#opened) return
    const { feed, stage } = this.#open()
    this.#isAwake = true
    this.#waiting = other.#waiting
    this.#idleBytes = other.#idleBytes
    feed.follow(other.#opened.feed, other.#opened.feed.end)
    stage.follow(other.#opened.stage)
  }

  earliest(): number {
    const opened = this.#opened
    if (!this.#isAwake || !opened) return Infinity
    const { feed } = this.#parent
    const waiting = this.#waiting > 0 ? feed.startOf(feed.end - this.#waiting) : Infinity
    return Math.min(waiting, opened.stage.earliest())
  }

  /** Whether an escape begins in the block. Text that only resembles one wakes nothing. */
  #hasEscape(from: number, isLast: boolean): boolean {
    const { bytes, end } = this.#parent.feed
    const kinds = this.#kinds
    if (end - from > LONG && !INTRODUCERS.some((byte) => nextOf(bytes, byte, from) < end))
      return false
    for (let at = findNextEscape(bytes, from, end, kinds); at < end; ) {
      if (this.#reader.read(at, end, isLast) !== 0) return true
      at = findNextEscape(bytes, at + 1, end, kinds)
    }
    return false
  }

  #open(): Opened {
    if (this.#opened) return this.#opened
    const feed = new MappedFeed(this.#parent.feed, computeKeptBytes(this.#depth + 1))
    const stage = new Stage(this.#reading, feed, this.#depth + 1)
    this.#opened = { feed, stage }
    return this.#opened
  }

  #decode(feed: MappedFeed, from: number, isLast: boolean): void {
    const { bytes, end } = this.#parent.feed
    const reader = this.#reader
    const kinds = this.#kinds
    let literal = from
    let at = findNextEscape(bytes, from, end, kinds)
    for (; at < end; at = findNextEscape(bytes, at, end, kinds)) {
      const length = reader.read(at, end, isLast)
      this.#reading.sink.work += ESCAPE_WORK
      if (length === INCOMPLETE) break
      if (length > 0) {
        feed.appendCopy(bytes, literal, at)
        if (reader.isByte) feed.append(reader.code, at, at + length - 1)
        else feed.appendCharacter(reader.code, at, at + length - 1)
        literal = at + length
        this.#idleBytes = 0
      }
      at += Math.max(1, length)
    }
    feed.appendCopy(bytes, literal, at)
    this.#idleBytes += at - literal
    this.#waiting = end - at
  }
}

type Opened = { feed: MappedFeed; stage: Stage }

/** From this length on, the native search is faster. */
const LONG = 256
const INTRODUCERS = KIND_OF.keys()
  .filter((byte) => KIND_OF[byte] !== 0)
  .toArray()

function nextOf(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from)
  return at < 0 ? Infinity : at
}

/**
 * Whether a text itself contains an escape, or ends in one that the following text could complete: decoding all kinds
 * together then loses strings that decoding one kind keeps.
 */
export function holdsEscape(bytes: Uint8Array): boolean {
  const reader = new EscapeReader(bytes)
  return bytes.some((byte, at) => {
    const kind = KIND_OF[byte] ?? 0
    return kind !== 0 && reader.read(at, bytes.length, false) !== 0
  })
}
