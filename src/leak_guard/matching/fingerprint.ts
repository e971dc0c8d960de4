/**
 * Keyed fingerprints of byte strings. All keys are drawn when the process starts and never leave it:
 * without them a stored fingerprint cannot be compared with a guess.
 *
 * A fingerprint is HalfSipHash-1-3 over two polynomials of the string, whose points and whose numbers
 * for each byte are secret. The polynomials give the fingerprint of any stretch of a text in constant
 * time. `+` and the space count as one byte, because forms write a space as `+`.
 */
import { randomFillSync } from 'node:crypto'

const SPACE = 0x20
const PLUS = 0x2b

/** Numbers of a rolling hash: shifted by 4 bits a byte it holds the last 8 bytes, by 2 the last 16. */
export const GEAR = drawNumbers()
export const LANE_A = drawNumbers()
export const LANE_B = drawNumbers()

const keys = randomFillSync(new Int32Array(4))
/** The points of the polynomials; 5 modulo 8 gives the longest period. */
export const POINT_A = ((keys[0] ?? 0) & ~7) | 5
export const POINT_B = ((keys[1] ?? 0) & ~7) | 5
const KEY_0 = keys[2] ?? 0
const KEY_1 = keys[3] ?? 0

function drawNumbers(): Int32Array {
  const numbers = randomFillSync(new Int32Array(256))
  numbers[PLUS] = numbers[SPACE] ?? 0
  return numbers
}

/** The `exponent`-th power modulo 2^32. */
export function power(base: number, exponent: number): number {
  let result = 1
  for (let square = base, rest = exponent; rest > 0; rest >>>= 1) {
    if (rest & 1) result = Math.imul(result, square)
    square = Math.imul(square, square)
  }
  return result
}

/** The fingerprint of a string of `length` bytes with the polynomials `a` and `b`; never 0. */
export function seal(a: number, b: number, length: number): number {
  let v0 = KEY_0
  let v1 = KEY_1
  let v2 = 0x6c796765 ^ KEY_0
  let v3 = 0x74656462 ^ KEY_1
  for (let round = 0; round < 6; round++) {
    const word = round < 2 ? (round === 0 ? a : b) : round === 2 ? length : 0
    v3 ^= word
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    v0 ^= word
    if (round === 2) v2 ^= 0xff
  }
  return v1 ^ v3 || 1
}

/**
 * A table of fingerprints with a number for each: open addressing, at most half full. An entry's place depends on a
 * polynomial, so that place and fingerprint together identify a string.
 */
export class SealedTable {
  readonly #tags: Int32Array
  readonly #payloads: Int32Array
  readonly #shift: number

  /** @param capacity how many strings will be added at most */
  constructor(capacity: number) {
    const bits = Math.max(4, Math.ceil(Math.log2(2 * capacity + 1)))
    this.#tags = new Int32Array(2 ** bits)
    this.#payloads = new Int32Array(2 ** bits)
    this.#shift = 32 - bits
  }

  /** The number of a string; -1 when it is not in the table. */
  find(a: number, b: number, length: number): number {
    const slot = this.#slotOf(a, length, seal(a, b, length))
    return this.#tags[slot] === 0 ? -1 : (this.#payloads[slot] ?? -1)
  }

  /** Adds a string with a number from 0 on, unless the table has it. */
  add(a: number, b: number, length: number, payload: number): void {
    const tag = seal(a, b, length)
    const slot = this.#slotOf(a, length, tag)
    if (this.#tags[slot] !== 0) return
    this.#tags[slot] = tag
    this.#payloads[slot] = payload
  }

  /** Returns the slot of the entry, or the empty one for it. */
  #slotOf(a: number, length: number, tag: number): number {
    const mask = this.#tags.length - 1
    let slot = Math.imul(a ^ Math.imul(length, 0x85ebca6b), 0x9e3779b1) >>> this.#shift
    while (this.#tags[slot] !== tag && this.#tags[slot] !== 0) slot = (slot + 1) & mask
    return slot
  }
}
