/**
 * Rewrites links in an answer. An SDK that follows a link with its API key would bypass resolver and proxy, and send
 * the key to any host that the upstream names. So links are rewritten to Cloakroom, which checks allowlist and policies
 * again. A link to another host gets an address that ignores the first host's credentials.
 */

/** Path of forward mode. The second one is for SDKs that remove every `/v1` from their base URL. */
export const FORWARD_PREFIX = '/v1/forward/'
export const forwardPrefixes = [FORWARD_PREFIX, '/forward/'] as const
/** The prefix of a host that another host linked to. */
const FROM = '~from='
const LINKS = ['location', 'content-location', 'link']
/** Headers with names of origins, which are not links. */
const NO_LINKS = /^access-control-/

/** The prefix of `host/path` in `location` and `content-location`, and in all other links. */
export type LinkBase = {
  location: string
  link: string
  /** The host that linked to this call. Its credentials do not count. */
  from: string | null
  /** Paths of Cloakroom's forward mode for `host/path`: a link there may be for any host. */
  prefixes: readonly string[]
  /** Whether links of the called host already lead back, so that only Cloakroom's own addresses are rewritten. */
  isOwnOnly?: boolean
}

/** Matches a text that is a whole https URL: authority, and the rest. */
const WHOLE_URL = /^https:\/\/([^/?#\s"\\]+)((?:[/?#][!#-[\]-~\u0080-\uffff]*)?)$/
/** RFC 6570, without the operator that inserts dots. */
const EXPRESSION = /\{[+#/;?&]?[\w%][\w%,.:*]*\}/g
/** A dot segment in a path, which clients resolve, or a brace outside of an expression. */
const CLIMBS = /[{}]|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i
/** Characters that URL parsers drop. */
const DROPPED = /[\t\n\r]/g
/** A host that parsers normalise to another spelling. */
const FOLDED_HOST = /^[^/?#]*[%\u0080-\uffff]/
/** Matches texts that URL parsers resolve against the origin. */
const REFERENCE = /^(?:https?:|[\\/])/i
/** A host with a dot or a port. */
const PLACE = /^(?:~from=[^/?#]+\/)?[^/?#@]*[.:%][^/?#@]*(?:[/?#]|$)/

/** Returns the base of links that lead back through the prefix of the call. */
export function resolverLinks(
  prefix: string,
  originOf: () => string,
  from: string | null,
): LinkBase {
  return {
    location: prefix,
    // Absolute (RFC 8288), since clients join them to other bases. Hardly any answer has one.
    get link() {
      return `${originOf()}${prefix}`
    },
    from,
    prefixes: forwardPrefixes,
  }
}

/** Through a proxy's base URL. */
export function proxyLinks(baseUrl: string, from: string | null): LinkBase {
  const [, path = ''] = /^\w+:\/\/[^/]*(\/.+)$/.exec(baseUrl) ?? []
  const prefixes = path === '' ? [] : [`${path}/`]
  return { location: `${baseUrl}/`, link: `${baseUrl}/`, from, prefixes }
}

/** Splits `~from=HOST/host/path`. `from` is as written, or `null` without that prefix. */
export function readFrom(rest: string): { from: string | null; rest: string } {
  const [whole = '', from = ''] = rest.startsWith(FROM)
    ? (/^~from=([^/?#]+)\//.exec(rest) ?? [])
    : []
  return whole === '' ? { from: null, rest } : { from, rest: rest.slice(whole.length) }
}

/**
 * Rewrites the links among an answer's headers, in place. Links of `location`, `content-location` and `link` that
 * cannot lead back are dropped. `source` is the request's URL and must hold no credentials: relative links are joined
 * to it.
 */
export function rewriteLinks(
  headers: Record<string, string>,
  source: string,
  base: LinkBase,
): void {
  const { host } = new URL(source)
  for (const name of ['location', 'content-location']) {
    if (headers[name] === undefined) continue
    const destination = destinationFrom(headers[name], source, base)
    if (destination === null) delete headers[name]
    else headers[name] = `${base.location}${destination}`
  }
  rewriteOwnLinks(headers, host, base)
  if (headers.link === undefined) return
  const rewritten = rewriteAll(headers.link, (reference) => {
    const destination = destinationFrom(reference, source, base)
    return destination === null ? null : `${base.link}${destination}`
  })
  if (rewritten === null) delete headers.link
  else headers.link = rewritten
}

/** Returns the path for a reference in an answer of `host`; null for a reference that is not https. */
export function leadReferenceBack(reference: string, host: string, base: LinkBase): string | null {
  const destination = destinationFrom(reference, `https://${host}/`, base)
  return destination === null ? null : `${base.location}${destination}`
}

function destinationFrom(reference: string, source: string, base: LinkBase): string | null {
  const { host } = new URL(source)
  const url = URL.parse(reference, source)
  const place = url && url.host !== host ? forwardDestination(url, host, base) : null
  return place ?? (url && destinationOf(url, host, base))
}

/** Rewrites all other headers, and parameters of challenges. `host` is as URLs write it. */
export function rewriteOwnLinks(
  headers: Record<string, string>,
  host: string,
  base: LinkBase,
): void {
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (!value.includes('/') || LINKS.includes(name) || NO_LINKS.test(name)) continue
    headers[name] =
      name === 'www-authenticate'
        ? value.replace(/="((?:[^"\\]|\\.)*)"/g, (all, quoted: string) => {
            const link = leadTextBack(quoted.replace(/\\(.)/g, '$1'), host, base)
            return link === null ? all : `="${link}"`
          })
        : (leadTextBack(value, host, base) ?? value)
  }
}

/**
 * Returns the rewritten text if it is, as a whole, an https URL of the called host or an address of Cloakroom's own
 * forward mode, which may be for any host; null for any other text.
 */
export function leadTextBack(text: string, host: string, base: LinkBase): string | null {
  const [, authority = '', rest = ''] = WHOLE_URL.exec(text) ?? []
  if (!base.isOwnOnly && isHost(authority, host))
    return `${ownBase(host, base)}${normaliseRest(rest)}`
  // URL parsers drop these, so the text may be a link. Without them, a secret that they split would be whole.
  const trimmed = text.trim()
  if (trimmed.search(DROPPED) >= 0) return leadDroppedBack(trimmed, host, base)
  const joined = trimmed.replace(/^[^!-~]+/, '')
  if (!REFERENCE.test(joined)) return null
  const isNamed = base.prefixes.some((prefix) => joined.includes(findLastSegment(prefix)))
  if (!isNamed && !joined.includes('%')) return null
  const url = URL.parse(joined) ?? URL.parse(joined, 'http://relative.invalid/')
  const destination = url && forwardDestination(url, host, base)
  if (destination === null) return null
  return `${url?.host === 'relative.invalid' ? base.location : base.link}${destination}`
}

/** Rewrites a link with characters that URL parsers drop: keeps them percent-encoded, or returns the called host. */
function leadDroppedBack(text: string, host: string, base: LinkBase): string | null {
  if (leadTextBack(text.replace(DROPPED, ''), host, base) === null) return null
  const encoded = text.replace(DROPPED, encodeURIComponent)
  return leadTextBack(encoded, host, base) ?? `${ownBase(host, base)}/`
}

/** The last segment of a prefix. */
export function findLastSegment(prefix: string): string {
  return prefix.slice(prefix.lastIndexOf('/', prefix.length - 2) + 1, -1)
}

/**
 * Normalises the part after a URL's host, so that no client resolves it to above the host. Templates stay, unless one
 * could become a dot segment when its variables are filled in.
 */
function normaliseRest(rest: string): string {
  const pathOf = (text: string) => /^[^?#]*/.exec(text)?.[0] ?? ''
  if (!DOT_SEGMENT.test(pathOf(rest)) && !CLIMBS.test(pathOf(rest.replace(EXPRESSION, '/')))) {
    return rest
  }
  const { pathname, search, hash } = new URL(`https://host.invalid${rest}`)
  return `${pathname}${search}${hash}`
}

/**
 * Returns the target of an address of Cloakroom itself, with any origin, since Cloakroom may be reached under several.
 * From an upstream, it is a link of that upstream's host. Null for any other URL.
 */
function forwardDestination(url: URL, host: string, base: LinkBase): string | null {
  // Some clients decode these before they send.
  const path = url.pathname.replace(/%[2-7][\da-f]/gi, (written) => {
    const character = decodeURIComponent(written)
    return /[\w.~-]/.test(character) ? character : written
  })
  const prefix = base.prefixes.find((one) => path.startsWith(one))
  if (prefix === undefined) return null
  const place = path.slice(prefix.length)
  if (!PLACE.test(place) && url.host !== URL.parse(base.link)?.host) return null
  const { rest } = readFrom(place)
  const whole = `${rest.replace(/^([^/?%]*)%3a(\d+)(?=[/?]|$)/i, '$1:$2')}${url.search}${url.hash}`
  const target = FOLDED_HOST.test(whole) ? null : URL.parse(`https://${whole}`)
  return target ? destinationOf(target, host, base) : `${fromStep(host)}${whole}`
}

/** Whether an authority is that host, `host` in the form of URLs. */
function isHost(authority: string, host: string): boolean {
  return authority !== '' && authority.toLowerCase().replace(/:443$/, '') === host
}

/** Returns the replacement of the called host's origin. */
function ownBase(host: string, { link, from }: LinkBase): string {
  return `${link}${fromStep(from)}${host}`
}

/** Returns the path prefix for a host that another host linked to. */
export function fromStep(from: string | null): string {
  return from === null ? '' : `${FROM}${from}/`
}

/** Removes characters that URL parsers drop, so that they do not split texts that will be joined. */
export function joinLinks(headers: Record<string, string>): Record<string, string> {
  for (const name of LINKS) {
    const link = headers[name]
    if (link !== undefined) headers[name] = link.replace(DROPPED, '')
  }
  return headers
}

/** Returns the headers with links that are rewritten for any target. */
export function linksAmong(headers: Record<string, string>): Record<string, string> {
  const links: Record<string, string> = {}
  for (const name of LINKS) {
    const link = headers[name]
    if (link !== undefined) links[name] = link
  }
  return links
}

/** Returns the target of a link of `host`; null if it is not https. */
function destinationOf(url: URL, host: string, { from }: LinkBase): string | null {
  if (url.protocol !== 'https:') return null
  return `${fromStep(url.host === host ? from : host)}${url.host}${url.pathname}${url.search}${url.hash}`
}

/** RFC 8288: `<URI>; rel=next, <URI>; rel=last`. */
function rewriteAll(link: string, rewrite: (reference: string) => string | null): string | null {
  let complete = true
  const rewritten = link.replace(/<([^<>]*)>/g, (_, reference: string) => {
    const url = rewrite(reference)
    complete &&= url !== null
    return `<${url}>`
  })
  return complete ? rewritten : null
}
