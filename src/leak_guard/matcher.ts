/**
 * Finds needles in a text in which every character may be plain or escaped (protocol 6,
 * step 11). A response is hostile input, so the work must stay proportional to its length: each
 * needle is followed with its failure function and never starts over, and where a text has several
 * readings only a few of them are followed at once.
 *
 * A pair bitmap skips what cannot begin a needle. Elsewhere a thread stands for one needle whose
 * first `index` bytes are the end of one reading of the text up to a position.
 */
import { isIntroducer, MAX_UNIT_BYTES, type Unit, unitsAt } from './escapes.ts'
import type { Needle, Needles } from './needles.ts'
import { hasPair, nextBeginning } from './pairs.ts'
import { endOfTail } from './tail.ts'

/** A stretch of the text to be replaced; `begun` when its replacement was given out already. */
export type Span = { start: number; end: number; begun: boolean }

/** So many bytes after a position decide what is found there. */
export const LOOKAHEAD = 4 * MAX_UNIT_BYTES

/** More readings of one needle at one position come from text made to be ambiguous. */
const MAX_READINGS = 8
/** Above the longest unit and a power of two: threads wait in a ring, by position. */
const RING = 512

/**
 * How a thread's bytes lie in the text: after `fed` bytes position and count differ by `shift`,
 * until a later link says otherwise. Plain stretches need no link.
 */
type Trace = { fed: number; shift: number; before: Trace | null }

type Thread = {
  needle: Needle
  index: number
  fed: number
  trace: Trace
  trimmedAt: number
  /** `fed` and position after the last whole needle on this thread; -1 before the first. */
  foundAt: number
  foundEnd: number
}

export class Matcher {
  /** What was found and not yet taken away by the owner, in order and without overlaps. */
  readonly spans: Span[] = []
  /** Comparisons and visits so far: tests hold this against the length of the text. */
  work = 0
  readonly #needles: Needles
  /** A slot is made when a thread first waits in it: in most texts none ever does. */
  readonly #ring: Thread[][] = []
  #live = 0
  #position = 0

  constructor(needles: Needles) {
    this.#needles = needles
  }

  /** Positions before this have been visited. */
  get position(): number {
    return this.#position
  }

  /** Where the earliest needle that may yet be completed began; the position when there is none. */
  get earliest(): number {
    if (this.#live === 0) return this.#position
    const starts = this.#ring.flatMap((threads) =>
      threads.map(({ trace, fed, index }) => this.#startOf(trace, fed - index)),
    )
    return Math.min(this.#position, ...starts)
  }

  /** Whether the position reads the same whatever follows: no tail is awaited, nothing begins. */
  isDecidedAt(text: Uint8Array, base: number): boolean {
    const byte = text[this.#position - base] ?? 0
    if (isIntroducer(byte) || this.#mayBegin(text, this.#position - base)) return false
    return (
      this.#live === 0 ||
      !this.#ring.some((threads) => threads.some(({ needle }) => needle.tail.length > 0))
    )
  }

  /** Whether a needle begins here, or could when the text goes on. */
  #mayBegin(text: Uint8Array, at: number): boolean {
    return at + 1 < text.length
      ? this.#canBegin(text, at)
      : this.#needles.beginning.has(text[at] ?? 0)
  }

  /**
   * Visits the positions up to `until`. `text[0]` is position `base`; it must reach so far beyond
   * `until` that no later byte changes how a visited position reads, or to the end of the text.
   */
  advance(text: Uint8Array, base: number, until: number): void {
    while (this.#position < until) {
      if (this.#live === 0) this.#skip(text, base, until)
      if (this.#position >= until) return
      this.#visit(text, base)
      this.#position++
    }
  }

  /** The fast way through text in which no needle begins. */
  #skip(text: Uint8Array, base: number, until: number): void {
    const at = this.#position - base
    this.#position = base + nextBeginning(this.#needles.pairs, text, at, until - base)
  }

  #visit(text: Uint8Array, base: number): void {
    this.work++
    const at = this.#position - base
    const slot = this.#position & (RING - 1)
    const arrived = this.#ring[slot] ?? []
    const units = readingsAt(text, at)
    if (arrived.length > 0) {
      this.#ring[slot] = []
      this.#live -= arrived.length
    }
    for (const thread of arrived) {
      for (const unit of units) this.#follow(thread, unit, text, base, units.length === 1)
    }
    if (this.#canBegin(text, at)) this.#begin(units, arrived, text, base)
  }

  #canBegin(text: Uint8Array, at: number): boolean {
    return hasPair(this.#needles.pairs, text[at] ?? 0, text[at + 1] ?? 0)
  }

  /** A needle with a thread here needs no new one: its failure function covers the beginning. */
  #begin(units: readonly Unit[], arrived: readonly Thread[], text: Uint8Array, base: number): void {
    for (const unit of units) {
      for (const needle of this.#needles.beginning.get(unit.bytes[0] ?? 0) ?? []) {
        if (arrived.some((thread) => thread.needle === needle)) continue
        this.#follow(newThread(needle, this.#position), unit, text, base, true)
      }
    }
  }

  /** Feeds one unit to a thread and lets it wait where the unit ends; it may end there for good. */
  #follow(from: Thread, unit: Unit, text: Uint8Array, base: number, isOnly: boolean): void {
    const thread = isOnly ? from : { ...from }
    const end = this.#position + unit.length
    for (const byte of unit.bytes) {
      thread.index = this.#step(thread.needle, thread.index, byte)
      thread.fed++
      if (thread.index === thread.needle.text.length) this.#found(thread, end, text, base)
    }
    if (thread.index === 0) return
    const shift = end - thread.fed
    if (shift !== thread.trace.shift) {
      thread.trace = { fed: thread.fed, shift, before: thread.trace }
      this.#trim(thread)
    }
    this.#wait(thread, end)
  }

  #step(needle: Needle, from: number, byte: number): number {
    const { text, fallback } = needle
    const wanted = needle.fold[byte]
    let index = from === text.length ? (fallback[from] ?? 0) : from
    this.work++
    while (index >= 0 && text[index] !== wanted) {
      index = fallback[index] ?? -1
      this.work++
    }
    return index + 1
  }

  #wait(thread: Thread, at: number): void {
    this.#ring[at & (RING - 1)] ??= []
    const waiting = this.#ring[at & (RING - 1)] ?? []
    const rivals = waiting.filter((other) => other.needle === thread.needle)
    if (rivals.some((other) => other.index === thread.index)) return
    if (rivals.length < MAX_READINGS) {
      waiting.push(thread)
      this.#live++
      return
    }
    const shallowest = rivals.reduce((least, other) => (other.index < least.index ? other : least))
    if (shallowest.index < thread.index) waiting[waiting.indexOf(shallowest)] = thread
  }

  /**
   * Records a whole needle. When it overlaps the last one of the same thread, only its end
   * matters; so the way back to its start is walked at most once per length of the needle.
   */
  #found(thread: Thread, end: number, text: Uint8Array, base: number): void {
    const length = thread.needle.text.length
    const overlaps = thread.foundAt >= 0 && thread.fed - thread.foundAt < length
    const start = overlaps ? thread.foundEnd - 1 : this.#startOf(thread.trace, thread.fed - length)
    this.#record(start, base + endOfTail(thread.needle, text, end - base))
    thread.foundAt = thread.fed
    thread.foundEnd = end
  }

  #startOf(trace: Trace, count: number): number {
    let link = trace
    while (link.fed > count && link.before !== null) {
      link = link.before
      this.work++
    }
    return count + link.shift
  }

  /** Overlapping finds become one span: the union leaves nothing of either. */
  #record(start: number, end: number): void {
    const span: Span = { start, end, begun: false }
    for (let last = this.spans.at(-1); last && last.end > span.start; last = this.spans.at(-1)) {
      span.start = Math.min(span.start, last.start)
      span.end = Math.max(span.end, last.end)
      span.begun ||= last.begun
      this.spans.pop()
    }
    this.spans.push(span)
  }

  /** Copies the links that a find can still need, so that a long run does not keep them all. */
  #trim(thread: Thread): void {
    const length = thread.needle.text.length
    if (thread.fed - thread.trimmedAt < 2 * length + 64) return
    const links: Trace[] = []
    for (let link: Trace | null = thread.trace; link !== null; link = link.before) {
      links.push(link)
      this.work++
      if (link.fed <= thread.fed - length) break
    }
    let kept: Trace | null = null
    for (const { fed, shift } of links.reverse()) kept = { fed, shift, before: kept }
    thread.trace = kept ?? thread.trace
    thread.trimmedAt = thread.fed
  }
}

function newThread(needle: Needle, at: number): Thread {
  const trace = { fed: 0, shift: at, before: null }
  return { needle, index: 0, fed: 0, trace, trimmedAt: 0, foundAt: -1, foundEnd: -1 }
}

const PLAIN_UNITS: readonly (readonly Unit[])[] = Array.from({ length: 256 }, (_, byte) => [
  { length: 1, bytes: [byte] },
])

function readingsAt(text: Uint8Array, at: number): readonly Unit[] {
  const byte = text[at] ?? 0
  return isIntroducer(byte) ? unitsAt(text, at) : (PLAIN_UNITS[byte] ?? [])
}
