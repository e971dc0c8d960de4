/**
 * Arrays of decimal bytes, such as `[115,107]` or `JSON.stringify(Buffer)`: numbers up to 255 with
 * commas between, and white space. The brackets belong to the first and the last number.
 */
import { type Feed, MARGIN } from './feed.ts'
import { ARRAY, FormSink } from './form_sink.ts'
import { MappedFeed } from './mapped_feed.ts'
import { computeKeptBytes, type Reading, Stage } from './stage.ts'
import { endOfStretch, findNextStretch } from './stretch.ts'

/** White space between two numbers, at most. */
const MAX_SPACE = 48
const MAX_DIGITS = 3
const OPENING = 0x5b
const CLOSING = 0x5d
const COMMA_BYTE = 0x2c
const ZERO_DIGIT = 0x30
/** Bytes of such an array, up to its last number. */
const IS_MEMBER = Uint8Array.from({ length: 256 }, (_, byte) =>
  isDigit(byte) || isSpace(byte) || byte === COMMA_BYTE || byte === OPENING ? 1 : 0,
)

/** Bytes of eight numbers and the commas between them. */
export const MIN_NUMBERS = 15

export function isMember(byte: number): boolean {
  return IS_MEMBER[byte] === 1
}

export function mayBeInArray(byte: number): boolean {
  return isMember(byte) || byte === CLOSING
}

export class DecimalDecoder {
  readonly #reading: Reading
  readonly #parent: Feed
  readonly #depth: number
  /** `MIN_NUMBERS`, or with shorter strings the length of four numbers and their commas. */
  readonly #least: number
  #opened: { feed: MappedFeed; stage: Stage } | null = null
  #isOpen = false
  /** Bytes at the end of the text that are not decided. */
  #waiting = 0

  constructor(reading: Reading, parent: Feed, depth: number) {
    this.#reading = reading
    this.#parent = parent
    this.#depth = depth
    this.#least = reading.isShort ? 7 : MIN_NUMBERS
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  read(from: number, isLast: boolean): void {
    const { bytes, end } = this.#parent
    let at = from - this.#waiting
    this.#waiting = 0
    this.#reading.sink.work += end - at
    while (at < end) {
      if (this.#isOpen) at = this.#run(at, isLast)
      else at = this.#begin(findNextStretch(bytes, at, end, IS_MEMBER, 1, this.#least), isLast)
    }
    if (isLast) this.#waiting = 0
    else if (!this.#isOpen) this.#waiting = Math.max(this.#waiting, this.#findOpening())
    if (this.#isOpen) this.#handOver(isLast)
  }

  earliest(): number {
    const { end } = this.#parent
    const own = this.#isOpen && this.#opened ? this.#opened.stage.earliest() : Infinity
    return this.#waiting === 0 ? own : Math.min(own, this.#parent.startOf(end - this.#waiting))
  }

  follow(other: DecimalDecoder): void {
    this.#waiting = other.#waiting
    this.#isOpen = other.#isOpen
    if (!other.#isOpen || !other.#opened) return
    const { feed, stage } = this.#open()
    feed.follow(other.#opened.feed, other.#opened.feed.end)
    stage.follow(other.#opened.stage)
  }

  #open() {
    if (this.#opened) return this.#opened
    const feed = new MappedFeed(this.#parent, computeKeptBytes(this.#depth + 1))
    const isSource = this.#depth === 0
    const sink = isSource ? new FormSink(this.#reading.sink, ARRAY) : this.#reading.sink
    this.#opened = {
      feed,
      stage: new Stage({ ...this.#reading, sink }, feed, this.#depth + 1),
    }
    return this.#opened
  }

  /** Searches for a comma between two numbers. Returns the start of the first one, or the end of the stretch. */
  #begin(from: number, isLast: boolean): number {
    const { bytes, end, floor } = this.#parent
    const until = endOfStretch(bytes, from, end, IS_MEMBER, 1)
    for (
      let at = findNextComma(bytes, from, until);
      at < until;
      at = findNextComma(bytes, at + 1, until)
    ) {
      if (!isBetweenNumbers(bytes, at, floor, end)) continue
      const first = bracketBefore(bytes, numberBefore(bytes, at, floor), floor)
      if (skipSpace(bytes, at + 1, end) < end) {
        this.#isOpen = true
        this.#open().feed.clear()
        return first
      }
      this.#waiting = isLast ? 0 : end - first
      return end
    }
    return until
  }

  /** Reads numbers. Returns the end of the run or of the block. */
  #run(from: number, isLast: boolean): number {
    const { bytes, end } = this.#parent
    let at = from
    for (;;) {
      const number = readNumber(bytes, at, end)
      if (number.following >= end && !isLast) {
        this.#waiting = end - at
        return end
      }
      if (number.value > 255) break
      this.#open().feed.append(number.value, at, number.last)
      if (!number.goesOn) {
        at = number.last
        break
      }
      at = number.following
    }
    this.#handOver(true)
    return Math.max(at, from + 1)
  }

  /** Bytes at the end that may belong to a run: an opening bracket, the digits of a number. */
  #findOpening(): number {
    const { bytes, end, floor } = this.#parent
    let start = end
    while (start > floor && end - start < MAX_DIGITS && isDigit(bytes[start - 1])) start--
    return end - bracketBefore(bytes, start, floor)
  }

  #handOver(isLast: boolean): void {
    const { feed, stage } = this.#open()
    stage.read(MARGIN, isLast)
    if (!isLast) feed.keep()
    this.#isOpen = !isLast
  }
}

/** Whether an array may begin in a stretch of members, of a text that is here as a whole. */
export function mayHoldArray(bytes: Uint8Array, from: number, until: number): boolean {
  for (
    let at = findNextComma(bytes, from, until);
    at < until;
    at = findNextComma(bytes, at + 1, until)
  ) {
    if (isBetweenNumbers(bytes, at, 0, bytes.length)) return true
  }
  return false
}

/** Whether the comma at `at` has a number on either side, as far as the text is known. */
function isBetweenNumbers(bytes: Uint8Array, at: number, floor: number, end: number): boolean {
  const next = skipSpace(bytes, at + 1, end)
  return numberBefore(bytes, at, floor) < at && (next >= end || isDigit(bytes[next]))
}

type Numeral = { value: number; last: number; following: number; goesOn: boolean }

/** Reads a number, perhaps after a bracket, the byte after it, and whether that starts another one. */
function readNumber(bytes: Uint8Array, from: number, end: number): Numeral {
  const start = bytes[from] === OPENING ? skipSpace(bytes, from + 1, end) : from
  const digits = skipDigits(bytes, start, end)
  const next = skipSpace(bytes, digits, end)
  const isComma = next < end && bytes[next] === COMMA_BYTE
  const closes = next < end && bytes[next] === CLOSING
  const following = isComma ? skipSpace(bytes, next + 1, end) : next
  return {
    value: numberOf(bytes, start, digits),
    last: closes ? next : digits - 1,
    following,
    goesOn: isComma && following < end && isDigit(bytes[following]),
  }
}

function findNextComma(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && bytes[at] !== COMMA_BYTE) at++
  return at
}

/** Returns the start of the number that ends before `at`; `at` if there is no number up to 255. */
function numberBefore(bytes: Uint8Array, at: number, floor: number): number {
  let start = at
  while (start > floor && at - start < MAX_DIGITS && isDigit(bytes[start - 1])) start--
  const isAlone = start === floor || !isDigit(bytes[start - 1])
  return isAlone && numberOf(bytes, start, at) <= 255 ? start : at
}

/** Returns the position of the bracket before a number and its white space; the number's position without a bracket. */
function bracketBefore(bytes: Uint8Array, start: number, floor: number): number {
  let at = start
  while (at > floor && start - at < MAX_SPACE && isSpace(bytes[at - 1])) at--
  return at > floor && bytes[at - 1] === OPENING ? at - 1 : start
}

function skipSpace(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && at - from < MAX_SPACE && isSpace(bytes[at])) at++
  return at
}

function skipDigits(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && at - from < MAX_DIGITS && isDigit(bytes[at])) at++
  return at
}

/** Returns the number; above 255 if there is no digit. */
function numberOf(bytes: Uint8Array, from: number, to: number): number {
  if (from === to) return Infinity
  let value = 0
  for (let at = from; at < to; at++) value = 10 * value + (bytes[at] ?? 0) - ZERO_DIGIT
  return value
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO_DIGIT && byte <= 0x39
}

/** Also as forms write it. */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x2b || (byte !== undefined && byte >= 0x09 && byte <= 0x0d)
}
