/**
 * Where in a JSON text a position is: in a string or not, within an escape or a number or not. It does
 * not check anything; of a text that is not JSON it says something harmless.
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
  /** Bytes of the escape that are still to come; -1 right after its backslash. */
  #escape = 0
  /** Bytes of the escape or scalar so far. */
  #token = 0

  /** So many bytes before this position belong to a token that may go on; 0 between two tokens. */
  get within(): number {
    return this.#token <= MAX_SCALAR ? this.#token : 0
  }

  /** Whether the byte that follows belongs to the same escape or number. */
  goesOn(byte: number): boolean {
    if (this.#escape !== 0) return true
    return this.within > 0 && IS_SCALAR[byte] === 1
  }

  read(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0
      if (this.#escape !== 0) this.#readEscape(byte)
      else if (this.isInString) this.#readString(byte)
      else if (byte === QUOTE) {
        this.isInString = true
        this.#token = 0
      } else this.#token = IS_SCALAR[byte] === 1 ? this.#token + 1 : 0
    }
  }

  #readString(byte: number): void {
    if (byte === QUOTE) this.isInString = false
    if (byte !== BACKSLASH) return
    this.#escape = -1
    this.#token = 1
  }

  #readEscape(byte: number): void {
    this.#token++
    if (this.#escape > 0) this.#escape--
    else this.#escape = byte === LETTER_U ? 4 : 0
    if (this.#escape === 0) this.#token = 0
  }
}
