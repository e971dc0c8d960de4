/**
 * Surveys the bytes that a run of digits encodes, if these are not text: whether a guarded string or any decoder's
 * input begins in them. A wrong hit only costs time.
 */
import { GEAR } from '../matching/fingerprint.ts'
import { FILTER_SHIFT, type Patterns } from '../matching/patterns.ts'
import type { Reading } from './stage.ts'

/** Bytes of runs of digits and arrays of numbers. */
const MEMBER = 1
const ZERO = 2
/** Bits for bytes after an introducer. The introducer's own bit is `INTRODUCES` higher. */
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
mark(`${LETTERS}0123456789+/-_:\\,[ \t\n\v\f\r`, MEMBER)
mark('\0', ZERO)
for (const [at, [introducer, followers]] of [
  ['%', HEX_DIGITS],
  ['\\', `"\\/'\`bfnrtvux`],
  ['&', `#${LETTERS}`],
].entries()) {
  mark(introducer ?? '', 1 << (INTRODUCES + at))
  mark(followers ?? '', 1 << (FOLLOWS + at))
}

/** Whether nothing can be found in the bytes, which are a whole text. */
export function isUniform(
  bytes: Uint8Array,
  from: number,
  end: number,
  { sought, isShort }: Reading,
): boolean {
  return sought.every(({ patterns }) => spellsNothing(patterns, bytes, from, end, isShort))
}

function spellsNothing(
  patterns: Patterns,
  bytes: Uint8Array,
  from: number,
  end: number,
  isShort: boolean,
): boolean {
  const { step } = patterns
  const { bits } = patterns.parts
  /** This number of consecutive members is a run. */
  const run = isShort ? 0x3f : 0x7ff
  let hash = 0
  let before = 0
  let members = 0
  let zeros = 0
  for (let at = from; at < end; at++) {
    const byte = bytes[at] ?? 0
    const kind = KIND_OF[byte] ?? 0
    hash = ((hash << step) + (GEAR[byte] ?? 0)) | 0
    const bit = hash >>> FILTER_SHIFT
    members = (members << 1) | (kind & MEMBER)
    zeros += kind & ZERO
    const escapes = (before >>> INTRODUCES) & (kind >>> FOLLOWS) & 7
    const isMarked = ((bits[bit >>> 5] ?? 0) >>> (bit & 31)) & 1
    if (isActive(escapes, members & run, run)) return false
    if (isMarked && patterns.groupOf(hash) >= 0) return false
    before = kind
  }
  // UTF-16 has a zero between each two ASCII characters.
  return zeros < ZERO * (isShort ? 3 : 7)
}

function isActive(escapes: number, members: number, run: number): boolean {
  return escapes !== 0 || members === run
}
