/**
 * The digits of a run, and the bytes that they encode from one of the first digits on. A byte's place in the answer is
 * computed only when it is needed.
 */
import { type Feed, MARGIN, type Memory, Uncopied } from './feed.ts'
import { NO_DIGIT, type Scheme } from './schemes.ts'

/** The values of a run's digits, and their places in the parent. */
export class Digits {
  readonly memory: Memory
  readonly values: Uint8Array
  end = MARGIN
  readonly #indices: Int32Array
  readonly #parent: Feed
  /** Digits of the margin whose places are kept. */
  readonly #kept: number
  readonly #starts = new Float64Array(MARGIN)
  readonly #ends = new Float64Array(MARGIN)

  constructor(parent: Feed, kept: number) {
    this.#parent = parent
    this.#kept = kept
    this.memory = parent.memory
    this.values = this.memory.take(parent.bytes.length + MARGIN)
    this.#indices = new Int32Array(parent.bytes.length + MARGIN)
  }

  clear(): void {
    this.end = MARGIN
  }

  read(from: number, to: number, digits: Uint8Array): void {
    const { bytes } = this.#parent
    const values = this.values
    const indices = this.#indices
    let { end } = this
    for (let at = from; at < to; at++) {
      const value = digits[bytes[at] ?? 0] ?? 0
      if (value === NO_DIGIT) continue
      values[end] = value
      indices[end++] = at
    }
    this.end = end
  }

  startOf(at: number): number {
    return at < MARGIN ? (this.#starts[at] ?? 0) : this.#parent.startOf(this.#indices[at] ?? 0)
  }

  endOf(at: number): number {
    return at < MARGIN ? (this.#ends[at] ?? 0) : this.#parent.endOf(this.#indices[at] ?? 0)
  }

  /** Index in the parent; -1 when that is in an earlier block. */
  indexOf(at: number): number {
    return at < MARGIN ? -1 : (this.#indices[at] ?? 0)
  }

  /** Moves the last digits into the margin; returns by how much. */
  keep(): number {
    const shift = this.end - MARGIN
    const fresh = Math.max(0, MARGIN - shift)
    this.#starts.copyWithin(0, MARGIN - fresh)
    this.#ends.copyWithin(0, MARGIN - fresh)
    for (let at = Math.max(fresh, MARGIN - this.#kept); at < MARGIN; at++) {
      this.#starts[at] = this.startOf(at + shift)
      this.#ends[at] = this.endOf(at + shift)
    }
    this.values.copyWithin(0, shift, this.end)
    this.end = MARGIN
    return shift
  }

  follow(other: Digits): void {
    this.values.set(other.values.subarray(0, MARGIN))
    this.#starts.set(other.#starts)
    this.#ends.set(other.#ends)
    this.end = MARGIN
  }
}

/** The bytes that a run's digits encode if decoding starts at one of its first digits. */
export class PhaseFeed extends Uncopied implements Feed {
  readonly memory: Memory
  readonly bytes: Uint8Array
  floor = MARGIN
  end = MARGIN
  /** The first digit that is not decoded yet. */
  next: number
  readonly #digits: Digits
  readonly #scheme: Scheme
  readonly #phase: number
  /** A byte and the digit with which its group begins. */
  #byte = MARGIN
  #digit: number

  constructor(digits: Digits, scheme: Scheme, phase: number) {
    super()
    this.#digits = digits
    this.#scheme = scheme
    this.#phase = phase
    this.next = MARGIN + phase
    this.#digit = this.next
    this.memory = digits.memory
    this.bytes = this.memory.take(digits.values.length)
  }

  clear(): void {
    this.floor = MARGIN
    this.end = MARGIN
    this.next = MARGIN + this.#phase
    this.#byte = MARGIN
    this.#digit = this.next
  }

  /** Decodes whole groups, and at the end of a run the remaining digits. */
  decode(isLast: boolean): void {
    const { group } = this.#scheme
    const count = Math.max(0, this.#digits.end - this.next)
    const groups = Math.floor(count / group)
    if (group === 4) this.#decode64(groups)
    else if (group === 2) this.#decode16(groups)
    else if (group === 8) this.#decode32(groups)
    if (isLast) this.#decodeSlowly(count - groups * group)
  }

  startOf(at: number): number {
    return this.#digits.startOf(this.#digitOf(at, 0))
  }

  endOf(at: number): number {
    return this.#digits.endOf(this.#digitOf(at, 7))
  }

  keep(): void {
    const shift = this.end - MARGIN
    this.bytes.copyWithin(0, shift, this.end)
    this.floor = Math.max(0, this.floor - shift)
    this.end = MARGIN
    this.#byte -= shift
  }

  /** The digits have moved. */
  shift(by: number): void {
    const { group, bytes } = this.#scheme
    this.next -= by
    const groups = Math.floor((MARGIN - this.#byte) / bytes)
    this.#byte += groups * bytes
    this.#digit += groups * group - by
  }

  follow(other: PhaseFeed): void {
    this.bytes.set(other.bytes.subarray(0, MARGIN))
    this.floor = other.floor
    this.end = MARGIN
    this.next = other.next
    this.#byte = other.#byte
    this.#digit = other.#digit
  }

  /** The digit that holds a bit of a byte. */
  #digitOf(at: number, bit: number): number {
    const { bits, group, bytes } = this.#scheme
    const groups = Math.floor((at - this.#byte) / bytes)
    const rest = at - this.#byte - groups * bytes
    return this.#digit + groups * group + Math.floor((8 * rest + bit) / bits)
  }

  #decode64(groups: number): void {
    const { values } = this.#digits
    const { bytes } = this
    let { end, next } = this
    for (let done = 0; done < groups; done++) {
      const word =
        ((values[next] ?? 0) << 18) |
        ((values[next + 1] ?? 0) << 12) |
        ((values[next + 2] ?? 0) << 6) |
        (values[next + 3] ?? 0)
      bytes[end] = word >>> 16
      bytes[end + 1] = word >>> 8
      bytes[end + 2] = word
      next += 4
      end += 3
    }
    this.end = end
    this.next = next
  }

  #decode32(groups: number): void {
    const { values } = this.#digits
    const { bytes } = this
    let { end, next } = this
    const readHalf = (at: number) =>
      ((values[at] ?? 0) << 15) |
      ((values[at + 1] ?? 0) << 10) |
      ((values[at + 2] ?? 0) << 5) |
      (values[at + 3] ?? 0)
    for (let done = 0; done < groups; done++) {
      const high = readHalf(next)
      const low = readHalf(next + 4)
      bytes[end] = high >>> 12
      bytes[end + 1] = high >>> 4
      bytes[end + 2] = (high << 4) | (low >>> 16)
      bytes[end + 3] = low >>> 8
      bytes[end + 4] = low
      next += 8
      end += 5
    }
    this.end = end
    this.next = next
  }

  #decode16(groups: number): void {
    const { values } = this.#digits
    const { bytes } = this
    let { end, next } = this
    for (const last = end + groups; end < last; next += 2) {
      bytes[end++] = ((values[next] ?? 0) << 4) | (values[next + 1] ?? 0)
    }
    this.end = end
    this.next = next
  }

  #decodeSlowly(count: number): void {
    const { values } = this.#digits
    const { bits } = this.#scheme
    const { bytes } = this
    let { end } = this
    let word = 0
    let held = 0
    for (let at = this.next; at < this.next + count; at++) {
      word = ((word << bits) | (values[at] ?? 0)) & 0xffff
      held += bits
      if (held < 8) continue
      held -= 8
      bytes[end++] = word >>> held
    }
    this.end = end
    this.next += count
  }
}
