/** The page on loopback to which a provider sends the browser back (RFC 8252, section 7.3). */
import { randomBytes } from 'node:crypto'
import { withTimeout } from '../../core/async/timeout.ts'
import { ConnectFault } from './provider_fetch.ts'

export type RedirectListener = {
  uri: string
  /** The parameters of the first redirect. @throws ConnectFault after `limitMs` */
  receive(limitMs: number): Promise<URLSearchParams>
  /** Answers the browser, then stops listening. */
  close(isConnected: boolean): Promise<void>
}

const PATH_BYTES = 16
/** Seconds; the answer waits for the token request. */
const IDLE_S = 60

/**
 * @param given an address that is registered at the provider; a free port and a random path unless given
 * @throws ConnectFault
 */
export function listenForRedirect(given: string | undefined): RedirectListener {
  const fixed = given === undefined ? null : requireFixedAddress(given)
  const pathname = fixed?.pathname ?? `/${randomBytes(PATH_BYTES).toString('base64url')}`
  const received = Promise.withResolvers<URLSearchParams>()
  received.promise.catch(() => {})
  const outcome = Promise.withResolvers<boolean>()
  const server = listen(Number(fixed?.port ?? 0), async (request) => {
    const url = new URL(request.url)
    const isOurs = url.hostname === (fixed?.hostname ?? '127.0.0.1') && url.pathname === pathname
    if (request.method !== 'GET' || !isOurs) return showPage(404, 'Not found.')
    received.resolve(url.searchParams)
    return (await outcome.promise)
      ? showPage(200, 'Connected. You can close this page.')
      : showPage(200, 'Not connected. Return to Cloakroom for the reason.')
  })
  return {
    uri: fixed?.href ?? `http://127.0.0.1:${server.port}${pathname}`,
    receive: (limitMs) => withTimeout(limitMs, received.promise, () => buildTimeoutFault(limitMs)),
    close: async (isConnected) => {
      outcome.resolve(isConnected)
      // Ends the timer of a flow that was cancelled.
      received.reject(new ConnectFault('cancelled', 'The connection was cancelled.'))
      await server.stop()
    },
  }
}

function buildTimeoutFault(limitMs: number): ConnectFault {
  const message = `The browser did not return within ${limitMs / 1000} seconds.`
  return new ConnectFault('timed_out', message, 'Run the command again.')
}

function listen(port: number, fetch: (request: Request) => Promise<Response>) {
  try {
    return Bun.serve({ hostname: '127.0.0.1', port, idleTimeout: IDLE_S, fetch })
  } catch (error) {
    const message = `Another program uses port ${port}.`
    throw new ConnectFault('port_taken', message, 'Stop it, or use another port.', error)
  }
}

/** @throws ConnectFault unless it is http on loopback with a port */
function requireFixedAddress(given: string): URL {
  const url = URL.parse(given)
  const isLoopback = url?.hostname === '127.0.0.1' || url?.hostname === 'localhost'
  if (url?.protocol === 'http:' && isLoopback && url.port !== '' && url.search === '') return url
  const hint = 'example: --redirect-uri http://127.0.0.1:8976/callback'
  const message = '--redirect-uri must be http on 127.0.0.1, with a port'
  throw new ConnectFault('redirect_refused', message, hint)
}

function showPage(status: number, sentence: string): Response {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  }
  const html = `<!doctype html><title>Cloakroom</title><p>${sentence}</p>\n`
  return new Response(html, { status, headers })
}
