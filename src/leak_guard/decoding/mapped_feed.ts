/** Texts with bytes that represent stretches of another text. */
import { type Copy, type Feed, MARGIN, type Memory } from './feed.ts'

/** In place of a last index: the piece was copied. */
const COPIED = -1
/** The native copy is faster for more bytes. */
const LONG = 96
/** The first byte of a UTF-8 character, by how many follow. */
const LEADS = [0, 0xc0, 0xe0, 0xf0]

/** Bytes that represent stretches of a parent, for example after unescaping. */
export class MappedFeed implements Feed {
  readonly memory: Memory
  readonly bytes: Uint8Array
  floor = MARGIN
  end = MARGIN
  readonly #parent: Feed
  /** Bytes of the margin whose places are kept. */
  readonly #kept: number
  /**
   * Pieces of the block: the first index, and the first and the last index in the parent of the represented stretch. In
   * a copied piece, where the last is -1, each byte represents one byte.
   */
  readonly #from: Int32Array
  readonly #first: Int32Array
  readonly #last: Int32Array
  #pieces = 0
  /** The piece that was looked up last. */
  #piece = 0
  /** Positions of the margin's bytes, which the parent no longer has. */
  readonly #starts = new Float64Array(MARGIN)
  readonly #ends = new Float64Array(MARGIN)

  constructor(parent: Feed, kept: number) {
    const size = parent.bytes.length + MARGIN
    this.#parent = parent
    this.#kept = kept
    this.memory = parent.memory
    this.bytes = this.memory.take(size)
    this.#from = new Int32Array(size)
    this.#first = new Int32Array(size)
    this.#last = new Int32Array(size)
  }

  append(byte: number, first: number, last: number): void {
    this.#addPiece(first, last)
    this.bytes[this.end++] = byte
  }

  /** Appends a code point as UTF-8. */
  appendCharacter(code: number, first: number, last: number): void {
    const more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3
    this.append((LEADS[more] ?? 0) | (code >> (6 * more)), first, last)
    for (let rest = more - 1; rest >= 0; rest--) {
      this.append(0x80 | ((code >> (6 * rest)) & 63), first, last)
    }
  }

  /** Appends bytes of the parent unchanged. */
  appendCopy(bytes: Uint8Array, from: number, to: number): void {
    if (from === to) return
    this.#addPiece(from, COPIED)
    const own = this.bytes
    let { end } = this
    if (to - from > LONG) own.set(bytes.subarray(from, to), end)
    else for (let at = from; at < to; at++) own[end++] = bytes[at] ?? 0
    this.end += to - from
  }

  startOf(at: number): number {
    return at < MARGIN ? (this.#starts[at] ?? 0) : this.#parent.startOf(this.#indexOf(at))
  }

  endOf(at: number): number {
    if (at < MARGIN) return this.#ends[at] ?? 0
    const index = this.#indexOf(at)
    const last = this.#last[this.#piece] ?? 0
    return this.#parent.endOf(last === COPIED ? index : last)
  }

  isCopy(from: number, to: number): boolean {
    if (from < MARGIN) return false
    this.#indexOf(from)
    const piece = this.#piece
    return this.#last[piece] === COPIED && this.#endOfPiece(piece) >= to
  }

  getNextCopy(piece: number, least: number): number {
    for (let at = piece; at < this.#pieces; at++) {
      if (this.#last[at] === COPIED && this.#endOfPiece(at) - (this.#from[at] ?? 0) >= least)
        return at
    }
    return -1
  }

  copyAt(piece: number): Copy {
    const at = this.#from[piece] ?? 0
    return { at, first: this.#first[piece] ?? 0, length: this.#endOfPiece(piece) - at }
  }

  #endOfPiece(piece: number): number {
    return piece + 1 < this.#pieces ? (this.#from[piece + 1] ?? 0) : this.end
  }

  #addPiece(first: number, last: number): void {
    const piece = this.#pieces++
    this.#from[piece] = this.end
    this.#first[piece] = first
    this.#last[piece] = last
  }

  /** Returns the first index in the parent of the stretch that a byte represents. */
  #indexOf(at: number): number {
    const from = this.#from
    let piece = this.#piece
    if (!this.#isIn(piece, at) && !this.#isIn(++piece, at)) piece = this.#search(at)
    this.#piece = piece
    const first = this.#first[piece] ?? 0
    return this.#last[piece] === COPIED ? first + at - (from[piece] ?? 0) : first
  }

  #isIn(piece: number, at: number): boolean {
    if (piece >= this.#pieces || (this.#from[piece] ?? 0) > at) return false
    return piece + 1 >= this.#pieces || (this.#from[piece + 1] ?? 0) > at
  }

  #search(at: number): number {
    let low = 0
    let high = this.#pieces - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#from[middle] ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Forgets all text, before a new one begins. */
  clear(): void {
    this.floor = MARGIN
    this.end = MARGIN
    this.#pieces = 0
  }

  /** Moves the end of the block into the margin, while the parent still has the positions. */
  keep(): void {
    const shift = this.end - MARGIN
    if (shift === 0) return
    const fresh = Math.max(0, MARGIN - shift)
    this.#starts.copyWithin(0, MARGIN - fresh)
    this.#ends.copyWithin(0, MARGIN - fresh)
    this.floor = Math.max(0, this.floor - shift)
    for (let at = Math.max(fresh, this.floor, MARGIN - this.#kept); at < MARGIN; at++) {
      this.#starts[at] = this.startOf(at + shift)
      this.#ends[at] = this.endOf(at + shift)
    }
    this.bytes.copyWithin(0, shift, this.end)
    this.end = MARGIN
    this.#pieces = 0
  }

  /** Takes on another feed's margin: from here on this one reads the same text its own way. */
  follow(other: Feed, end: number): void {
    this.floor = Math.max(0, MARGIN - (end - other.floor))
    for (let at = Math.max(this.floor, MARGIN - this.#kept); at < MARGIN; at++) {
      const from = end - MARGIN + at
      this.bytes[at] = other.bytes[from] ?? 0
      this.#starts[at] = other.startOf(from)
      this.#ends[at] = other.endOf(from)
    }
    this.end = MARGIN
    this.#pieces = 0
  }
}
