/**
 * What searches one answer after the other for the values of a call. It is costly to make and is again
 * as it was made when an answer has ended, so that headers and body of a call share it.
 */
import { Decoders } from './decoding/decoders.ts'
import { MARGIN, SourceFeed } from './decoding/feed.ts'
import { type Reading, Stage } from './decoding/stage.ts'
import type { FindSink } from './matching/finder.ts'
import {
  type Fragment,
  FragmentFinder,
  type FragmentSink,
  type Fragments,
} from './matching/fragments.ts'
import type { Label, Patterns } from './matching/patterns.ts'

/** What an answer is searched for. */
export type Sought = {
  readonly patterns: readonly Patterns[]
  readonly isShort: boolean
  readonly kinds: readonly number[]
  readonly fragments: Fragments
}

/** Takes all that is found in an answer. */
export type SearchSink = FindSink & FragmentSink

export class Search implements SearchSink {
  /** Steps of this answer, for tests of the cost. */
  work = 0
  /** Most bytes that are read at once. */
  readonly block: number
  readonly #feed: SourceFeed
  readonly #stage: Stage
  readonly #fragments: FragmentFinder | null
  #sink: SearchSink | null = null

  constructor({ patterns, isShort, kinds, fragments }: Sought, block: number) {
    this.block = block
    this.#feed = new SourceFeed(block)
    const reading = { patterns, isShort, kinds, sink: this, openDecoders }
    this.#stage = new Stage(reading, this.#feed, 0)
    this.#fragments = fragments.isEmpty ? null : new FragmentFinder(fragments, this)
  }

  /** A new answer begins, whose finds go to `sink`. */
  begin(sink: SearchSink): void {
    this.work = 0
    this.#sink = sink
    this.#feed.clear()
    this.#fragments?.clear()
  }

  /** Reads at most a block; the last one, which may be empty, ends the answer. */
  read(bytes: Uint8Array, isLast: boolean): void {
    this.#feed.load(bytes)
    this.#stage.read(MARGIN, isLast)
    this.#fragments?.read(this.#feed, MARGIN, isLast)
    if (isLast) this.#sink = null
  }

  /** Position in the answer before which everything is decided. */
  earliest(): number {
    const fragment = this.#fragments?.earliest(this.#feed) ?? Infinity
    return Math.min(fragment, this.#stage.earliest())
  }

  add(start: number, end: number, label: Label, form?: number): void {
    this.#sink?.add(start, end, label, form)
  }

  addFragment(fragment: Fragment): void {
    this.#sink?.addFragment(fragment)
  }
}

function openDecoders(reading: Reading, stage: Stage, depth: number): Decoders {
  return new Decoders(reading, stage, depth)
}

/** The searches of one call that are free. */
export class SearchPool {
  readonly #sought: Sought
  readonly #free: Search[] = []

  constructor(sought: Sought) {
    this.#sought = sought
  }

  /** One that reads so many bytes at once. */
  take(block: number, sink: SearchSink): Search {
    const at = this.#free.findIndex((each) => each.block === block)
    const search = this.#free.splice(at, at < 0 ? 0 : 1)[0] ?? new Search(this.#sought, block)
    search.begin(sink)
    return search
  }

  giveBack(search: Search): void {
    this.#free.push(search)
  }
}
