/**
 * The console's session, which its page cannot read: tokens in `__Host-` cookies, which neither scripts
 * nor sibling hosts nor plain HTTP come by. A browser sends cookies by itself, so they count only in a request
 * that the console's own page made (protocol 5.1).
 */

/** A form cannot send it, and a page of another origin only after a preflight, which is refused. */
const MARK = 'x-cloakroom-console'
/** In lower case; browsers compare `__Host-` without case. */
export const CONSOLE_COOKIE_PREFIX = '__host-cloakroom-'
const NAMES = { access: '__Host-cloakroom-access', refresh: '__Host-cloakroom-refresh' } as const
export const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict'

/** The tokens in the page's cookies; null for missing ones. */
export type ConsoleCookies = { access: string | null; refresh: string | null }

/** The cookies of a request by the console's own page; null for all other requests. */
export function consoleCookies(headers: Headers): ConsoleCookies | null {
  if (headers.get(MARK) !== '1' || !isOfOwnPage(headers)) return null
  return { access: cookieOf(headers, NAMES.access), refresh: cookieOf(headers, NAMES.refresh) }
}

/** The two headers of the browser about the page: at least one is present, and each present one matches. */
function isOfOwnPage(headers: Headers): boolean {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  if (site === null && origin === null) return false
  return (site ?? 'same-origin') === 'same-origin' && (origin === null || isOwn(origin, headers))
}

/** Browsers keep these cookies only where TLS, in front of us, or the machine itself keeps them secret. */
function isOwn(origin: string, headers: Headers): boolean {
  const host = headers.get('host')?.toLowerCase()
  if (host === undefined) return false
  const isHere = /^(([\w-]+\.)*localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host)
  return origin === `https://${host}` || (isHere && origin === `http://${host}`)
}

/** Ignores duplicates, because one of them may be injected. */
function cookieOf(headers: Headers, name: string): string | null {
  const cookies = (headers.get('cookie') ?? '').split(/; ?/)
  const [found, second] = cookies.filter((cookie) => cookie.startsWith(`${name}=`))
  return found === undefined || second !== undefined ? null : found.slice(name.length + 1)
}

/** The values of `Set-Cookie` that keep a session in the browser. */
export function keepSession(
  tokens: { access: string; refresh: string },
  seconds: number,
): readonly string[] {
  return [
    `${NAMES.access}=${tokens.access}; ${ATTRIBUTES}; Max-Age=${seconds}`,
    `${NAMES.refresh}=${tokens.refresh}; ${ATTRIBUTES}; Max-Age=${seconds}`,
  ]
}

/** Cookies that make the browser delete the session. */
export const forgetSession = keepSession({ access: '', refresh: '' }, 0)
