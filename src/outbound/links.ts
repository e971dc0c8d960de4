/**
 * Links in an answer. An SDK that follows one with its API key would carry that past resolver and proxy, to
 * whatever host the upstream names: so they are rewritten to lead back, where allowlist and policies decide
 * again. A link to another host leads to an address under which the first host's credentials do not count.
 */

/** Where forward mode is; the second is for SDKs that cut every `/v1` out of their base URL. */
export const FORWARD_PREFIX = '/v1/forward/'
export const forwardPrefixes = [FORWARD_PREFIX, '/forward/'] as const
/** Stands before a host to which another one led. */
const FROM = '~from='
const LINKS = ['location', 'content-location', 'link']
/** Names of origins are no links. */
const NO_LINKS = /^access-control-/

/** What stands before `host/path` in `location` and `content-location`, and in all other links. */
export type LinkBase = {
  location: string
  link: string
  /** The host that led to this call, whose credentials do not count in it. */
  from: string | null
}

/** An https URL that is the whole of a text: authority, and what follows. */
const WHOLE_URL = /^https:\/\/([^/?#\s"\\]+)((?:[/?#][!#-[\]-~]*)?)$/

/** Links lead back through the prefix under which the call came. */
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
  }
}

/** Through a proxy's base URL. */
export function proxyLinks(baseUrl: string, from: string | null): LinkBase {
  return { location: `${baseUrl}/`, link: `${baseUrl}/`, from }
}

/** Splits `~from=HOST/host/path`. `from` is as written, or `null` without that prefix. */
export function readFrom(rest: string): { from: string | null; rest: string } {
  const [whole = '', from = ''] = rest.startsWith(FROM)
    ? (/^~from=([^/?#]+)\//.exec(rest) ?? [])
    : []
  return whole === '' ? { from: null, rest } : { from, rest: rest.slice(whole.length) }
}

/**
 * Rewrites the links among the headers of an answer to a request for `source`, in place; of `location`,
 * `content-location` and `link`, what cannot lead back is dropped. `source` must hold no credentials:
 * relative links are joined to it.
 */
export function rewriteLinks(
  headers: Record<string, string>,
  source: string,
  base: LinkBase,
): void {
  const lead = (reference: string) => {
    const url = URL.parse(reference, source)
    return url && destinationOf(url, new URL(source).host, base)
  }
  for (const name of ['location', 'content-location']) {
    if (headers[name] === undefined) continue
    const destination = lead(headers[name])
    if (destination === null) delete headers[name]
    else headers[name] = `${base.location}${destination}`
  }
  rewriteOwnLinks(headers, new URL(source).host, base)
  if (headers.link === undefined) return
  const rewritten = rewriteAll(headers.link, (reference) => {
    const destination = lead(reference)
    return destination === null ? null : `${base.link}${destination}`
  })
  if (rewritten === null) delete headers.link
  else headers.link = rewritten
}

/** All headers that are a URL of the called host, and parameters of challenges that are one. */
function rewriteOwnLinks(headers: Record<string, string>, host: string, base: LinkBase): void {
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (!value.includes('https://') || LINKS.includes(name) || NO_LINKS.test(name)) continue
    headers[name] =
      name === 'www-authenticate'
        ? value.replace(/="(https:[^"\\]*)"/g, (all, url: string) => {
            const link = ownLink(url, host, base)
            return link === null ? all : `="${link}"`
          })
        : (ownLink(value, host, base) ?? value)
  }
}

/** Where the URL of the called host leads back; null for any other text. */
function ownLink(text: string, host: string, base: LinkBase): string | null {
  const [, authority = '', rest = ''] = WHOLE_URL.exec(text) ?? []
  return isHost(authority, host) ? `${ownBase(host, base)}${withoutDots(rest)}` : null
}

const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:[/?#]|$)/i

/** What follows a host. Dot segments are resolved here, so that no client resolves them to another host. */
export function withoutDots(rest: string): string {
  if (!DOT_SEGMENT.test(rest)) return rest
  const { pathname, search, hash } = new URL(`https://host.invalid${rest}`)
  return `${pathname}${search}${hash}`
}

/** Whether an authority is that host, `host` in the form of URLs. */
export function isHost(authority: string, host: string): boolean {
  return authority !== '' && authority.toLowerCase().replace(/:443$/, '') === host
}

/** What the origin of the called host becomes. */
export function ownBase(host: string, { link, from }: LinkBase): string {
  return `${link}${fromStep(from)}${host}`
}

/** Before a host to which another one led. */
export function fromStep(from: string | null): string {
  return from === null ? '' : `${FROM}${from}/`
}

/** Takes out what a URL is read without, so that nothing is parted by it that will be joined. */
export function joinLinks(headers: Record<string, string>): Record<string, string> {
  for (const name of LINKS) {
    const link = headers[name]
    if (link !== undefined) headers[name] = link.replace(/[\t\n\r]/g, '')
  }
  return headers
}

/** The headers whose links are rewritten wherever they lead. */
export function linksAmong(headers: Record<string, string>): Record<string, string> {
  const links: Record<string, string> = {}
  for (const name of LINKS) {
    const link = headers[name]
    if (link !== undefined) links[name] = link
  }
  return links
}

/** The place that a link of `host` leads to; null for what is not https. */
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
