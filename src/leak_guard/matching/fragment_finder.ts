/** Finds fragments in the answer itself. */
import type { Feed } from '../decoding/feed.ts'
import { findNextStretch } from '../decoding/stretch.ts'
import { GEAR } from './fingerprint.ts'
import {
  BESIDE,
  type Fragment,
  type FragmentSink,
  type Fragments,
  FragmentWindow,
  IS_RUN,
  isMarked,
} from './fragments.ts'
import { FRAGMENT } from './guarded.ts'

/**
 * Windows are compared on credit, as candidates are (`Candidates`): a byte earns some, and a window right behind the
 * last one costs more. Without credit a window counts as found, together with those that follow it closely.
 */
const PER_BYTE = 1 / 8
const MAX_CREDIT = 2048
const COST = 1
const COST_NEXT = 16
/** Characters that windows which are not compared become one fragment for: fewer than are held back. */
const MAX_JOINED = 128
type OpenFragment = { -readonly [Field in keyof Fragment]: number }

export class FragmentFinder {
  readonly #sink: FragmentSink
  #fragments: Fragments
  readonly #window = new FragmentWindow()
  #hash = 0
  /** Bytes of the run that the text ends with. */
  #run = 0
  /** The last window's position; -1 if it was in another block. */
  #looked = -1
  #credit = MAX_CREDIT
  /** Position in the answer of the last window with credit that was counted. */
  #paid = -Infinity
  /** Windows in a run that continues. `end` is the furthest end of their replacement. */
  #open: OpenFragment[] = []

  constructor(fragments: Fragments, sink: FragmentSink) {
    this.#fragments = fragments
    this.#sink = sink
  }

  /** Another answer begins, perhaps with other values. */
  begin(fragments: Fragments): void {
    this.#fragments = fragments
    this.#run = 0
    this.#open = []
    this.#credit = MAX_CREDIT
    this.#paid = -Infinity
  }

  read(feed: Feed, from: number, isLast: boolean): void {
    if (this.#fragments.isEmpty) return
    const { bytes, end } = feed
    this.#looked = -1
    for (let at = from; at < end; ) {
      if (this.#run === 0) at = findNextStretch(bytes, at, end, IS_RUN, 1, FRAGMENT)
      at = this.#readRun(feed, at)
    }
    this.#handOver(feed.startOf(end), isLast)
    this.#sink.work += end - from
  }

  /** Up to and with the byte that ends the run. */
  #readRun(feed: Feed, from: number): number {
    const { bits, bitShift } = this.#fragments
    const { bytes, end } = feed
    let hash = this.#hash
    let run = this.#run
    let at = from
    for (; at < end; at++) {
      const byte = bytes[at] ?? 0
      if (IS_RUN[byte] !== 1) break
      hash = ((hash << 2) + (GEAR[byte] ?? 0)) | 0
      if (++run >= FRAGMENT && isMarked(bits, hash, bitShift)) this.#look(feed, at, run)
    }
    this.#hash = hash
    this.#run = at < end ? 0 : run
    if (at < end) this.#handOver(feed.startOf(at), true)
    return at + 1
  }

  #look(feed: Feed, at: number, run: number): void {
    const windowEnd = feed.endOf(at)
    if (!this.#pay(windowEnd)) {
      this.#addUnread(windowEnd, run)
      return
    }
    this.#sink.work++
    const window = this.#window
    window.moveTo(feed.bytes, at, this.#looked)
    this.#looked = at
    if (this.#fragments.windows.find(window.a, window.b, FRAGMENT) < 0) return
    this.#addWindow(windowEnd, run)
  }

  /** Whether there is credit for a window that ends there. */
  #pay(windowEnd: number): boolean {
    const gap = windowEnd - this.#paid
    const cost = gap === 1 ? COST_NEXT : COST
    this.#credit = Math.min(MAX_CREDIT, this.#credit + gap * PER_BYTE)
    this.#paid = windowEnd
    if (this.#credit < cost) return false
    this.#credit -= cost
    return true
  }

  #addUnread(windowEnd: number, run: number): void {
    const last = this.#open.at(-1)
    const isNear = last !== undefined && windowEnd - last.windowEnd < FRAGMENT
    if (isNear && windowEnd - last.windowStart <= MAX_JOINED) {
      last.windowEnd = windowEnd
      last.end = windowEnd + BESIDE
    } else this.#addWindow(windowEnd, run)
  }

  #addWindow(windowEnd: number, run: number): void {
    const windowStart = windowEnd - FRAGMENT
    const start = windowStart - Math.min(BESIDE, run - FRAGMENT)
    this.#open.push({ start, end: windowEnd + BESIDE, windowStart, windowEnd })
  }

  /** Passes on the fragments that end up to `position`, or all if the run ends there. */
  #handOver(position: number, isEnd: boolean): void {
    if (this.#open.length === 0) return
    const open: OpenFragment[] = []
    for (const fragment of this.#open) {
      if (fragment.end <= position) this.#sink.addFragment(fragment)
      else if (isEnd) this.#sink.addFragment({ ...fragment, end: position })
      else open.push(fragment)
    }
    this.#open = open
  }

  /** Position of the first byte that may yet belong to a fragment. */
  earliest(feed: Feed): number {
    const waiting = Math.min(this.#run, FRAGMENT - 1 + BESIDE)
    const run = waiting === 0 ? Infinity : feed.startOf(feed.end - waiting)
    return Math.min(run, this.#open[0]?.start ?? Infinity)
  }
}
