/**
 * Base64, base32 and hexadecimal: digits of 6, 5 or 4 bits. A run may begin with digits that do not belong to the
 * encoded text, so it is read from each digit of a group on, in as many phases as a group has digits. Base32 has only
 * one phase, unless its beginning may be missing. Other bytes (line breaks, separators) are skipped.
 */
import { type Feed, MARGIN } from './feed.ts'
import { FormSink, PADDED } from './form_sink.ts'
import { Digits, PhaseFeed } from './phase_feed.ts'
import type { RunHandler } from './runs.ts'
import { BASE32, BASE32_WITHIN, BASE64, HEX, type Scheme } from './schemes.ts'
import { computeKeptBytes, type Reading, Stage } from './stage.ts'
import { isUniform } from './survey.ts'
import { TextPhases } from './text_phases.ts'

const ALL_PHASES = 0xff
/** Text phases of digits as they are in a text, and of their values. */
type Look = { readonly text: TextPhases; readonly values: TextPhases }

const VALUES = Uint8Array.from({ length: 64 }, (_, value) => value)

function lookAt(scheme: Scheme): Look {
  const digits = VALUES.subarray(0, 2 ** scheme.bits)
  return { text: new TextPhases(scheme), values: new TextPhases({ ...scheme, digits }) }
}

const LOOKS = new Map(
  [BASE64, BASE32, BASE32_WITHIN, HEX].map((scheme) => [scheme, lookAt(scheme)]),
)

export class PackedDecoder {
  readonly #scheme: Scheme
  readonly #reading: Reading
  readonly #parent: Feed
  readonly #look: Look
  readonly #digits: Digits
  readonly #phases: readonly Phase[]
  #isOpen = false

  constructor(reading: Reading, parent: Feed, depth: number, scheme: Scheme) {
    this.#scheme = scheme
    this.#reading = reading
    this.#parent = parent
    this.#look = LOOKS.get(scheme) ?? lookAt(scheme)
    this.#digits = new Digits(parent, computeKeptBytes(depth + 1))
    const isPadded = depth === 0 && scheme.padded
    const sink = isPadded ? new FormSink(reading.sink, PADDED) : reading.sink
    this.#phases = Array.from({ length: scheme.phases }, (_, at) => {
      const feed = new PhaseFeed(this.#digits, scheme, at)
      return { feed, stage: new Stage({ ...reading, sink }, feed, depth + 1) }
    })
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Reads the next stretch of a run of the parent's bytes. */
  readonly read: RunHandler = (from, to, isContinued, isOpen, isDivided) => {
    const digits = this.#digits
    const isWhole = !isContinued && !isOpen
    const isTextOnly = this.#isTextOnly
    if (isWhole && !isDivided && isTextOnly && this.#isWord(from, to)) return
    if (!isContinued) digits.clear()
    digits.read(from, to, this.#scheme.digits)
    const textual = isWhole
      ? this.#look.values.of(digits.values, MARGIN, digits.end, this.#characters)
      : ALL_PHASES
    for (const [at, phase] of this.#phases.entries()) {
      const isTextual = ((textual >>> at) & 1) === 1
      if (isTextual || !isTextOnly) this.#readPhase(phase, isContinued, isOpen, isTextual)
    }
    this.#isOpen = isOpen
    if (isOpen) this.#keep()
  }

  /** Whether a whole run spells no text, as most do. */
  #isWord(from: number, to: number): boolean {
    return this.#look.text.of(this.#parent.bytes, from, to, this.#characters) === 0
  }

  /** Characters of the shortest strings. */
  get #characters(): number {
    return this.#reading.isShort ? 4 : 8
  }

  /** Whether only text is sought. */
  get #isTextOnly(): boolean {
    for (const { patterns } of this.#reading.sought) if (!patterns.parts.isText) return false
    return true
  }

  /** Moves the last digits into the margin: the run continues in the next block. */
  #keep(): void {
    const shift = this.#digits.keep()
    for (const { feed } of this.#phases) feed.shift(shift)
  }

  #readPhase(
    { feed, stage }: Phase,
    isContinued: boolean,
    isOpen: boolean,
    isTextual: boolean,
  ): void {
    if (!isContinued) feed.clear()
    const { end } = feed
    feed.decode(!isOpen)
    if (!isTextual && isUniform(feed.bytes, end, feed.end, this.#reading)) return
    stage.read(end, !isOpen)
    if (isOpen) feed.keep()
  }

  earliest(): number {
    if (!this.#isOpen) return Infinity
    let earliest = Infinity
    for (const { feed, stage } of this.#phases) {
      const waiting = feed.next < this.#digits.end ? this.#digits.startOf(feed.next) : Infinity
      earliest = Math.min(earliest, waiting, stage.earliest())
    }
    return earliest
  }

  /** Continues from the state of the other one, in a parent with equal text up to this point. */
  follow(other: PackedDecoder): void {
    this.#digits.follow(other.#digits)
    for (const [at, { feed, stage }] of this.#phases.entries()) {
      const model = other.#phases[at]
      if (!model) continue
      feed.follow(model.feed)
      stage.follow(model.stage)
    }
    this.#isOpen = other.#isOpen
  }
}

type Phase = { readonly feed: PhaseFeed; readonly stage: Stage }
