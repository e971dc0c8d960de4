/**
 * Base64, base32 and hexadecimal: digits of 6, 5 or 4 bits. A run may begin with digits that do not
 * belong to the encoded text, so it is read from each digit of a group on, in as many phases as a group
 * has digits; only base32 in one. What is no digit (line breaks, separators) is skipped.
 */
import type { Feed } from './feed.ts'
import { FormSink, PADDED } from './form_sink.ts'
import { Digits, PhaseFeed } from './phase_feed.ts'
import type { Scheme } from './schemes.ts'
import { type Reading, Stage } from './stage.ts'
import { isDull } from './survey.ts'

export class PackedDecoder {
  readonly #scheme: Scheme
  readonly #reading: Reading
  readonly #digits: Digits
  readonly #phases: readonly Phase[]
  #isOpen = false

  constructor(reading: Reading, parent: Feed, depth: number, scheme: Scheme) {
    this.#scheme = scheme
    this.#reading = reading
    this.#digits = new Digits(parent)
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
  read(from: number, to: number, isContinued: boolean, isOpen: boolean): void {
    const digits = this.#digits
    if (!isContinued) digits.clear()
    digits.read(from, to, this.#scheme.digits)
    for (const phase of this.#phases) this.#readPhase(phase, isContinued, isOpen)
    if (isOpen) {
      const shift = digits.keep()
      for (const { feed } of this.#phases) feed.shift(shift)
    }
    this.#isOpen = isOpen
  }

  #readPhase({ feed, stage }: Phase, isContinued: boolean, isOpen: boolean): void {
    if (!isContinued) feed.clear()
    const { end } = feed
    feed.decode(!isOpen)
    const isWhole = !isContinued && !isOpen
    if (isWhole && isDull(feed.bytes, end, feed.end, this.#reading)) return
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

  /** Goes on where the other one is, in a parent whose text was the same up to here. */
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
