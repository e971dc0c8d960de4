/**
 * Step 4 of the resolver: finds `SVC_SECRET_<NAME>` and puts the secrets in their place. Texts are
 * cut into literals and names once; the secrets are set between the literals and the result is
 * never scanned again, so a secret whose value looks like a placeholder stays as it is.
 */
import type { MadeBytes } from '../leak_guard/index.ts'
import { fromUtf8 } from '../platform/crypto/encoding.ts'
import { Fault } from '../platform/fault.ts'
import type { Secret } from '../platform/secret.ts'
import { PLACEHOLDER_PREFIX, SECRET_NAME } from '../platform/secret_name.ts'
import { MAX_PLACEHOLDERS, tooManyPlaceholders } from './budget.ts'
import { checkHeaderText, type HeaderPair, headerBytes, MAX_HEADER_BYTES } from './headers.ts'
import { Hidden } from './hidden.ts'
import type { SigningStyle } from './signing/sign.ts'
import { bytesIn } from './signing/signature.ts'
import { openTicket, TICKET_PATTERN } from './signing/tickets.ts'

export type InjectionStyle = 'header' | 'basic'
export type LocationStyle = 'query' | 'path' | 'json' | 'form'

/**
 * One place where a secret is asked for; `header` is the name of its header in lower case, empty where
 * the place is none.
 */
export type Placeholder = {
  name: string
  style: InjectionStyle | LocationStyle | SigningStyle
  header: string
  /** What the secret is asked to sign. */
  template?: string
  isForeign?: boolean
}

/** Headers with their values. */
export type Injection = Hidden<{
  headers: readonly HeaderPair[]
  /** Each re-encoded credential, as sent: the guard of the answer looks for it as such, too. */
  derived: readonly MadeBytes[]
}>

/** A text cut at its placeholders: a piece is a literal, or the name of a secret with a ticket or without. */
export type Piece = { literal: string } | Named
type Named = { name: string; ticket?: string }

/** A longer or empty run of name characters, or one that starts with a digit, is malformed. */
const NAME = new RegExp(`${SECRET_NAME}(?![A-Za-z0-9_])`, 'y')
const TICKET = new RegExp(TICKET_PATTERN, 'y')
const BASIC = /^([Bb][Aa][Ss][Ii][Cc] +)([A-Za-z0-9+/]+)(={0,2})([ \t]*)$/
/** Binary metadata of gRPC ("Custom-Metadata"), whose names end so. */
const BINARY = /^()([A-Za-z0-9+/]+)(={0,2})()$/
const UTF8 = new TextEncoder()
/** What is not ASCII becomes some other character that is none: no header takes it. */
const ASCII = new TextDecoder('latin1')

/**
 * Every placeholder of the headers in order, repeated ones too. Throws `invalid_header` when a name
 * does not match `^[A-Za-z_][A-Za-z0-9_]{0,127}$`, `validation_error` for too many in one header.
 */
export function findPlaceholders(headers: readonly Readonly<HeaderPair>[]): Placeholder[] {
  const found: Placeholder[] = []
  for (const [header, value] of headers) {
    const template = readTemplate(header, value)
    for (const piece of template?.pieces ?? []) {
      if (!('name' in piece)) continue
      found.push({
        name: piece.name,
        style: template?.style ?? 'header',
        header: header.toLowerCase(),
      })
    }
  }
  return found
}

/**
 * The headers with every placeholder replaced. Inside of base64 a secret may be any bytes,
 * elsewhere only tab and 0x20–0x7e, and no whitespace at either end: it would be lost on the way, and
 * what an upstream echoes would not be the value. Throws `invalid_header` for a malformed name, `unknown_secret`
 * for one that `values` lacks, `unusable_secret` when a secret cannot stand in its place or the
 * headers would exceed 64 KiB.
 */
export function injectPlaceholders(
  headers: readonly Readonly<HeaderPair>[],
  values: ReadonlyMap<string, Secret>,
): Injection {
  const injected: HeaderPair[] = []
  const derived: MadeBytes[] = []
  let isInjected = false
  for (const [header, value] of headers) {
    const template = readTemplate(header, value)
    isInjected ||= template !== null
    if (template === null) injected.push([header, value])
    else if (template.isEncoded) injected.push([header, fillEncoded(template, values, derived)])
    else injected.push([header, fillHeader(template, values, derived)])
  }
  if (isInjected && headerBytes(injected) > MAX_HEADER_BYTES) throw tooLarge()
  return new Hidden({ headers: injected, derived })
}

/**
 * Cuts a text at its placeholders. The longest run of name characters is the name, looked up whole. What
 * has too many is refused as soon as they are counted.
 */
export function scanTemplate(text: string): Piece[] {
  if (!text.includes(PLACEHOLDER_PREFIX)) return [{ literal: text }]
  const pieces: Piece[] = []
  let from = 0
  for (let at = text.indexOf(PLACEHOLDER_PREFIX); at >= 0; ) {
    NAME.lastIndex = at + PLACEHOLDER_PREFIX.length
    const name = NAME.exec(text)?.[0]
    if (name === undefined) throw malformedName()
    TICKET.lastIndex = NAME.lastIndex
    const ticket = TICKET.exec(text)?.[1]
    pieces.push(
      { literal: text.slice(from, at) },
      ticket === undefined ? { name } : { name, ticket },
    )
    if (pieces.length > 2 * MAX_PLACEHOLDERS) throw tooManyPlaceholders()
    from = ticket === undefined ? NAME.lastIndex : TICKET.lastIndex
    at = text.indexOf(PLACEHOLDER_PREFIX, from)
  }
  pieces.push({ literal: text.slice(from) })
  return pieces
}

/** The bytes of a template: literals as UTF-8, each name turned into bytes by `reveal`. */
export function fillTemplate(
  pieces: readonly Piece[],
  reveal: (name: Named) => Uint8Array,
): Uint8Array {
  return Buffer.concat(
    pieces.map((piece) => ('name' in piece ? reveal(piece) : UTF8.encode(piece.literal))),
  )
}

type Template = {
  style: InjectionStyle
  pieces: Piece[]
  /** Whether it is sent in base64, between the two. */
  isEncoded: boolean
  before: string
  after: string
}

/**
 * `null` for a value without placeholders. `Authorization: Basic …` (RFC 7617) and what stands in a header
 * whose name ends in `-bin` are templates of what they decode to. What is not base64 of UTF-8 is left alone,
 * which leaves its text an ordinary header value.
 */
function readTemplate(header: string, value: string): Template | null {
  const name = header.toLowerCase()
  const style = name === 'authorization' ? 'basic' : 'header'
  const pattern = style === 'basic' ? BASIC : name.endsWith('-bin') ? BINARY : null
  const [, before = '', base64 = '', , after = ''] = pattern?.exec(value) ?? []
  const decoded = base64 === '' ? null : decodeCredentials(base64)
  const pieces = scanTemplate(decoded ?? value)
  if (pieces.length === 1) return null
  if (decoded === null) return { style: 'header', pieces, isEncoded: false, before: '', after: '' }
  return { style, pieces, isEncoded: true, before, after }
}

function decodeCredentials(base64: string): string | null {
  try {
    return fromUtf8(Uint8Array.fromBase64(base64))
  } catch {
    return null
  }
}

function fillHeader(
  template: Template,
  values: ReadonlyMap<string, Secret>,
  derived: MadeBytes[],
): string {
  let filled = ''
  for (const piece of template.pieces) {
    filled += 'name' in piece ? headerTextOf(piece, values, derived) : piece.literal
  }
  return filled
}

function headerTextOf(
  piece: Named,
  values: ReadonlyMap<string, Secret>,
  derived: MadeBytes[],
): string {
  const text = ASCII.decode(reveal(piece, values, derived))
  checkHeaderText(piece.name, text)
  return text
}

function fillEncoded(
  template: Template,
  values: ReadonlyMap<string, Secret>,
  derived: MadeBytes[],
): string {
  const filled = fillTemplate(template.pieces, (piece) => reveal(piece, values, derived))
  const credentials = filled.toBase64()
  const bytes = UTF8.encode(credentials)
  derived.push(...namesIn(template.pieces).map((name) => ({ name, bytes })))
  return template.before + credentials + template.after
}

/** The secret, or what was sealed into its ticket, which the guard does not know by itself. */
function reveal(
  { name, ticket }: Named,
  values: ReadonlyMap<string, Secret>,
  derived: MadeBytes[],
): Uint8Array {
  const value = bytesIn(values, name)
  if (ticket === undefined) return value
  const bytes = openTicket(name, value, ticket)
  derived.push({ name, bytes, hasFragments: true })
  return bytes
}

function namesIn(pieces: readonly Piece[]): string[] {
  return pieces.flatMap((piece) => ('name' in piece ? [piece.name] : []))
}

function malformedName(): Fault {
  const message = 'A placeholder is not followed by the name of a secret.'
  return new Fault('invalid_header', { message, fields: [{ path: 'headers', message }] })
}

function tooLarge(): Fault {
  return new Fault('unusable_secret', {
    message: 'With the secrets in place the headers exceed 64 KiB.',
  })
}
