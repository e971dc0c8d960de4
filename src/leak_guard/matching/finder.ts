/**
 * Finds the strings of `Patterns` in one feed. A rolling hash finds positions where a string may begin. Such a
 * candidate waits in a queue until enough of the text is known. It is then looked up by the fingerprints of beginnings,
 * with polynomials from a tape in constant time. The work is proportional to the text: candidates are looked up once,
 * in order. If a crafted text would need more look-ups than `PROBES_PER_BYTE` a byte, every possible string counts as
 * found.
 */
import type { Feed } from '../decoding/feed.ts'
import { Candidates, type Sought } from './candidates.ts'
import { FIRST_CHECKPOINT, type Label } from './patterns.ts'
import { Tape } from './tape.ts'

/** Takes a stretch of the answer in which a string was found. */
export type FindSink = {
  /** `form`: bits for the forms of the stretch. */
  add(start: number, end: number, label: Label, form?: number): void
  /** Steps so far, for tests of the cost. */
  work: number
}

/** All strings that begin before `position` in the answer must be decided now, because that part is sent. */
export type Due = { position: number }

const PROBES_PER_BYTE = 1 / 2
const MAX_CREDIT = 4096
/** Steps for a look-up, where a byte takes one. */
const PROBE_WORK = 8
/** The label of an unread entry, which is treated as a part of a value. */
const UNREAD: Label = { names: [] }

export class Finder {
  readonly #sought: Sought
  readonly #sink: FindSink
  readonly #due: Due
  readonly #queue: Candidates
  readonly #tape = new Tape()
  /** Everything before this byte of the text is already covered by a find. */
  #covered = 0
  #credit = MAX_CREDIT
  #creditedAt = 0
  /** The search at the head of the queue: -1 in `low` when it has not begun. */
  #low = -1
  #high = 0
  #best = 0
  #limit = 0
  #checked = 0
  #isUnread = false

  constructor(sought: Sought, sink: FindSink, due: Due) {
    this.#sought = sought
    this.#due = due
    this.#sink = sink
    this.#queue = new Candidates(sought, sink)
  }

  /** Whether nothing waits to be decided. */
  get isIdle(): boolean {
    return this.#queue.isEmpty
  }

  /** Finds candidates in the bytes from `from` on, which follow the bytes already read. */
  scan(feed: Feed, from: number, parent?: Finder): void {
    this.#queue.scan(feed, from, parent ? parent.#queue : undefined)
  }

  /** Decides all candidates that the scanned bytes decide. */
  resolve(feed: Feed, from: number, isLast: boolean): void {
    this.#queue.count += feed.end - from
    this.#resolve(feed, isLast)
    this.#queue.endBlock()
    if (!isLast) return
    this.#queue.clear()
    this.#covered = 0
    this.#credit = MAX_CREDIT
    this.#creditedAt = 0
  }

  /** Position of the first byte that may yet turn out to belong to a string; Infinity for none. */
  earliest(feed: Feed): number {
    if (!this.#queue.isEmpty) return this.#queue.start
    const most = Math.min(this.#sought.patterns.parts.window - 1, this.#queue.count)
    return most > 0 ? feed.startOf(feed.end - most) : Infinity
  }

  /** Continues from the state of the other one, in a text that was equal up to this point. */
  follow(other: Finder): void {
    this.#covered = other.#covered
    this.#credit = other.#credit
    this.#creditedAt = other.#creditedAt
    this.#low = other.#low
    this.#high = other.#high
    this.#best = other.#best
    this.#limit = other.#limit
    this.#checked = other.#checked
    this.#isUnread = other.#isUnread
    this.#queue.follow(other.#queue)
    this.#tape.copy(other.#tape)
  }

  /** Decides the candidates in their order, as far as the text is known. */
  #resolve(feed: Feed, isLast: boolean): void {
    const queue = this.#queue
    const tape = this.#tape
    while (!queue.isEmpty) {
      const isDue = isLast || queue.start < this.#due.position
      if (queue.until > 0) {
        if (!this.#takeUntil(feed, isDue)) break
        queue.shift()
        continue
      }
      if (this.#low < 0) this.#begin()
      tape.startAt(queue.index)
      if (!this.#search(feed, isDue)) {
        tape.keep(feed, queue.count)
        tape.drop(queue.index)
        return
      }
      this.#low = -1
      queue.shift()
    }
    tape.clear()
  }

  #begin(): void {
    const { index, group } = this.#queue
    const { groupFirst, groupCount } = this.#sought.patterns.parts
    this.#low = groupFirst[group] ?? 0
    this.#high = this.#low + (groupCount[group] ?? 0) - 1
    this.#best = 0
    this.#limit = Infinity
    this.#checked = 0
    const earned = PROBES_PER_BYTE * (index - this.#creditedAt)
    this.#credit = Math.min(MAX_CREDIT, this.#credit + earned)
    this.#creditedAt = index
    this.#isUnread = this.#credit <= 0
  }

  /** Continues the search at the head; false if it needs more of the text. */
  #search(feed: Feed, isLast: boolean): boolean {
    if (this.#isUnread) return this.#takeUnread(feed, isLast)
    while (this.#low <= this.#high) {
      if (!this.#step(feed, isLast)) return false
    }
    const { lengthOf, labels } = this.#sought.patterns.parts
    const label = labels[this.#best - 1]
    if (label) this.#recordFound(feed, lengthOf[this.#best - 1] ?? 0, label)
    return true
  }

  /** Takes one step of the binary search: a covered length counts as found, one that is too long as missed. */
  #step(feed: Feed, isLast: boolean): boolean {
    const { index } = this.#queue
    const available = this.#queue.count - index
    const middle = (this.#low + this.#high) >> 1
    const length = this.#sought.patterns.parts.lengths[middle] ?? 0
    const most = isLast ? Math.min(this.#limit, available) : this.#limit
    if (length <= this.#covered - index) this.#low = middle + 1
    else if (length > most) this.#high = middle - 1
    else if (length <= available) this.#probe(feed, middle, length)
    else return !this.#mayComplete(feed, available)
    return true
  }

  #probe(feed: Feed, middle: number, length: number): void {
    const { powersA, powersB } = this.#sought.patterns.parts
    const found = this.#findBeginning(feed, length, powersA[middle] ?? 0, powersB[middle] ?? 0)
    this.#credit--
    if (found > 0) this.#best = found
    if (found < 0) this.#high = middle - 1
    else this.#low = middle + 1
  }

  /** Whether the text so far can still become a longer string, judged at the last checkpoint. */
  #mayComplete(feed: Feed, available: number): boolean {
    if (available < FIRST_CHECKPOINT) return true
    const exponent = 31 - Math.clz32(available)
    const length = 2 ** exponent
    if (length <= this.#checked) return true
    this.#checked = length
    const { checkpointsA, checkpointsB } = this.#sought.patterns
    const powerA = checkpointsA[exponent] ?? 0
    const powerB = checkpointsB[exponent] ?? 0
    if (this.#findBeginning(feed, length, powerA, powerB) >= 0) return true
    this.#limit = length
    return false
  }

  #findBeginning(feed: Feed, length: number, powerA: number, powerB: number): number {
    const { index } = this.#queue
    const tape = this.#tape
    this.#sink.work += PROBE_WORK + tape.extend(feed, this.#queue.count, index + length)
    const a = tape.laneA(index, length, powerA)
    const b = tape.laneB(index, length, powerB)
    return this.#sought.patterns.parts.beginnings.find(a, b, length)
  }

  /** Without credit: from the head on, as much as the longest string of its group would take. */
  #takeUnread(feed: Feed, isLast: boolean): boolean {
    const available = this.#queue.count - this.#queue.index
    const longest = this.#sought.patterns.longestOf(this.#queue.group)
    if (longest > available && !isLast) return false
    this.#recordFound(feed, Math.min(longest, available), UNREAD)
    return true
  }

  /** An entry of the queue that nothing was compared for. No other waits behind it. */
  #takeUntil(feed: Feed, isDue: boolean): boolean {
    const { until, start, count } = this.#queue
    if (until > count && !isDue) return false
    const end = Math.min(until, count)
    if (end <= this.#covered) return true
    this.#covered = end
    this.#sink.add(start, this.#tape.endOf(feed, count, end - 1), UNREAD)
    return true
  }

  #recordFound(feed: Feed, length: number, label: Label): void {
    const { index, start, count } = this.#queue
    const end = index + length
    if (end <= this.#covered) return
    this.#covered = end
    this.#sink.add(start, this.#tape.endOf(feed, count, end - 1), label)
  }
}
