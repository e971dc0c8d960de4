/**
 * Step 11 of the resolver: replaces every trace of the injected credentials in a response by
 * `[REDACTED]`: raw, base64 (three alignments, both alphabets, with and without padding), hex in
 * any case, each plain, percent-, JSON- or HTML-escaped or any mixture of these, also one escape
 * inside another. Overlapping finds are replaced together.
 *
 * Not looked for: values under 4 characters; UTF-16 and UTF-32 bodies; encodings beyond those
 * named (an upstream that wants to hide a credential from this scan can). In base64 the one digit
 * on each side that mixes with neighbouring bytes stays.
 */

import { isIntroducer } from './escapes.ts'
import { LOOKAHEAD, Matcher } from './matcher.ts'
import { compileNeedles, type Needles, type Sought, seek } from './needles.ts'
import { canBeginIn, nextBeginning } from './pairs.ts'

const MARKER = new Uint8Array(Buffer.from('[REDACTED]'))
const NOTHING = new Uint8Array(0)

/** Looks for one set of credentials in any number of bodies and header values. */
export class Sanitiser {
  readonly #sought: Sought
  /** Compiled for the first text in which a credential can begin: most answers have none. */
  #needles: Needles | undefined
  #redacted = false

  /** `wholes` are Basic credentials as sent (base64 text), which are also looked for as they are. */
  constructor(values: readonly Uint8Array[], wholes: readonly Uint8Array[] = []) {
    this.#sought = seek(values, wholes)
  }

  /** Whether anything has been replaced so far. */
  get redacted(): boolean {
    return this.#redacted
  }

  /** The body with the credentials replaced; the same array when there was nothing to replace. */
  redactBody(body: Uint8Array): Uint8Array {
    const { pairs } = this.#sought
    if (nextBeginning(pairs, body, 0, body.length) === body.length) return body
    this.#needles ??= compileNeedles(this.#sought)
    const matcher = new Matcher(this.#needles)
    matcher.advance(body, 0, body.length)
    if (matcher.spans.length === 0) return body
    this.#redacted = true
    const pieces: Uint8Array[] = []
    let from = 0
    for (const span of matcher.spans) {
      pieces.push(body.subarray(from, span.start), MARKER)
      from = span.end
    }
    pieces.push(body.subarray(from))
    return concat(pieces)
  }

  /** The same for a header value as `fetch` gives it: one character for each byte. */
  redactHeaderValue(value: string): string {
    if (!canBeginIn(this.#sought.pairs, value)) return value
    const encoding = /^[\0-\xff]*$/.test(value) ? 'latin1' : 'utf8'
    const bytes = new Uint8Array(Buffer.from(value, encoding))
    const redacted = this.redactBody(bytes)
    return redacted === bytes ? value : Buffer.from(redacted).toString(encoding)
  }
}

/**
 * The same for a body that arrives in chunks. Only what could still belong to a credential is held
 * back: the beginning of one, an escape that is not complete, and where either is under way the last
 * bytes; a line that ends in neither goes out whole, so that streamed events are not delayed. Any
 * division into chunks gives the same output. Chunks are not kept and may be reused after `push`.
 */
export class Redactor {
  readonly #needles: Needles
  readonly #matcher: Matcher
  #buffer: Uint8Array = NOTHING
  /** The position in the stream of the first byte of the buffer, and how many bytes it has. */
  #base = 0
  #length = 0
  /** Everything before this position has been given out. */
  #emitted = 0
  #redacted = false
  #flushed = false

  constructor(values: readonly Uint8Array[], wholes: readonly Uint8Array[] = []) {
    this.#needles = compileNeedles(seek(values, wholes))
    this.#matcher = new Matcher(this.#needles)
  }

  /** Whether anything has been replaced so far. */
  get redacted(): boolean {
    return this.#redacted
  }

  /** Whether the rest was asked for. */
  get isFlushed(): boolean {
    return this.#flushed
  }

  /** Comparisons so far, for tests of the cost. */
  get work(): number {
    return this.#matcher.work
  }

  /** Takes the next chunk and returns what is certain by now. */
  push(chunk: Uint8Array): Uint8Array {
    if (this.#needles.list.length === 0) return chunk
    this.#append(chunk)
    const matcher = this.#matcher
    const text = this.#buffer.subarray(0, this.#length)
    const decided = this.#base + decidedLength(text)
    matcher.advance(text, this.#base, Math.min(decided, this.#base + text.length - TAIL_BYTES))
    while (matcher.position < decided && matcher.isDecidedAt(text, this.#base)) {
      matcher.advance(text, this.#base, matcher.position + 1)
    }
    return this.#give(matcher.earliest)
  }

  /** The rest, after the last chunk. */
  flush(): Uint8Array {
    this.#flushed = true
    const end = this.#base + this.#length
    this.#matcher.advance(this.#buffer.subarray(0, this.#length), this.#base, end)
    return this.#give(end)
  }

  #give(until: number): Uint8Array {
    if (this.#matcher.spans.length > 0) this.#redacted = true
    return this.#emit(until)
  }

  /** Gives out everything before the position `until`, with what was found replaced. */
  #emit(until: number): Uint8Array {
    const pieces: Uint8Array[] = []
    const { spans } = this.#matcher
    for (let span = spans[0]; span !== undefined && span.start < until; span = spans[0]) {
      pieces.push(this.#take(span.start))
      if (!span.begun) pieces.push(MARKER)
      span.begun = true
      span.start = Math.min(until, span.end)
      this.#emitted = span.start
      if (span.end > until) break
      spans.shift()
    }
    pieces.push(this.#take(until))
    return concat(pieces)
  }

  #take(until: number): Uint8Array {
    if (until <= this.#emitted) return NOTHING
    const piece = this.#buffer.subarray(this.#emitted - this.#base, until - this.#base)
    this.#emitted = until
    return piece
  }

  /** Appends at amortised constant cost: the buffer grows and is compacted by halves. */
  #append(chunk: Uint8Array): void {
    const kept = this.#base + this.#length - this.#emitted
    if (this.#length + chunk.length > this.#buffer.length) {
      const room = 2 * (kept + chunk.length)
      const target = room > this.#buffer.length ? new Uint8Array(room) : this.#buffer
      target.set(this.#buffer.subarray(this.#emitted - this.#base, this.#length))
      this.#buffer = target
      this.#base = this.#emitted
      this.#length = kept
    }
    this.#buffer.set(chunk, this.#length)
    this.#length += chunk.length
  }
}

/** A needle's tail has at most three characters; they are decided only when they are there. */
const TAIL_BYTES = 4

/**
 * How many bytes of the text read the same whatever follows: all, unless it ends inside what may be an
 * escape. Escapes, nested ones too, consist of letters, digits and `#;%&\+` only.
 */
function decidedLength(text: Uint8Array): number {
  let decided = text.length
  for (let at = text.length - 1; at >= 0 && at > text.length - LOOKAHEAD; at--) {
    const byte = text[at] ?? 0
    if (isIntroducer(byte)) decided = at - TAIL_BYTES
    else if (!isEscapeBody(byte)) break
  }
  return Math.max(0, decided)
}

function isEscapeBody(byte: number): boolean {
  const lower = byte | 0x20
  const isLetter = lower >= 0x61 && lower <= 0x7a
  return isLetter || (byte >= 0x30 && byte <= 0x39) || byte === 0x23 || byte === 0x3b
}

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces))
}
