/**
 * Fragments of values. Each run has known windows of 16 characters at fixed places: at every 16th character from its
 * beginning, and at its end. A text is compared with the run only there. So an attacker who knows some characters
 * cannot guess the next ones one by one: the text after a window is replaced or kept regardless of its contents, and
 * the next window needs all of its 16 characters together.
 *
 * A window is replaced with up to `BESIDE` characters of the text's run on either side. At most that many characters of
 * a fragment precede its first window or follow its last one. So the whole fragment is replaced, and neither the held
 * bytes nor the work grow with the text's run. The extent depends only on the text around the window, not on the
 * division of the text or on the value. A window inside a find of a whole value is replaced only with that find
 * (`WaitingFragments`).
 */
import { GEAR, LANE_A, LANE_B, POINT_A, POINT_B, power, SealedTable } from './fingerprint.ts'
import { FRAGMENT, toBytes } from './guarded.ts'

/** Characters of a run that are replaced on either side of a window. */
export const BESIDE = FRAGMENT - 1

/** A window in an answer, and the stretch around it that is replaced with it. */
export type Fragment = {
  readonly start: number
  readonly end: number
  readonly windowStart: number
  readonly windowEnd: number
}

/** Takes the fragments, in the order of their windows. */
export type FragmentSink = {
  addFragment(fragment: Fragment): void
  /** Steps so far, for tests of the cost. */
  work: number
}

/** The powers that take a byte out of a rolling polynomial. */
const OUT_A = power(POINT_A, FRAGMENT)
const OUT_B = power(POINT_B, FRAGMENT)
/** Cost of adding a byte, compared with searching it. */
const PER_BYTE_ADDED = 16
/** Matches runs: characters that fragments consist of. */
const RUN = /[A-Za-z0-9+/_=.~-]{16,}/g
/** Bytes that are searched in one step. */
const SEARCHED_AT_ONCE = 65_536
/** The bytes that runs consist of. */
export const IS_RUN = new Uint8Array(256)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_=.~-') {
  IS_RUN[character.charCodeAt(0)] = 1
}

export function mayBeInFragment(byte: number): boolean {
  return IS_RUN[byte] === 1
}

export class Fragments {
  readonly windows: SealedTable
  readonly bits: Int32Array
  readonly bitShift: number
  readonly isEmpty: boolean

  constructor(windows: SealedTable, bits: Int32Array, isEmpty: boolean) {
    this.windows = windows
    this.bits = bits
    this.bitShift = 27 - Math.log2(bits.length)
    this.isEmpty = isEmpty
  }

  /** Whether a window is in a stretch of the bytes that runs consist of. */
  standIn(bytes: Uint8Array, from: number, to: number): boolean {
    const { bits, bitShift } = this
    const window = new FragmentWindow()
    let hash = 0
    for (let at = from; at < to; at++) {
      hash = ((hash << 2) + (GEAR[bytes[at] ?? 0] ?? 0)) | 0
      const bit = hash >>> bitShift
      if ((((bits[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 0 || at - from < FRAGMENT - 1) continue
      if (!isMarked(bits, hash, bitShift)) continue
      window.moveTo(bytes, at, -1)
      if (this.windows.find(window.a, window.b, FRAGMENT) >= 0) return true
    }
    return false
  }
}

export const NO_FRAGMENTS = new Fragments(new SealedTable(0), new Int32Array(256), true)

/** Builds the fragments of these texts' runs, in two passes. A pause may follow each text: it may be long without a run. */
export function* buildFragments(stretches: readonly string[]): Generator<void, Fragments> {
  const isTimeAfter = pacer()
  const count = yield* countWindows(stretches)
  const filterBits = Math.min(24, Math.max(13, Math.ceil(Math.log2(16 * count + 1))))
  const windows = new SealedTable(count)
  const bits = new Int32Array(2 ** (filterBits - 5))
  const fragments = new Fragments(windows, bits, count === 0)
  for (const stretch of stretches) {
    for (const [run] of stretch.matchAll(RUN)) {
      addWindows(fragments, toBytes(run))
      if (isTimeAfter(PER_BYTE_ADDED * run.length)) yield
    }
    if (isTimeAfter(stretch.length)) yield
  }
  return fragments
}

function addWindows(fragments: Fragments, run: Uint8Array): void {
  const last = run.length - FRAGMENT
  for (let from = 0; from < last; from += FRAGMENT) addWindow(fragments, run, from)
  addWindow(fragments, run, last)
}

function addWindow({ windows, bits, bitShift }: Fragments, run: Uint8Array, from: number): void {
  const window = new FragmentWindow()
  let hash = 0
  for (const byte of run.subarray(from, from + FRAGMENT)) {
    hash = ((hash << 2) + (GEAR[byte] ?? 0)) | 0
    window.add(byte, -1)
  }
  windows.add(window.a, window.b, FRAGMENT, 0)
  for (const bit of [hash >>> bitShift, second(hash) >>> bitShift]) {
    bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31))
  }
}

/** A second opinion of the filter on the same hash. */
function second(hash: number): number {
  return Math.imul(hash, 0x9e3779b1)
}

export function isMarked(bits: Int32Array, hash: number, bitShift: number): boolean {
  const bit = hash >>> bitShift
  if ((((bits[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 0) return false
  const other = second(hash) >>> bitShift
  return (((bits[other >>> 5] ?? 0) >>> (other & 31)) & 1) === 1
}

/** The polynomials of the last 16 bytes. */
export class FragmentWindow {
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

/** Counts the windows in the runs of these texts. */
function* countWindows(stretches: readonly string[]): Generator<void, number> {
  const isTimeAfter = pacer()
  let count = 0
  for (const stretch of stretches) {
    for (const [run] of stretch.matchAll(RUN)) count += Math.ceil(run.length / FRAGMENT)
    if (isTimeAfter(stretch.length)) yield
  }
  return count
}

/** Returns a function that takes the cost of each part of the work and returns whether a step is over. */
function pacer(): (cost: number) => boolean {
  let done = 0
  return (cost) => {
    done += cost
    if (done < SEARCHED_AT_ONCE) return false
    done = 0
    return true
  }
}
