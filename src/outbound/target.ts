/**
 * Step 2 of the resolver: splits `target_url` once into the parts that every later step uses, so that the connection is
 * to the checked target. A URL parser repairs much silently (tabs, newlines, backslashes, missing slashes); text that
 * would need repair is refused instead.
 */

import { utf8 } from '../core/crypto/encoding.ts'
import { Fault } from '../core/fault.ts'
import { toCanonicalName } from '../core/net/domain.ts'

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
 * Matches URLs that a parser leaves unchanged, so that it need not be called: a name of letters, digits and hyphens
 * with a last label that is not a number, not an IDN, a port other than 443, a path and query of characters that are
 * never escaped, and neither empty nor dot segments.
 */
const NORMAL =
  /^https:\/\/((?:(?!xn--)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9]*[a-z0-9])?)(?::(?!443(?!\d))([1-9]\d{0,4}))?((?:\/(?!\/|\.\.?(?:[/?]|$))[\w.~!$&()*+,;=:@-]*)*)(\?[\w.~!$&()*+,;=:@/?%-]+)?$/
const MAX_NORMAL = 1024
const MAX_LABEL = 63
const WHITE_OR_CONTROL = /[\p{Cc}\s]/u
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/

/**
 * Parses an absolute `https:` URL of at most 8192 bytes (WHATWG URL, UTS 46 host names). Throws `invalid_target`, with
 * a message that names the problem and contains nothing of the text.
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
  const host = isIpLiteral ? url.hostname : toCanonicalName(url.hostname)
  if (host === null) throw buildInvalidTargetFault(NO_HOST_NAME)
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

const NO_HOST_NAME = 'has an invalid host'

function readUrl(text: string): URL {
  const objection = objectionTo(text)
  if (objection !== null) throw buildInvalidTargetFault(objection)
  const url = URL.parse(text)
  if (url === null) throw buildInvalidTargetFault(NO_HOST_NAME)
  // The runtime's client sends `//x` as `/x`: another path than the one that was judged and signed.
  if (url.pathname.startsWith('//')) throw buildInvalidTargetFault('has a path that begins with //')
  return url
}

/** Returns the problem with a text before parsing: a parser would repair it, or not report it. */
function objectionTo(text: string): string | null {
  if (text === '') return 'is empty'
  if (text.length > MAX_URL_BYTES || utf8(text).length > MAX_URL_BYTES) {
    return `is longer than ${MAX_URL_BYTES} bytes`
  }
  if (!text.isWellFormed()) return 'has an unpaired surrogate'
  if (WHITE_OR_CONTROL.test(text)) return 'has white space or a control character: escape it with %'
  if (text.includes('\\')) return 'has a backslash: write /, or %5C'
  const authority = ABSOLUTE.exec(text)?.[1]
  return authority === undefined ? objectionToStart(text) : objectionToAuthority(authority)
}

/** Returns the problem with a text that does not begin with `https://` and a host. */
function objectionToStart(text: string): string {
  if (/^https:\/\//i.test(text)) return 'has no host after https://'
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
  if (authority.startsWith(':')) return 'has no host after https://'
  const [, port = '443'] = /:([^:\]]+)$/.exec(authority) ?? []
  const isPort = /^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= MAX_PORT
  return isPort ? null : `has a port that is not a number from 1 to ${MAX_PORT}`
}

function buildInvalidTargetFault(objection: string): Fault {
  return new Fault('invalid_target', { message: `target_url ${objection}.` })
}
