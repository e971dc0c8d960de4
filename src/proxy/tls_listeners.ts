/**
 * The TLS listeners, one for each intercepted host and protocol: its certificate names that host, and every request is
 * sent to that host, whatever its headers name. They are sockets in a directory that only this user can enter, so the
 * proxy's port and its password cannot be bypassed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Server } from 'bun'
import { Fault } from '../core/fault.ts'
import { LruMap } from '../core/lru.ts'
import { presentForwardFault } from '../http/forward_refusal.ts'
import { presentFault } from '../http/reply.ts'
import type { SocketHandlers } from '../http/route.ts'
import { socketOptions } from '../http/websocket.ts'
import { refusalFormatOf } from '../outbound/signing/refusal_format.ts'
import type { Leaf, ProxyAuthority } from './authority.ts'
import type { Backend, BackendHandler, Inbound } from './backend.ts'
import { openHttp2Listener } from './http2_listener.ts'
import { recordFault } from './record.ts'
import { holdShort, toCanonicalAuthority, wholeOf } from './request.ts'

export type TlsListeners = {
  /** Returns the socket for a host: `h2` for a client that takes nothing else, `http` without TLS for one request. */
  socketFor(host: string, port: number, protocol: 'https' | 'h2' | 'http'): Promise<string>
  /** Returns a socket without TLS for `handler`. */
  unencrypted(handler: BackendHandler): string
  close(): void
}

const MAX_LISTENERS = 64
const HTTPS_PORT = 443

type Listener = { server: { stop(isAll?: boolean): unknown }; path: string; leaf: Leaf | null }

export function openTlsListeners(authority: ProxyAuthority, backend: Backend): TlsListeners {
  const directory = mkdtempSync(join(tmpdir(), 'cloakroom-'))
  const listeners = new LruMap<string, Listener>({
    max: MAX_LISTENERS,
    // Requests under way end in their own time.
    onEvict: ({ server }) => void server.stop(),
  })
  const others: Listener['server'][] = []
  let counter = 0
  const buildNextPath = () => join(directory, `${++counter}.sock`)
  return {
    socketFor: async (host, port, protocol) => {
      const name = `${host}:${port} ${protocol}`
      const leaf = protocol === 'http' ? null : await authority.leafFor(host)
      const known = listeners.get(name)
      if (known?.leaf === leaf) return known.path
      void known?.server.stop()
      const path = buildNextPath()
      const handler = handlerFor(backend, host, port)
      const server =
        leaf && protocol === 'h2'
          ? await openHttp2Listener(path, leaf, handler)
          : listen(path, leaf ? handler : withClose(handler), leaf)
      const other = listeners.get(name)
      if (other?.leaf === leaf) {
        // Another client's connection opened one meanwhile.
        void server.stop(true)
        return other.path
      }
      listeners.set(name, { server, path, leaf })
      return path
    },
    unencrypted: (handler) => {
      const path = buildNextPath()
      others.push(listen(path, handler, null))
      return path
    },
    close: () => {
      for (const [, { server }] of listeners) void server.stop(true)
      for (const server of others) void server.stop(true)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function handlerFor(backend: Backend, host: string, port: number): BackendHandler {
  const authority = port === HTTPS_PORT ? host : `${host}:${port}`
  return (request, upgrade) => {
    // RFC 9110, section 15.5.20: a name that this connection was not made for.
    if (toCanonicalAuthority(request.headers.get('host') ?? '') !== authority) {
      return Promise.resolve(new Response('misdirected request\n', { status: 421 }))
    }
    return answer(backend, {
      request,
      authority,
      pathAndQuery: requestPath(request),
      requestId: Bun.randomUUIDv7(),
      linkBase: null,
      upgrade,
    })
  }
}

/** The next request on this connection may be for another host. */
function withClose(handler: BackendHandler): BackendHandler {
  return async (request, upgrade) => {
    const response = await handler(request, upgrade)
    response?.headers.set('connection', 'close')
    return response
  }
}

/** A refusal has the form of forward mode: an SDK reads it as an error, and agents need only one form. */
export async function answer(backend: Backend, inbound: Inbound): Promise<Response | undefined> {
  // Read before stand-ins are replaced.
  const { request, authority, pathAndQuery, requestId } = inbound
  const format = refusalFormatOf(new Headers(request.headers), `${authority}${pathAndQuery}`)
  try {
    const response = await backend.execute(inbound)
    if (response === null) return undefined
    const held = holdShort(response, backend.bodies)
    return held ? await wholeOf(response, held) : breakQuietly(response)
  } catch (error) {
    return presentForwardFault(recordFault(error), requestId, format)
  }
}

/** Gives no reason: the runtime would print it, with source code, on the terminal of another program. */
export function breakQuietly(response: Response): Response {
  const { status, headers } = response
  const reader = response.body?.getReader()
  if (!reader) return response
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    try {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    } catch {
      controller.error(undefined)
    }
  }
  const cancel = () => reader.cancel()
  const stream = new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 })
  return new Response(stream, { status, headers })
}

/** @throws Fault `invalid_target` for a request whose Host spoils the URL */
export function requestPath({ url }: Request): string {
  const from = url.indexOf('/', url.indexOf('://') + 3)
  if (!URL.canParse(url) || from < 0) {
    throw new Fault('invalid_target', { message: 'The Host header has no valid host.' })
  }
  return url.slice(from)
}

function listen(path: string, handler: BackendHandler, leaf: Leaf | null): Server<SocketHandlers> {
  return Bun.serve<SocketHandlers>({
    unix: path,
    ...(leaf ? { tls: { cert: leaf.cert, key: leaf.key } } : {}),
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // The backend sets the deadline of a call. For one request alone the runtime does not lift its own on a socket of
    // this kind; idle connections end with those of their programs.
    idleTimeout: 0,
    fetch: (request, server) =>
      handler(request, (data, headers) => server.upgrade(request, { data, headers })),
    error: (error) => presentFault(recordFault(error), 'resolver', Bun.randomUUIDv7()),
    websocket: {
      ...socketOptions,
      open: (socket) => socket.data.open(socket),
      message: (socket, message) => socket.data.message(socket, message as never),
      ping: (socket, payload) => socket.data.ping(socket, payload),
      pong: (socket, payload) => socket.data.pong(socket, payload),
      drain: (socket) => socket.data.drain(socket),
      close: (socket, code, reason) => socket.data.close(socket, code, reason),
    },
  } as Parameters<typeof Bun.serve<SocketHandlers>>[0])
}
