/**
 * A first look at what a short run of digits spells. Most runs are words or identifiers and spell
 * nothing: neither a guarded string begins in it nor anything that a decoder reads. Those are spared
 * all that follows. What is wrongly let through costs time only.
 */
import { GEAR } from '../matching/fingerprint.ts'
import type { Patterns } from '../matching/patterns.ts'
import type { Reading } from './stage.ts'
import { nextStretch } from './stretch.ts'

const WORD = 1
const HEXADECIMAL = 2
/** A byte of which escapes of text have two: zeros of UTF-16, commas of arrays. */
const MARK = 4
/** What follows an introducer, and at `INTRODUCES` higher the introducer itself. */
const FOLLOWS = 3
const INTRODUCES = 8

const KIND_OF = new Uint16Array(256)
function mark(characters: string, bit: number): void {
  for (const character of characters) {
    const code = character.charCodeAt(0)
    KIND_OF[code] = (KIND_OF[code] ?? 0) | bit
  }
}
const HEX_DIGITS = '0123456789abcdefABCDEF'
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
mark(`${LETTERS}0123456789+/-_\r\n`, WORD)
mark(`${HEX_DIGITS}:- +\\x\r\n`, HEXADECIMAL)
mark('\0,', MARK)
for (const [at, [introducer, followers]] of [
  ['%', HEX_DIGITS],
  ['\\', `"\\/'\`bfnrtvux`],
  ['&', `#${LETTERS}`],
].entries()) {
  mark(introducer ?? '', 1 << (INTRODUCES + at))
  mark(followers ?? '', 1 << (FOLLOWS + at))
}

/** All but what runs consist of. */
const ACTIVE = MARK | (7 << INTRODUCES)

/** Whether nothing can be found in the bytes, which are a whole text. */
export function isDull(bytes: Uint8Array, from: number, end: number, reading: Reading): boolean {
  const { patterns, isShort } = reading
  let kinds = 0
  for (const each of patterns) {
    const found = kindsUnlessHeld(each, bytes, from, end)
    if (found < 0) return false
    kinds |= found
  }
  if (kinds & ACTIVE && mayUnescape(bytes, from, end)) return false
  const [word, hexadecimal] = isShort ? [6, 8] : [11, 16]
  return (
    !hasRun(bytes, from, end, WORD, word) && !hasRun(bytes, from, end, HEXADECIMAL, hexadecimal)
  )
}

/** The kinds of all bytes; -1 when a guarded string may begin among them. */
function kindsUnlessHeld(patterns: Patterns, bytes: Uint8Array, from: number, end: number): number {
  const { step, bitShift } = patterns
  const { bits, window } = patterns.parts
  let hash = 0
  let kinds = 0
  for (let at = from; at < end; at++) {
    const byte = bytes[at] ?? 0
    kinds |= KIND_OF[byte] ?? 0
    hash = ((hash << step) + (GEAR[byte] ?? 0)) | 0
    const bit = hash >>> bitShift
    if (((bits[bit >>> 5] ?? 0) >>> (bit & 31)) & 1 && at - from >= window - 1) {
      if (patterns.groupOf(hash) >= 0) return -1
    }
  }
  return kinds
}

/** Whether an escape may begin among the bytes, or there are two marks. */
function mayUnescape(bytes: Uint8Array, from: number, end: number): boolean {
  let marks = 0
  let before = 0
  for (let at = from; at < end; at++) {
    const kind = KIND_OF[bytes[at] ?? 0] ?? 0
    marks += kind & MARK
    if (((before >>> INTRODUCES) & (kind >>> FOLLOWS) & 7) !== 0) return true
    before = kind
  }
  return marks >= 2 * MARK
}

function hasRun(bytes: Uint8Array, from: number, end: number, kind: number, min: number): boolean {
  return end - from >= min && nextStretch(bytes, from, end, KIND_OF, kind, min) + min <= end
}
