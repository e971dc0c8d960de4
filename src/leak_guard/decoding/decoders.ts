/**
 * The decoders of one reading. They sleep until the text has their input: an introducer of escapes, a run of base64,
 * base32 or hexadecimal digits that is long enough, numbers between commas, or zeros as every second byte. So ordinary
 * text costs little more than the search for such runs.
 */
import { Base32Runs, MIN_BASE32 } from './base32_runs.ts'
import { DecimalDecoder, mayBeInArray } from './decimals.ts'
import type { Feed } from './feed.ts'
import { PackedDecoder } from './packed.ts'
import { MIN_HEX, MIN_WORD, mayBeInRun, type RunHandler, RunScanner } from './runs.ts'
import { BASE32, BASE32_WITHIN, BASE64, HEX, type Scheme } from './schemes.ts'
import { MAX_DEPTH, type Reading, type Stage, type StageDecoders } from './stage.ts'
import { UnescapeDecoder } from './unescape.ts'
import { Utf16Decoder } from './utf16.ts'

/** Reading a shorter copy again is cheaper than skipping it. */
const LONG_COPY = 128
/** Bytes that end every run, of digits or of numbers, and belong to none. */
const IS_BORDER = new Uint8Array(256).fill(1)
for (let byte = 0; byte < 256; byte++) {
  if (mayBeInRun(byte) || mayBeInArray(byte)) IS_BORDER[byte] = 0
}

function findNextBorder(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && IS_BORDER[bytes[at] ?? 0] === 0) at++
  return at
}

function findLastBorder(bytes: Uint8Array, from: number, to: number): number {
  let at = to - 1
  while (at > from && IS_BORDER[bytes[at] ?? 0] === 0) at--
  return at
}

export class Decoders implements StageDecoders {
  readonly #reading: Reading
  readonly #feed: Feed
  readonly #depth: number
  readonly #runs: RunScanner
  readonly #escapes: readonly UnescapeDecoder[]
  readonly #decimals: DecimalDecoder
  /** Decoders of one layer and, if the depth allows, of two layers together. */
  readonly #utf16: readonly Utf16Decoder[]
  readonly #base32Runs: Base32Runs
  readonly #scheme32: Scheme
  #base64: PackedDecoder | null = null
  #hex: PackedDecoder | null = null
  #base32: PackedDecoder | null = null

  constructor(reading: Reading, stage: Stage, depth: number) {
    this.#reading = reading
    this.#feed = stage.feed
    this.#depth = depth
    const { isShort, isPart } = reading
    this.#runs = new RunScanner(isShort ? 6 : MIN_WORD, isShort ? 8 : MIN_HEX)
    this.#base32Runs = new Base32Runs(isShort ? 7 : MIN_BASE32)
    this.#scheme32 = isPart ? BASE32_WITHIN : BASE32
    this.#escapes = reading.kinds.map((kinds) => new UnescapeDecoder(reading, stage, depth, kinds))
    this.#decimals = new DecimalDecoder(reading, stage.feed, depth)
    const widths = depth + 2 <= MAX_DEPTH ? ([2, 4] as const) : ([2] as const)
    this.#utf16 = widths.map((width) => new Utf16Decoder(reading, stage.feed, depth, width))
  }

  read(from: number, isLast: boolean): void {
    this.#reading.sink.work += this.#feed.end - from
    for (const decoder of this.#escapes) decoder.prepare(from, isLast)
    for (const decoder of this.#escapes) decoder.read(from, isLast)
    this.#readRuns(from, isLast)
    for (const decoder of this.#utf16) decoder.read(from, isLast)
  }

  /** Runs within a long copy have been read in the original: only those at its ends are new. */
  #readRuns(from: number, isLast: boolean): void {
    const feed = this.#feed
    const { bytes, end } = feed
    let at = from
    for (let piece = feed.getNextCopy(0, LONG_COPY); piece >= 0; ) {
      const copy = feed.copyAt(piece)
      const first = findNextBorder(bytes, copy.at, copy.at + copy.length)
      const last = findLastBorder(bytes, first, copy.at + copy.length)
      if (first < last) {
        feed.end = first + 1
        this.#scanRuns(at, false)
        at = last
      }
      piece = feed.getNextCopy(piece + 1, LONG_COPY)
    }
    feed.end = end
    this.#scanRuns(at, isLast)
  }

  #scanRuns(from: number, isLast: boolean): void {
    this.#runs.scan(this.#feed, from, isLast, this.#word, this.#hexadecimal)
    this.#decimals.read(from, isLast)
  }

  get isDecoding(): boolean {
    return (
      this.#runs.isOpen ||
      this.#base32Runs.isOpen ||
      this.#decimals.isOpen ||
      this.#utf16.some((decoder) => decoder.isOpen) ||
      this.#escapes.some((decoder) => decoder.isAwake)
    )
  }

  earliest(): number {
    const { end } = this.#feed
    const waiting = Math.max(this.#runs.waiting, this.#base32Runs.waiting)
    let earliest = waiting > 0 ? this.#feed.startOf(end - waiting) : Infinity
    for (const decoder of this.#escapes) earliest = Math.min(earliest, decoder.earliest())
    return Math.min(
      earliest,
      this.#base64?.earliest() ?? Infinity,
      this.#hex?.earliest() ?? Infinity,
      this.#base32?.earliest() ?? Infinity,
      this.#decimals.earliest(),
      ...this.#utf16.map((decoder) => decoder.earliest()),
    )
  }

  follow(other: Decoders): void {
    this.#runs.follow(other.#runs)
    this.#base32Runs.follow(other.#base32Runs)
    this.#base64 = this.#followPacked(this.#base64, other.#base64, BASE64)
    this.#hex = this.#followPacked(this.#hex, other.#hex, HEX)
    this.#base32 = this.#followPacked(this.#base32, other.#base32, this.#scheme32)
    for (const [at, decoder] of this.#escapes.entries()) {
      const model = other.#escapes[at]
      if (model) decoder.follow(model)
    }
    this.#decimals.follow(other.#decimals)
    for (const [at, decoder] of this.#utf16.entries()) {
      const model = other.#utf16[at]
      if (model) decoder.follow(model)
    }
  }

  #followPacked(
    own: PackedDecoder | null,
    other: PackedDecoder | null,
    scheme: Scheme,
  ): PackedDecoder | null {
    if (!other?.isOpen) return own
    const packed = own ?? this.#createPackedDecoder(scheme)
    packed.follow(other)
    return packed
  }

  #createPackedDecoder(scheme: Scheme): PackedDecoder {
    return new PackedDecoder(this.#reading, this.#feed, this.#depth, scheme)
  }

  /** Handles a run of base64 digits. Text without escapes has already been read in the original. */
  readonly #word: RunHandler = (from, to, isContinued, isOpen, isDivided) => {
    if (!isContinued && !isOpen && this.#feed.isCopy(from, to)) return
    this.#base32Runs.scan(this.#feed, from, to, isOpen, this.#thirtyTwo)
    this.#base64 ??= this.#createPackedDecoder(BASE64)
    this.#base64.read(from, to, isContinued, isOpen, isDivided)
  }

  readonly #hexadecimal: RunHandler = (from, to, isContinued, isOpen, isDivided) => {
    if (!isContinued && !isOpen && this.#feed.isCopy(from, to)) return
    this.#hex ??= this.#createPackedDecoder(HEX)
    this.#hex.read(from, to, isContinued, isOpen, isDivided)
  }

  readonly #thirtyTwo: RunHandler = (from, to, isContinued, isOpen, isDivided) => {
    this.#base32 ??= this.#createPackedDecoder(this.#scheme32)
    this.#base32.read(from, to, isContinued, isOpen, isDivided)
  }
}
