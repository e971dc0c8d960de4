/**
 * What the sanitiser looks for: every injected value as itself, as hex and as base64 in the three
 * alignments it can have inside a longer text. How the characters of a needle may be escaped is the
 * matcher's affair. Compiling is cheap enough to be done for each request.
 */
import { BASE64, beginningPairs, HEX, type Pairs, PLAIN, spellings } from './pairs.ts'

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
  /** The pairs of bytes with which an occurrence can begin. */
  pairs: Pairs
}

/** What is looked for: distinct values of at least four characters, and Basic credentials as sent. */
export type Sought = { values: readonly Uint8Array[]; wholes: readonly Uint8Array[]; pairs: Pairs }

/** Shorter values are not looked for: they would blacken half of every response. */
export const MIN_CHARACTERS = 4

/** Leaves out values under 4 characters. `wholes` are Basic credentials as sent (base64 text). */
export function seek(values: readonly Uint8Array[], wholes: readonly Uint8Array[] = []): Sought {
  const sought = {
    values: distinct(values).filter(isLongEnough),
    wholes: distinct(wholes).filter((whole) => lengthOfDigits(whole) >= MIN_CHARACTERS),
  }
  return { ...sought, pairs: beginningPairs(sought.values, sought.wholes) }
}

export function compileNeedles({ values, wholes, pairs }: Sought): Needles {
  const list: Needle[] = []
  for (const value of values) {
    addNeedle(list, value, PLAIN, [])
    addNeedle(list, ascii(value.toHex()), HEX, [])
    for (let alignment = 0; alignment < 3; alignment++) addBase64(list, value, alignment)
  }
  for (const whole of wholes) addWhole(list, whole)
  return { list, beginning: byBeginning(list), pairs }
}

const PADDING = 0x3d

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
  const end = lengthOfDigits(whole)
  addNeedle(list, whole.subarray(0, end), BASE64, [...whole.subarray(end)])
}

/** Of base64 text, without its padding. */
function lengthOfDigits(whole: Uint8Array): number {
  const padding = whole.indexOf(PADDING)
  return padding === -1 ? whole.length : padding
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

function byBeginning(list: readonly Needle[]): Map<number, Needle[]> {
  const beginning = new Map<number, Needle[]>()
  for (const needle of list) {
    for (const first of spellings(needle.fold, needle.text[0])) {
      beginning.set(first, [...(beginning.get(first) ?? []), needle])
    }
  }
  return beginning
}

function distinct(values: readonly Uint8Array[]): readonly Uint8Array[] {
  if (values.length < 2) return values
  return [...new Map(values.map((value) => [value.toHex(), value])).values()]
}

/** Counts code points of UTF-8 text: the bytes that do not continue a character. */
function isLongEnough(value: Uint8Array): boolean {
  let count = 0
  for (let at = 0; at < value.length && count < MIN_CHARACTERS; at++) {
    if (((value[at] ?? 0) & 0xc0) !== 0x80) count++
  }
  return count >= MIN_CHARACTERS
}

function ascii(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'))
}
