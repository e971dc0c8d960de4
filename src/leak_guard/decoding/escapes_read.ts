/**
 * One escape at a time: percent escapes (RFC 3986), JSON and JavaScript string escapes (RFC 8259
 * section 7, and `\x`, `\u{}`, quotes), HTML character references. An escape is read only as far as the
 * longest of them goes, so that a text of introducers costs no more than any other.
 */
import { ENTITY_TREE, LOOSE_TREE, MAX_ENTITY } from './entities.ts'

/** The kinds of escapes, as bits. */
export const PERCENT = 1
export const BACKSLASH = 2
export const REFERENCE = 4
export const ALL_KINDS = PERCENT | BACKSLASH | REFERENCE

/** The kind that a byte introduces, or 0. */
export const KIND_OF = new Uint8Array(256)
KIND_OF[0x25] = PERCENT
KIND_OF[0x5c] = BACKSLASH
KIND_OF[0x26] = REFERENCE

/** `read` returns this for an escape that later text may complete. */
export const INCOMPLETE = -1
const MAX_DIGITS = 16
const NO_DIGIT = 255

const VALUE_OF = new Uint8Array(256).fill(NO_DIGIT)
for (const [at, digit] of [...'0123456789abcdef'].entries()) {
  VALUE_OF[digit.charCodeAt(0)] = at
  VALUE_OF[digit.toUpperCase().charCodeAt(0)] = at
}

/** Characters by the letter that represents them after a backslash. */
const SHORT = new Map(
  [...`""\\\\//''\`\`b\bf\fn\nr\rt\tv\v`.matchAll(/(.)(.)/gs)].map(([, letter, character]) => [
    letter?.charCodeAt(0) ?? 0,
    character?.charCodeAt(0) ?? 0,
  ]),
)

const LETTER_U = 0x75
const LETTER_X = 0x78
const HASH = 0x23
const SEMICOLON = 0x3b

/** By byte: the kinds of escapes with an introducer that the byte may follow. */
const FOLLOWS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const isShort = SHORT.has(byte) || byte === LETTER_X || byte === LETTER_U
  const isName = byte === HASH || (isAlphanumeric(byte) && !isDecimal(byte))
  const percent = VALUE_OF[byte] === NO_DIGIT ? 0 : PERCENT
  return percent | (isShort ? BACKSLASH : 0) | (isName ? REFERENCE : 0)
})

/** Returns the first index from `from` on at which an escape of these kinds may begin, by its first two bytes. */
export function findNextEscape(
  bytes: Uint8Array,
  from: number,
  end: number,
  kinds: number,
): number {
  for (let at = from; at < end; at++) {
    const kind = (KIND_OF[bytes[at] ?? 0] ?? 0) & kinds
    if (kind === 0) continue
    if (at + 1 >= end || ((FOLLOWS[bytes[at + 1] ?? 0] ?? 0) & kind) !== 0) return at
  }
  return end
}

/** Reads escapes, and puts the character of the last one into `code`. */
export class EscapeReader {
  /** A code point, or a byte if `isByte`. */
  code = 0
  isByte = false
  #bytes: Uint8Array
  #end = 0
  #isLast = false

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Length of the escape at `at`; 0 if absent, `INCOMPLETE` when the text must go on. */
  read(at: number, end: number, isLast: boolean): number {
    this.#end = end
    this.#isLast = isLast
    this.isByte = false
    const kind = KIND_OF[this.#bytes[at] ?? 0] ?? 0
    if (kind === PERCENT) return this.#byte(at, 1)
    if (kind === BACKSLASH) return this.#backslash(at)
    return kind === REFERENCE ? this.#reference(at) : 0
  }

  /** Reads two hexadecimal digits of a byte, `skipped` bytes after `at`. */
  #byte(at: number, skipped: number): number {
    this.isByte = true
    const length = this.#readHex(at + skipped, 2)
    return length > 0 ? skipped + length : length
  }

  #backslash(at: number): number {
    if (at + 1 >= this.#end) return this.#skipUnknown()
    const letter = this.#bytes[at + 1] ?? 0
    if (letter === LETTER_X) return this.#byte(at, 2)
    if (letter === LETTER_U) return this.#unicode(at)
    const short = SHORT.get(letter)
    if (short === undefined) return 0
    this.code = short
    return 2
  }

  /** `\uXXXX`, with its second half when it is a high surrogate, or `\u{X…}`. */
  #unicode(at: number): number {
    if (at + 2 >= this.#end) return this.#skipUnknown()
    if (this.#bytes[at + 2] === 0x7b) return this.#readBraced(at)
    const length = this.#readHex(at + 2, 4)
    if (length <= 0) return length
    const unit = this.code
    if (unit < 0xd800 || unit > 0xdfff) return 6
    if (unit > 0xdbff) return 0
    const low = this.#readLowSurrogate(at + 6)
    if (low <= 0) return low
    this.code = 0x10000 + ((unit - 0xd800) << 10) + (this.code - 0xdc00)
    return 12
  }

  #readLowSurrogate(at: number): number {
    for (const [offset, wanted] of [0x5c, LETTER_U].entries()) {
      if (at + offset >= this.#end) return this.#skipUnknown()
      if (this.#bytes[at + offset] !== wanted) return 0
    }
    const length = this.#readHex(at + 2, 4)
    return length > 0 && (this.code < 0xdc00 || this.code > 0xdfff) ? 0 : length
  }

  #readBraced(at: number): number {
    const digits = this.#number(at + 3, 16, 6)
    if (digits <= 0) return digits
    const close = at + 3 + digits
    if (close >= this.#end) return this.#skipUnknown()
    return this.#bytes[close] === 0x7d && isCharacter(this.code) ? digits + 4 : 0
  }

  #reference(at: number): number {
    if (at + 1 >= this.#end) return this.#skipUnknown()
    if (this.#bytes[at + 1] !== HASH) return this.#readNamed(at)
    if (at + 2 >= this.#end) return this.#skipUnknown()
    const isHex = ((this.#bytes[at + 2] ?? 0) | 0x20) === LETTER_X
    const from = at + (isHex ? 3 : 2)
    const digits = this.#number(from, isHex ? 16 : 10, MAX_DIGITS)
    if (digits <= 0) return digits
    const after = from + digits
    if (after >= this.#end && !this.#isLast) return INCOMPLETE
    if (!isCharacter(this.code)) return 0
    return after - at + (this.#isSemicolon(after) ? 1 : 0)
  }

  /** Reads the longest name with a semicolon, or else the longest one that HTML reads without a semicolon. */
  #readNamed(at: number): number {
    const most = Math.min(this.#end, at + 1 + MAX_ENTITY)
    let next = at + 1
    while (next < most && isAlphanumeric(this.#bytes[next] ?? 0)) next++
    if (next >= this.#end && !this.#isLast) return INCOMPLETE
    if (next < at + 3) return 0
    if (this.#isSemicolon(next)) {
      const whole = ENTITY_TREE.findLongestName(this.#bytes, at + 1, next)
      if (whole >>> 16 === next - at - 1) {
        this.code = whole & 0xffff
        return next - at + 1
      }
    }
    const loose = LOOSE_TREE.findLongestName(this.#bytes, at + 1, next)
    if (loose === 0) return 0
    this.code = loose & 0xffff
    return (loose >>> 16) + 1
  }

  #isSemicolon(at: number): boolean {
    return at < this.#end && this.#bytes[at] === SEMICOLON
  }

  /** Reads exactly `digits` hexadecimal digits. */
  #readHex(at: number, digits: number): number {
    const found = this.#number(at, 16, digits)
    return found > 0 && found < digits ? 0 : found
  }

  /** Reads all digits, up to `most`, and puts their number into `code`. */
  #number(at: number, base: number, most: number): number {
    let number = 0
    for (let count = 0; count < most; count++) {
      if (at + count >= this.#end && !this.#isLast) return INCOMPLETE
      const digit = at + count < this.#end ? VALUE_OF[this.#bytes[at + count] ?? 0] : NO_DIGIT
      if (digit === undefined || digit >= base) {
        this.code = number
        return count
      }
      number = number * base + digit
    }
    this.code = number
    return most
  }

  #skipUnknown(): number {
    return this.#isLast ? 0 : INCOMPLETE
  }
}

function isCharacter(code: number): boolean {
  return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
}

function isAlphanumeric(byte: number): boolean {
  const lower = byte | 0x20
  return isDecimal(byte) || (lower >= 0x61 && lower <= 0x7a)
}

function isDecimal(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}
