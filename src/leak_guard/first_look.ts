/**
 * A first look at a whole answer, in a single pass over its bytes: hardly any answer contains a value, or the input of
 * a decoder. An answer that is not cleared is searched. The first look never clears an answer in which the search would
 * find something. A wrong refusal to clear only costs time.
 */
import { Base32Runs, isBase32Digit, MIN_BASE32 } from './decoding/base32_runs.ts'
import { isMember, MIN_NUMBERS, mayHoldArray } from './decoding/decimals.ts'
import { EscapeReader, KIND_OF } from './decoding/escapes_read.ts'
import {
  isHexadecimal,
  isHexDigit,
  isWordDigit,
  MIN_HEX,
  MIN_LINE,
  MIN_WORD,
} from './decoding/runs.ts'
import { BASE32, BASE64, HEX } from './decoding/schemes.ts'
import { TextPhases } from './decoding/text_phases.ts'
import { GEAR } from './matching/fingerprint.ts'
import { mayBeInFragment } from './matching/fragments.ts'
import { FRAGMENT, MIN_VALUE } from './matching/guarded.ts'
import { FILTER_SHIFT, type Patterns } from './matching/patterns.ts'
import type { SearchOrder } from './search.ts'

const LINE_FEED = 0x0a
const RETURN = 0x0d
const IN_BASE64 = new TextPhases(BASE64)
const IN_BASE32 = new TextPhases(BASE32)
const IN_HEX = new TextPhases(HEX)

/** Whether certainly nothing is found in the bytes, which are a whole answer. */
export function isClear(order: SearchOrder, bytes: Uint8Array): boolean {
  const { patterns, shape } = order
  if (patterns.length === 0) return true
  if (shape.isShort) return false
  for (const each of patterns) if (mayHold(each, bytes)) return false
  return shape.isLiteral || spellsNothing(bytes, order)
}

/**
 * Whether a string may begin somewhere: one addition and one bit test for each byte. Its first 8 bytes are tested
 * together, because the time of a test of fewer bytes would allow guessing a value piece by piece.
 */
function mayHold(patterns: Patterns, bytes: Uint8Array): boolean {
  const { bits } = patterns.parts
  const { length } = bytes
  let hash = 0
  for (let at = 0; at < length; at++) {
    hash = ((hash << 4) + (GEAR[bytes[at] ?? 0] ?? 0)) | 0
    const bit = hash >>> FILTER_SHIFT
    if (((bits[bit >>> 5] ?? 0) >>> (bit & 31)) & 1 && patterns.groupOf(hash) >= 0) return true
  }
  return false
}

/** A kind of bytes: the number of consecutive ones that is examined, and whether such bytes are harmless. */
type Kind = {
  least: number
  has(byte: number): boolean
  isHarmless(bytes: Uint8Array, from: number, to: number, order: SearchOrder): boolean
}

const KINDS: readonly Kind[] = [
  {
    least: MIN_WORD,
    has: (byte) => isWordDigit(byte) || isBreak(byte),
    isHarmless: areHarmlessWords,
  },
  { least: MIN_BASE32, has: isBase32Digit, isHarmless: isHarmlessBase32 },
  { least: MIN_HEX, has: isHexadecimal, isHarmless: isHarmlessHex },
  {
    least: MIN_NUMBERS,
    has: isMember,
    isHarmless: (bytes, from, to) => !mayHoldArray(bytes, from, to),
  },
  {
    least: FRAGMENT,
    has: mayBeInFragment,
    isHarmless: (bytes, from, to, { fragments }) => !fragments.standIn(bytes, from, to),
  },
  { least: 1, has: (byte) => byte === 0 || KIND_OF[byte] !== 0, isHarmless: isNoEscape },
]

/** Counters in one number: how many bytes of each kind are consecutive. */
const BITS = 5
const HALF = 2 ** (BITS - 1)
const ONE_MORE = counters(() => 1)
const FULL = counters(() => HALF)
/** Added to the counters, so that one is full once its kind has enough bytes. */
const MISSING = counters(({ least }) => HALF - least)
/** By byte: a mask that keeps the counters which the byte continues. All others start again. */
const GOES_ON = Int32Array.from({ length: 256 }, (_, byte) =>
  counters(({ has }) => (has(byte) ? 2 ** BITS - 1 : 0)),
)

function counters(value: (kind: Kind) => number): number {
  return KINDS.reduce((all, kind, at) => all | (value(kind) << (BITS * at)), 0)
}

/** Whether a decoder reads nothing that could be a string, and contains no fragment. */
function spellsNothing(bytes: Uint8Array, order: SearchOrder): boolean {
  const runs = new Runs()
  const seen = KINDS.map(() => 0)
  const { length } = bytes
  for (
    let at = runs.findNextCompletion(bytes, 0, length);
    at < length;
    at = runs.findNextCompletion(bytes, at + 1, length)
  ) {
    if (!areHarmless(runs.full, bytes, at, seen, order)) return false
  }
  return true
}

/** Counts consecutive bytes. Its loop has no rare cases, so that it compiles to little code. */
class Runs {
  /** Mask of the counters that are full at the byte that `next` returned. */
  full = 0
  #counts = 0

  /** Returns the position of the next byte that completes enough bytes of a kind, or the end. */
  findNextCompletion(bytes: Uint8Array, from: number, end: number): number {
    let counts = this.#counts
    for (let at = from; at < end; at++) {
      counts = ((counts + ONE_MORE) | 0) & (GOES_ON[bytes[at] ?? 0] ?? 0)
      const full = ((counts + MISSING) | 0) & FULL
      if (full === 0) continue
      this.full = full
      // Full counters restart, so that none overflows.
      this.#counts = counts & ~((full << 1) - (full >>> (BITS - 1)))
      return at
    }
    return end
  }
}

/** Examines the stretches of the kinds that are `full`, each once: `seen` are the positions examined so far. */
function areHarmless(
  full: number,
  bytes: Uint8Array,
  at: number,
  seen: number[],
  order: SearchOrder,
): boolean {
  for (let rest = full; rest !== 0; rest &= rest - 1) {
    const bit = rest & -rest
    const index = ((31 - Math.clz32(bit)) / BITS) | 0
    const kind = KINDS[index]
    if (!kind || at < (seen[index] ?? 0)) continue
    let to = at + 1
    while (to < bytes.length && ((GOES_ON[bytes[to] ?? 0] ?? 0) & bit) !== 0) to++
    seen[index] = to
    if (!kind.isHarmless(bytes, at + 1 - kind.least, to, order)) return false
  }
  return true
}

/** Base64, line by line. */
function areHarmlessWords(
  bytes: Uint8Array,
  from: number,
  to: number,
  order: SearchOrder,
): boolean {
  for (let start = from; start < to; ) {
    let end = start
    while (end < to && !isBreak(bytes[end] ?? 0)) end++
    // It may continue in the next line.
    if (end < to && end - start >= MIN_LINE) return false
    if (end - start >= MIN_WORD && !spellsNoText(IN_BASE64, bytes, start, end, order)) return false
    start = end + 1
  }
  return true
}

/** A run begins at a change of case, or with the digits before it. */
function isHarmlessBase32(
  bytes: Uint8Array,
  from: number,
  to: number,
  order: SearchOrder,
): boolean {
  let isHarmless = true
  new Base32Runs(MIN_BASE32).scan({ bytes }, from, to, false, (first, end) => {
    isHarmless &&= spellsNoText(IN_BASE32, bytes, first, end, order)
  })
  return isHarmless
}

/** Any part of a run encodes a part of the bytes that the whole run encodes. */
function isHarmlessHex(bytes: Uint8Array, from: number, to: number, order: SearchOrder): boolean {
  const digits = new Uint8Array(to - from)
  let count = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0
    if (isHexDigit(byte)) digits[count++] = byte
  }
  return spellsNoText(IN_HEX, digits, 0, count, order)
}

function isNoEscape(bytes: Uint8Array, from: number, to: number): boolean {
  const reader = new EscapeReader(bytes)
  for (let at = from; at < to; at++) {
    if (bytes[at] === 0 || reader.read(at, bytes.length, true) !== 0) return false
  }
  return true
}

/** Whether digits encode no text, and nothing else is sought. */
function spellsNoText(
  look: TextPhases,
  digits: Uint8Array,
  from: number,
  to: number,
  { patterns }: SearchOrder,
): boolean {
  for (const { parts } of patterns) if (!parts.isText) return false
  return look.of(digits, from, to, MIN_VALUE) === 0
}

function isBreak(byte: number): boolean {
  return byte === LINE_FEED || byte === RETURN
}
