/**
 * What the sanitiser looks for: every injected value as itself, as hex and as base64 in the three
 * alignments it can have inside a longer text. How the characters of a needle may be escaped is the
 * matcher's affair. Compiling is cheap enough to be done for each request.
 */
import { startsOfJsonEscapes } from './escapes.ts'
import { startsOfReferences } from './html_names.ts'

/** One string to look for, in folded form, with its failure function (Knuth, Morris, Pratt). */
export type Needle = {
  /** Position in the list of needles. */
  id: number
  /** What is compared, after `fold`. */
  text: Uint8Array
  /** Maps each byte to its representative: hex without case, base64 without alphabet. */
  fold: Uint8Array
  /** What may follow and then belongs to the match: the last base64 digit and the padding. */
  tail: readonly number[]
  /** `fallback[i]`: the next shorter prefix to try when the byte after `i` matched ones differs. */
  fallback: Int32Array
}

export type Needles = {
  list: readonly Needle[]
  /** For each byte the needles that can begin with it. */
  beginning: ReadonlyMap<number, readonly Needle[]>
  /** One bit for each pair of bytes with which an occurrence can begin. */
  pairs: Uint8Array
}

/** Shorter values are not looked for: they would blacken half of every response. */
export const MIN_CHARACTERS = 4

/**
 * Compiles the needles for the injected values and for `wholes`, the Basic credentials as sent
 * (base64 text). Values under 4 characters are left out.
 */
export function compileNeedles(
  values: readonly Uint8Array[],
  wholes: readonly Uint8Array[] = [],
): Needles {
  const list: Needle[] = []
  for (const value of distinct(values)) {
    if (characterCount(value) < MIN_CHARACTERS) continue
    addNeedle(list, value, PLAIN, [])
    addNeedle(list, ascii(value.toHex()), HEX, [])
    for (let alignment = 0; alignment < 3; alignment++) addBase64(list, value, alignment)
  }
  for (const whole of distinct(wholes)) addWhole(list, whole)
  return { list, ...index(list) }
}

const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const HEX = PLAIN.map((byte) => (byte >= 0x41 && byte <= 0x46 ? byte | 0x20 : byte))
const BASE64 = PLAIN.map((byte) => (byte === 0x2d ? 0x2b : byte === 0x5f ? 0x2f : byte))
const PADDING = 0x3d
const SPACE = 0x20
const PERCENT = 0x25
const AMPERSAND = 0x26
const PLUS = 0x2b
const BACKSLASH = 0x5c

/**
 * The base64 digits that the value alone determines when `alignment` bytes precede it in its group
 * of three. The digits at the borders mix with the neighbours; the last one is known again where
 * the encoded text ends with the value, so it and the padding are the tail.
 */
function addBase64(list: Needle[], value: Uint8Array, alignment: number): void {
  const padded = new Uint8Array(alignment + value.length)
  padded.set(value, alignment)
  const digits = ascii(padded.toBase64())
  const first = Math.ceil((alignment * 8) / 6)
  const end = Math.floor((padded.length * 8) / 6)
  addNeedle(list, digits.subarray(first, end), BASE64, [...digits.subarray(end)])
}

function addWhole(list: Needle[], whole: Uint8Array): void {
  const padding = whole.indexOf(PADDING)
  const end = padding === -1 ? whole.length : padding
  if (end < MIN_CHARACTERS) return
  addNeedle(list, whole.subarray(0, end), BASE64, [...whole.subarray(end)])
}

function addNeedle(
  list: Needle[],
  bytes: Uint8Array,
  fold: Uint8Array,
  tail: readonly number[],
): void {
  const text = bytes.map((byte) => fold[byte] ?? byte)
  list.push({ id: list.length, text, fold, tail, fallback: fallbackOf(text) })
}

/**
 * The failure function with Knuth's improvement: a prefix that would fail on the same byte is
 * skipped, so that one step takes a number of comparisons logarithmic in the length.
 */
function fallbackOf(text: Uint8Array): Int32Array {
  const fallback = new Int32Array(text.length + 1)
  fallback[0] = -1
  let prefix = 0
  for (let i = 1; i < text.length; i++) {
    const repeats = text[i] === text[prefix]
    fallback[i] = repeats ? (fallback[prefix] ?? -1) : prefix
    while (prefix >= 0 && text[i] !== text[prefix]) prefix = fallback[prefix] ?? -1
    prefix++
  }
  fallback[text.length] = prefix
  return fallback
}

function index(list: readonly Needle[]): Pick<Needles, 'beginning' | 'pairs'> {
  const beginning = new Map<number, Needle[]>()
  const pairs = new Uint8Array(list.length === 0 ? 0 : 8192)
  for (const needle of list) {
    const seconds = [...spellings(needle.fold, needle.text[1]), ...STARTS_OF_ESCAPES]
    for (const first of spellings(needle.fold, needle.text[0])) {
      beginning.set(first, [...(beginning.get(first) ?? []), needle])
      for (const second of seconds) markPair(pairs, first, second)
    }
  }
  if (list.length > 0) markEscapes(pairs, beginning)
  return { beginning, pairs }
}

/** What hex and base64 digits can also be written as; a fold decides whether it applies. */
const ALTERNATIVES = new Map(
  [...'Aa Bb Cc Dd Ee Ff -+ _/'.split(' ')].map((pair) => [pair.charCodeAt(1), pair.charCodeAt(0)]),
)
const STARTS_OF_ESCAPES = ascii('%&\\+')
const INTRODUCERS = [...ascii('%&\\')]

/** An occurrence may begin with an escape for its first byte, or with one for an introducer. */
function markEscapes(pairs: Uint8Array, beginning: ReadonlyMap<number, unknown>): void {
  const bytes = new Set([...beginning.keys(), ...INTRODUCERS])
  for (const introducer of INTRODUCERS) {
    for (const second of INTRODUCERS) markPair(pairs, introducer, second)
  }
  for (const byte of bytes) {
    const nibble = (byte >> 4).toString(16)
    for (const second of ascii(nibble + nibble.toUpperCase())) markPair(pairs, PERCENT, second)
  }
  for (const second of startsOfJsonEscapes(bytes)) markPair(pairs, BACKSLASH, second)
  for (const second of startsOfReferences(bytes)) markPair(pairs, AMPERSAND, second)
  if (!bytes.has(SPACE)) return
  for (let second = 0; second < 256; second++) markPair(pairs, PLUS, second)
}

/** The bytes that fold to `wanted`: itself and its other case or alphabet. */
function spellings(fold: Uint8Array, wanted: number | undefined): number[] {
  if (wanted === undefined) return []
  const other = ALTERNATIVES.get(wanted)
  return other !== undefined && fold[other] === wanted ? [wanted, other] : [wanted]
}

function markPair(pairs: Uint8Array, first: number, second: number): void {
  const pair = (first << 8) | second
  pairs[pair >> 3] = (pairs[pair >> 3] ?? 0) | (1 << (pair & 7))
}

function distinct(values: readonly Uint8Array[]): Uint8Array[] {
  return [...new Map(values.map((value) => [value.toHex(), value])).values()]
}

/** Code points of UTF-8 text: the bytes that do not continue a character. */
function characterCount(value: Uint8Array): number {
  return value.reduce((count, byte) => count + ((byte & 0xc0) === 0x80 ? 0 : 1), 0)
}

function ascii(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'))
}
