/**
 * One reading of the answer: a feed, the finders of strings in it, and, unless it is already the second layer, the
 * decoders of its bytes.
 */

import type { Sought } from '../matching/candidates.ts'
import { type Due, Finder, type FindSink } from '../matching/finder.ts'
import { type Feed, MARGIN, MARGIN_UNDECODED } from './feed.ts'

/** Layers of escapes and encodings that are read. */
export const MAX_DEPTH = 2

/** Returns the bytes before a block with places in the answer that are kept, for a text in this layer. */
export function computeKeptBytes(depth: number): number {
  return depth < MAX_DEPTH ? MARGIN : MARGIN_UNDECODED
}

/** State that all readings of one answer share. */
export type Reading = {
  readonly sought: readonly Sought[]
  readonly sink: FindSink
  /** One for all readings of an answer. */
  readonly due: Due
  /** Whether strings of fewer than 8 bytes are sought: then short runs matter. */
  readonly isShort: boolean
  /** Whether the answer may begin in the middle of a text. */
  readonly isPart: boolean
  /** The kinds of escapes that are each decoded alone, in addition to all kinds together. */
  readonly kinds: readonly number[]
  /** Opens the decoders of a stage in this layer. They open the stages of the next layer. */
  openDecoders(reading: Reading, stage: Stage, depth: number): StageDecoders
}

/** Decoders of a stage's text. */
export interface StageDecoders {
  /** Reads the feed's bytes from `from` on. */
  read(from: number, isLast: boolean): void
  /** Whether something that was begun is not decoded to its end. */
  readonly isDecoding: boolean
  /** Position in the answer before which everything is decided. */
  earliest(): number
  /** Continues from the state of the others, whose text was equal up to this point. */
  follow(other: this): void
}

export class Stage {
  readonly feed: Feed
  readonly #finders: readonly Finder[]
  readonly #decoders: StageDecoders | null

  constructor(reading: Reading, feed: Feed, depth: number) {
    this.feed = feed
    this.#finders = reading.sought.map((sought) => new Finder(sought, reading.sink, reading.due))
    this.#decoders = depth < MAX_DEPTH ? reading.openDecoders(reading, this, depth) : null
  }

  /**
   * Reads the feed's bytes from `from` on. The decoders may start at this position, and need the bytes read before.
   * `parent` is the stage from which the feed copies.
   */
  read(from: number, isLast: boolean, parent?: Stage): void {
    const finders = this.#finders
    for (let at = 0; at < finders.length; at++) {
      finders[at]?.scan(this.feed, from, parent ? parent.#finders[at] : undefined)
    }
    this.#decoders?.read(from, isLast)
    for (const finder of finders) finder.resolve(this.feed, from, isLast)
  }

  /** Whether no find is under way in this very reading. */
  get isIdle(): boolean {
    return this.#finders.every((finder) => finder.isIdle)
  }

  /** Whether a decoder is within something that it began to decode. */
  get isDecoding(): boolean {
    return this.#decoders?.isDecoding ?? false
  }

  /** Position in the answer before which everything is decided. */
  earliest(): number {
    let earliest = this.#decoders?.earliest() ?? Infinity
    for (const finder of this.#finders) earliest = Math.min(earliest, finder.earliest(this.feed))
    return earliest
  }

  /** Continues from the state of the other one, whose text was equal up to this point. */
  follow(other: Stage): void {
    for (const [at, finder] of this.#finders.entries()) {
      const model = other.#finders[at]
      if (model) finder.follow(model)
    }
    if (other.#decoders) this.#decoders?.follow(other.#decoders)
  }
}
