/**
 * Step 4 of the resolver: finds `SVC_SECRET_<NAME>` and puts the secrets in their place. Texts are cut into literals
 * and names once; secrets are inserted between the literals, and the result is never scanned again, so a value that
 * looks like a placeholder is not replaced.
 */

import { Fault } from '../../core/fault.ts'
import { PLACEHOLDER_PREFIX, SECRET_NAME } from '../../core/names/secret_name.ts'
import { percentEncode } from '../../core/net/percent_encode.ts'
import type { Secret } from '../../core/secret.ts'
import type { MadeBytes } from '../../leak_guard/index.ts'
import { changeTexts, type Encoding, type HeaderText } from '../encoded_headers.ts'
import { checkHeaderText, type HeaderPair, headerBytes, MAX_HEADER_BYTES } from '../headers.ts'
import { Hidden } from '../hidden.ts'
import type { ObtainedToken } from '../obtained_tokens.ts'
import type { SigningStyle } from '../signing/sign.ts'
import { bytesIn } from '../signing/signature.ts'
import { openTicket, TICKET_PATTERN } from '../signing/tickets.ts'
import { buildTooManyPlaceholdersFault, MAX_PLACEHOLDERS } from './budget.ts'

export type InjectionStyle = 'header' | 'basic'
export type LocationStyle = 'query' | 'path' | 'json' | 'form' | 'websocket'

/** The place of a placeholder. `header` is the header name in lower case, empty for other places. */
export type Placeholder = {
  name: string
  style: InjectionStyle | LocationStyle | SigningStyle
  header: string
  /** The text that the secret signs. */
  template?: string
  isForeign?: boolean
}

/** Headers with their values. */
export type Injection = Hidden<{
  headers: readonly HeaderPair[]
  /** Each re-encoded credential, as sent: the guard also searches the answer for it. */
  derived: readonly MadeBytes[]
  /** The tokens behind tickets. */
  obtained: readonly ObtainedToken[]
}>

type Made = { derived: MadeBytes[]; obtained: ObtainedToken[] }

/** A text cut at its placeholders: a piece is a literal, or the name of a secret with a ticket or without. */
type Piece = { literal: string } | Named
type Named = { name: string; ticket?: string }

/** A longer or empty run of name characters, or one that starts with a digit, is malformed. */
const NAME = new RegExp(`${SECRET_NAME}(?![A-Za-z0-9_])`, 'y')
const TICKET = new RegExp(TICKET_PATTERN, 'y')
/** Characters outside of ASCII become another such character, which no header accepts. */
const ASCII = new TextDecoder('latin1')
const NO_NAMES: ReadonlySet<string> = new Set()

/**
 * Every placeholder of the headers in order, repeated ones too. Throws `invalid_header` when a name
 * does not match `^[A-Za-z_][A-Za-z0-9_]{0,127}$`, `validation_error` for too many in one header.
 */
export function findPlaceholders(headers: readonly Readonly<HeaderPair>[]): Placeholder[] {
  const found: Placeholder[] = []
  for (const [name, value] of headers) {
    const header = name.toLowerCase()
    changeTexts(header, value, (text) => {
      const inText = placeholdersIn(header, text)
      found.push(...inText)
      return inText.length === 0 ? null : value
    })
  }
  return found
}

function placeholdersIn(header: string, { text, encoded }: HeaderText): Placeholder[] {
  if (!text.includes(PLACEHOLDER_PREFIX)) return []
  const style = encoded && header === 'authorization' ? 'basic' : 'header'
  return scanTemplate(text).flatMap((piece) =>
    'name' in piece ? { name: piece.name, style, header } : [],
  )
}

/**
 * Returns the headers with every placeholder replaced. `formEncoded` names secrets that Basic credentials hold
 * form-encoded. Inside of base64 a secret may be any bytes, elsewhere only tab and 0x20–0x7e, and no whitespace at
 * either end: it would be lost in transit, and an echo would differ from the value.
 *
 * Throws `invalid_header` for a malformed name, `unknown_secret` for one that `values` lacks, `unusable_secret` for a
 * secret that does not fit its place or if the headers would exceed 64 KiB.
 */
export function injectPlaceholders(
  headers: readonly Readonly<HeaderPair>[],
  values: ReadonlyMap<string, Secret>,
  formEncoded: ReadonlySet<string> = NO_NAMES,
): Injection {
  const injected: HeaderPair[] = []
  const made: Made = { derived: [], obtained: [] }
  let isInjected = false
  for (const [header, value] of headers) {
    const isBasic = header.toLowerCase() === 'authorization'
    const filled = changeTexts(header, value, (found) => {
      if (!found.text.includes(PLACEHOLDER_PREFIX)) return null
      isInjected = true
      if (found.encoded === null) return headerText(found.text, values, made)
      return encodeText(found.text, found.encoded, { values, made, formEncoded, isBasic })
    })
    injected.push([header, filled])
  }
  if (isInjected && headerBytes(injected) > MAX_HEADER_BYTES) throw buildTooLargeFault()
  return new Hidden({ headers: injected, ...made })
}

/**
 * Splits a text at its placeholders. The longest run of name characters is the name, looked up whole. A text with too
 * many is refused as soon as they are counted.
 */
function scanTemplate(text: string): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (let at = text.indexOf(PLACEHOLDER_PREFIX); at >= 0; ) {
    NAME.lastIndex = at + PLACEHOLDER_PREFIX.length
    const name = NAME.exec(text)?.[0]
    if (name === undefined) throw buildMalformedNameFault()
    TICKET.lastIndex = NAME.lastIndex
    const ticket = TICKET.exec(text)?.[1]
    pieces.push(
      { literal: text.slice(from, at) },
      ticket === undefined ? { name } : { name, ticket },
    )
    if (pieces.length > 2 * MAX_PLACEHOLDERS) throw buildTooManyPlaceholdersFault()
    from = ticket === undefined ? NAME.lastIndex : TICKET.lastIndex
    at = text.indexOf(PLACEHOLDER_PREFIX, from)
  }
  pieces.push({ literal: text.slice(from) })
  return pieces
}

function headerText(text: string, values: ReadonlyMap<string, Secret>, made: Made): string {
  return scanTemplate(text)
    .map((piece) => ('name' in piece ? headerTextOf(piece, values, made) : piece.literal))
    .join('')
}

type Filling = {
  values: ReadonlyMap<string, Secret>
  made: Made
  formEncoded: ReadonlySet<string>
  isBasic: boolean
}

function encodeText(
  text: string,
  { charset, encode }: Encoding,
  { values, made, formEncoded, isBasic }: Filling,
): string {
  const pieces = scanTemplate(text)
  const filled = pieces.map((piece) => {
    if (!('name' in piece)) return Buffer.from(piece.literal, charset)
    const value = reveal(piece, values, made)
    return isBasic && formEncoded.has(piece.name) ? Buffer.from(percentEncode(value)) : value
  })
  const written = encode(Buffer.concat(filled))
  const bytes = Buffer.from(written)
  // In an echo, Basic credentials are replaced by the caller's text, including the user name.
  const sent = isBasic ? { sent: encode(Buffer.from(text, charset)) } : {}
  for (const piece of pieces)
    if ('name' in piece) made.derived.push({ name: piece.name, bytes, ...sent })
  return written
}

function headerTextOf(piece: Named, values: ReadonlyMap<string, Secret>, made: Made): string {
  const text = ASCII.decode(reveal(piece, values, made))
  checkHeaderText(piece.name, text)
  return text
}

/** Returns the secret, or the token sealed into its ticket, which is not among the guard's values. */
function reveal(
  { name, ticket }: Named,
  values: ReadonlyMap<string, Secret>,
  made: Made,
): Uint8Array {
  const value = bytesIn(values, name)
  if (ticket === undefined) return value
  const bytes = openTicket(name, value, ticket)
  made.derived.push({ name, bytes, hasFragments: true })
  made.obtained.push({ name, value, ticket, token: bytes })
  return bytes
}

function buildMalformedNameFault(): Fault {
  const message = 'A placeholder has no valid secret name.'
  return new Fault('invalid_header', { message, fields: [{ path: 'headers', message }] })
}

function buildTooLargeFault(): Fault {
  return new Fault('unusable_secret', {
    message: 'With the secrets in place the headers exceed 64 KiB.',
  })
}
