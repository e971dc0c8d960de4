/**
 * Searches one answer after another. A search is costly to build, so a few are kept for the next answer of any call.
 * They keep nothing of the last answer, neither its text nor the sought strings.
 */
import { Decoders } from './decoding/decoders.ts'
import { MARGIN, SourceFeed } from './decoding/feed.ts'
import { MAX_DEPTH, type Reading, Stage } from './decoding/stage.ts'
import type { Sought } from './matching/candidates.ts'
import type { Due, FindSink } from './matching/finder.ts'
import { FragmentFinder } from './matching/fragment_finder.ts'
import {
  type Fragment,
  type FragmentSink,
  type Fragments,
  NO_FRAGMENTS,
} from './matching/fragments.ts'
import type { Label, Patterns } from './matching/patterns.ts'
import { NO_PATTERNS } from './matching/patterns_build.ts'

/** The strings that an answer is searched for. */
export type SearchOrder = {
  readonly patterns: readonly Patterns[]
  readonly fragments: Fragments
  readonly shape: Shape
}

/** The shape that a search is built for. Searches of one shape are interchangeable. */
export type Shape = {
  /** The number of its `Patterns`. */
  readonly count: number
  /** Whether strings of fewer than 8 bytes are among them. */
  readonly isShort: boolean
  /** Whether the answer may begin in the middle of a text. */
  readonly isPart: boolean
  /** The kinds of escapes that are each decoded alone. */
  readonly kinds: readonly number[]
  /** Whether only literal strings are sought, in no encoding. */
  readonly isLiteral: boolean
}

/** Takes all that is found in an answer. */
export type SearchSink = FindSink & FragmentSink

export class Search implements SearchSink {
  /** Steps of this answer, for tests of the cost. */
  work = 0
  /** Holds the text during the reading. */
  readonly feed: SourceFeed
  /** The position up to which the next block must decide. */
  readonly due: Due = { position: 0 }
  readonly #sought: readonly Sought[]
  readonly #stage: Stage
  readonly #fragments = new FragmentFinder(NO_FRAGMENTS, this)
  #sink: SearchSink | null = null

  /** @param block most bytes that are read together */
  constructor({ count, isShort, isPart, kinds, isLiteral }: Shape, block: number) {
    this.feed = new SourceFeed(block)
    this.#sought = Array.from({ length: count }, () => ({ patterns: NO_PATTERNS }))
    const order = { sought: this.#sought, isShort, isPart, kinds, due: this.due, openDecoders }
    this.#stage = new Stage({ ...order, sink: this }, this.feed, isLiteral ? MAX_DEPTH : 0)
  }

  /** A new answer begins, whose finds go to `sink`. */
  begin({ patterns, fragments }: SearchOrder, sink: SearchSink): void {
    this.work = 0
    this.due.position = 0
    this.#sink = sink
    this.#seek(patterns)
    this.#fragments.begin(fragments)
  }

  /** Reads at most a block; the last one, which may be empty, ends the answer. */
  read(bytes: Uint8Array, isLast: boolean): void {
    this.feed.load(bytes)
    this.#stage.read(MARGIN, isLast)
    this.#fragments.read(this.feed, MARGIN, isLast)
  }

  /** Position in the answer before which everything is decided. */
  earliest(): number {
    return Math.min(this.#fragments.earliest(this.feed), this.#stage.earliest())
  }

  /** Ends after the last block: forgets the answer and its order. */
  end(): void {
    this.#sink = null
    this.#seek([])
    this.#fragments.begin(NO_FRAGMENTS)
    this.feed.clear()
    this.feed.memory.wipe()
  }

  add(start: number, end: number, label: Label, form?: number): void {
    this.#sink?.add(start, end, label, form)
  }

  addFragment(fragment: Fragment): void {
    this.#sink?.addFragment(fragment)
  }

  #seek(patterns: readonly Patterns[]): void {
    const sought = this.#sought
    for (let at = 0; at < sought.length; at++) {
      const place = sought[at]
      if (place) place.patterns = patterns[at] ?? NO_PATTERNS
    }
  }
}

function openDecoders(reading: Reading, stage: Stage, depth: number): Decoders {
  return new Decoders(reading, stage, depth)
}

/** Unused searches of one kind that are kept. */
const MAX_FREE = 4
/** A search that has opened more texts is not kept: hostile answers open all of them. */
const MAX_TEXTS = 32

/** The searches that are free, by shape and block. */
export class SearchPool {
  readonly free = new Map<number, Search[]>()

  /** Returns a search with this block size. */
  take(order: SearchOrder, block: number, sink: SearchSink): Search {
    const search = this.#freeOf(order.shape, block).pop() ?? new Search(order.shape, block)
    search.begin(order, sink)
    return search
  }

  giveBack(search: Search, shape: Shape, block: number): void {
    search.end()
    const free = this.#freeOf(shape, block)
    if (free.length < MAX_FREE && search.feed.memory.taken.length <= MAX_TEXTS) free.push(search)
  }

  #freeOf({ count, isShort, isPart, kinds, isLiteral }: Shape, block: number): Search[] {
    const how = (isShort ? 1 : 0) | (kinds.length > 1 ? 2 : 0) | (isLiteral ? 4 : 0)
    const key = 64 * block + (how | (isPart ? 8 : 0) | (count << 4))
    const known = this.free.get(key)
    if (known) return known
    const free: Search[] = []
    this.free.set(key, free)
    return free
  }
}

/** One pool for all calls: it keeps none of their data. */
export const searchPool = new SearchPool()
