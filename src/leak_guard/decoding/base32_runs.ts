/**
 * Finds runs of base32 digits, of one case, within runs of base64 digits. A base32 text is read from
 * the beginning of its run on: of a text that follows other digits of its alphabet without a border
 * only the right eighth is recognised.
 */
import type { Feed } from './feed.ts'
import type { RunHandler } from './runs.ts'

/** Runs of fewer digits are too short for a string of 8 bytes. */
export const MIN_BASE32 = 13

const LAST_BREAK = 0x0d

/** Bits for upper case and lower case; digits and line breaks go with both. */
const CASES_OF = new Uint8Array(256)
for (let code = 0; code < 26; code++) {
  CASES_OF[0x41 + code] = 1
  CASES_OF[0x61 + code] = 2
}
for (const character of '234567\r\n') CASES_OF[character.charCodeAt(0)] = 3

/** Whether a byte is a base32 digit, in either case. */
export function isBase32Digit(byte: number): boolean {
  return CASES_OF[byte] !== 0 && byte > LAST_BREAK
}

export class Base32Runs {
  readonly #min: number
  #count = 0
  #cases = 3
  /** Digits and line breaks at the end of the run. */
  #digits = 0
  #isOpen = false

  constructor(min: number) {
    this.#min = min
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Bytes at the end that may belong to a run that is not yet long enough. */
  get waiting(): number {
    return this.#isOpen ? 0 : this.#count
  }

  follow(other: Base32Runs): void {
    this.#count = other.#count
    this.#cases = other.#cases
    this.#digits = other.#digits
    this.#isOpen = other.#isOpen
  }

  /** Looks through a run of base64 digits, which `goesOn` in the next block or not. */
  scan(
    { bytes }: Pick<Feed, 'bytes'>,
    from: number,
    to: number,
    goesOn: boolean,
    onRun: RunHandler,
  ): void {
    let at = from
    for (;;) {
      if (this.#count === 0) at = this.#skip(bytes, at, to)
      at = this.#extend(bytes, at, to)
      const isAtEnd = at >= to
      if (this.#count >= this.#min) this.#handOver(from, at, isAtEnd && goesOn, onRun)
      if (isAtEnd) break
      at = this.#startAgain(bytes, at)
    }
    if (!goesOn) this.#count = 0
  }

  /** After a run: of digits before a letter the case is not known, they begin the next one too. */
  #startAgain(bytes: Uint8Array, at: number): number {
    const isLetter = (CASES_OF[bytes[at] ?? 0] ?? 0) !== 0
    this.#count = isLetter ? this.#digits : 0
    this.#cases = 3
    return isLetter ? at : at + 1
  }

  /** Returns the start of the next run that may be long enough, searching backwards for bytes that break it. */
  #skip(bytes: Uint8Array, from: number, to: number): number {
    const min = this.#min
    let at = from
    while (at + min <= to) {
      let cases = 3
      let back = at + min - 1
      for (; back >= at; back--) {
        cases &= CASES_OF[bytes[back] ?? 0] ?? 0
        if (cases === 0) break
      }
      if (back < at) return at
      at = back + 1
    }
    return at
  }

  #extend(bytes: Uint8Array, from: number, to: number): number {
    let cases = this.#count === 0 ? 3 : this.#cases
    let digits = this.#count === 0 ? 0 : this.#digits
    let at = from
    while (at < to) {
      const kind = CASES_OF[bytes[at] ?? 0] ?? 0
      if ((cases & kind) === 0) break
      cases &= kind
      digits = kind === 3 ? digits + 1 : 0
      at++
    }
    this.#count += at - from
    this.#cases = cases
    this.#digits = digits
    return at
  }

  #handOver(from: number, to: number, isOpen: boolean, onRun: RunHandler): void {
    onRun(this.#isOpen ? from : to - this.#count, to, this.#isOpen, isOpen, true)
    this.#isOpen = isOpen
  }
}
