/**
 * A feed is a text as one decoder reads it, a block at a time: decoded bytes, and for each of them the
 * stretch of the answer that it comes from. In front of the bytes of the present block a feed keeps
 * the last `MARGIN` bytes before them, so that what began there can be read again.
 */

/** What a decoder may look back: an escape, the beginning of a run, a window of a string. */
export const MARGIN = 192
/** Bytes of an answer that are processed at once. */
export const BLOCK = 4096

export interface Feed {
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
  readonly bytes: Uint8Array
  floor = MARGIN
  end = MARGIN
  /** Position in the answer of index 0. */
  #base = -MARGIN

  constructor(block: number) {
    this.bytes = new Uint8Array(MARGIN + block)
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

/** The first byte of a UTF-8 character, by how many follow. */
const LEADS = [0, 0xc0, 0xe0, 0xf0]

/** Bytes that stand for stretches of a parent: what unescaping and the like make of it. */
export class MappedFeed implements Feed {
  readonly bytes: Uint8Array
  /** Index in the parent of the first and of the last byte that this one stands for. */
  readonly first: Int32Array
  readonly last: Int32Array
  floor = MARGIN
  end = MARGIN
  readonly #parent: Feed
  /** Positions of the bytes of the margin: the parent does not know them any more. */
  readonly #starts = new Float64Array(MARGIN)
  readonly #ends = new Float64Array(MARGIN)

  constructor(parent: Feed) {
    const size = parent.bytes.length + MARGIN
    this.#parent = parent
    this.bytes = new Uint8Array(size)
    this.first = new Int32Array(size)
    this.last = new Int32Array(size)
  }

  append(byte: number, first: number, last: number): void {
    const { end } = this
    this.bytes[end] = byte
    this.first[end] = first
    this.last[end] = last
    this.end = end + 1
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
    const { first, last } = this
    const out = this.bytes
    let { end } = this
    for (let at = from; at < to; at++) {
      out[end] = bytes[at] ?? 0
      first[end] = at
      last[end++] = at
    }
    this.end = end
  }

  startOf(at: number): number {
    return at < MARGIN ? (this.#starts[at] ?? 0) : this.#parent.startOf(this.first[at] ?? 0)
  }

  endOf(at: number): number {
    return at < MARGIN ? (this.#ends[at] ?? 0) : this.#parent.endOf(this.last[at] ?? 0)
  }

  isCopy(from: number, to: number): boolean {
    const { first, last } = this
    return from >= MARGIN && (last[to - 1] ?? 0) - (first[from] ?? 0) === to - 1 - from
  }

  /** Forgets what was read: a new text begins. */
  clear(): void {
    this.floor = MARGIN
    this.end = MARGIN
  }

  /** Moves the end of the block into the margin, while the parent still knows the positions. */
  keep(): void {
    const shift = this.end - MARGIN
    if (shift === 0) return
    const fresh = Math.max(0, MARGIN - shift)
    this.#starts.copyWithin(0, MARGIN - fresh)
    this.#ends.copyWithin(0, MARGIN - fresh)
    for (let at = fresh; at < MARGIN; at++) {
      this.#starts[at] = this.startOf(at + shift)
      this.#ends[at] = this.endOf(at + shift)
    }
    this.bytes.copyWithin(0, shift, this.end)
    this.floor = Math.max(0, this.floor - shift)
    this.end = MARGIN
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
  }
}
