/**
 * The domain syntax of the allowlist and of secret policies (protocol 5.2), and the one
 * canonical form of host names. A name is stored, compared and dialled in the same form, so that no
 * spelling of a host can be decided differently from the host it reaches.
 */
import { publicSuffixOf } from './public_suffix.ts'

export type Domain = {
  /** Lower case, punycode, no trailing dot; for a wildcard the name below the `*.`. */
  host: string
  wildcard: boolean
  port: number
  /** The stored and displayed text: `*.` and `:port` as needed, `:443` dropped. */
  text: string
}

const HTTPS_PORT = 443
const MAX_NAME_LENGTH = 253
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/
const PORT = /^[1-9]\d{0,4}$/

/** Characters that make a URL parser see more than a host name, or that it drops silently. */
const NOT_IN_A_NAME = /[\p{Cc}\s/?#@:\\%[\]<>^|]/u

/**
 * Parses `host`, `*.host`, `host:port` or `*.host:port`. Returns null for all other text: a scheme, a path, an IP
 * address in any notation, a bare `*`, a wildcard over a public suffix (public or private list, so also `*.github.io`)
 * or over a single label. Single-label names are valid without a wildcard.
 */
export function parseDomain(text: string): Domain | null {
  const colon = text.indexOf(':')
  const name = colon === -1 ? text : text.slice(0, colon)
  const port = colon === -1 ? HTTPS_PORT : parsePort(text.slice(colon + 1))
  if (port === null) return null

  const wildcard = name.startsWith('*.')
  const host = toCanonicalHost(wildcard ? name.slice(2) : name)
  if (host === null) return null
  if (wildcard && !isWildcardBase(host)) return null

  const shown = wildcard ? `*.${host}` : host
  return { host, wildcard, port, text: port === HTTPS_PORT ? shown : `${shown}:${port}` }
}

/** Whether a canonical host and port fall under the entry; the `*` represents exactly one label. */
export function domainMatches(domain: Domain, host: string, port: number): boolean {
  if (domain.port !== port) return false
  if (!domain.wildcard) return domain.host === host
  const dot = host.indexOf('.')
  return dot > 0 && host.slice(dot + 1) === domain.host
}

/**
 * The canonical form of a host name: lower case, IDN as punycode (UTS 46), one trailing dot
 * dropped, letter-digit-hyphen labels of at most 63 and at most 253 characters in all. Null for
 * anything that is not a host name, IP addresses included.
 */
export function toCanonicalHost(text: string): string | null {
  if (text === '' || NOT_IN_A_NAME.test(text)) return null
  const url = URL.parse(`https://${text}/`)
  return url === null ? null : toCanonicalName(url.hostname)
}

/** Returns the canonical name of a host that a URL parser has already mapped to ASCII. */
export function toCanonicalName(hostname: string): string | null {
  const host = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
  if (host.length > MAX_NAME_LENGTH || IPV4.test(host)) return null
  return host.split('.').every((label) => LABEL.test(label)) ? host : null
}

function parsePort(text: string): number | null {
  const port = PORT.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : null
}

/**
 * Whether a wildcard may have this base. It must not cover names that strangers can register: neither directly below a
 * public suffix, nor below a host whose subdomains are all public suffixes (`*.kawasaki.jp` in the list).
 */
function isWildcardBase(host: string): boolean {
  if (!host.includes('.') || host.length + 2 > MAX_NAME_LENGTH) return false
  const below = `any.${host}`
  return [host, below].every((name) => publicSuffixOf(name) !== name)
}
