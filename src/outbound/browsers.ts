/**
 * Refuses browsers in forward mode and in the local proxy's base URLs, which are for programs (protocol 6.3). A browser
 * automatically sends its stored data for an address: cookies, which all ports share, and Basic credentials. And a page
 * from there runs in that address's origin. So both refuse requests that a browser opens or embeds.
 */
import { Fault } from '../core/fault.ts'
import { CONSOLE_COOKIE_PREFIX } from '../http/console_cookies.ts'

/** Older browsers name the destination of a WebSocket; scripts' requests have none. */
const DESTINATIONS_OF_SCRIPTS = ['empty', 'websocket']
/** Upstream headers that would make a browser report this server's addresses. */
const REPORTING = [
  'content-security-policy-report-only',
  'nel',
  'report-to',
  'reporting-endpoints',
] as const

/**
 * @param hasToken whether the request has a token that its sender set, not the browser automatically
 * @throws Fault `forbidden` for a navigation, an embedding, and another site's request without a token
 */
export function refuseBrowsers(headers: Headers, hasToken: boolean): void {
  const destination = headers.get('sec-fetch-dest')?.toLowerCase() ?? null
  if (
    headers.get('sec-fetch-mode')?.toLowerCase().endsWith('navigate') ||
    (destination !== null && !DESTINATIONS_OF_SCRIPTS.includes(destination))
  ) {
    throw refusal('This address is for programs. Open the API itself in your browser.')
  }
  if (headers.get('sec-fetch-site')?.toLowerCase() === 'cross-site' && !hasToken) {
    throw refusal(
      'A page of another site needs a token: call /v1/forward/ of the resolver with the header X-Service-Token.',
    )
  }
}

/** Makes a browser that shows the response anyway use an opaque origin, and report nothing. */
export function sandboxAnswer(response: Response): Response {
  for (const name of REPORTING) response.headers.delete(name)
  response.headers.set('content-security-policy', 'sandbox')
  return response
}

/** A Cookie header without the console's session; `null` when nothing is left. */
export function withoutConsoleCookies(cookies: string): string | null {
  if (!cookies.toLowerCase().includes(CONSOLE_COOKIE_PREFIX)) return cookies
  const others = cookies
    .split(';')
    .map((cookie) => cookie.trim())
    .filter((cookie) => !cookie.toLowerCase().startsWith(CONSOLE_COOKIE_PREFIX))
  return others.length === 0 ? null : others.join('; ')
}

function refusal(advice: string): Fault {
  return new Fault('forbidden', { message: `A browser sent this request. ${advice}` })
}
