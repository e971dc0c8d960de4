/**
 * The ways in which one character can be written in a response: as itself, percent-escaped
 * (RFC 3986, and `+` for a space), as a JSON string escape (RFC 8259 section 7) or as an HTML
 * character reference, and one of these inside another (JSON in JSON, JSON in HTML, `%2541`).
 * The sanitiser follows every reading, so a credential may switch between them at each character.
 * UTF-16 and UTF-32 bodies are out of scope: escapes are looked for in bytes that extend ASCII.
 */
import { htmlCharacter, MAX_NAME_LENGTH, needsNoSemicolon } from './html_names.ts'

/** One reading of what starts at a position: how many bytes it takes and what it stands for. */
export type Unit = { length: number; bytes: readonly number[] }

/** No unit is longer: at most 20 characters, each escaped by at most 20 bytes. */
export const MAX_UNIT_BYTES = 400

const PERCENT = 0x25
const AMPERSAND = 0x26
const PLUS = 0x2b
const BACKSLASH = 0x5c
const SEMICOLON = 0x3b
const LETTER_U = 0x75
const MAX_DIGITS = 16

/** Whether something other than a plain character may begin with the byte. */
export function isIntroducer(byte: number): boolean {
  return byte === PERCENT || byte === AMPERSAND || byte === BACKSLASH || byte === PLUS
}

/** Every reading of what starts at `at`: the plain byte first, then escapes, then nested ones. */
export function unitsAt(text: Uint8Array, at: number): Unit[] {
  const byte = text[at]
  if (byte === undefined) return []
  const units: Unit[] = [{ length: 1, bytes: [byte] }]
  if (!isIntroducer(byte)) return units
  if (byte === PLUS) return [...units, { length: 1, bytes: [0x20] }]
  const single = escapeAt(text, at, plainAt)
  if (single !== null) units.push(toUnit(single))
  const nested = escapeAt(text, at, characterAt)
  if (nested !== null && nested.length !== single?.length) units.push(toUnit(nested))
  return units
}

/** The bytes that follow `\` in JSON escapes of characters whose UTF-8 begins with one of `bytes`. */
export function startsOfJsonEscapes(bytes: ReadonlySet<number>): number[] {
  const short = [...JSON_ESCAPES].filter(([, code]) => bytes.has(code))
  return [LETTER_U, ...short.map(([letter]) => letter)]
}

/** A character of the text at one level of reading; a percent escape yields a byte, not a character. */
type Character = { code: number; length: number; isByte: boolean }

type Reader = (text: Uint8Array, at: number) => Character | null

function plainAt(text: Uint8Array, at: number): Character | null {
  const code = text[at]
  return code === undefined ? null : { code, length: 1, isByte: true }
}

/** The character at one level up: what an escape stands for, else the byte itself. */
function characterAt(text: Uint8Array, at: number): Character | null {
  const byte = text[at]
  const escaped = byte !== undefined && isIntroducer(byte) ? escapeAt(text, at, plainAt) : null
  return escaped ?? plainAt(text, at)
}

function escapeAt(text: Uint8Array, at: number, read: Reader): Character | null {
  const introducer = read(text, at)
  if (introducer === null) return null
  const cursor = new Cursor(text, at + introducer.length, read)
  const code = codeAfter(introducer.code, cursor)
  if (code === null) return null
  return { code, length: cursor.at - at, isByte: introducer.code === PERCENT }
}

function codeAfter(introducer: number, cursor: Cursor): number | null {
  if (introducer === PERCENT) return cursor.hex(2)
  if (introducer === BACKSLASH) return jsonEscape(cursor)
  if (introducer === AMPERSAND) return characterReference(cursor)
  return null
}

/** Reads on from an introducer; what it takes it has checked. */
class Cursor {
  at: number
  readonly #text: Uint8Array
  readonly #read: Reader

  constructor(text: Uint8Array, at: number, read: Reader) {
    this.#text = text
    this.at = at
    this.#read = read
  }

  peek(): Character | null {
    return this.#read(this.#text, this.at)
  }

  /** The next character's code, taken when `accepts` likes it. */
  take(accepts: (code: number) => boolean): number | null {
    const next = this.peek()
    if (next === null || !accepts(next.code)) return null
    this.at += next.length
    return next.code
  }

  takeAll(accepts: (code: number) => boolean, most: number): number[] {
    const codes: number[] = []
    while (codes.length < most) {
      const code = this.take(accepts)
      if (code === null) break
      codes.push(code)
    }
    return codes
  }

  /** Exactly so many hex digits as a number. */
  hex(digits: number): number | null {
    const codes = this.takeAll(isHexDigit, digits)
    return codes.length === digits ? Number.parseInt(String.fromCharCode(...codes), 16) : null
  }
}

const JSON_ESCAPES = new Map(
  Object.entries({
    '"': '"',
    '\\': '\\',
    '/': '/',
    b: '\b',
    f: '\f',
    n: '\n',
    r: '\r',
    t: '\t',
  }).map(([letter, character]) => [letter.charCodeAt(0), character.charCodeAt(0)]),
)

function jsonEscape(cursor: Cursor): number | null {
  const letter = cursor.take((code) => code === LETTER_U || JSON_ESCAPES.has(code))
  if (letter === null) return null
  return JSON_ESCAPES.get(letter) ?? unicodeEscape(cursor)
}

/** The rest of `\uXXXX`, with the second half when the first is a high surrogate. */
function unicodeEscape(cursor: Cursor): number | null {
  const unit = cursor.hex(4)
  if (unit === null || !isSurrogate(unit)) return unit
  if (cursor.take((code) => code === BACKSLASH) === null) return null
  if (cursor.take((code) => code === LETTER_U) === null) return null
  const low = cursor.hex(4)
  if (low === null || unit >= 0xdc00 || low < 0xdc00 || low > 0xdfff) return null
  return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
}

function characterReference(cursor: Cursor): number | null {
  const isNumeric = cursor.take((code) => code === 0x23) !== null
  return isNumeric ? numericReference(cursor) : namedReference(cursor)
}

/** Leading zeros count towards the 16 digits; the semicolon is optional, as in browsers. */
function numericReference(cursor: Cursor): number | null {
  const isHex = cursor.take((code) => code === 0x78 || code === 0x58) !== null
  const digits = cursor.takeAll(isHex ? isHexDigit : isDigit, MAX_DIGITS)
  if (digits.length === 0) return null
  cursor.take((code) => code === SEMICOLON)
  const code = Number.parseInt(String.fromCharCode(...digits), isHex ? 16 : 10)
  return code > 0x10ffff || isSurrogate(code) ? null : code
}

/** The longest name with a semicolon, else the longest of those that HTML knows without one. */
function namedReference(cursor: Cursor): number | null {
  const start = cursor.at
  const ends: number[] = []
  let name = ''
  while (name.length < MAX_NAME_LENGTH) {
    const code = cursor.take(isAlphanumeric)
    if (code === null) break
    name += String.fromCharCode(code)
    ends.push(cursor.at)
  }
  const whole = htmlCharacter(name)
  if (whole !== undefined && cursor.take((code) => code === SEMICOLON) !== null) return whole
  const shorter = ends.findLastIndex((_, index) => needsNoSemicolon(name.slice(0, index + 1)))
  cursor.at = ends[shorter] ?? start
  return htmlCharacter(name.slice(0, shorter + 1)) ?? null
}

function toUnit(character: Character): Unit {
  const { code, length, isByte } = character
  return { length, bytes: isByte || code < 0x80 ? [code] : toUtf8(code) }
}

function toUtf8(code: number): number[] {
  return [...Buffer.from(String.fromCodePoint(code))]
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function isHexDigit(code: number): boolean {
  const lower = code | 0x20
  return isDigit(code) || (lower >= 0x61 && lower <= 0x66)
}

function isAlphanumeric(code: number): boolean {
  const lower = code | 0x20
  return isDigit(code) || (lower >= 0x61 && lower <= 0x7a)
}
