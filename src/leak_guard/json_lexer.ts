/**
 * Classifies a position in a JSON text: inside a string, an escape or a number. It validates nothing. In other text,
 * its result is harmless.
 */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75
/** A longer number or word is not kept together. */
const MAX_SCALAR = 64

/** Bytes of numbers and words outside of strings. */
const IS_SCALAR = new Uint8Array(256)
for (const character of '+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz') {
  IS_SCALAR[character.charCodeAt(0)] = 1
}

export class JsonLexer {
  isInString = false
  /** Missing bytes of the escape; -1 directly after its backslash. */
  #escape = 0
  /** Bytes of the escape or scalar so far. */
  #token = 0

  /** Bytes before this position of a token that may continue; 0 between two tokens. */
  get within(): number {
    return this.#token <= MAX_SCALAR ? this.#token : 0
  }

  /** Whether the byte that follows belongs to the same escape or number. */
  goesOn(byte: number): boolean {
    if (this.#escape !== 0) return true
    return this.within > 0 && IS_SCALAR[byte] === 1
  }

  read(bytes: Uint8Array, from: number, to: number): void {
    let at = from
    while (at < to) {
      if (this.#escape !== 0) this.#readEscape(bytes[at++] ?? 0)
      else at = this.isInString ? this.#readString(bytes, at, to) : this.#readRest(bytes, at, to)
    }
  }

  /** Reads to the end of the string, the next escape or the end. */
  #readString(bytes: Uint8Array, from: number, to: number): number {
    let at = from
    while (at < to && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++
    if (at === to) return to
    if (bytes[at] === QUOTE) this.isInString = false
    else {
      this.#escape = -1
      this.#token = 1
    }
    return at + 1
  }

  /** Reads to the next string or the end. */
  #readRest(bytes: Uint8Array, from: number, to: number): number {
    let token = this.#token
    let at = from
    while (at < to && bytes[at] !== QUOTE) token = IS_SCALAR[bytes[at++] ?? 0] === 1 ? token + 1 : 0
    this.#token = at < to ? 0 : token
    this.isInString = at < to
    return at < to ? at + 1 : at
  }

  #readEscape(byte: number): void {
    this.#token++
    if (this.#escape > 0) this.#escape--
    else this.#escape = byte === LETTER_U ? 4 : 0
    if (this.#escape === 0) this.#token = 0
  }
}
