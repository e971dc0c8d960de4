/**
 * Guards an answer in chunks. The amount held back at the end of a chunk does not depend on the guarded values
 * (`Hold`). Any division into chunks gives the same output, as long as a value's representation fits into the held
 * bytes. A longer one in several pieces is found by its parts and fragments. Replaced bytes are not kept.
 */

import { BLOCK } from './decoding/feed.ts'
import { isClear } from './first_look.ts'
import { type Frames, Hold } from './hold.ts'
import { complete } from './matching/patterns_build.ts'
import { type Naming, Release, type ReleaseOptions } from './release.ts'
import { type Search, type SearchOrder, searchPool } from './search.ts'

/** The search for the answers of one call. */
export type SoughtInCall = {
  readonly order: SearchOrder
  readonly naming: Naming
}

export type StreamOptions = ReleaseOptions & {
  /** Length of the whole answer if known: a short answer needs less memory. */
  readonly length?: number
  /** Separators after which nothing is held back. */
  readonly frames?: Frames
}

const SMALL_BLOCK = 1024
/** Most chunks of a stream are short. */
const STREAM_BLOCK = 2048
/** Work of a step for each of its bytes: about twice that of ordinary text. Costlier text has shorter steps. */
const WORK_PER_BYTE = 8
/** Work of a block of text that costs more: each block has a fixed cost, so it is not read in smaller ones. */
const WORK_PER_BLOCK = 65_536
/** Minimum bytes of a block, also for the start of an unknown answer. */
const LEAST_BLOCK = 512
const FIRST_BLOCK = 1024
/** Bytes of an answer that are read as JSON between two turns. */
const CATCH_UP = 262_144

export class GuardStream {
  readonly #sought: SoughtInCall
  readonly #release: Release
  readonly #hold: Hold
  /** Bytes of a block: searches are kept by this size. */
  readonly #block: number
  #search: Search | null = null
  /** Bytes of the next block. */
  #size: number
  /** Steps up to the end. */
  #work = 0
  /** Bytes of the answer read so far. */
  #length = 0

  constructor(sought: SoughtInCall, options: StreamOptions = {}) {
    this.#sought = options.keepsLength ? searchInPart(sought) : sought
    this.#release = new Release(sought.naming, options)
    this.#hold = new Hold(options.frames)
    this.#block = options.length === undefined ? STREAM_BLOCK : blockFor(options.length)
    this.#size = Math.min(this.#block, FIRST_BLOCK)
  }

  /** Whether anything was replaced so far. */
  get isRedacted(): boolean {
    return this.#release.isReplaced
  }

  /** Steps so far, for tests of the cost. */
  get work(): number {
    return this.#search?.work ?? this.#work
  }

  /** Takes the next chunk, which may be reused afterwards. Returns the bytes to send with it. */
  push(chunk: Uint8Array): Uint8Array {
    return complete(this.pushInSteps(chunk, chunk.length))
  }

  /** One step at a time. */
  *pushInSteps(chunk: Uint8Array, step: number): Generator<void, Uint8Array> {
    this.#hold.read(chunk)
    this.#release.append(chunk)
    yield* this.#readAll(chunk, step, false, this.#hold.position)
    const out: Uint8Array[] = []
    this.#release.give(this.#hold.position, false, out)
    return joinPieces(out)
  }

  /** The rest, after the last chunk. */
  flush(): Uint8Array {
    const out: Uint8Array[] = []
    this.#end(out)
    return joinPieces(out)
  }

  /** A whole answer instead of chunks, a step at a time; the pieces of the output go to `out`. */
  *guardWhole(answer: Uint8Array, step: number, out: Uint8Array[]): Generator<void, void> {
    if (this.#isEmpty) return
    this.#release.takeWhole(answer)
    for (const _ of this.#readAll(answer, step, true, 0)) {
      yield* this.#giveWhole(out)
      yield
    }
    if (this.#release.isPending) yield* this.#catchUp(this.#length, out)
    if (this.#release.isPending || this.isRedacted) this.#release.give(this.#length, true, out)
  }

  /** Sends nothing, and parses no JSON, before the first find. */
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

  /**
   * Reads in steps of at most `step` bytes, or of the work that ordinary text of that length takes.
   *
   * @param due everything that begins before it is decided at the end
   */
  *#readAll(bytes: Uint8Array, step: number, isLast: boolean, due: number): Generator<void, void> {
    const most = step * WORK_PER_BYTE
    let spent = 0
    for (let from = 0; from < bytes.length; ) {
      const block = bytes.subarray(from, from + Math.min(this.#size, step))
      const before = this.work
      from += block.length
      this.#length += block.length
      const isEnd = from === bytes.length
      this.#read(block, isLast && isEnd, isEnd ? due : 0)
      // At the end of the answer its search is given back, and the work is no longer counted.
      const work = Math.max(this.work - before, WORK_PER_BYTE * block.length)
      this.#size = this.#sizeAt(work / block.length)
      if (isEnd) return
      spent += work
      if (spent < most) continue
      spent = 0
      yield
    }
  }

  /** Bytes of the next block, if it costs as much a byte as the last one. */
  #sizeAt(workPerByte: number): number {
    const size = Math.floor(WORK_PER_BLOCK / workPerByte)
    return Math.min(this.#block, Math.max(LEAST_BLOCK, size))
  }

  #end(out: Uint8Array[]): void {
    this.#read(new Uint8Array(0), true, 0)
    this.#release.give(this.#length, true, out)
  }

  #read(block: Uint8Array, isLast: boolean, due: number): void {
    if (this.#isEmpty) return
    const { order } = this.#sought
    const search = this.#search ?? searchPool.take(order, this.#block, this.#release)
    this.#search = isLast ? null : search
    search.due.position = due
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

/** Returns a search for parts of an answer. It overwrites the same bytes wherever a part begins. */
function searchInPart({ order, naming }: SoughtInCall): SoughtInCall {
  return { order: { ...order, shape: { ...order.shape, isPart: true } }, naming }
}

/** Whether a whole answer contains a find. Most answers need only the first look. */
export function holdsAny(order: SearchOrder, bytes: Uint8Array): boolean {
  if (isClear(order, bytes)) return false
  let isFound = false
  const add = () => {
    isFound = true
  }
  const block = blockFor(bytes.length)
  const search = searchPool.take(order, block, { work: 0, add, addFragment: add })
  for (let from = 0; from < bytes.length; from += block) {
    const isLast = from + block >= bytes.length
    search.read(from === 0 && isLast ? bytes : bytes.subarray(from, from + block), isLast)
  }
  searchPool.giveBack(search, order.shape, block)
  return isFound
}

/** Returns the block size for an answer of that length. */
export function blockFor(length: number): number {
  return length <= SMALL_BLOCK ? SMALL_BLOCK : BLOCK
}

/** A copy of the pieces as one. */
export function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces))
}
