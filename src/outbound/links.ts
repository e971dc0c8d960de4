/**
 * Links in the headers of a forwarded answer. An SDK that follows one with its API key would carry the
 * token past the resolver, to whatever host the upstream names: so they lead back through forward mode,
 * where allowlist and policies decide again.
 */

export const FORWARD_PREFIX = '/v1/forward/'

type Source = { authority: string; pathAndQuery: string }

/** Rewrites `location`, `content-location` and `link` in place; what cannot lead back is dropped. */
export function leadBack(headers: Record<string, string>, source: Source, origin: string): void {
  const base = `https://${source.authority}${source.pathAndQuery}`
  for (const name of ['location', 'content-location']) {
    const value = headers[name]
    if (value !== undefined) set(headers, name, through(value, base))
  }
  if (headers.link !== undefined) set(headers, 'link', throughAll(headers.link, base, origin))
}

function set(headers: Record<string, string>, name: string, value: string | null): void {
  if (value === null) delete headers[name]
  else headers[name] = value
}

/** The path on the resolver under which a URL of the upstream is reached. */
function through(reference: string, base: string): string | null {
  const url = URL.parse(reference, base)
  if (url?.protocol !== 'https:') return null
  return `${FORWARD_PREFIX}${url.host}${url.pathname}${url.search}${url.hash}`
}

/** RFC 8288: `<URI>; rel=next, <URI>; rel=last`. Absolute, since clients join them to other bases. */
function throughAll(link: string, base: string, origin: string): string | null {
  let complete = true
  const rewritten = link.replace(/<([^<>]*)>/g, (_, reference: string) => {
    const path = through(reference, base)
    complete &&= path !== null
    return `<${origin}${path}>`
  })
  return complete ? rewritten : null
}
