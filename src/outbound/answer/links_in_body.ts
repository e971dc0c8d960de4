/**
 * JSON strings that are a URL of the called host lead back, as links in headers do (protocol 6.3). The body is
 * changed as it comes: of an unfinished string that may be a URL, at most `MAX_LINK` characters are held back.
 */
import { TimeSlice } from '../../platform/async/time_slice.ts'
import type { BodyKind } from '../guard.ts'
import { isHost, type LinkBase, ownBase, withoutDots } from '../links.ts'

/** Characters of a string that is still looked at as a URL. */
const MAX_LINK = 4096
/** Bytes that are looked through before others have their turn. */
const PIECE = 131_072
const START = '"https:'
/**
 * A string from its quote on, slashes and others as JSON may escape them. A quote that opens a string has no
 * backslash before it, and one that closes it no letter behind.
 */
const STRING =
  /(?<!\\)"https:(?:\\?\/|\\u002[fF]){2}([^/?#\s"\\]{1,255})((?:[!#-[\]-~\x80-\xff]|\\\/|\\u00[2-7][\da-fA-F])*)"/g
/** Escaped space and quote. */
const NO_URL = /\\u002[02]/

/** Whether a body of that kind has JSON strings. */
export function hasStrings(kind: BodyKind): boolean {
  const frames = 'frames' in kind ? kind.frames : undefined
  return kind.isJson || frames === 'events' || frames === 'lines'
}

export class LinkRewriter {
  readonly #host: string
  readonly #base: LinkBase
  /** What may become a link, and the character before it. One character is one byte. */
  #held = ''
  #before = ''

  /** @param host as URLs write it, without the port 443 */
  constructor(host: string, base: LinkBase) {
    this.#host = host
    this.#base = base
  }

  push(bytes: Uint8Array): Uint8Array {
    const text = this.#held + latin1(bytes)
    const end = text.length - heldBack(text, this.#before)
    const done = this.#rewrite(text.slice(0, end))
    this.#held = text.slice(end)
    if (end > 0) this.#before = text.charAt(end - 1)
    return Buffer.from(done, 'latin1')
  }

  /** What is left of a body that has ended. */
  flush(): Uint8Array {
    const left = this.#held
    this.#held = ''
    return Buffer.from(left, 'latin1')
  }

  /** A body that is here whole; the same bytes where nothing leads back. */
  async whole(bytes: Uint8Array): Promise<Uint8Array> {
    if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(START)) return bytes
    const pieces: Uint8Array[] = []
    const slice = new TimeSlice()
    for (let at = 0; at < bytes.length; at += PIECE) {
      pieces.push(this.push(bytes.subarray(at, at + PIECE)))
      await slice.next()
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

  #rewrite(text: string): string {
    if (!text.includes(START)) return text
    const before = this.#before === '\\' ? '\\' : ''
    const rewritten = `${before}${text}`.replace(STRING, (all, authority: string, rest: string) =>
      isHost(authority, this.#host) && !NO_URL.test(rest)
        ? `"${ownBase(this.#host, this.#base)}${pathIn(rest)}"`
        : all,
    )
    return rewritten.slice(before.length)
  }
}

/** What follows the host, of a JSON string: with its escapes as long as no dot is escaped or makes a segment. */
function pathIn(rest: string): string {
  const plain: string = JSON.parse(`"${rest}"`)
  const path = withoutDots(plain.replaceAll('\\', '/'))
  return path === plain ? rest : JSON.stringify(path).slice(1, -1)
}

/** How many characters at the end may begin a link: it holds no other quote, so the last one begins or ends it. */
function heldBack(text: string, before: string): number {
  const at = text.lastIndexOf('"')
  const tail = at < 0 ? '' : text.slice(at)
  // The end of one that is all there.
  if (tail === '"' && text.startsWith(START, text.lastIndexOf('"', at - 1))) return 0
  if (tail === '' || tail.length > MAX_LINK || /\s/.test(tail)) return 0
  if ((at === 0 ? before : text.charAt(at - 1)) === '\\') return 0
  return START.startsWith(tail.slice(0, START.length)) ? tail.length : 0
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
