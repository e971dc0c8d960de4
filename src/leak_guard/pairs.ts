/**
 * The first look of the sanitiser: one bit for each pair of bytes with which an occurrence of a
 * credential can begin, however it is encoded and escaped. Most responses have no such pair, and are
 * spared all that follows.
 */
import { startsOfJsonEscapes } from './escapes.ts'
import { startsOfReferences } from './html_names.ts'

/** A bit for each pair, at `first << 8 | second`. */
export type Pairs = Uint8Array

/** Maps each byte to its representative: hex without case, base64 without alphabet. */
export const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) => byte)
export const HEX = PLAIN.map((byte) => (byte >= 0x41 && byte <= 0x46 ? byte | 0x20 : byte))
export const BASE64 = PLAIN.map((byte) => (byte === 0x2d ? 0x2b : byte === 0x5f ? 0x2f : byte))

const SPACE = 0x20
const PERCENT = 0x25
const AMPERSAND = 0x26
const PLUS = 0x2b
const BACKSLASH = 0x5c
const STARTS_OF_ESCAPES = [PERCENT, AMPERSAND, BACKSLASH, PLUS]
const INTRODUCERS = [PERCENT, AMPERSAND, BACKSLASH]

const HEX_DIGITS = bytesOf('0123456789abcdef')
const BASE64_DIGITS = bytesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
/** The bits of a value in front of its first whole base64 digit, when 0, 1 or 2 bytes precede it. */
const SKIPPED_BITS = [0, 4, 2]

/** The pairs for values of at least three bytes and for `wholes`, which are base64 text already. */
export function beginningPairs(
  values: readonly Uint8Array[],
  wholes: readonly Uint8Array[],
): Pairs {
  if (values.length + wholes.length === 0) return NONE
  const pairs = ESCAPED_INTRODUCERS.slice()
  const firsts = new Set<number>()
  for (const value of values) {
    const [a, b, c] = [value[0] ?? 0, value[1] ?? 0, value[2] ?? 0]
    markBeginning(pairs, firsts, PLAIN, a, b)
    markBeginning(pairs, firsts, HEX, HEX_DIGITS[a >> 4], HEX_DIGITS[a & 15])
    const word = (a << 16) | (b << 8) | c
    for (const bits of SKIPPED_BITS) {
      const [first, second] = [(word >> (18 - bits)) & 63, (word >> (12 - bits)) & 63]
      markBeginning(pairs, firsts, BASE64, BASE64_DIGITS[first], BASE64_DIGITS[second])
    }
  }
  for (const whole of wholes) {
    markBeginning(pairs, firsts, BASE64, BASE64[whole[0] ?? 0], BASE64[whole[1] ?? 0])
  }
  markEscapes(pairs, firsts)
  return pairs
}

const NONE: Pairs = new Uint8Array(8192)

/** The first position from `from` on at which an occurrence can begin; `end` if there is none. */
export function nextBeginning(pairs: Pairs, text: Uint8Array, from: number, end: number): number {
  let first = text[from] ?? 0
  for (let at = from; at < end; at++) {
    const second = text[at + 1] ?? 0
    if (hasPair(pairs, first, second)) return at
    first = second
  }
  return end
}

/** Whether an occurrence can begin in a text of one character for each byte; wide ones are not ruled out. */
export function canBeginIn(pairs: Pairs, text: string): boolean {
  let first = text.charCodeAt(0)
  for (let at = 1; at <= text.length; at++) {
    const second = at === text.length ? 0 : text.charCodeAt(at)
    if (first > 0xff || second > 0xff || hasPair(pairs, first, second)) return true
    first = second
  }
  return false
}

export function hasPair(pairs: Pairs, first: number, second: number): boolean {
  const pair = (first << 8) | second
  return (((pairs[pair >> 3] ?? 0) >> (pair & 7)) & 1) === 1
}

/** What hex and base64 digits can also be written as; a fold decides whether it applies. */
const ALTERNATIVES = new Map(
  [...'Aa Bb Cc Dd Ee Ff -+ _/'.split(' ')].map((pair) => [pair.charCodeAt(1), pair.charCodeAt(0)]),
)

/** The bytes that fold to `wanted`: itself and its other case or alphabet. */
export function spellings(fold: Uint8Array, wanted: number | undefined): number[] {
  if (wanted === undefined) return []
  const other = ALTERNATIVES.get(wanted)
  return other !== undefined && fold[other] === wanted ? [wanted, other] : [wanted]
}

function markBeginning(
  pairs: Pairs,
  firsts: Set<number>,
  fold: Uint8Array,
  first: number | undefined,
  second: number | undefined,
): void {
  const seconds = spellings(fold, second)
  for (const byte of spellings(fold, first)) {
    firsts.add(byte)
    for (const next of seconds) markPair(pairs, byte, next)
    for (const next of STARTS_OF_ESCAPES) markPair(pairs, byte, next)
  }
}

/** An occurrence may begin with an escape for its first byte. */
function markEscapes(pairs: Pairs, firsts: ReadonlySet<number>): void {
  for (const byte of firsts) {
    for (const [first, second] of beginningsOfEscapes(byte)) markPair(pairs, first, second)
  }
  if (!firsts.has(SPACE)) return
  for (let second = 0; second < 256; second++) markPair(pairs, PLUS, second)
}

type Pair = readonly [first: number, second: number]

const knownBeginnings: Pair[][] = []

/** How an escape begins that stands for the byte, or for a character whose UTF-8 begins with it. */
function beginningsOfEscapes(byte: number): readonly Pair[] {
  const known = knownBeginnings[byte]
  if (known) return known
  const bytes = new Set([byte])
  const nibble = (byte >> 4).toString(16)
  const pairs = [
    ...[...bytesOf(nibble + nibble.toUpperCase())].map((second): Pair => [PERCENT, second]),
    ...startsOfJsonEscapes(bytes).map((second): Pair => [BACKSLASH, second]),
    ...[...startsOfReferences(bytes)].map((second): Pair => [AMPERSAND, second]),
  ]
  knownBeginnings[byte] = pairs
  return pairs
}

function markPair(pairs: Pairs, first: number, second: number): void {
  const pair = (first << 8) | second
  pairs[pair >> 3] = (pairs[pair >> 3] ?? 0) | (1 << (pair & 7))
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'))
}

/** It may also begin with an escape for an introducer, whatever is looked for. */
const ESCAPED_INTRODUCERS = escapedIntroducers()

function escapedIntroducers(): Pairs {
  const pairs = new Uint8Array(8192)
  for (const introducer of INTRODUCERS) {
    for (const second of INTRODUCERS) markPair(pairs, introducer, second)
  }
  markEscapes(pairs, new Set(INTRODUCERS))
  return pairs
}
