/**
 * A feed is a text as one decoder reads it, a block at a time: decoded bytes, and for each of them the
 * stretch of the answer that it comes from. In front of the bytes of the present block a feed keeps
 * the last `MARGIN` bytes before them, so that what began there can be read again.
 */

/** What a decoder may look back: an escape, the beginning of a run, a window of a string. */
export const MARGIN = 192
/** Bytes of an answer that are processed at once. */
export const BLOCK = 8192

/** Where the feeds of a search keep text, so that nothing of an answer is left when it has ended. */
export class Memory {
  readonly taken: Uint8Array[] = []

  take(size: number): Uint8Array {
    const bytes = new Uint8Array(size)
    this.taken.push(bytes)
    return bytes
  }

  wipe(): void {
    for (const bytes of this.taken) bytes.fill(0)
  }
}

export interface Feed {
  readonly memory: Memory
  readonly bytes: Uint8Array
  /** No byte before this index belongs to the text. */
  readonly floor: number
  /** One more than the index of the last byte. */
  readonly end: number
  /** Position in the answer at which the byte begins. */
  startOf(at: number): number
  /** Position in the answer after the byte. */
  endOf(at: number): number
  /** Whether the bytes are those of the parent, unchanged, so that they have been read there. */
  isCopy(from: number, to: number): boolean
}

/** The answer itself. */
export class SourceFeed implements Feed {
  readonly memory = new Memory()
  readonly bytes: Uint8Array
  floor = MARGIN
  end = MARGIN
  /** Position in the answer of index 0. */
  #base = -MARGIN

  constructor(block: number) {
    this.bytes = this.memory.take(MARGIN + block)
  }

  /** Another answer begins. */
  clear(): void {
    this.floor = MARGIN
    this.end = MARGIN
    this.#base = -MARGIN
  }

  /** Appends a block, of which the margin then holds the end of what was there before. */
  load(block: Uint8Array): void {
    const shift = this.end - MARGIN
    if (shift > 0) this.bytes.copyWithin(0, shift, this.end)
    this.floor = Math.max(0, this.floor - shift)
    this.#base += shift
    this.bytes.set(block, MARGIN)
    this.end = MARGIN + block.length
  }

  startOf(at: number): number {
    return this.#base + at
  }

  endOf(at: number): number {
    return this.#base + at + 1
  }

  isCopy(): boolean {
    return false
  }
}

/** In place of a last index: the piece was copied. */
const COPIED = -1
/** The native copy is faster for more bytes. */
const LONG = 32
/** The first byte of a UTF-8 character, by how many follow. */
const LEADS = [0, 0xc0, 0xe0, 0xf0]

/** Bytes that stand for stretches of a parent: what unescaping and the like make of it. */
export class MappedFeed implements Feed {
  readonly memory: Memory
  readonly bytes: Uint8Array
  floor = MARGIN
  end = MARGIN
  readonly #parent: Feed
  /**
   * Pieces of the block: from which index on, and the first and the last index in the parent of what it
   * stands for. Of a piece that was copied, where the last is -1, each byte stands for its own.
   */
  readonly #from: Int32Array
  readonly #first: Int32Array
  readonly #last: Int32Array
  #pieces = 0
  /** The piece that was looked up last. */
  #piece = 0
  /** Positions of the bytes of the margin: the parent does not know them any more. */
  readonly #starts = new Float64Array(MARGIN)
  readonly #ends = new Float64Array(MARGIN)

  constructor(parent: Feed) {
    const size = parent.bytes.length + MARGIN
    this.#parent = parent
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
    if (to - from > LONG) this.bytes.set(bytes.subarray(from, to), this.end)
    else for (let at = from; at < to; at++) this.bytes[this.end + at - from] = bytes[at] ?? 0
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
    const isWhole = piece + 1 >= this.#pieces || (this.#from[piece + 1] ?? 0) >= to
    return isWhole && this.#last[piece] === COPIED
  }

  #addPiece(first: number, last: number): void {
    const piece = this.#pieces++
    this.#from[piece] = this.end
    this.#first[piece] = first
    this.#last[piece] = last
  }

  /** The first index in the parent of what a byte of the block stands for. */
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

  /** Forgets what was read: a new text begins. */
  clear(): void {
    this.floor = MARGIN
    this.end = MARGIN
    this.#pieces = 0
  }

  /** Moves the end of the block into the margin, while the parent still knows the positions. */
  keep(): void {
    const shift = this.end - MARGIN
    if (shift === 0) return
    const fresh = Math.max(0, MARGIN - shift)
    this.#starts.copyWithin(0, MARGIN - fresh)
    this.#ends.copyWithin(0, MARGIN - fresh)
    this.floor = Math.max(0, this.floor - shift)
    for (let at = Math.max(fresh, this.floor); at < MARGIN; at++) {
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
    for (let at = this.floor; at < MARGIN; at++) {
      const from = end - MARGIN + at
      this.bytes[at] = other.bytes[from] ?? 0
      this.#starts[at] = other.startOf(from)
      this.#ends[at] = other.endOf(from)
    }
    this.end = MARGIN
    this.#pieces = 0
  }
}
