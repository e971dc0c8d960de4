/**
 * Releases the answer with its finds replaced. It keeps undecided bytes, and their position in a JSON text, so that
 * JSON stays valid: a replacement outside of a string gets quotes, and no escape or number is cut.
 */

import { ARRAY, PADDED } from './decoding/form_sink.ts'
import { JsonLexer } from './json_lexer.ts'
import type { Fragment } from './matching/fragments.ts'
import type { Label } from './matching/patterns.ts'
import type { SearchSink } from './search.ts'
import { mergeInto, type Span, Spans } from './spans.ts'
import { WaitingFragments } from './waiting_fragments.ts'

const OPENING = 0x5b
const CLOSING = 0x5d
const PADDING = 0x3d
const BRACE = 0x7b
const NEVER = new Uint8Array(0)

/** The replacement of a find; `isEscaped` inside a JSON string. */
export type Naming = (label: Label, isEscaped: boolean) => string

export type ReleaseOptions = {
  /** Whether the answer is JSON; if absent, its first byte decides. */
  readonly isJson?: boolean
  /** Whether a find is overwritten by as many `*`, so that other bytes keep their place. */
  readonly keepsLength?: boolean
}

export class Release implements SearchSink {
  work = 0
  /** Whether anything was replaced. */
  isReplaced = false
  readonly #naming: Naming
  readonly #keepsLength: boolean
  readonly #spans = new Spans()
  readonly #fragments = new WaitingFragments()
  readonly #lexer = new JsonLexer()
  /** `null` until the first bytes of the answer decide it. */
  #isJson: boolean | null
  #bracket = 0
  #buffer: Uint8Array = NEVER
  /** Positions in the answer: of the buffer's first byte, of the released and the read bytes, and of the end. */
  #base = 0
  #given = 0
  #read = 0
  #end = 0
  /** Start of the text that is being replaced. */
  #from = 0
  #current: Span | null = null
  #isQuoted = false

  constructor(naming: Naming, { isJson, keepsLength = false }: ReleaseOptions) {
    this.#naming = naming
    this.#isJson = isJson ?? null
    this.#keepsLength = keepsLength
  }

  add(start: number, end: number, label: Label, form = 0): void {
    this.work++
    this.#fragments.addExact(start, end)
    if (form & ARRAY) this.#addArray(start, end, label)
    else this.#addSpan(start, end, label, form)
  }

  addFragment(fragment: Fragment): void {
    this.work++
    this.#fragments.add(fragment)
  }

  /** Whether something was found that is not given out. */
  get isPending(): boolean {
    const isFound = this.#spans.first !== undefined || !this.#fragments.isEmpty
    return this.#current !== null || isFound
  }

  /** Position in the answer up to which it was read. */
  get position(): number {
    return this.#read
  }

  /** Takes a whole answer, which is not copied. */
  takeWhole(answer: Uint8Array): void {
    this.#buffer = answer
    this.#end = answer.length
    this.#guess(answer)
  }

  /** Keeps a chunk, at amortised constant cost for each byte. Drops released bytes. */
  append(chunk: Uint8Array): void {
    const from = Math.min(this.#given, this.#read)
    const kept = this.#end - from
    if (this.#end - this.#base + chunk.length > this.#buffer.length) {
      const room = 2 * (kept + chunk.length)
      const target = room > this.#buffer.length ? new Uint8Array(room) : this.#buffer
      target.set(this.#buffer.subarray(from - this.#base, this.#end - this.#base))
      this.#buffer = target
      this.#base = from
    }
    this.#buffer.set(chunk, this.#end - this.#base)
    this.#end += chunk.length
    this.#guess(chunk)
  }

  /** Releases the answer up to `before`, the first undecided position, as far as possible. */
  give(before: number, isLast: boolean, out: Uint8Array[]): void {
    const until = this.#fragments.decide(before, this.#spans)
    while (this.#current ? this.#giveSpan(until, isLast, out) : this.#giveText(until, out)) {
      // Text and spans alternate.
    }
    if (this.#current) return
    this.#copy(isLast ? this.#read : this.#read - this.#countWithin(), out)
  }

  /** Up to the next span, which then is the current one; false when it is missing. */
  #giveText(until: number, out: Uint8Array[]): boolean {
    const span = this.#spans.first
    this.#advance(Math.min(until, span?.start ?? until))
    if (!span || span.start >= until) return false
    this.#spans.shift()
    const isCut = this.#isJson === true && this.#lexer.goesOn(this.#getByteAt(span.start))
    this.#copy(span.start - (isCut ? this.#countWithin() : 0), out)
    this.#current = span
    this.#from = this.#given
    const isOutside = this.#isJson === true && !this.#lexer.isInString
    this.#isQuoted = isOutside || (this.#isJson !== true && (span.form & ARRAY) !== 0)
    this.isReplaced = true
    return true
  }

  /** Replaces the current span with all that overlaps it; false if its end is undecided. */
  #giveSpan(until: number, isLast: boolean, out: Uint8Array[]): boolean {
    const span = this.#current
    if (!span) return false
    this.#mergeInto(span)
    this.#advance(Math.min(until, span.end))
    if (this.#read < span.end) return false
    while (this.#read < until && this.#isGoingOn(span)) {
      this.#advance(this.#read + 1)
      span.end = this.#read
      this.#mergeInto(span)
      if (span.end > this.#read) return true
    }
    if (this.#read >= until && !isLast && this.#mayGoOn(span)) return false
    out.push(this.#textFor(span))
    this.#current = null
    this.#given = this.#read
    return true
  }

  /** Returns the replacement of a span, up to the position read so far. */
  #textFor({ label }: Span): Buffer {
    if (this.#keepsLength) return Buffer.alloc(this.#read - this.#from, '*')
    const isOutside = this.#isJson === true ? !this.#lexer.isInString : this.#isQuoted
    const text = this.#naming(label, this.#isJson === true || this.#isQuoted)
    return Buffer.from(`${this.#isQuoted ? '"' : ''}${text}${isOutside ? '"' : ''}`)
  }

  #mergeInto(span: Span): void {
    const reach = Math.max(span.end, this.#read)
    for (let next = this.#spans.first; next && next.start < reach; next = this.#spans.first) {
      mergeInto(span, next)
      this.#spans.shift()
    }
  }

  /** Whether the byte after the span must go with it. */
  #isGoingOn(span: Span): boolean {
    const byte = this.#buffer[this.#read - this.#base] ?? 0
    if (byte === PADDING && span.form & PADDED) return true
    return this.#isJson === true && this.#lexer.goesOn(byte)
  }

  #mayGoOn(span: Span): boolean {
    return (span.form & PADDED) !== 0 || this.#countWithin() > 0
  }

  #countWithin(): number {
    return this.#isJson === true ? this.#lexer.within : 0
  }

  #advance(to: number): void {
    if (to <= this.#read) return
    if (this.#isJson === true) {
      this.#lexer.read(this.#buffer, this.#read - this.#base, to - this.#base)
    }
    this.#read = to
    if (this.#current) this.#given = to
  }

  #copy(to: number, out: Uint8Array[]): void {
    if (to <= this.#given) return
    out.push(this.#buffer.subarray(this.#given - this.#base, to - this.#base))
    this.#given = to
  }

  /** The brackets go only when they both belong to the find. */
  #addArray(start: number, end: number, label: Label): void {
    let [from, to] = [start, end]
    if (this.#getByteAt(from) !== OPENING || this.#getByteAt(to - 1) !== CLOSING) {
      if (this.#getByteAt(from) === OPENING)
        do from++
        while (isSpace(this.#getByteAt(from)))
      if (this.#getByteAt(to - 1) === CLOSING)
        do to--
        while (isSpace(this.#getByteAt(to - 1)))
    }
    this.#addSpan(from, to, label, ARRAY)
  }

  /** Adds a find. If its beginning was already sent, adds only the rest. */
  #addSpan(start: number, end: number, label: Label, form: number): void {
    const from = this.#current ? start : Math.max(start, this.#read)
    if (from < end) this.#spans.add(from, end, label, form)
  }

  /** Decides by the first two bytes other than white space, which may be in different chunks. */
  #guess(chunk: Uint8Array): void {
    if (this.#isJson !== null) return
    for (const byte of chunk) {
      if (isSpace(byte) || isMark(byte)) continue
      if (this.#bracket !== 0 || (byte !== OPENING && byte !== BRACE)) {
        this.#isJson = this.#bracket !== 0 && mayFollow(this.#bracket, byte)
        return
      }
      this.#bracket = byte
    }
  }

  #getByteAt(position: number): number {
    return this.#buffer[position - this.#base] ?? 0
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
}

/** Whether a byte belongs to a byte order mark. */
function isMark(byte: number): boolean {
  return byte === 0xef || byte === 0xbb || byte === 0xbf
}

/** Whether a byte may follow JSON's opening bracket. */
function mayFollow(bracket: number, byte: number): boolean {
  const after = bracket === OPENING ? '"{[]-0123456789tfn' : '"}'
  return after.includes(String.fromCharCode(byte))
}
