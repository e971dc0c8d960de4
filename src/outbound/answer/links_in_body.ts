/**
 * Rewrites JSON strings that are a URL of the called host, as links in headers (protocol 6.3). The body is changed in
 * chunks: of an unfinished string that may be a URL, at most `MAX_LINK` characters are held back.
 */
import { TimeSlice } from '../../core/async/time_slice.ts'
import type { GuardedBodyKind } from '../guard.ts'
import { findLastSegment, type LinkBase, leadReferenceBack, leadTextBack } from '../links.ts'
import { EndpointEvent } from './endpoint_event.ts'

/** Maximum characters of a string that may be a URL: 8 KiB, each one escaped. */
const MAX_LINK = 65_536
/** Bytes searched per turn of the event loop. */
const PIECE = 131_072
/**
 * The quote before a string that may be a link, also an escaped one. A quote that closes a string is followed by
 * none of these.
 */
const START = /" *[hH/\\]/g
/** The rest of a string up to its closing quote. */
const REST = /(?:[^"\\\n\r]|\\.)*/y
const PLAIN = /^[ -[\]-~]*$/
/** Without escapes. */
const REFERENCE = /^" *(?:https?:|\/)/i

/** Whether a body of that kind has JSON strings. */
export function hasStrings(kind: GuardedBodyKind): boolean {
  const frames = 'frames' in kind ? kind.frames : undefined
  return kind.isJson || frames === 'events' || frames === 'lines'
}

export class LinkRewriter {
  readonly #host: string
  readonly #base: LinkBase
  /** Each rewritten link contains one of these. */
  readonly #hints: readonly string[]
  /** Text that may become a link, and the character before it. One character is one byte. */
  #held = ''
  #before = ''
  readonly #endpoint: EndpointEvent | null

  /** @param host as URLs write it, without the port 443 */
  constructor(host: string, base: LinkBase, isEventStream = false) {
    this.#endpoint = isEventStream
      ? new EndpointEvent((reference) => leadReferenceBack(reference, host, base))
      : null
    this.#host = host
    this.#base = base
    const names = base.prefixes.map(findLastSegment)
    this.#hints = [`//${host.replace(/:.*/, '')}`, '%', ...new Set(names)]
  }

  push(bytes: Uint8Array): Uint8Array {
    const text = toLatin1(bytes)
    return this.#push(this.#endpoint?.push(text) ?? text)
  }

  #push(pushed: string): Uint8Array {
    const text = this.#held + pushed
    const { done, end } = this.#rewrite(text)
    this.#held = text.slice(end)
    if (end > 0) this.#before = text.charAt(end - 1)
    return Buffer.from(done, 'latin1')
  }

  /** Returns the rest of a body that has ended. */
  flush(): Uint8Array {
    const last = this.#push(this.#endpoint?.flush() ?? '')
    const left = Buffer.from(this.#held, 'latin1')
    this.#held = ''
    return last.length === 0 ? left : Buffer.concat([last, left])
  }

  /** Rewrites a complete body in one call. */
  rewriteAtOnce(bytes: Uint8Array): Uint8Array {
    return Buffer.concat([this.push(bytes), this.flush()])
  }

  /** Rewrites a complete body in steps. Returns equal bytes if no link changes. */
  async rewriteWhole(bytes: Uint8Array): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    const slice = new TimeSlice()
    for (let at = 0; at < bytes.length; at += PIECE) {
      pieces.push(this.push(bytes.subarray(at, at + PIECE)))
      await slice.waitForNextSlice()
    }
    return Buffer.concat([...pieces, this.flush()])
  }

  async *pieces(bodies: AsyncGenerator<Uint8Array, void>): AsyncGenerator<Uint8Array, void> {
    for await (const piece of bodies) {
      const rewritten = this.push(piece)
      if (rewritten.length > 0) yield rewritten
    }
    const last = this.flush()
    if (last.length > 0) yield last
  }

  /** Returns the rewritten text, and the end of it. The rest is held back. Linear: each character is passed once. */
  #rewrite(text: string): { done: string; end: number } {
    const done: string[] = []
    let copied = 0
    let at = 0
    for (let start = startAfter(text, 0); start >= 0; start = startAfter(text, at)) {
      at = start + 1 + lengthOfRest(text, start + 1)
      if (text[at] === '"') {
        at += 1
        const link = this.#linkAt(text, start, at)
        if (link === null) continue
        done.push(text.slice(copied, start), link)
        copied = at
      } else if (isUnfinished(text, start, at)) {
        done.push(text.slice(copied, start))
        return { done: done.join(''), end: start }
      }
    }
    const end = openQuote(text, at)
    done.push(text.slice(copied, end))
    return { done: done.join(''), end }
  }

  /** Null for an escaped quote, too, which begins no string. */
  #linkAt(text: string, start: number, end: number): string | null {
    const before = start === 0 ? this.#before : text[start - 1]
    return before === '\\' ? null : this.#linkFor(text.slice(start, end))
  }

  #mayLead(quoted: string): boolean {
    if (!REFERENCE.test(quoted)) return false
    // A host may be written in capitals; a password has some.
    const lower = quoted.toLowerCase()
    for (const hint of this.#hints) if (quoted.includes(hint) || lower.includes(hint)) return true
    return false
  }

  /** Returns a string's replacement, including quotes; null if it stays. */
  #linkFor(quoted: string): string | null {
    if (!quoted.includes('\\') && !this.#mayLead(quoted)) return null
    const text = textOf(quoted)
    const link = text === null ? null : leadTextBack(text, this.#host, this.#base)
    return link === null ? null : toLatin1(Buffer.from(JSON.stringify(link)))
  }
}

/** Returns the start of the next string that may be a link; -1 if there is no such string. */
function startAfter(text: string, from: number): number {
  START.lastIndex = from
  return START.exec(text)?.index ?? -1
}

/** Whether a string ends with the text, perhaps within an escape, and is short enough for a link. */
function isUnfinished(text: string, start: number, at: number): boolean {
  const rest = text.slice(at)
  return (rest === '' || rest === '\\') && text.length - start <= MAX_LINK
}

/** Returns the position of a quote at the end, before optional spaces, that may begin a link. */
function openQuote(text: string, from: number): number {
  let at = text.length
  while (at > from && text[at - 1] === ' ') at -= 1
  const isOpen = at > from && text[at - 1] === '"' && text.length - at < MAX_LINK
  return isOpen ? at - 1 : text.length
}

function lengthOfRest(text: string, from: number): number {
  REST.lastIndex = from
  return REST.exec(text)?.[0].length ?? 0
}

function textOf(quoted: string): string | null {
  if (PLAIN.test(quoted)) return quoted.slice(1, -1)
  try {
    return JSON.parse(Buffer.from(quoted, 'latin1').toString())
  } catch {
    return null
  }
}

function toLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
