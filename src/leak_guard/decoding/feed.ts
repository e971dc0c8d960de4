/**
 * A feed is a text as one decoder reads it, in blocks: decoded bytes, and for each of them its stretch of the answer.
 * Before the bytes of the present block, a feed keeps the last `MARGIN` bytes, so that anything that began there can be
 * read again.
 */

/** Bytes that a decoder may look back: an escape, the beginning of a run, a window of a string. */
export const MARGIN = 192
/** Margin of a text without decoders, where only strings begin before the block: digits of their windows. */
export const MARGIN_UNDECODED = 32
/** Bytes of an answer in one block. */
export const BLOCK = 8192

/** Memory of a search's feeds, so that no text of an answer remains after its end. */
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
  end: number
  /** Position in the answer at which the byte begins. */
  startOf(at: number): number
  /** Position in the answer after the byte. */
  endOf(at: number): number
  /** Whether the bytes are those of the parent, unchanged, so that they have been read there. */
  isCopy(from: number, to: number): boolean
  /** Returns the first piece from `piece` on that copies at least `least` bytes of the parent; -1 for none. */
  getNextCopy(piece: number, least: number): number
  copyAt(piece: number): Copy
}

/** Bytes from index `at` on that are those from `first` on in the parent. */
export type Copy = { readonly at: number; readonly first: number; readonly length: number }

/** A feed whose bytes are nowhere else as they are. */
export abstract class Uncopied {
  isCopy(_from: number, _to: number): boolean {
    return false
  }

  getNextCopy(_piece: number, _least: number): number {
    return -1
  }

  copyAt(_piece: number): Copy {
    return NO_COPY
  }
}
const NO_COPY: Copy = { at: 0, first: 0, length: 0 }

/** The answer itself. */
export class SourceFeed extends Uncopied implements Feed {
  readonly memory = new Memory()
  readonly bytes: Uint8Array
  floor = MARGIN
  end = MARGIN
  /** Position in the answer of index 0. */
  #base = -MARGIN

  constructor(block: number) {
    super()
    this.bytes = this.memory.take(MARGIN + block)
  }

  /** Another answer begins. */
  clear(): void {
    this.floor = MARGIN
    this.end = MARGIN
    this.#base = -MARGIN
  }

  /** Appends a block. The margin then holds the end of the previous bytes. */
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
}
