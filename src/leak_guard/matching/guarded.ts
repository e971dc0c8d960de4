/**
 * Collects the texts that are guarded with a value (protocol 6.1): the value, its lines and words or the leaves of its
 * JSON, other spellings of each, and the runs with recognisable fragments.
 */

import { holdsEscape } from '../decoding/unescape.ts'
import type { Label } from './patterns.ts'
import type { Pattern } from './patterns_build.ts'

/** A value under the name of its placeholder. */
export type NamedBytes = { readonly name: string; readonly bytes: Uint8Array }

/** Bytes made of a value. `hasFragments` is for signatures and tokens, not for bytes that contain known text. */
export type MadeBytes = NamedBytes & {
  readonly hasFragments?: boolean
  /** The caller's text in place of these bytes, which replaces an echo; base64. */
  readonly sent?: string
}

/** Minimum characters of a guarded value: one that a call used, and any other. */
export const MIN_USED = 4
export const MIN_VALUE = 8
/** Minimum length of a run of the fragment alphabet, and of a fragment. */
export const FRAGMENT = 16

/** Parts that are guarded separately, of one value and of all: a value that is no credential may have millions. */
export const MAX_PARTS = 256
export const MAX_ALL_PARTS = 8_192

/** Bytes of strings that are copied in one step, and the cost of a string in addition to its bytes. */
export const COPIED_AT_ONCE = 65_536
export const PER_PATTERN = 128

const SPACE = 0x20
/** The bits that bytes have which continue a character of UTF-8. */
const CONTINUES = 0xc0
const ARMOUR = /^-----(BEGIN|END) .*-----$/
const URL_SHAPE = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\s]*)(\S*)$/i
/** Fields of a connection string that give its target as a host name. */
const PLACE =
  /(?<=^|;)(?:DefaultEndpointsProtocol=https?|\w*Endpoint(?:Suffix)?=(?:\w+:\/\/)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+(?::\d+)?\/?)(?=;|$)/g
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const HEXADECIMAL = /^[0-9a-f]+$/i

/** Texts to search for, each once: a value takes precedence over a part of another one. */
export class Collection {
  readonly #texts = new Map<string, string[]>()
  readonly #sent = new Map<string, string>()
  /** Texts that runs are taken from. */
  readonly stretches: string[] = []
  #parts = 0
  /** Whether a value itself contains an escape. */
  holdsEscape = false

  /** Adds a value of at least `least` characters and all texts that are guarded with it. */
  addValue({ name, bytes }: NamedBytes, least: number): void {
    const text = trimAsciiSpace(toLatin1(bytes))
    if (charactersOf(text) < least) return
    this.holdsEscape ||= holdsEscape(toBytes(text))
    this.#addText(text, name)
    const leaves = leavesOf(text)
    this.#addParts(leaves ?? wordsOf(text))
    for (const stretch of leaves ?? stretchesOf(text)) {
      if (stretch.length >= FRAGMENT) this.stretches.push(stretch)
    }
  }

  /** Adds a used value that is too short to be guarded otherwise. */
  addShort({ name, bytes }: NamedBytes): void {
    if (!mayBeShort(bytes)) return
    const text = trimAsciiSpace(toLatin1(bytes))
    const count = charactersOf(text)
    if (count < MIN_USED || count >= MIN_VALUE) return
    this.holdsEscape ||= holdsEscape(toBytes(text))
    this.#addText(text, name)
  }

  /** Adds bytes made of a value, unchanged; base64 also without its padding. */
  addMade({ name, bytes, hasFragments, sent }: MadeBytes): void {
    const text = toLatin1(bytes)
    for (const form of new Set([text, text.replace(/={1,2}$/, '')])) {
      if (form.length >= MIN_USED) this.#add(form, name)
      if (sent !== undefined) this.#sent.set(form, sent)
      if (!hasFragments) continue
      for (let at = 0; at + FRAGMENT < form.length; at += FRAGMENT) {
        this.#add(form.slice(at, at + FRAGMENT), null)
      }
      if (form.length > FRAGMENT) this.#add(form.slice(-FRAGMENT), null)
    }
  }

  /** The strings of at least `least` bytes. */
  *patterns(least: number): Generator<void, Pattern[]> {
    const labels = new Map<string, Label>()
    const patterns: Pattern[] = []
    let done = 0
    for (const [text, names] of this.#texts) {
      if (text.length < least) continue
      const sorted = names.length > 1 ? names.toSorted(compareByBytes) : names
      const sent = this.#sent.get(text)
      const key = [...sorted, sent].join('\0')
      const label = labels.get(key) ?? { names: sorted, ...(sent === undefined ? {} : { sent }) }
      labels.set(key, label)
      patterns.push({ bytes: toBytes(text), label })
      done += PER_PATTERN + text.length
      if (done < COPIED_AT_ONCE) continue
      done = 0
      yield
    }
    return patterns
  }

  /** The first of them that are no ordinary words. */
  #addParts(parts: Iterable<string>): void {
    const most = Math.min(MAX_ALL_PARTS, this.#parts + MAX_PARTS)
    for (const part of parts) {
      if (this.#parts >= most) return
      if (!isDistinctive(part) || this.#texts.has(part)) continue
      this.#addText(part, null)
      this.#parts++
    }
  }

  #addText(text: string, name: string | null): void {
    for (const form of formsOf(text)) this.#add(form, name)
  }

  #add(text: string, name: string | null): void {
    const names = this.#texts.get(text) ?? []
    if (name !== null && !names.includes(name)) names.push(name)
    this.#texts.set(text, names)
  }
}

/** Variants of a text: other line ends, case, dashes, character encodings. */
function formsOf(text: string): Set<string> {
  const forms = new Set([text])
  if (text.includes('\n')) {
    const plain = text.replaceAll('\r\n', '\n')
    forms.add(plain).add(plain.replaceAll('\n', '\r\n'))
  }
  if (HEXADECIMAL.test(text) || UUID.test(text)) {
    for (const form of [text, text.replaceAll('-', '')]) {
      forms.add(form.toLowerCase()).add(form.toUpperCase())
    }
  }
  if (/[\x80-\xff]/.test(text)) addCharacterForms(forms, text)
  return forms
}

/** Adds other encodings of a text that is not ASCII: Latin-1, or UTF-16 if Latin-1 cannot encode it. */
function addCharacterForms(forms: Set<string>, text: string): void {
  const decoded = Buffer.from(text, 'latin1').toString('utf8')
  if (decoded.includes('\ufffd')) return
  if (!/[^\0-\xff]/.test(decoded)) {
    forms.add(decoded)
    return
  }
  const utf16 = Buffer.from(decoded, 'utf16le')
  forms.add(utf16.toString('latin1')).add(utf16.swap16().toString('latin1'))
}

/** Lines and words, PEM armour excepted. */
function* wordsOf(text: string): Generator<string> {
  const lines = text.split(/\r\n|[\r\n]/).map((line) => line.trim())
  const kept = lines.filter((line) => !ARMOUR.test(line))
  yield* kept
  for (const line of kept) for (const [word] of line.matchAll(/\S+/g)) yield word
}

/** Returns the texts for fragments: a URL without scheme and host, a connection string without host names. */
function stretchesOf(text: string): string[] {
  const url = URL_SHAPE.exec(text)
  if (!url) {
    const lines = text.split(/[\r\n]+/).filter((line) => !ARMOUR.test(line.trim()))
    return lines.map((line) => line.replace(PLACE, ''))
  }
  const authority = url[1] ?? ''
  return [authority.slice(0, Math.max(0, authority.lastIndexOf('@'))), url[2] ?? '']
}

/** The strings in a value that is a JSON object or array; null for any other. */
function leavesOf(text: string): string[] | null {
  if (!/^[{[]/.test(text)) return null
  try {
    const leaves: string[] = []
    const waiting: unknown[] = [JSON.parse(Buffer.from(text, 'latin1').toString())]
    while (waiting.length > 0) {
      const next = waiting.pop()
      if (typeof next === 'string') leaves.push(toLatin1(Buffer.from(next)).trim())
      else if (typeof next === 'object' && next !== null) {
        for (const child of Object.values(next)) waiting.push(child)
      }
    }
    return leaves
  } catch {
    return null
  }
}

/** Whether there may be fewer than 8 characters between white space. For most values, 8 bytes decide. */
function mayBeShort(bytes: Uint8Array): boolean {
  let characters = 0
  for (let at = 0; at < bytes.length && characters < MIN_VALUE; at++) {
    const byte = bytes[at] ?? 0
    if (byte > SPACE && (byte & CONTINUES) !== 0x80) characters++
  }
  return characters < MIN_VALUE
}

/** Long enough and with letters and digits. */
function isDistinctive(part: string): boolean {
  return charactersOf(part) >= MIN_VALUE && /[0-9]/.test(part) && /[A-Za-z\x80-\xff]/.test(part)
}

/** Characters of UTF-8: the bytes that do not continue one. */
export function charactersOf(text: string): number {
  return text.replace(/[\x80-\xbf]/g, '').length
}

/** Without ASCII white space at either end: the others are no single bytes. */
function trimAsciiSpace(text: string): string {
  return text.replace(/^[\t-\r ]+/, '').replace(/(?<![\t-\r ])[\t-\r ]+$/, '')
}

/** Texts are held one character for each byte while they are taken apart. */
function toLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

export function toBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'))
}

function compareByBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
