/**
 * Step 2 of the resolver: reads `target_url` once into the parts that every later step uses, so
 * that what was checked is what is connected to. A URL parser repairs much in silence (tabs, newlines,
 * backslashes, missing slashes); text that would need repair is refused instead.
 */

import { fromUtf8 } from '../platform/crypto/encoding.ts'
import { Fault } from '../platform/fault.ts'
import { canonicalName } from '../platform/net/domain.ts'

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
const REPAIRED_IN_SILENCE = /[\p{Cc}\s\\]/u
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/

/**
 * Parses an absolute `https:` URL of at most 8192 bytes (WHATWG URL, UTS 46 host names).
 * Throws `invalid_target`, with a message that contains nothing of the text.
 */
export function parseTarget(text: string): Target {
  const url = readUrl(text)
  const port = url.port === '' ? HTTPS_PORT : Number(url.port)
  const isIpLiteral = url.hostname.startsWith('[') || IPV4.test(url.hostname)
  const host = isIpLiteral ? url.hostname : canonicalName(url.hostname)
  if (host === null || port === 0) throw new Fault('invalid_target')

  const authority = port === HTTPS_PORT ? host : `${host}:${port}`
  const { pathname: path, search } = url
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

function readUrl(text: string): URL {
  const authority = text.length > MAX_URL_BYTES ? undefined : ABSOLUTE.exec(text)?.[1]
  // An `@` is userinfo even when empty; the parser would drop it without a trace.
  if (authority === undefined || authority.includes('@')) throw new Fault('invalid_target')
  if (REPAIRED_IN_SILENCE.test(text) || !text.isWellFormed()) throw new Fault('invalid_target')
  if (Buffer.byteLength(text) > MAX_URL_BYTES) throw new Fault('invalid_target')
  const url = URL.parse(text)
  if (url === null) throw new Fault('invalid_target')
  // The runtime's client sends `//x` as `/x`: another path than the one that was judged and signed.
  if (url.pathname.startsWith('//')) throw new Fault('invalid_target')
  return url
}

const MAX_READINGS = 5
const ESCAPE = /%[0-9A-Fa-f]{2}/
const ESCAPES = /(?:%[0-9A-Fa-f]{2})+/g
const MALFORMED_ESCAPE = /%(?![0-9A-Fa-f]{2})/

function normalPath(prefix: string): string | null {
  if (!prefix.startsWith('/') || /[?#]/.test(prefix) || REPAIRED_IN_SILENCE.test(prefix))
    return null
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
