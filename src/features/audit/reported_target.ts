/**
 * Where a reported request went, as the audit keeps it: never with what may hold a credential, which is
 * the user information, the query and the fragment of its URL.
 */

export type StoredTarget = {
  target_url: string | null
  target_path: string | null
  target_domain: string
}

type Reported = {
  target_url?: string | null | undefined
  target_domain?: string | null | undefined
  target_path?: string | null | undefined
}

const SCHEMES = ['http:', 'https:', 'ws:', 'wss:']
const MAX_LENGTH = 8192
/** What a URL parser drops or turns in silence, and what would end a host name early. */
const NOT_IN_A_HOST = /[\s/?#@\\]/

/** From the URL if there is one, else from the domain; `null` for what names no host. */
export function readTarget({
  target_url: url,
  target_domain: domain,
  target_path: path,
}: Reported): StoredTarget | null {
  if (url) return fromUrl(url)
  if (!domain || NOT_IN_A_HOST.test(domain)) return null
  const host = fromUrl(`https://${domain}`)
  return host && { ...host, target_url: null, target_path: path ? withoutQuery(path) : null }
}

function fromUrl(text: string): StoredTarget | null {
  const parsed = /[\s\\]/.test(text) ? null : URL.parse(text)
  if (!parsed || !SCHEMES.includes(parsed.protocol) || parsed.hostname === '') return null
  const { protocol, host, pathname } = parsed
  const target_url = `${protocol}//${host}${pathname}`
  // Escapes make a text longer than it was.
  if (target_url.length > MAX_LENGTH) return null
  const target_domain = parsed.hostname.replace(/\.$/, '')
  return { target_url, target_path: pathname, target_domain }
}

function withoutQuery(path: string): string {
  return path.replace(/[?#].*$/s, '')
}
