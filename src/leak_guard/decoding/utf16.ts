/**
 * Latin-1 text in UTF-16 of either order: characters with a zero byte between each two. (Values with
 * other characters are looked for in UTF-16 as separate strings.) With three zeros between each two it is UTF-16
 * of UTF-16, or UTF-32.
 */
import { type Feed, MARGIN } from './feed.ts'
import { MappedFeed } from './mapped_feed.ts'
import { computeKeptBytes, type Reading, Stage } from './stage.ts'

const SPACE = 0x20
const NEAR = 32

export class Utf16Decoder {
  readonly #reading: Reading
  readonly #parent: Feed
  readonly #depth: number
  /** Bytes of a character; all except one are zero. */
  readonly #width: number
  #opened: { feed: MappedFeed; stage: Stage } | null = null
  #isOpen = false
  /** Position within a character of the run's next byte. Bytes after the first one must be zero. */
  #phase = 0
  /** Bytes at the end of the text with which a run may begin. */
  #waiting = 0

  /** @param depth of the text that is decoded; `width` 2 for one layer, or 4 for two */
  constructor(reading: Reading, parent: Feed, depth: number, width: 2 | 4) {
    this.#reading = reading
    this.#parent = parent
    this.#depth = depth + width / 2
    this.#width = width
  }

  /** Whether a run is under way. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  read(from: number, isLast: boolean): void {
    const { end, floor } = this.#parent
    let at = Math.max(floor, from - this.#waiting)
    this.#reading.sink.work += end - at
    this.#waiting = 0
    while (at < end) {
      if (this.#isOpen) at = this.#run(at)
      else at = this.#begin(at, isLast)
    }
    if (this.#isOpen) this.#handOver(isLast)
  }

  earliest(): number {
    const { bytes, end } = this.#parent
    const own = this.#isOpen && this.#opened ? this.#opened.stage.earliest() : Infinity
    const first = end - this.#waiting
    // A single space begins nothing, and lines must not wait for the text after them.
    const isSpace = this.#waiting === 1 && (bytes[first] ?? 0) <= SPACE
    return this.#waiting === 0 || isSpace ? own : Math.min(own, this.#parent.startOf(first))
  }

  follow(other: Utf16Decoder): void {
    this.#waiting = other.#waiting
    this.#isOpen = other.#isOpen
    this.#phase = other.#phase
    if (!other.#isOpen || !other.#opened) return
    const { feed, stage } = this.#open()
    feed.follow(other.#opened.feed, other.#opened.feed.end)
    stage.follow(other.#opened.stage)
  }

  #open() {
    if (this.#opened) return this.#opened
    const feed = new MappedFeed(this.#parent, computeKeptBytes(this.#depth))
    this.#opened = { feed, stage: new Stage(this.#reading, feed, this.#depth) }
    return this.#opened
  }

  /** Searches for a run. Returns its start or the end of the block. */
  #begin(from: number, isLast: boolean): number {
    const { bytes, end } = this.#parent
    let at = from
    while (at < end) {
      // The character before the next zero is the only one here that can begin a run.
      const zero = findNextZero(bytes, at, end)
      at = Math.max(at, zero - 1)
      // Two characters with their zeros begin a run.
      const shortest = 2 * this.#width
      const known = Math.min(end, at + shortest)
      let next = at
      while (next < known && (bytes[next] === 0) === ((next - at) % this.#width !== 0)) next++
      if (next === at + shortest) {
        this.#open().feed.clear()
        this.#isOpen = true
        this.#phase = 0
        return at
      }
      if (next === end && !isLast) {
        this.#waiting = end - at
        break
      }
      at++
    }
    return end
  }

  /** Continues a run. Returns the end of the run or of the block. */
  #run(from: number): number {
    const { bytes, end } = this.#parent
    const { feed } = this.#open()
    for (let at = from; at < end; at++) {
      const isZero = bytes[at] === 0
      if (isZero !== (this.#phase !== 0)) {
        this.#handOver(true)
        return at
      }
      if (!isZero) feed.appendCharacter(bytes[at] ?? 0, at, at)
      this.#phase = (this.#phase + 1) % this.#width
    }
    return end
  }

  #handOver(isLast: boolean): void {
    const { feed, stage } = this.#open()
    stage.read(MARGIN, isLast)
    if (!isLast) feed.keep()
    this.#isOpen = !isLast
  }
}

/** The native search is faster for many bytes. */
function findNextZero(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  for (const near = Math.min(end, from + NEAR); at < near; at++) if (bytes[at] === 0) return at
  if (at === end) return end
  const found = bytes.indexOf(0, at)
  return found < 0 ? end : Math.min(found, end)
}
