/**
 * Finds runs of base32 digits, of one case, within runs of base64 digits. A base32 text is read from
 * the beginning of its run on: of a text that follows other digits of its alphabet without a border
 * only the right eighth is recognised.
 */
import type { Feed } from './feed.ts'
import type { RunHandler } from './runs.ts'

/** Bits for upper case and lower case; digits and line breaks go with both. */
const CASES_OF = new Uint8Array(256)
for (let code = 0; code < 26; code++) {
  CASES_OF[0x41 + code] = 1
  CASES_OF[0x61 + code] = 2
}
for (const character of '234567\r\n') CASES_OF[character.charCodeAt(0)] = 3

export class Base32Runs {
  readonly #min: number
  #count = 0
  #cases = 3
  #isOpen = false

  constructor(min: number) {
    this.#min = min
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** So many bytes at the end may belong to a run that is not yet long enough. */
  get waiting(): number {
    return this.#isOpen ? 0 : this.#count
  }

  follow(other: Base32Runs): void {
    this.#count = other.#count
    this.#cases = other.#cases
    this.#isOpen = other.#isOpen
  }

  /** Looks through a run of base64 digits, which `goesOn` in the next block or not. */
  scan(feed: Feed, from: number, to: number, goesOn: boolean, onRun: RunHandler): void {
    const { bytes } = feed
    let cases = this.#cases
    let count = this.#count
    for (let at = from; at < to; at++) {
      const kind = CASES_OF[bytes[at] ?? 0] ?? 0
      if (cases & kind) count++
      else {
        if (count >= this.#min) this.#handOver(from, at, count, false, onRun)
        count = kind === 0 ? 0 : 1
        cases = 3
      }
      cases &= kind || 3
    }
    if (count >= this.#min) this.#handOver(from, to, count, goesOn, onRun)
    this.#count = goesOn ? count : 0
    this.#cases = goesOn ? cases : 3
  }

  #handOver(from: number, to: number, count: number, isOpen: boolean, onRun: RunHandler): void {
    onRun(this.#isOpen ? from : to - count, to, this.#isOpen, isOpen)
    this.#isOpen = isOpen
  }
}
