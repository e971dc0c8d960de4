/**
 * Headers that a caller may set on the upstream request (step 7), and those of the upstream that it gets back (step
 * 11). Framing and hop-by-hop headers belong to the resolver alone: a caller that could set them could smuggle a second
 * request onto a pooled connection.
 */
import { Fault } from '../core/fault.ts'
import { PLACEHOLDER_PREFIX } from '../core/names/secret_name.ts'
import type { HeaderPair } from '../core/signing/signable.ts'
import { tokenPattern } from '../core/token_pattern.ts'
import { type AskedRange, formatSentRange, type ReceivedHeaders } from './answer/part.ts'
import { withoutConsoleCookies } from './browsers.ts'

export type { HeaderPair }

/** Maximum bytes of header names and values for the upstream, including separators. */
export const MAX_HEADER_BYTES = 65_536

/** RFC 9110, section 7.6.1, and headers that older specifications call hop-by-hop, including `proxy-*`. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const SET_BY_RESOLVER = new Set(['host', 'content-length', 'expect'])
/** Headers that request a part of an answer (RFC 9110, section 14.2), including two dialects. */
const BYTE_RANGE = /^\s*bytes\s*=/i
const RANGE_HEADERS = new Set(['range', 'request-range', 'x-ms-range'])
/** Headers that copy a part of an object into another one, where part of a value would not be recognised. */
const SOURCE_RANGE = /^x-([a-z]+-copy|ms)-source-range$/
/** A header for answers with checksums inside the body, which may split a value (Azure). */
const STRUCTURED = 'x-ms-structured-body'
/** Headers that the resolver sets itself, and those that state a body's encoding. */
const NOT_SIGNED_INTO = new Set(['accept-encoding', 'content-encoding', 'user-agent'])
const NOT_PRESENTED = new Set(['content-encoding', 'content-length', 'set-cookie'])

const TOKEN = tokenPattern()
const SENDABLE = /^[\t\x20-\x7e]*$/
const PLACEHOLDER = new RegExp(PLACEHOLDER_PREFIX, 'i')

/**
 * Checks the caller's headers and returns them in their order with names as given. Throws `invalid_header` for a name
 * that is not an RFC 9110 token or has a placeholder, for a name given twice in different case, for invalid bytes in a
 * value and for more than 64 KiB in total; `forbidden_header` for those that only the resolver sets. Removes ranges of
 * bytes, except for the allowed one, which is widened; methods other than GET and HEAD are refused with one. Values are
 * never repeated.
 */
export function checkCallerHeaders(
  headers: Readonly<Record<string, string>>,
  range: AskedRange | null = null,
  method = 'GET',
): HeaderPair[] {
  const pairs = Object.entries(headers)
  const seen = new Set<string>()
  for (const [name, value] of pairs) {
    const key = name.toLowerCase()
    checkName(name)
    checkNotForbidden(key)
    if (RANGE_HEADERS.has(key) && key !== range?.header) checkRange(value, method)
    refuseParts(key, method)
    if (seen.has(key)) throw buildInvalidHeaderFault('A header is repeated with different case.')
    if (!isSendable(value))
      throw buildInvalidHeaderFault('A header value has an invalid character.')
    seen.add(key)
  }
  if (headerBytes(pairs) > MAX_HEADER_BYTES)
    throw buildInvalidHeaderFault('The headers are too large.')
  if (!range?.part) return withoutRanges(pairs, range)
  const wider = formatSentRange(range.part)
  return withoutRanges(pairs, range).map(([name, value]) => [
    name,
    name.toLowerCase() === range.header ? wider : value,
  ])
}

/** Checks the headers that a signature adds, which follow all others. */
export function checkSignatureHeaders(headers: readonly HeaderPair[]): HeaderPair[] {
  const unfit = headers.map(([name]) => name.toLowerCase()).find((key) => NOT_SIGNED_INTO.has(key))
  if (unfit !== undefined) throw forbidden(`The header ${unfit} cannot contain a signature.`)
  return checkCallerHeaders(Object.fromEntries(headers))
}

/** Whether a header value has only tab and 0x20–0x7e. */
export function isSendable(value: string): boolean {
  return SENDABLE.test(value)
}

/**
 * Checks header text. Names of secrets are public, and values are not repeated. @throws Fault `unusable_secret` for a
 * value that a header cannot hold
 */
export function checkHeaderText(name: string, text: string): void {
  if (!isSendable(text)) {
    throw new Fault('unusable_secret', {
      message: `The secret ${name} contains characters that cannot be sent in a header.`,
    })
  }
  if (text.trim() !== text) {
    throw new Fault('unusable_secret', {
      message: `The secret ${name} begins or ends with whitespace and cannot be sent in a header. Store it again without whitespace.`,
    })
  }
}

/** The size on the wire: every name and value with `: ` and the line end. */
export function headerBytes(pairs: readonly Readonly<HeaderPair>[]): number {
  return pairs.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
}

/**
 * The upstream's headers as the caller may see them: hop-by-hop headers (also those that `Connection`
 * names), content-encoding, content-length and set-cookie dropped, repeated ones joined by `, `. The
 * object has no prototype, so that a header called `__proto__` is only a header.
 */
export function presentHeaders(received: ReceivedHeaders): Record<string, string> {
  const dropped = namesIn(received.connection)
  const presented: Record<string, string> = Object.create(null)
  for (const key in received) {
    if (isHopByHop(key) || NOT_PRESENTED.has(key) || dropped.has(key)) continue
    presented[key] = received[key] ?? ''
  }
  return presented
}

/** Returns the response headers that the caller may expect but that were removed. */
export function listDroppedHeaders(received: ReceivedHeaders): string[] {
  return received['set-cookie']?.length ? ['set-cookie'] : []
}

function checkName(name: string): void {
  if (!TOKEN.test(name)) throw buildInvalidHeaderFault('A header name is invalid.')
  if (PLACEHOLDER.test(name)) throw buildInvalidHeaderFault('A header name contains a placeholder.')
}

function checkNotForbidden(key: string): void {
  if (!isHopByHop(key) && !SET_BY_RESOLVER.has(key)) return
  // `proxy-` is open-ended, so only the fixed names are repeated to the caller.
  const shown = key.startsWith('proxy-') ? 'proxy-*' : key
  throw forbidden(`Only the resolver can set the header ${shown}.`)
}

/**
 * Refuses byte ranges of a response: each of two parts could have too little of a value to recognise it, and matching a
 * few characters at an edge would confirm guesses. Other units count an upstream's own items, such as rows.
 */
function checkRange(value: string, method: string): void {
  if (!BYTE_RANGE.test(value) || method === 'GET' || method === 'HEAD') return
  throw new Fault('forbidden_header', {
    message:
      'Byte ranges are not supported: part of a response cannot be searched for credentials.',
  })
}

/** Removes ranges: GET and HEAD then return the whole object, as if without ranges (RFC 9110, section 14.2). */
function withoutRanges(pairs: HeaderPair[], range: AskedRange | null): HeaderPair[] {
  const isDropped = ([name, value]: HeaderPair) => {
    const key = name.toLowerCase()
    return RANGE_HEADERS.has(key) && key !== range?.header && BYTE_RANGE.test(value)
  }
  if (!pairs.some(isDropped)) return pairs
  return pairs.filter((pair) => !isDropped(pair) && pair[0].toLowerCase() !== 'if-range')
}

function refuseParts(key: string, method: string): void {
  if (SOURCE_RANGE.test(key)) {
    throw forbidden(
      'Part of an object cannot be copied because it cannot be searched for credentials. Copy the whole object (AWS CLI and SDKs: multipart_threshold = 5GB).',
    )
  }
  // With `PUT` and `PATCH`, it describes the sent body.
  if (key === STRUCTURED && method !== 'PUT' && method !== 'PATCH') {
    throw forbidden(
      `The header ${key} is not supported: its response cannot be searched for credentials.`,
    )
  }
}

/** RFC 9110, section 7.6.1; `key` in lower case. */
export function isHopByHop(key: string): boolean {
  return HOP_BY_HOP.has(key) || key.startsWith('proxy-')
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** Returns the names in the `Connection` header, in lower case (RFC 9110, section 7.6.1). */
export function connectionNames(headers: Headers): ReadonlySet<string> {
  return namesIn(headers.get('connection'))
}

function namesIn(connection: string | null | undefined): ReadonlySet<string> {
  const names = connection?.split(',')
  return names ? new Set(names.map((name) => name.trim().toLowerCase())) : NO_NAMES
}

/** RFC 6455, section 4.2.1. @throws Fault `invalid_header` for a handshake that is not of version 13 */
export function isHandshake({ method, headers }: Request): boolean {
  const upgrade = headers.get('upgrade')?.toLowerCase()
  if (method !== 'GET' || upgrade !== 'websocket') return false
  const isWhole =
    connectionNames(headers).has('upgrade') &&
    headers.get('sec-websocket-version') === '13' &&
    /^[A-Za-z0-9+/]{22}==$/.test(headers.get('sec-websocket-key') ?? '')
  if (isWhole) return true
  throw new Fault('invalid_header', { message: 'The WebSocket handshake is incomplete.' })
}

function forbidden(message: string): Fault {
  return new Fault('forbidden_header', { message, fields: [{ path: 'headers', message }] })
}

function buildInvalidHeaderFault(message: string): Fault {
  return new Fault('invalid_header', { message, fields: [{ path: 'headers', message }] })
}

/** Headers that the resolver sets itself, that are for the resolver, or that describe the caller. */
const OURS =
  /^(x-service-|x-forwarded-)|^(forwarded|via|x-real-ip|host|content-length|expect)$|^sec-websocket-(key|version|extensions|accept)$/

/** Returns the caller's headers that are passed to the upstream, with names in lower case. */
export function headersPassedOn(given: Headers): [name: string, value: string][] {
  const dropped = connectionNames(given)
  return [...given].flatMap(([name, value]): [string, string][] => {
    if (isHopByHop(name) || OURS.test(name) || dropped.has(name)) return []
    const kept = name === 'cookie' ? withoutConsoleCookies(value) : value
    return kept === null ? [] : [[name, kept]]
  })
}

/** Whether a request's headers declare a body. */
export function isBodyAnnounced(headers: Headers): boolean {
  const declared = headers.get('content-length')
  return declared === null ? headers.has('transfer-encoding') : Number(declared) > 0
}
