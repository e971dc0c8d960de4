/**
 * Finds the runs of digits in a feed: base64 in either alphabet, also over line breaks after a line of 8 digits or
 * more, and hexadecimal, also with separators between bytes. Text without such runs costs little. A run at the end of a
 * block is passed on as far as it is known, and continues in the next.
 */
import type { Feed } from './feed.ts'
import { endOfStretch, findNextStretch } from './stretch.ts'

/**
 * `isContinued`: the run began in an earlier block; `isOpen`: it may continue in the next; `isDivided`: other bytes are
 * between its digits.
 */
export type RunHandler = (
  from: number,
  to: number,
  isContinued: boolean,
  isOpen: boolean,
  isDivided: boolean,
) => void

/** Bits for the runs that a byte can be part of. */
const WORD = 1
const HEX_DIGIT = 2
const SEPARATOR = 4
const HEXADECIMAL = HEX_DIGIT | SEPARATOR

const LINE_FEED = 0x0a
const RETURN = 0x0d
const BACKSLASH = 0x5c
const LETTER_X = 0x78

const CLASS_OF = classes()
/** Runs of fewer digits are too short for a string of 8 bytes. */
export const MIN_WORD = 11
export const MIN_HEX = 16
/** Digits of a line that may continue after a line break. */
export const MIN_LINE = 8

export function mayBeInRun(byte: number): boolean {
  return CLASS_OF[byte] !== 0
}

export function isWordDigit(byte: number): boolean {
  return ((CLASS_OF[byte] ?? 0) & WORD) !== 0
}

export function isHexDigit(byte: number): boolean {
  return ((CLASS_OF[byte] ?? 0) & HEX_DIGIT) !== 0
}

/** Whether a byte is a digit of hexadecimal or a separator. */
export function isHexadecimal(byte: number): boolean {
  return ((CLASS_OF[byte] ?? 0) & HEXADECIMAL) !== 0
}

export class RunScanner {
  readonly #minWord: number
  readonly #minHex: number
  readonly #least: number
  /** Bytes of the run at the end of the text, and whether its beginning was passed on. */
  #word = 0
  #isWordOpen = false
  /** Bytes of the run before its present line, or before its present group of hexadecimal digits. */
  #line = 0
  #hex = 0
  #isHexOpen = false
  #group = 0

  constructor(minWord: number, minHex: number) {
    this.#minWord = minWord
    this.#minHex = minHex
    this.#least = Math.min(minWord, MIN_LINE)
  }

  /** Whether a run was passed on that may continue. */
  get isOpen(): boolean {
    return this.#isWordOpen || this.#isHexOpen
  }

  /** Bytes at the end that may belong to a run that is not yet long enough. */
  get waiting(): number {
    return Math.max(this.#isWordOpen ? 0 : this.#word, this.#isHexOpen ? 0 : this.#hex)
  }

  follow(other: RunScanner): void {
    this.#word = other.#word
    this.#isWordOpen = other.#isWordOpen
    this.#line = other.#line
    this.#hex = other.#hex
    this.#isHexOpen = other.#isHexOpen
    this.#group = other.#group
  }

  scan(feed: Feed, from: number, isLast: boolean, onWord: RunHandler, onHex: RunHandler): void {
    this.#scanWords(feed, from, onWord)
    this.#scanHex(feed, from, onHex)
    this.#endBlock(from, feed.end, isLast, onWord, onHex)
  }

  /** A run that is long enough begins with a line of `least` digits. */
  #scanWords(feed: Feed, from: number, onWord: RunHandler): void {
    const { bytes, end } = feed
    const least = this.#least
    let word = this.#word
    let at = from
    while (at < end) {
      if (word === 0) at = findNextStretch(bytes, at, end, CLASS_OF, WORD, least)
      const start = at
      at = endOfStretch(bytes, at, end, CLASS_OF, WORD)
      word += at - start
      if (at >= end) break
      word = word < least ? 0 : this.#finishWord(feed, from, at, word, onWord)
      at++
    }
    this.#word = word
  }

  #scanHex(feed: Feed, from: number, onHex: RunHandler): void {
    const { bytes, end } = feed
    let at = from
    while (at < end) {
      if (this.#hex === 0) at = findNextStretch(bytes, at, end, CLASS_OF, HEXADECIMAL, this.#minHex)
      at = this.#readHex(feed, from, at, onHex)
    }
  }

  /** Reads up to and including the next byte that is neither a digit nor a separator. */
  #readHex(feed: Feed, from: number, start: number, onHex: RunHandler): number {
    const { bytes, end } = feed
    let hex = this.#hex
    let kind = HEX_DIGIT
    let at = start
    for (; at < end && kind !== 0; at++) {
      kind = (CLASS_OF[bytes[at] ?? 0] ?? 0) & HEXADECIMAL
      if (kind & HEX_DIGIT) hex = this.#withDigit(feed, from, at, hex, onHex)
      else hex = hex < 2 ? 0 : this.#finishHex(feed, from, at, hex, onHex)
    }
    this.#hex = hex
    return at
  }

  /** Handles the byte after a run of digits: continues the run, or hands it over. */
  #finishWord(feed: Feed, from: number, at: number, word: number, onWord: RunHandler): number {
    const { bytes } = feed
    const digits = word - this.#line
    const isFeed = bytes[at] === LINE_FEED
    const isWrapped = digits >= MIN_LINE && (isFeed || bytes[at] === RETURN)
    if (isWrapped || (isFeed && digits === 0 && bytes[at - 1] === RETURN)) {
      this.#line = word + 1
      return word + 1
    }
    if (this.#isWordOpen) onWord(from, at, true, false, true)
    else if (word >= this.#minWord) onWord(at - word, at, false, false, this.#line > 0)
    this.#isWordOpen = false
    this.#line = 0
    return 0
  }

  #finishHex(feed: Feed, from: number, at: number, hex: number, onHex: RunHandler): number {
    const { bytes } = feed
    const kind = CLASS_OF[bytes[at] ?? 0] ?? 0
    const digits = hex - this.#group
    if (kind & SEPARATOR && isSeparated(bytes, at, digits, this.#group === 0)) {
      this.#group = hex + 1
      return hex + 1
    }
    this.#endHex(from, at, hex, onHex)
    // An extra digit in front: its last two digits may be the first byte of the following ones.
    if (!(kind & SEPARATOR) || digits < 3 || digits % 2 === 0) return 0
    this.#group = 3
    return 3
  }

  /** A backslash that no `x` follows was no separator: the run ended there, and a digit begins the next. */
  #withDigit(feed: Feed, from: number, at: number, hex: number, onHex: RunHandler): number {
    const isCut = hex > 0 && hex === this.#group && feed.bytes[at - 1] === BACKSLASH
    if (!isCut) return hex + 1
    this.#endHex(from, at, hex, onHex)
    return 1
  }

  /** Passes on the run that ends at `at`, if it is long enough. */
  #endHex(from: number, at: number, hex: number, onHex: RunHandler): void {
    if (this.#isHexOpen) onHex(from, at, true, false, true)
    else if (hex >= this.#minHex) onHex(at - hex, at, false, false, this.#group > 0)
    this.#isHexOpen = false
    this.#group = 0
  }

  #endBlock(
    from: number,
    end: number,
    isLast: boolean,
    onWord: RunHandler,
    onHex: RunHandler,
  ): void {
    const [word, hex] = [this.#word, this.#hex]
    if (this.#isWordOpen) onWord(from, end, true, !isLast, true)
    else if (word >= this.#minWord) onWord(end - word, end, false, !isLast, this.#line > 0)
    if (this.#isHexOpen) onHex(from, end, true, !isLast, true)
    else if (hex >= this.#minHex) onHex(end - hex, end, false, !isLast, this.#group > 0)
    this.#isWordOpen = !isLast && (this.#isWordOpen || word >= this.#minWord)
    this.#isHexOpen = !isLast && (this.#isHexOpen || hex >= this.#minHex)
    if (!isLast) return
    this.#word = 0
    this.#line = 0
    this.#hex = 0
    this.#group = 0
  }
}

/**
 * Whether a separator may be between bytes here: after whole bytes, which an extra digit of the first group may
 * precede, or as the second half of a separator.
 */
function isSeparated(bytes: Uint8Array, at: number, digits: number, isFirst: boolean): boolean {
  if (digits > 0) return (isFirst || digits % 2 === 0) && bytes[at] !== LETTER_X
  if (bytes[at] === LETTER_X) return bytes[at - 1] === BACKSLASH
  return bytes[at] === LINE_FEED && bytes[at - 1] === RETURN
}

function classes(): Uint8Array {
  const classes = new Uint8Array(256)
  const mark = (characters: string, kind: number) => {
    for (const character of characters) {
      const code = character.charCodeAt(0)
      classes[code] = (classes[code] ?? 0) | kind
    }
  }
  mark('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_', WORD)
  mark('0123456789abcdefABCDEF', HEX_DIGIT)
  // A form writes a space as a plus.
  mark(':- +\\x\r\n', SEPARATOR)
  return classes
}
