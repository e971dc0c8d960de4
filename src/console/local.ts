/**
 * The console from this machine: a person need not trust the server for code. The files are this executable's, on
 * loopback; calls of their page, and of no other, are handed on to the server as they are. What the browser keeps of a
 * page (keys that stay open, passkeys, cookies) belongs to its host name, so each server has one of its own. Cookies go to
 * every port of it: those of this console carry its port in their names, and no others are handed on.
 */

import { createHash } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { openProviderFetch } from '../client/connect/provider_fetch.ts'
import { serverTrust } from '../client/http/trust.ts'
import { isNotConnected } from '../core/net/not_connected.ts'
import { ATTRIBUTES, consoleCookies } from '../http/console_cookies.ts'
import { causeOf } from '../outbound/connection/fetch.ts'
import { LocalConnections } from './connecting/local_connections.ts'
import { answerConnection, refusal } from './connecting/routes.ts'
import { openConsole } from './serve.ts'

export type LocalConsole = { url: string; hash: string; close(): Promise<void> }

/** What a page of ours sends, and what it has use for. */
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
/** Of the two that the server sets: name, value and seconds. All else that it may ask of a browser is not its own to ask. */
const SET_COOKIE = /^(__Host-cloakroom-(?:access|refresh))=([\w.~+/=-]*);.*Max-Age=(\d+)$/
/** What the page reads; a page or a script of the server's would be one of this origin. */
const DATA = /^(application\/(json|x-ndjson)|text\/event-stream)(;|$)/

/** The name on loopback (RFC 6761, section 6.3) of the console for the server at an origin. */
function localName(server: string): string {
  return `cloakroom-${createHash('sha256').update(server).digest('hex').slice(0, 32)}.localhost`
}

/**
 * For the server at an origin.
 *
 * @param send makes requests to providers that the page connects
 * @throws Error with `code` EADDRINUSE
 */
export async function openLocalConsole(
  server: string,
  port: number,
  send = openProviderFetch(),
): Promise<LocalConsole> {
  const { hash, respond } = await openConsole()
  const connections = new LocalConnections(send)
  const name = localName(server)
  const listeners = listenOnLoopback(port, async (request, listener) => {
    const own = `${name}:${listener.port}`
    // A name of somebody else's that leads here is no name of ours.
    if (request.headers.get('host') !== own) return new Response(null, { status: 421 })
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/console')) return files(request, respond)
    if (pathname === '/') return Response.redirect('/console/', 302)
    if (!/^\/(api|v1|local)\//.test(pathname)) return new Response(null, { status: 404 })
    if (!consoleCookies(request.headers))
      return refusal(403, 'forbidden', 'Only its page may call this.')
    // A stream lasts as long as both ends want it to.
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

type Listener = Bun.Server<unknown>
/** The page's code for a change that the server may have made. */
const LOST = 'lost_answer'

type Respond = (request: Request, listener: Listener) => Promise<Response>

/**
 * On both addresses of loopback: browsers try ::1 first, and who listened there alone would be the console to them.
 *
 * @throws Error with `code` EADDRINUSE where another program has one of them
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
  const headers = only(request.headers, REQUEST_HEADERS)
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
      const code = request.method === 'GET' ? 'unavailable' : LOST
      return refusal(502, code, `${server} did not answer as Cloakroom does.`)
    }
    const returned = only(answer.headers, RESPONSE_HEADERS)
    returned.set('x-content-type-options', 'nosniff')
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value, seconds] = SET_COOKIE.exec(cookie) ?? []
      if (name === undefined) continue
      returned.append('set-cookie', `${name}${suffix}=${value}; ${ATTRIBUTES}; Max-Age=${seconds}`)
    }
    return new Response(answer.body, { status: answer.status, headers: returned })
  } catch (error) {
    const isSent = request.method !== 'GET' && !isNotConnected(causeOf(error).code)
    return refusal(
      503,
      isSent ? LOST : 'unavailable',
      `${server} is unreachable from this machine.`,
    )
  }
}

/** Those of this port, by the names that the server gave them. */
function ownCookies(header: string, suffix: string): string {
  const cookies = header.split(/; ?/).map((cookie) => {
    const [, name, rest] = /^([^=]*)(=.*)$/.exec(cookie) ?? []
    const isOwn = name !== undefined && COOKIE.test(name) && name.endsWith(suffix)
    return isOwn ? `${name.slice(0, -suffix.length)}${rest}` : ''
  })
  return cookies.filter((cookie) => cookie !== '').join('; ')
}

function only(headers: Headers, names: readonly string[]): Headers {
  const found = names.flatMap((name): [string, string][] => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  return new Headers(found)
}
