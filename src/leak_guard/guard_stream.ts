/**
 * An answer in chunks. Any division into chunks gives the same output. Only what could still belong to
 * a find is held back: at most as much of the answer as the longest guarded string can take up in it,
 * twice escaped. What is being replaced is not kept.
 */

import { BLOCK } from './decoding/feed.ts'
import { type Naming, Release } from './release.ts'
import { type Search, type SearchOrder, searchPool } from './search.ts'

/** What the answers of one call are searched for. */
export type SoughtInCall = {
  readonly order: SearchOrder
  readonly naming: Naming
}

export type StreamOptions = {
  /** Whether the answer is JSON; when absent, its first byte tells. */
  readonly isJson?: boolean
  /** Length of the whole answer where it is known: memory for a short one is smaller. */
  readonly length?: number
}

const SMALL_BLOCK = 1024
/** Most chunks of a stream are short. */
const STREAM_BLOCK = 2048
/** Bytes of an answer that are looked at as JSON between two turns. */
const CATCH_UP = 262_144

export class GuardStream {
  readonly #sought: SoughtInCall
  readonly #release: Release
  /** Bytes that are read at once: of that size searches are kept. */
  readonly #block: number
  #search: Search | null = null
  /** Steps up to the end. */
  #work = 0
  /** Bytes of the answer read so far. */
  #length = 0

  constructor(sought: SoughtInCall, options: StreamOptions = {}) {
    this.#sought = sought
    this.#release = new Release(sought.naming, options.isJson)
    this.#block = options.length === undefined ? STREAM_BLOCK : blockFor(options.length)
  }

  /** Whether anything was replaced so far. */
  get isRedacted(): boolean {
    return this.#release.isReplaced
  }

  /** Steps so far, for tests of the cost. */
  get work(): number {
    return this.#search?.work ?? this.#work
  }

  /** Takes the next chunk, which may be reused afterwards; returns what is certain by now. */
  push(chunk: Uint8Array): Uint8Array {
    if (this.#isEmpty) return chunk.slice()
    this.#release.append(chunk)
    const out: Uint8Array[] = []
    this.#readAll(chunk, false, out)
    return joined(out)
  }

  /** The rest, after the last chunk. */
  flush(): Uint8Array {
    const out: Uint8Array[] = []
    this.#end(out)
    return joined(out)
  }

  /** A whole answer instead of chunks, a step at a time; the pieces of the output go to `out`. */
  *whole(answer: Uint8Array, step: number, out: Uint8Array[]): Generator<void, void> {
    if (this.#isEmpty) return
    this.#release.takeWhole(answer)
    for (let from = 0; from < answer.length; from += step) {
      if (from > 0) yield
      const isLast = from + step >= answer.length
      this.#readAll(answer.subarray(from, from + step), isLast, null)
      if (!isLast) yield* this.#giveWhole(out)
    }
    if (this.#release.isPending) yield* this.#catchUp(this.#length, out)
    if (this.#release.isPending || this.isRedacted) this.#release.give(this.#length, true, out)
  }

  /** Nothing is given out, nor its JSON looked at, before the first find. */
  *#giveWhole(out: Uint8Array[]): Generator<void, void> {
    if (!this.#release.isPending) return
    const until = this.#earliest()
    yield* this.#catchUp(until, out)
    this.#release.give(until, false, out)
  }

  *#catchUp(until: number, out: Uint8Array[]): Generator<void, void> {
    while (this.#release.isPending && this.#release.position + CATCH_UP < until) {
      this.#release.give(this.#release.position + CATCH_UP, false, out)
      yield
    }
  }

  /** @param out `null` when nothing is to be given out yet */
  #readAll(chunk: Uint8Array, isLast: boolean, out: Uint8Array[] | null): void {
    for (let from = 0; from < chunk.length; from += this.#block) {
      const block = chunk.subarray(from, from + this.#block)
      this.#length += block.length
      const isEnd = isLast && from + this.#block >= chunk.length
      this.#read(block, isEnd)
      if (out) this.#release.give(this.#earliest(), false, out)
    }
  }

  #end(out: Uint8Array[]): void {
    this.#read(new Uint8Array(0), true)
    this.#release.give(this.#length, true, out)
  }

  #read(block: Uint8Array, isLast: boolean): void {
    const { order } = this.#sought
    const search = this.#search ?? searchPool.take(order, this.#block, this.#release)
    this.#search = isLast ? null : search
    search.read(block, isLast)
    if (!isLast) return
    this.#work = search.work
    searchPool.giveBack(search, order.shape, this.#block)
  }

  get #isEmpty(): boolean {
    return this.#sought.order.patterns.length === 0
  }

  #earliest(): number {
    return Math.min(this.#length, this.#search?.earliest() ?? Infinity)
  }
}

/** How much of an answer of that length is read at once. */
export function blockFor(length: number): number {
  return length <= SMALL_BLOCK ? SMALL_BLOCK : BLOCK
}

/** A copy of the pieces as one. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces))
}
