/**
 * The polynomials of a stretch of a text, and its bytes' ends in the answer: any part of the stretch has its
 * polynomials in constant time. Text is taped only while candidates wait.
 */
import type { Feed } from '../decoding/feed.ts'
import { LANE_A, LANE_B, POINT_A, POINT_B } from './fingerprint.ts'

const FIRST_SIZE = 64
/** A longer tape is not kept for the next find. */
const MAX_KEPT = 4096

export class Tape {
  /** Hash of the first `n` taped bytes, at `n`. */
  #a = new Int32Array(0)
  #b = new Int32Array(0)
  #ends = new Float64Array(0)
  #from = 0
  #length = 0
  /** Bytes before this one are in earlier blocks: their places are in `#ends`, the feed has the others. */
  #keptUntil = 0

  /** Starts the tape at this byte of the text or earlier, without bytes that are not taped yet. */
  startAt(index: number): void {
    if (this.#length > 0 && index <= this.#from + this.#length) {
      this.drop(index)
      return
    }
    this.#from = index
    this.#length = 0
    this.#keptUntil = index
    if (this.#a.length === 0) this.#resize(FIRST_SIZE)
    this.#a[0] = 0
    this.#b[0] = 0
  }

  /**
   * Extends the tape to the byte `until` of the text; the feed ends with the byte `count`. Returns the number of bytes.
   */
  extend(feed: Feed, count: number, until: number): number {
    const missing = until - this.#from - this.#length
    if (missing <= 0) return 0
    if (this.#length + missing >= this.#a.length) this.#resize(2 * (this.#length + missing))
    const offset = feed.end - count + this.#from
    const { bytes } = feed
    let a = this.#a[this.#length] ?? 0
    let b = this.#b[this.#length] ?? 0
    for (let at = this.#length; at < this.#length + missing; at++) {
      const byte = bytes[offset + at] ?? 0
      a = (Math.imul(a, POINT_A) + (LANE_A[byte] ?? 0)) | 0
      b = (Math.imul(b, POINT_B) + (LANE_B[byte] ?? 0)) | 0
      this.#a[at + 1] = a
      this.#b[at + 1] = b
    }
    this.#length += missing
    return missing
  }

  /** Before the block ends: tapes all of it, with the places of its bytes, which the feed then forgets. */
  keep(feed: Feed, count: number): void {
    this.extend(feed, count, count)
    const offset = feed.end - count
    for (let index = Math.max(this.#from, this.#keptUntil); index < count; index++) {
      this.#ends[index - this.#from] = feed.endOf(offset + index)
    }
    this.#keptUntil = count
  }

  /** The polynomial of `length` bytes from `index` on; `power` is the point's to that length. */
  laneA(index: number, length: number, power: number): number {
    const at = index - this.#from
    return ((this.#a[at + length] ?? 0) - Math.imul(this.#a[at] ?? 0, power)) | 0
  }

  laneB(index: number, length: number, power: number): number {
    const at = index - this.#from
    return ((this.#b[at + length] ?? 0) - Math.imul(this.#b[at] ?? 0, power)) | 0
  }

  /** Position in the answer after a byte of the block, or a taped one. */
  endOf(feed: Feed, count: number, index: number): number {
    const isKept = this.#length > 0 && index >= this.#from && index < this.#keptUntil
    return isKept ? (this.#ends[index - this.#from] ?? 0) : feed.endOf(feed.end - count + index)
  }

  /** Forgets everything before this byte, at amortised constant cost. */
  drop(index: number): void {
    const gone = index - this.#from
    if (gone < FIRST_SIZE || 2 * gone < this.#length) return
    this.#a.copyWithin(0, gone, this.#length + 1)
    this.#b.copyWithin(0, gone, this.#length + 1)
    this.#ends.copyWithin(0, gone, this.#length)
    this.#from = index
    this.#length -= gone
  }

  clear(): void {
    this.#length = 0
    if (this.#a.length > MAX_KEPT) this.#resize(0)
  }

  copy(other: Tape): void {
    this.#from = other.#from
    this.#length = other.#length
    this.#keptUntil = other.#keptUntil
    if (this.#a.length < other.#a.length) this.#resize(other.#a.length)
    this.#a.set(other.#a.subarray(0, other.#length + 1))
    this.#b.set(other.#b.subarray(0, other.#length + 1))
    this.#ends.set(other.#ends.subarray(0, other.#length))
  }

  #resize(size: number): void {
    const [a, b, ends] = [this.#a, this.#b, this.#ends]
    this.#a = new Int32Array(size)
    this.#b = new Int32Array(size)
    this.#ends = new Float64Array(size)
    this.#a.set(a.subarray(0, size))
    this.#b.set(b.subarray(0, size))
    this.#ends.set(ends.subarray(0, size))
  }
}
