/**
 * Candidates: positions in a text where a string may begin, because the rolling hash of the first bytes is that of a
 * group of strings. They wait in a queue, in the order in which they begin. The getters read its head.
 *
 * In a crafted text, such as one letter of a value repeated, a string may begin at every byte. So each candidate costs
 * credit, which bytes of the text earn, and an overlapping candidate costs more. Without credit, a candidate is not
 * compared: all possible strings from that position on become one entry of the queue, *unread*.
 */
import { type Copy, type Feed, MARGIN } from '../decoding/feed.ts'
import { GEAR } from './fingerprint.ts'
import { FILTER_SHIFT, type Patterns } from './patterns.ts'

/** The strings that a search looks for. The next answer has others. */
export type Sought = { patterns: Patterns }

/** A copy with fewer windows is searched again: that is cheaper. */
const MIN_COPY = 16

/** Credit that each byte of a text earns, up to the most that is kept. */
const PER_BYTE = 1 / 8
const MAX_CREDIT = 2048
/** Credit for a candidate. Ordinary texts have few candidates, and none that overlap. */
const COST = 1
const COST_OVERLAPPING = 16
/** Steps for a candidate, where a byte takes one. */
const CANDIDATE_WORK = 8

export class Candidates {
  /** Bytes of the text before the present block. */
  count = 0
  readonly #sought: Sought
  /** Steps so far, for tests of the cost. */
  readonly #sink: { work: number }
  #indices: number[] = []
  #groups: number[] = []
  #starts: number[] = []
  /** End of each unread entry; 0 for a candidate. */
  #untils: number[] = []
  #head = 0
  /** Index of the present block's first candidate. */
  #fresh = 0
  #credit = MAX_CREDIT
  /** The last candidate, and the end of the last unread entry. */
  #last = -Infinity
  #unreadUntil = 0

  constructor(sought: Sought, sink: { work: number }) {
    this.#sought = sought
    this.#sink = sink
  }

  get isEmpty(): boolean {
    return this.#head === this.#indices.length
  }

  /** The candidate's start, in bytes of the feed's text. */
  get index(): number {
    return this.#indices[this.#head] ?? 0
  }

  get group(): number {
    return this.#groups[this.#head] ?? 0
  }

  /** End of an unread entry; 0 for a candidate. */
  get until(): number {
    return this.#untils[this.#head] ?? 0
  }

  /** The candidate's start in the answer. */
  get start(): number {
    return this.#starts[this.#head] ?? 0
  }

  /**
   * Finds candidates in the bytes from `from` on, which follow the bytes already read. Bytes that the feed copied are
   * not searched again: their candidates come from `parent`.
   */
  scan(feed: Feed, from: number, parent?: Candidates): void {
    const back = this.#sought.patterns.parts.window - 1
    const least = back + MIN_COPY
    this.#fresh = this.#indices.length
    let at = from
    let taken = parent ? parent.#fresh : 0
    // If the parent has unread entries, search the copies, too.
    const copies = parent !== undefined && !parent.#hasUnread
    for (let piece = copies ? feed.getNextCopy(0, least) : -1; piece >= 0; ) {
      const copy = feed.copyAt(piece)
      // The parent's windows that end in its margin are those of an earlier block.
      const known = Math.max(back, MARGIN - copy.first)
      if (known + MIN_COPY < copy.length) {
        this.#scanBytes(feed, at, copy.at + known)
        at = copy.at + copy.length
        if (parent) taken = this.#take(parent, taken, copy)
      }
      piece = feed.getNextCopy(piece + 1, least)
    }
    this.#scanBytes(feed, at, feed.end)
  }

  get #hasUnread(): boolean {
    return this.#unreadUntil > this.count
  }

  /** After the last block: another text begins. */
  clear(): void {
    this.count = 0
    this.#credit = MAX_CREDIT
    this.#last = -Infinity
    this.#unreadUntil = 0
  }

  /** Ends a block: its remaining candidates wait with the earlier ones. */
  endBlock(): void {
    this.#fresh = this.#indices.length
  }

  /** Removes the head, at amortised constant cost. */
  shift(): void {
    this.#head++
    if (
      this.#head < this.#indices.length &&
      (this.#head < 1024 || 2 * this.#head < this.#indices.length)
    ) {
      return
    }
    this.#indices.splice(0, this.#head)
    this.#groups.splice(0, this.#head)
    this.#starts.splice(0, this.#head)
    this.#untils.splice(0, this.#head)
    this.#head = 0
  }

  /** Continues from the state of the others, in a text that was equal up to the present block. */
  follow(other: Candidates): void {
    this.count = other.count
    this.#indices = other.#indices.slice(other.#head, other.#fresh)
    this.#groups = other.#groups.slice(other.#head, other.#fresh)
    this.#starts = other.#starts.slice(other.#head, other.#fresh)
    this.#untils = other.#untils.slice(other.#head, other.#fresh)
    this.#credit = other.#credit
    this.#last = other.#last
    this.#unreadUntil = other.#unreadUntil
    this.#head = 0
    this.endBlock()
  }

  /** The hot loop: one addition and one bit test for each byte. */
  #scanBytes(feed: Feed, from: number, to: number): void {
    const { parts, step } = this.#sought.patterns
    const { bits, window } = parts
    const { bytes } = feed
    let at = Math.max(from - window + 1, feed.floor)
    const warm = Math.min(to, at + window - 1)
    let hash = 0
    for (; at < warm; at++) hash = ((hash << step) + (GEAR[bytes[at] ?? 0] ?? 0)) | 0
    for (; at < to; at++) {
      hash = ((hash << step) + (GEAR[bytes[at] ?? 0] ?? 0)) | 0
      const bit = hash >>> FILTER_SHIFT
      if (((bits[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) at = this.#candidate(feed, at, to, hash)
    }
    this.#sink.work += to - from
  }

  /** @returns the last byte that was read */
  #candidate(feed: Feed, at: number, to: number, hash: number): number {
    this.#sink.work += CANDIDATE_WORK
    const group = this.#sought.patterns.groupOf(hash)
    if (group < 0) return at
    const start = at - this.#sought.patterns.parts.window + 1
    const index = this.count + start - MARGIN
    if (index <= this.#unreadUntil && this.#goOn(index, group)) {
      const end = endOfLetter(feed.bytes, start, at, to)
      // In a text of one letter, each byte continues like the last one.
      this.#unreadUntil += end - at
      this.#untils[this.#untils.length - 1] = this.#unreadUntil
      return end
    }
    const isUnread = !this.#pay(index)
    this.#add(index, group, feed.startOf(start))
    if (!isUnread) return at
    this.#unreadUntil = index + this.#sought.patterns.longestOf(group)
    this.#untils[this.#untils.length - 1] = this.#unreadUntil
    return at
  }

  /** Extends the last entry, if it is unread and waiting, by the length of a string that could begin here. */
  #goOn(index: number, group: number): boolean {
    const last = this.#untils.length - 1
    if (last < this.#head || this.#untils[last] !== this.#unreadUntil) return false
    this.#unreadUntil = Math.max(this.#unreadUntil, index + this.#sought.patterns.longestOf(group))
    this.#untils[last] = this.#unreadUntil
    return true
  }

  /** Whether there is credit for a candidate. */
  #pay(index: number): boolean {
    const gap = index - this.#last
    const cost = gap < this.#sought.patterns.parts.window ? COST_OVERLAPPING : COST
    this.#credit = Math.min(MAX_CREDIT, this.#credit + gap * PER_BYTE)
    this.#last = index
    if (this.#credit < cost) return false
    this.#credit -= cost
    return true
  }

  /** Takes over the parent's candidates in a copy. Returns the index of the others. */
  #take(parent: Candidates, from: number, { at, first, length }: Copy): number {
    const start = MARGIN - parent.count
    const last = first + length - this.#sought.patterns.parts.window
    let next = from
    for (; next < parent.#indices.length; next++) {
      const index = start + (parent.#indices[next] ?? 0)
      if (index > last) break
      if (index < first) continue
      const own = this.count + index - first + at - MARGIN
      this.#add(own, parent.#groups[next] ?? 0, parent.#starts[next] ?? 0)
      this.#sink.work++
    }
    return next
  }

  #add(index: number, group: number, start: number): void {
    this.#indices.push(index)
    this.#groups.push(group)
    this.#starts.push(start)
    this.#untils.push(0)
  }
}

/** Returns the last byte of the run of one letter with the bytes from `from` to `at`; `at` if they differ. */
function endOfLetter(bytes: Uint8Array, from: number, at: number, to: number): number {
  const letter = bytes[at]
  for (let each = from; each < at; each++) if (bytes[each] !== letter) return at
  let end = at
  while (end + 1 < to && bytes[end + 1] === letter) end++
  return end
}
