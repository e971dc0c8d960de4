/**
 * Links in the headers of an answer. Both backends lead them back through `/v1/forward/`, which exists
 * on the resolver only: here they become the real names again, or, in base-URL mode, lead back through
 * the proxy.
 */
import { FORWARD_PREFIX } from '../outbound/links.ts'

/** Rewrites `location`, `content-location` and `link` in place. `base` as in `Inbound.linkBase`. */
export function restoreLinks(headers: Headers, base: string | null): void {
  const restored = (link: string) => `${base ?? 'https:/'}/${link}`
  for (const name of ['location', 'content-location']) {
    const value = headers.get(name)
    if (value?.startsWith(FORWARD_PREFIX)) {
      headers.set(name, restored(value.slice(FORWARD_PREFIX.length)))
    }
  }
  const link = headers.get('link')
  if (link === null) return
  const pattern = new RegExp(`<(?:https?://[^/<>]+)?${FORWARD_PREFIX}([^<>]*)>`, 'g')
  headers.set(
    'link',
    link.replace(pattern, (_, rest: string) => `<${restored(rest)}>`),
  )
}
