/**
 * `/.well-known/security.txt` (RFC 9116), on both listeners, from SECURITY_CONTACT. Without it there is none: an
 * address that nobody reads would be worse.
 */
import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../core/config/config.ts'
import { commonHeaders } from '../../http/reply.ts'
import { type Route, rawRoute } from '../../http/route.ts'
import { getSecurityContact } from './contract.ts'

type Contact = Pick<Config, 'SECURITY_CONTACT' | 'SERVICE_SERVER_URL' | 'SERVICE_RESOLVER_URL'>

const DAY_MS = 86_400_000
/** Less than a year is recommended (RFC 9116, section 2.5.5). */
const VALID_DAYS = 180

export function securityContactRoutes(config: Contact, clock: Clock): Route[] {
  if (config.SECURITY_CONTACT.length === 0) return []
  return [
    rawRoute(getSecurityContact, async ({ requestId }) => {
      const type = { 'content-type': 'text/plain; charset=utf-8' }
      const headers = { ...commonHeaders(requestId), ...type }
      return new Response(textOf(config, clock.now()), { headers })
    }),
  ]
}

/** Expires as a day begins, so that it is the same all day. */
function textOf(config: Contact, now: number): string {
  const { SECURITY_CONTACT, SERVICE_SERVER_URL, SERVICE_RESOLVER_URL } = config
  const expires = new Date((Math.floor(now / DAY_MS) + VALID_DAYS) * DAY_MS)
  const places = [SERVICE_SERVER_URL, SERVICE_RESOLVER_URL].flatMap((url) => placeOf(url) ?? [])
  const lines = [
    ...SECURITY_CONTACT.map((address) => `Contact: ${address}`),
    `Expires: ${expires.toISOString().replace('.000', '')}`,
    ...places.map((place) => `Canonical: ${place}`),
  ]
  return `${lines.join('\n')}\n`
}

/** Where clients reach this listener, if it has an origin of its own, which the text's place is below. */
function placeOf(url: string | undefined): string | null {
  const { protocol, pathname, origin } = URL.parse(url ?? '') ?? {}
  return protocol === 'https:' && pathname === '/' ? `${origin}${getSecurityContact.path}` : null
}
