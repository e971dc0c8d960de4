/**
 * Handles requests without CONNECT: base-URL mode, `http://127.0.0.1:PORT/PASSWORD/HOST/PATH`, and http for other
 * hosts. Plain http never gets a credential: it passes unchanged, or is refused with `strict`.
 */

import { Fault } from '../core/fault.ts'
import { presentFault } from '../http/reply.ts'
import { refuseBrowsers, sandboxAnswer } from '../outbound/browsers.ts'
import { connectionNames, isHopByHop } from '../outbound/headers.ts'
import { readFrom } from '../outbound/links.ts'
import { mayRepeat } from '../outbound/retries.ts'
import type { Backend, BackendHandler, Inbound } from './backend.ts'
import { isAuthorised, isSame } from './connect_listener.ts'
import { toCanonicalAuthority } from './request.ts'
import { answer, breakQuietly, requestPath } from './tls_listeners.ts'

type Options = { password: string; strict: boolean; backend: Backend; port: () => number }

export function baseUrlHandler(options: Options): BackendHandler {
  return async (request, upgrade) => {
    const origin = `http://127.0.0.1:${options.port()}`
    const path = requestPath(request)
    forgetPassword(request.headers, options.password)
    return [origin, origin.replace('127.0.0.1', 'localhost')].some(
      (own) => request.url === `${own}${path}`,
    )
      ? baseUrl(options, request, path, origin, upgrade)
      : refuseOtherHost(options, request)
  }
}

/**
 * Removes the password, which is in every URL of base-URL mode, and so in Referers. Anyone who learns it may use the
 * proxy. A Referer becomes that of the real host; other headers that repeat the password are removed.
 */
function forgetPassword(headers: Headers, password: string): void {
  for (const [name, value] of [...headers]) {
    if (!value.includes(password)) continue
    const destinations = name === 'referer' ? value.split(`/${password}/`).slice(1) : []
    const [only, another] = destinations
    if (only === undefined || another !== undefined || only.includes(password)) headers.delete(name)
    else headers.set(name, `https://${only}`)
  }
}

async function baseUrl(
  { password, backend }: Options,
  request: Request,
  path: string,
  origin: string,
  upgrade: Inbound['upgrade'],
): Promise<Response | undefined> {
  const [, given = '', place = ''] = /^\/([^/?]*)\/(.*)$/.exec(path) ?? []
  if (!isSame(given, password))
    return textResponse(403, 'the password in the path is missing or wrong')
  const requestId = Bun.randomUUIDv7()
  const { from, rest: target } = readFrom(place)
  const [, authority = '', rest = '/'] = /^([^/?]*)([/?].*)?$/.exec(target) ?? []
  const canonical = toCanonicalAuthority(authority)
  if (canonical === null) {
    const message = 'The path after the password must begin with a host, such as api.example.com.'
    return presentFault(new Fault('invalid_target', { message }), 'resolver', requestId)
  }
  const pathAndQuery = rest.startsWith('/') ? rest : `/${rest}`
  const linkBase = `${origin}/${password}`
  const inbound = {
    request,
    authority: canonical,
    pathAndQuery,
    requestId,
    linkBase,
    from,
    upgrade,
  }
  const response = await answer(browserRefusing(backend), inbound)
  return response && sandboxAnswer(response)
}

/** The password in the path is no token: a link, or a page that was left, has it, too. */
function browserRefusing(backend: Backend): Backend {
  return {
    ...backend,
    execute: async (inbound) => {
      refuseBrowsers(inbound.request.headers, false)
      return backend.execute(inbound)
    },
  }
}

async function refuseOtherHost({ password, strict }: Options, request: Request): Promise<Response> {
  const { headers, method, url, body, signal } = request
  if (!isAuthorised(headers.get('proxy-authorization'), password)) {
    const answered = textResponse(407, 'the proxy password is missing or wrong')
    answered.headers.set('proxy-authenticate', 'Basic realm="cloakroom"')
    return answered
  }
  if (strict) return textResponse(403, 'a strict proxy does not allow plain http')
  try {
    const response = await fetch(url, {
      method,
      headers: endToEnd(headers),
      ...(body === null ? {} : { body, duplex: 'half' }),
      redirect: 'manual',
      decompress: false,
      signal,
    } as BunFetchRequestInit)
    const answered = new Response(response.body, {
      status: response.status,
      // The next request on this connection may be for https, which the listener sees in the first one only.
      headers: [...endToEnd(response.headers), ['connection', 'close']],
    })
    return breakQuietly(answered)
  } catch {
    const answered = textResponse(502, 'the host is unreachable')
    if (!mayRepeat(method)) answered.headers.set('x-should-retry', 'false')
    return answered
  }
}

function endToEnd(headers: Headers): [string, string][] {
  const dropped = connectionNames(headers)
  return [...headers].filter(([name]) => !isHopByHop(name) && !dropped.has(name))
}

function textResponse(status: number, text: string): Response {
  return new Response(`${text}\n`, { status, headers: { 'cache-control': 'no-store' } })
}
