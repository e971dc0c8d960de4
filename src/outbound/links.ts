/**
 * Links in the headers of an answer. An SDK that follows one with its API key would carry that past
 * resolver and proxy, to whatever host the upstream names: so they are rewritten to lead back, where
 * allowlist and policies decide again.
 */

/** Where forward mode is; the second is for SDKs that cut every `/v1` out of their base URL. */
export const FORWARD_PREFIX = '/v1/forward/'
export const forwardPrefixes = [FORWARD_PREFIX, '/forward/'] as const
const LINKS = ['location', 'content-location', 'link']

/** What stands before `host/path` in `location` and `content-location`, and in `link`. */
export type LinkBase = { location: string; link: string }

/** The upstream's place that a URL leads to, as `host/path`, or `null` for none. */
type Destination = (url: URL) => string | null

/** Links lead back through the prefix under which the call came. */
export function resolverLinks(prefix: string, originOf: () => string): LinkBase {
  return {
    location: prefix,
    // Absolute (RFC 8288), since clients join them to other bases. Hardly any answer has one.
    get link() {
      return `${originOf()}${prefix}`
    },
  }
}

/** Through a proxy's base URL, or, without one, to the real names. */
export function proxyLinks(baseUrl: string | null): LinkBase {
  const base = `${baseUrl ?? 'https:/'}/`
  return { location: base, link: base }
}

/**
 * Rewrites `location`, `content-location` and `link` of an answer to a request for `source`, in place;
 * what cannot lead back is dropped. `source` must hold no credentials: relative links are joined to it.
 */
export function rewriteLinks(
  headers: Record<string, string>,
  source: string,
  base: LinkBase,
  destinationOf: Destination = onTheWeb,
): void {
  const lead = (reference: string) => {
    const url = URL.parse(reference, source)
    return url && destinationOf(url)
  }
  for (const name of ['location', 'content-location']) {
    if (headers[name] === undefined) continue
    const destination = lead(headers[name])
    if (destination === null) delete headers[name]
    else headers[name] = `${base.location}${destination}`
  }
  if (headers.link === undefined) return
  const rewritten = rewriteAll(headers.link, (reference) => {
    const destination = lead(reference)
    return destination === null ? null : `${base.link}${destination}`
  })
  if (rewritten === null) delete headers.link
  else headers.link = rewritten
}

/** Takes out what a URL is read without, so that nothing is parted by it that will be joined. */
export function joinLinks(headers: Record<string, string>): Record<string, string> {
  for (const name of LINKS) {
    const link = headers[name]
    if (link !== undefined) headers[name] = link.replace(/[\t\n\r]/g, '')
  }
  return headers
}

/** The headers that are rewritten. */
export function linksAmong(headers: Record<string, string>): Record<string, string> {
  const links: Record<string, string> = {}
  for (const name of LINKS) {
    const link = headers[name]
    if (link !== undefined) links[name] = link
  }
  return links
}

/** Where a link of an upstream leads. */
function onTheWeb(url: URL): string | null {
  return url.protocol === 'https:' ? `${url.host}${url.pathname}${url.search}${url.hash}` : null
}

/** Where a link of the resolver's forward mode leads in the end. */
export function throughForwardMode({ pathname, search, hash }: URL): string | null {
  if (!pathname.startsWith(FORWARD_PREFIX)) return null
  return `${pathname.slice(FORWARD_PREFIX.length)}${search}${hash}`
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
