/**
 * Step 2 of the resolver: reads `target_url` once into the parts that every later step uses, so
 * that what was checked is what is connected to. A URL parser repairs much in silence (tabs, newlines,
 * backslashes, missing slashes); text that would need repair is refused instead.
 */

import { fromUtf8 } from '../platform/crypto/encoding.ts'
import { Fault } from '../platform/fault.ts'
import { canonicalName } from '../platform/net/domain.ts'
import { PLACEHOLDER_PREFIX } from '../platform/secret_name.ts'

export type Target = {
  /** Canonical host name, or an IP address as the URL standard writes it (IPv6 in brackets). */
  host: string
  port: number
  /** The value of the Host header: the host, and `:port` unless it is 443. */
  authority: string
  /** The normalised path: dot segments resolved, non-ASCII percent-encoded. */
  path: string
  /** Empty, or the query with its `?`. The fragment is not kept: it never goes upstream. */
  search: string
  /** For the audit record: the host without port. */
  domain: string
  /** For the audit record: no userinfo, query or fragment. */
  auditUrl: string
}

const MAX_URL_BYTES = 8192
const HTTPS_PORT = 443
const ABSOLUTE = /^https:\/\/([^/?#]+)/i
const MAX_PORT = 65_535
/**
 * What a URL parser leaves as it is, so that it need not be asked: a name of letters, digits and hyphens whose
 * last label is no number and that is no IDN, a port other than 443, a path and query of characters that are
 * never escaped, and neither empty nor dot segments.
 */
const NORMAL =
  /^https:\/\/((?:(?!xn--)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9]*[a-z0-9])?)(?::(?!443(?!\d))([1-9]\d{0,4}))?((?:\/(?!\/|\.\.?(?:[/?]|$))[\w.~!$&()*+,;=:@-]*)*)(\?[\w.~!$&()*+,;=:@/?%-]+)?$/
const MAX_NORMAL = 1024
const MAX_LABEL = 63
const WHITE_OR_CONTROL = /[\p{Cc}\s]/u
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/

/**
 * Parses an absolute `https:` URL of at most 8192 bytes (WHATWG URL, UTS 46 host names).
 * Throws `invalid_target`, with a message that says what is wrong and contains nothing of the text.
 */
export function parseTarget(text: string): Target {
  const parts = text.length <= MAX_NORMAL ? NORMAL.exec(text) : null
  const [, host = '', digits, path, search = ''] = parts ?? []
  const port = Number(digits ?? HTTPS_PORT)
  const isNormal = host !== '' && host.length <= MAX_LABEL && port <= MAX_PORT
  return isNormal ? targetOf(host, port, path || '/', search) : parseAnyTarget(text)
}

function parseAnyTarget(text: string): Target {
  const url = readUrl(text)
  const port = url.port === '' ? HTTPS_PORT : Number(url.port)
  const isIpLiteral = url.hostname.startsWith('[') || IPV4.test(url.hostname)
  const host = isIpLiteral ? url.hostname : canonicalName(url.hostname)
  if (host === null) throw invalidTarget(NO_HOST_NAME)
  return targetOf(host, port, url.pathname, url.search)
}

function targetOf(host: string, port: number, path: string, search: string): Target {
  const authority = port === HTTPS_PORT ? host : `${host}:${port}`
  return {
    host,
    port,
    authority,
    path,
    search,
    domain: host,
    auditUrl: `https://${authority}${path}`,
  }
}

/**
 * Whether a policy's `allowed_paths` prefix covers the normalised path of a target. Prefixes end on
 * segment borders: `/v1` covers `/v1` and `/v1/x` but not `/v10`; `/v1/` covers only what is below.
 *
 * Servers disagree about `%2F`, `%2e`, `%252e`, `;` and backslashes, so a path is read as it
 * stands, percent-decoded once, and again while anything is left to decode: the prefix, read alike,
 * must cover every reading. A path is ambiguous, and matches no prefix at all, when a reading has a
 * dot segment (also `..;x`, or one made by Unicode compatibility forms), a control character, a
 * malformed escape or bytes that are not UTF-8. So is a prefix that is not a plain absolute path.
 */
export function policyPathMatches(prefix: string, path: string): boolean {
  const wanted = normalPath(prefix)
  if (wanted === null || MALFORMED_ESCAPE.test(path)) return false
  return coversEveryReading(wanted, path, MAX_READINGS)
}

/**
 * Whether a value that takes a placeholder's place could become one with what stands before it: with the
 * beginning of an escape, or with the dots of a segment. Whether a value does so would tell how it begins.
 */
export function hasOpenPlaceholder(path: string): boolean {
  return path
    .split(PLACEHOLDER_PREFIX)
    .slice(0, -1)
    .some((_, at, parts) => isOpen(parts.slice(0, at + 1).join(PLACEHOLDER_PREFIX), MAX_READINGS))
}

function isOpen(text: string, readings: number): boolean {
  const [last = ''] = segments(text.normalize('NFKC')).slice(-1)
  if (/%[0-9A-Fa-f]?$/.test(text) || /^\s*\.+\s*$/.test(last)) return true
  const next = decodeOnce(text)
  return next !== text && (next === null || readings === 0 || isOpen(next, readings - 1))
}

const NO_HOST_NAME = 'names a host that is neither a valid name nor an address'

function readUrl(text: string): URL {
  const objection = objectionTo(text)
  if (objection !== null) throw invalidTarget(objection)
  const url = URL.parse(text)
  if (url === null) throw invalidTarget(NO_HOST_NAME)
  // The runtime's client sends `//x` as `/x`: another path than the one that was judged and signed.
  if (url.pathname.startsWith('//')) throw invalidTarget('has a path that begins with //')
  return url
}

/** What is wrong with a text before it is parsed: what a parser would repair, or not say. */
function objectionTo(text: string): string | null {
  if (text === '') return 'is empty'
  if (text.length > MAX_URL_BYTES || Buffer.byteLength(text) > MAX_URL_BYTES) {
    return `is longer than ${MAX_URL_BYTES} bytes`
  }
  if (!text.isWellFormed()) return 'has half of a surrogate pair'
  if (WHITE_OR_CONTROL.test(text)) return 'has white space or a control character: escape it with %'
  if (text.includes('\\')) return 'has a backslash: write /, or %5C'
  const authority = ABSOLUTE.exec(text)?.[1]
  return authority === undefined ? objectionToStart(text) : objectionToAuthority(authority)
}

/** Of a text that does not begin with `https://` and a host. */
function objectionToStart(text: string): string {
  if (/^https:\/\//i.test(text)) return 'names no host after https://'
  if (/^http:/i.test(text)) return 'begins with http: credentials are only sent over https'
  if (/^wss?:/i.test(text)) {
    return 'begins with ws: a WebSocket is opened in forward mode, where its URL is https'
  }
  return 'does not begin with https:// and a host'
}

function objectionToAuthority(authority: string): string | null {
  // An `@` is userinfo even when empty; the parser would drop it without a trace.
  if (authority.includes('@')) {
    return 'has user information before an @: put credentials into a header'
  }
  if (authority.startsWith(':')) return 'names no host after https://'
  const [, port = '443'] = /:([^:\]]+)$/.exec(authority) ?? []
  const isPort = /^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= MAX_PORT
  return isPort ? null : `has a port that is not a number from 1 to ${MAX_PORT}`
}

function invalidTarget(objection: string): Fault {
  return new Fault('invalid_target', { message: `target_url ${objection}.` })
}

const MAX_READINGS = 5
const ESCAPE = /%[0-9A-Fa-f]{2}/
const ESCAPES = /(?:%[0-9A-Fa-f]{2})+/g
const MALFORMED_ESCAPE = /%(?![0-9A-Fa-f]{2})/

function normalPath(prefix: string): string | null {
  if (!prefix.startsWith('/') || /[?#\\]/.test(prefix) || WHITE_OR_CONTROL.test(prefix)) return null
  if (MALFORMED_ESCAPE.test(prefix)) return null
  const url = URL.parse(`https://host${prefix}`)
  return url === null ? null : url.pathname
}

function coversEveryReading(prefix: string, path: string, readings: number): boolean {
  if (readings === 0 || isAmbiguous(prefix) || isAmbiguous(path)) return false
  if (!coversSegments(segments(prefix), segments(path))) return false
  const [nextPrefix, nextPath] = [decodeOnce(prefix), decodeOnce(path)]
  if (nextPrefix === null || nextPath === null) return false
  if (nextPrefix === prefix && nextPath === path) return true
  return coversEveryReading(nextPrefix, nextPath, readings - 1)
}

/** Backslashes and compatibility forms count as what a lenient server may make of them. */
function segments(path: string): string[] {
  return path.replaceAll('\\', '/').slice(1).split('/')
}

function isAmbiguous(path: string): boolean {
  if (/\p{Cc}/u.test(path)) return true
  return segments(path.normalize('NFKC')).some((segment) => {
    const bare = segment.replace(/;.*$/s, '').trim()
    return bare === '.' || bare === '..'
  })
}

function coversSegments(prefix: string[], path: string[]): boolean {
  const onlyBelow = prefix.at(-1) === ''
  const wanted = onlyBelow ? prefix.slice(0, -1) : prefix
  if (onlyBelow && path.length <= wanted.length) return false
  return wanted.every((segment, index) => path[index] === segment)
}

/** One round of percent-decoding; null when the path has a broken escape or bytes beyond UTF-8. */
function decodeOnce(path: string): string | null {
  if (!ESCAPE.test(path)) return path
  let isText = true
  const decoded = path.replace(ESCAPES, (run) => {
    const text = fromUtf8(Uint8Array.fromHex(run.replaceAll('%', '')))
    isText &&= text !== null
    return text ?? ''
  })
  return isText ? decoded : null
}
