/** The tokens of a JSON text (RFC 8259), byte by byte. Invalid tokens are `malformed_json`. */
import { Fault } from '../../core/fault.ts'

const QUOTE = 34
const BACKSLASH = 92
const SMALL_U = 117
/** Characters of a number; no honest one comes near. */
export const MAX_NUMBER = 1024
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const ESCAPABLE = new Set([...'"\\/bfnrt'].map((character) => character.charCodeAt(0)))

export class JsonTokens {
  at = 0
  isInText = false
  readonly #bytes: Buffer
  /** The open text: the part that was read, the start of the rest, and the kept length. */
  #text = ''
  #from = 0
  #maxLength = 0
  #hasEscapes = false
  /** All bytes of the piece, or'ed: below 128 it is ASCII. */
  #bits = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** The next byte that is no white space, not taken; `null` at the end of the text. */
  skipSpace(until: number): number | null {
    const bytes = this.#bytes
    while (this.at < bytes.length) {
      const code = bytes[this.at] ?? 0
      if ((code !== 32 && code !== 10 && code !== 13 && code !== 9) || this.at >= until) return code
      this.at += 1
    }
    return null
  }

  take(code: number): void {
    if (this.#bytes[this.at] !== code) throw new Fault('malformed_json')
    this.at += 1
  }

  /** Begins a text, of which at most about `maxLength` characters will be asked for. */
  openText(maxLength: number): void {
    this.take(QUOTE)
    this.isInText = true
    this.#text = ''
    this.#from = this.at
    this.#maxLength = maxLength
    this.#hasEscapes = false
    this.#bits = 0
  }

  /** The text, if it ends before `until`; of a longer one than is asked for a part that is too long too. */
  readText(until: number): string | null {
    const isWhole = this.#findQuote(until)
    // Most texts are found whole at once.
    if (this.#text.length <= this.#maxLength) this.#text += this.#piece()
    this.#from = this.at
    this.#hasEscapes = false
    this.#bits = 0
    if (!isWhole) return null
    this.isInText = false
    this.at += 1
    return this.#text
  }

  /** Moves to the closing quote, or to a border of characters not far behind `until`. */
  #findQuote(until: number): boolean {
    const bytes = this.#bytes
    let { at } = this
    let bits = 0
    while (at < bytes.length) {
      const code = bytes[at] ?? 0
      if (code === QUOTE) break
      if (at >= until && (code & 0xc0) !== 0x80) break
      if (code < 32) throw new Fault('malformed_json')
      bits |= code
      at += code === BACKSLASH ? this.#escape(at) : 1
    }
    if (at >= bytes.length) throw new Fault('malformed_json')
    this.at = at
    this.#bits = bits
    return bytes[at] === QUOTE
  }

  /** The length of the escape. */
  #escape(at: number): number {
    this.#hasEscapes = true
    const code = this.#bytes[at + 1] ?? 0
    if (ESCAPABLE.has(code)) return 2
    for (let digit = 2; digit < 6; digit += 1) {
      if (code !== SMALL_U || !isHex(this.#bytes[at + digit] ?? 0))
        throw new Fault('malformed_json')
    }
    return 6
  }

  #piece(): string {
    const text =
      this.#bits < 128
        ? this.#bytes.toString('latin1', this.#from, this.at)
        : this.#bytes.toString('utf8', this.#from, this.at)
    return this.#hasEscapes ? JSON.parse(`"${text}"`) : text
  }

  /** A number, `true`, `false` or `null`. */
  scalar(code: number): number | boolean | null {
    switch (code) {
      case 0x74:
        return this.#word('true', true)
      case 0x66:
        return this.#word('false', false)
      case 0x6e:
        return this.#word('null', null)
      default:
        return this.#number()
    }
  }

  #word<T>(word: string, value: T): T {
    const end = this.at + word.length
    if (this.#bytes.toString('latin1', this.at, end) !== word) throw new Fault('malformed_json')
    this.at = end
    return value
  }

  #number(): number {
    const bytes = this.#bytes
    const from = this.at
    let at = from
    while (isOfNumber(bytes[at] ?? 0) && at - from <= MAX_NUMBER) at += 1
    this.at = at
    const first = bytes[from] ?? 0
    // One digit is most of all numbers.
    if (at === from + 1 && first >= 48 && first <= 57) return first - 48
    const text = bytes.toString('latin1', from, at)
    if (at - from > MAX_NUMBER || !NUMBER.test(text)) throw new Fault('malformed_json')
    return Number(text)
  }
}

function isHex(code: number): boolean {
  const letter = code | 32
  return (code >= 48 && code <= 57) || (letter >= 97 && letter <= 102)
}

/** Digits, signs, point and exponent. */
function isOfNumber(code: number): boolean {
  return (
    (code >= 48 && code <= 57) ||
    code === 43 ||
    code === 45 ||
    code === 46 ||
    code === 69 ||
    code === 101
  )
}
