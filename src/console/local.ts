/**
 * The local console, so that a user need not trust the server for code. It serves this executable's files on loopback,
 * and forwards only its own page's calls to the server. A browser stores remembered keys, passkeys and cookies by host
 * name, so each server has a separate host name. Cookies are shared by all ports of a host name, so this console's cookies
 * have its port in their names, and it forwards no others.
 */

import { createHash } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { openProviderFetch } from '../client/connect/provider_fetch.ts'
import { serverTrust } from '../client/http/trust.ts'
import { isNotConnected } from '../core/net/not_connected.ts'
import { ATTRIBUTES, consoleCookies } from '../http/console_cookies.ts'
import { LocalConnections } from './connecting/local_connections.ts'
import { answerConnection, refusal } from './connecting/routes.ts'
import { openDocs } from './docs/serve.ts'
import { openConsole } from './serve.ts'

export type LocalConsole = { url: string; hash: string; close(): Promise<void> }

/** Headers of the console's page, and headers of the server that the page needs. */
const REQUEST_HEADERS = [
  'accept',
  'content-type',
  'last-event-id',
  'user-agent',
  'x-cloakroom-console',
]
const RESPONSE_HEADERS = [
  'cache-control',
  'content-disposition',
  'content-type',
  'referrer-policy',
  'retry-after',
  'x-request-id',
]
const COOKIE = /^__Host-cloakroom-(access|refresh)/
/** Name, value and lifetime of the server's two cookies. No other attribute is passed on. */
const SET_COOKIE = /^(__Host-cloakroom-(?:access|refresh))=([\w.~+/=-]*);.*Max-Age=(\d+)$/
const DOCS = /^\/(docs(\/|$)|llms\.txt$)/
/** Content types that the page reads. A page or script from the server would run in this origin. */
const DATA = /^(application\/(json|x-ndjson)|text\/event-stream)(;|$)/

/** The loopback host name (RFC 6761, section 6.3) of the console for a server. */
function buildLocalName(server: string): string {
  return `cloakroom-${createHash('sha256').update(server).digest('hex').slice(0, 32)}.localhost`
}

/**
 * Opens the console for the server at an origin.
 *
 * @param send makes requests to providers that the page connects
 * @throws Error with `code` EADDRINUSE
 */
export async function openLocalConsole(
  server: string,
  port: number,
  send = openProviderFetch(),
): Promise<LocalConsole> {
  const { hash } = await openConsole()
  const connections = new LocalConnections(send)
  const name = buildLocalName(server)
  const listeners = listenOnLoopback(port, async (request, listener) => {
    const own = `${name}:${listener.port}`
    // Another host name may resolve to this address, for example by DNS rebinding.
    if (request.headers.get('host') !== own) return new Response(null, { status: 421 })
    const { pathname } = new URL(request.url)
    const served = await findFilesFor(pathname)
    if (served) return files(request, served.respond)
    if (pathname === '/') return Response.redirect('/console/', 302)
    if (!/^\/(api|v1|local)\//.test(pathname)) return new Response(null, { status: 404 })
    if (!consoleCookies(request.headers))
      return refusal(403, 'forbidden', 'Only the console page can call this.')
    // Streams have no time limit.
    listener.timeout(request, 0)
    if (pathname.startsWith('/local/')) return answerConnection(request, connections)
    return handOn(request, server, `-${listener.port}`)
  })
  return {
    url: `http://${name}:${listeners[0]?.port}/console/`,
    hash,
    close: async () => {
      connections.close()
      await Promise.all(listeners.map((listener) => listener.stop(true)))
    },
  }
}

/** The files that a path belongs to, `null` for a call. */
async function findFilesFor(pathname: string) {
  if (pathname.startsWith('/console')) return openConsole()
  return DOCS.test(pathname) ? openDocs() : null
}

type Listener = Bun.Server<unknown>

/** A request without a usable answer: the server may have made the change that it asks for. */
function codeFor({ method }: Request) {
  return method === 'GET' ? 'unavailable' : 'lost_answer'
}

type Respond = (request: Request, listener: Listener) => Promise<Response>

/**
 * Listens on both loopback addresses. Browsers try ::1 first, so another program that listened there could pose as the
 * console.
 *
 * @throws Error with `code` EADDRINUSE if another program uses one of them
 */
function listenOnLoopback(port: number, fetch: Respond): Listener[] {
  const first = Bun.serve({ hostname: '127.0.0.1', port, fetch })
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  if (!addresses.some(({ address }) => address === '::1')) return [first]
  try {
    return [first, Bun.serve({ hostname: '::1', port: first.port ?? port, fetch })]
  } catch (error) {
    void first.stop(true)
    throw error
  }
}

function files(request: Request, respond: (request: Request) => Response): Response {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  return isRead
    ? respond(request)
    : new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } })
}

async function handOn(request: Request, server: string, suffix: string): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const headers = pickHeaders(request.headers, REQUEST_HEADERS)
  headers.set('sec-fetch-site', 'same-origin')
  headers.set('accept-encoding', 'identity')
  headers.set('cookie', ownCookies(request.headers.get('cookie') ?? '', suffix))
  try {
    const answer = await fetch(`${server}${pathname}${search}`, {
      ...serverTrust(),
      method: request.method,
      headers,
      body: request.body,
      redirect: 'manual',
      signal: request.signal,
    })
    if (!DATA.test(answer.headers.get('content-type') ?? 'application/json')) {
      await answer.body?.cancel()
      return refusal(502, codeFor(request), `${server} is not a Cloakroom server.`)
    }
    const returned = pickHeaders(answer.headers, RESPONSE_HEADERS)
    returned.set('x-content-type-options', 'nosniff')
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value, seconds] = SET_COOKIE.exec(cookie) ?? []
      if (name === undefined) continue
      returned.append('set-cookie', `${name}${suffix}=${value}; ${ATTRIBUTES}; Max-Age=${seconds}`)
    }
    return new Response(answer.body, { status: answer.status, headers: returned })
  } catch (error) {
    const code = isNotConnected(error) ? 'unavailable' : codeFor(request)
    return refusal(503, code, `${server} is unreachable from this machine.`)
  }
}

/** This port's cookies, under the server's names. */
function ownCookies(header: string, suffix: string): string {
  const cookies = header.split(/; ?/).map((cookie) => {
    const [, name, rest] = /^([^=]*)(=.*)$/.exec(cookie) ?? []
    const isOwn = name !== undefined && COOKIE.test(name) && name.endsWith(suffix)
    return isOwn ? `${name.slice(0, -suffix.length)}${rest}` : ''
  })
  return cookies.filter((cookie) => cookie !== '').join('; ')
}

function pickHeaders(headers: Headers, names: readonly string[]): Headers {
  const found = names.flatMap((name): [string, string][] => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  return new Headers(found)
}
