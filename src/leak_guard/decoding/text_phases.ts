/**
 * Finds the phases in which a run of digits may encode text, without decoding it. Most runs are words or identifiers
 * and encode none. All decoders need text, and nearly every guarded string is text. A wrong hit only costs time.
 */
import { NO_DIGIT, type Scheme } from './schemes.ts'

/** Text, and the zeros of UTF-16. */
const IS_TEXT = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 0 || (byte >= 0x09 && byte <= 0x0d) || (byte >= 0x20 && byte < 0x7f) ? 1 : 0,
)

/** Whether bytes are text, as this module defines it. */
export function isText(bytes: Uint8Array): boolean {
  return bytes.every((byte) => IS_TEXT[byte] === 1)
}

export class TextPhases {
  readonly #bits: number
  readonly #all: number
  /** The places of a digit in its group, less one. */
  readonly #places: number
  /** By place and byte: the phases in which the digit may belong to text. */
  readonly #phasesOf: Uint8Array

  constructor({ bits, group, phases, digits }: Scheme) {
    this.#bits = bits
    this.#all = 2 ** phases - 1
    this.#places = group - 1
    this.#phasesOf = new Uint8Array(group * 256)
    for (const [byte, digit] of digits.entries()) {
      if (digit === NO_DIGIT) continue
      for (let turn = 0; turn < group * phases; turn++) {
        const [place, phase] = [turn % group, Math.floor(turn / group)]
        const isTextual = mayBeText(digit, bits, (place - phase + group) % group)
        if (isTextual) {
          const at = (place << 8) | byte
          this.#phasesOf[at] = (this.#phasesOf[at] ?? 0) | (1 << phase)
        }
      }
    }
  }

  /** Returns the phases, as bits, in which a run may encode this many characters. The run consists of digits only. */
  of(bytes: Uint8Array, from: number, to: number, characters: number): number {
    /** Digits from the first one of the first character to the first one of the last. */
    const least = Math.floor((8 * (characters - 1)) / this.#bits) + 1
    const table = this.#phasesOf
    const places = this.#places
    let found = 0
    for (let at = from; at + least <= to && found !== this.#all; ) {
      let phases = this.#all & ~found
      let back = at + least - 1
      for (; back >= at && phases !== 0; back--) {
        phases &= table[(((back - from) & places) << 8) | (bytes[back] ?? 0)] ?? 0
      }
      found |= phases
      at = phases === 0 ? back + 2 : at + 1
    }
    return found
  }
}

/** Whether a character may be text whose upper bits a digit has at this place in its group. */
function mayBeText(digit: number, bits: number, place: number): boolean {
  const first = 8 * Math.ceil((bits * place) / 8)
  const known = bits * (place + 1) - first
  if (known <= 0) return true
  const unknown = 8 - known
  const upper = (digit & (2 ** known - 1)) << unknown
  return IS_TEXT.subarray(upper, upper + 2 ** unknown).includes(1)
}
