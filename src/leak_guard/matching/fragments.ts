/**
 * Fragments of values: 16 or more consecutive characters of a run, as they are. Every window of 16
 * bytes of every run has a fingerprint; windows that follow one another make a longer fragment. At the
 * edges of a part of an answer shorter ends of runs and values are recognised too.
 */
import type { Feed } from '../decoding/feed.ts'
import { nextStretch } from '../decoding/stretch.ts'
import type { FindSink } from './finder.ts'
import { GEAR, LANE_A, LANE_B, POINT_A, POINT_B, power, SealedTable } from './fingerprint.ts'
import { FRAGMENT } from './guarded.ts'
import type { Label } from './patterns.ts'
import { BUILD_STEP } from './patterns_build.ts'

const FRAGMENT_LABEL: Label = { names: [] }
/** The powers that take a byte out of a rolling polynomial. */
const OUT_A = power(POINT_A, FRAGMENT)
const OUT_B = power(POINT_B, FRAGMENT)
/** The bytes that runs consist of. */
const IS_RUN = new Uint8Array(256)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_=.~-') {
  IS_RUN[character.charCodeAt(0)] = 1
}

export class Fragments {
  readonly windows: SealedTable
  readonly bits: Uint32Array
  readonly bitShift: number
  readonly isEmpty: boolean

  constructor(windows: SealedTable, bits: Uint32Array, isEmpty: boolean) {
    this.windows = windows
    this.bits = bits
    this.bitShift = 27 - Math.log2(bits.length)
    this.isEmpty = isEmpty
  }
}

export function* buildFragments(runs: readonly Uint8Array[]): Generator<void, Fragments> {
  const count = runs.reduce((sum, run) => sum + run.length - FRAGMENT + 1, 0)
  const filterBits = Math.min(24, Math.max(13, Math.ceil(Math.log2(16 * count + 1))))
  const windows = new SealedTable(count)
  const bits = new Uint32Array(2 ** (filterBits - 5))
  const fragments = new Fragments(windows, bits, count === 0)
  let done = 0
  for (const run of runs) {
    addWindows(fragments, run)
    done += run.length
    if (done < BUILD_STEP) continue
    done = 0
    yield
  }
  return fragments
}

function addWindows({ windows, bits, bitShift }: Fragments, run: Uint8Array): void {
  const window = new Window()
  let hash = 0
  for (let at = 0; at < run.length; at++) {
    const byte = run[at] ?? 0
    hash = ((hash << 2) + (GEAR[byte] ?? 0)) | 0
    window.add(byte, at < FRAGMENT ? -1 : (run[at - FRAGMENT] ?? 0))
    if (at < FRAGMENT - 1) continue
    windows.add(window.a, window.b, FRAGMENT, 0)
    for (const bit of [hash >>> bitShift, second(hash) >>> bitShift]) {
      bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31))
    }
  }
}

/** A second opinion of the filter on the same hash. */
function second(hash: number): number {
  return Math.imul(hash, 0x9e3779b1)
}

function isMarked(bits: Uint32Array, hash: number, bitShift: number): boolean {
  const bit = hash >>> bitShift
  if ((((bits[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 0) return false
  const other = second(hash) >>> bitShift
  return (((bits[other >>> 5] ?? 0) >>> (other & 31)) & 1) === 1
}

/** The polynomials of the last 16 bytes. */
class Window {
  a = 0
  b = 0

  /** @param gone the byte that leaves the window, -1 for none */
  add(byte: number, gone: number): void {
    this.a = (Math.imul(this.a, POINT_A) + (LANE_A[byte] ?? 0)) | 0
    this.b = (Math.imul(this.b, POINT_B) + (LANE_B[byte] ?? 0)) | 0
    if (gone < 0) return
    this.a = (this.a - Math.imul(LANE_A[gone] ?? 0, OUT_A)) | 0
    this.b = (this.b - Math.imul(LANE_B[gone] ?? 0, OUT_B)) | 0
  }

  /** The 16 bytes up to `at`, when the window was last at `before`. */
  moveTo(bytes: Uint8Array, at: number, before: number): void {
    if (before === at - 1) {
      this.add(bytes[at] ?? 0, bytes[at - FRAGMENT] ?? 0)
      return
    }
    this.a = 0
    this.b = 0
    for (let from = at - FRAGMENT + 1; from <= at; from++) this.add(bytes[from] ?? 0, -1)
  }
}

/** Finds fragments in the answer itself. */
export class FragmentFinder {
  readonly #fragments: Fragments
  readonly #sink: FindSink
  readonly #window = new Window()
  #hash = 0
  /** Bytes of the run that the text ends with. */
  #run = 0
  /** Where the window was last; -1 when that was in another block. */
  #looked = -1
  /** The find that is being put together; -1 when there is none. */
  #from = 0
  #to = -1

  constructor(fragments: Fragments, sink: FindSink) {
    this.#fragments = fragments
    this.#sink = sink
  }

  /** Another answer begins. */
  clear(): void {
    this.#run = 0
    this.#to = -1
  }

  read(feed: Feed, from: number): void {
    const { bytes, end } = feed
    this.#looked = -1
    for (let at = from; at < end; ) {
      if (this.#run === 0) at = nextStretch(bytes, at, end, IS_RUN, 1, FRAGMENT)
      at = this.#readRun(feed, at)
    }
    this.#handOver(feed)
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
      if (++run >= FRAGMENT && isMarked(bits, hash, bitShift)) this.#look(feed, at)
    }
    this.#hash = hash
    this.#run = at < end ? 0 : run
    return at + 1
  }

  #look(feed: Feed, at: number): void {
    this.#sink.work++
    const window = this.#window
    window.moveTo(feed.bytes, at, this.#looked)
    this.#looked = at
    if (this.#fragments.windows.find(window.a, window.b, FRAGMENT) < 0) return
    if (at - FRAGMENT + 1 > this.#to) this.#handOver(feed)
    if (this.#to < 0) this.#from = at - FRAGMENT + 1
    this.#to = at + 1
  }

  /** Windows that overlap are handed over as one find. */
  #handOver(feed: Feed): void {
    if (this.#to < 0) return
    this.#sink.add(feed.startOf(this.#from), feed.endOf(this.#to - 1), FRAGMENT_LABEL)
    this.#to = -1
  }

  /** Position of the first byte that may yet belong to a fragment. */
  earliest(feed: Feed): number {
    const waiting = Math.min(this.#run, FRAGMENT - 1)
    return waiting === 0 ? Infinity : feed.startOf(feed.end - waiting)
  }
}
