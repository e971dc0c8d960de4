/**
 * One listener: finds the route of a request, checks its Host first, and turns every outcome into a response and a line
 * of the log. Only this file and the reference page use Elysia.
 */
import type { Server } from 'bun'
import { Elysia } from 'elysia'
import type { BodyAccount } from '../core/body_memory.ts'
import { Fault } from '../core/fault.ts'
import { getCurrentSpan, runInSpan } from '../core/trace/span.ts'
import type { Endpoint } from './endpoint.ts'
import { perform } from './pipeline.ts'
import { presentFault } from './reply.ts'
import type { RequestContext, Route, Services } from './route.ts'
import { toFault } from './unexpected_error.ts'
import { socketOptions } from './websocket.ts'

/** A connection ends when a request does not arrive, or a response is not read, for so long. */
const IDLE_SECONDS = 30

/**
 * The runtime counts that time from the start of a body, however steadily it arrives: bodies of known
 * callers get more by their size, up to what the runtime can count.
 */
const SLOWEST_BYTES_PER_SECOND = 131_072
const LONGEST_SECONDS = 255

/** Bytes; the largest body that any endpoint takes. */
const LARGEST_BODY = 33_554_432

const PARAMETER = /\{(\w+)\}/g

/** One port with its routes behind it. */
export type Listener = {
  /** Starts to accept, `shared` with the other workers; returns the origin, `http://host:port`. */
  open(socket: { hostname: string; port: number; shared?: boolean; idleSeconds?: number }): string
  /** Stops accepting, and waits for running requests, at most `drainMs`. */
  close(drainMs: number): Promise<void>
}

/** Builds one listener's application from its routes. */
export function serve(services: Services): Listener {
  const app = new Elysia({
    name: services.surface,
    // Development prints the errors of streams, which quote upstream URLs with credentials in them. The runtime would
    // reject bodies above its own limit without an error, before all our checks. Unread data is not accepted: it waits
    // in the network.
    serve: { maxRequestBodySize: Number.MAX_SAFE_INTEGER, development: false },
    websocket: socketOptions,
  })
  // Only what no route below takes comes here: hooks of Elysia hold for later routes.
  app.onError(({ request, server }) => respond(services, [], request, [], server))
  for (const [pattern, routes] of groupByPattern(services.routes)) {
    app.all(
      pattern,
      ({ request, params, server }) =>
        respond(services, routes, request, orderByPath(params ?? {}), server),
      { parse: 'none' },
    )
  }
  return {
    // Only workers share: any other second process on the port is an accident, and must fail.
    open: ({ hostname, port, shared = false, idleSeconds = IDLE_SECONDS }) => {
      app.listen({ hostname, port, reusePort: shared, idleTimeout: idleSeconds })
      return app.server?.url.origin ?? ''
    },
    close: async (drainMs) => {
      if (!app.server) return
      const force = setTimeout(() => app.stop(true), drainMs)
      await app.stop()
      clearTimeout(force)
    },
  }
}

/** Paths that differ only in the names of their parameters are one path to a router. */
function groupByPattern(routes: readonly Route[]): Map<string, Route[]> {
  const patterns = new Map<string, Route[]>()
  for (const candidate of routes) {
    let position = 0
    const named = candidate.endpoint.path.replace(PARAMETER, () => `:p${position++}`)
    // The rest of a path may be empty, with or without the slash before it.
    const rest = candidate.endpoint.restOfPath ? /\/:p\d+$/ : null
    for (const pattern of rest ? [named.replace(rest, ''), named.replace(rest, '/*')] : [named]) {
      patterns.set(pattern, [...(patterns.get(pattern) ?? []), candidate])
    }
  }
  return patterns
}

/** The router finds values from the end of the path; their names are those of `byPattern`. */
function orderByPath(params: Record<string, string>): string[] {
  return Object.keys(params).map((_, position) => params[`p${position}`] ?? '')
}

/** Gives the router's values, in their order in the path, the names of the contract. */
function nameParams(endpoint: Endpoint, values: readonly string[]): Record<string, string> {
  if (values.length === 0) return {}
  const names = [...endpoint.path.matchAll(PARAMETER)].map((match) => match[1] ?? '')
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
}

type Received = [
  services: Services,
  routes: readonly Route[],
  request: Request,
  values: readonly string[],
  server: Server<unknown> | null,
]

/** In a span, if tracing is on. */
function respond(...received: Received): Promise<Response | undefined> {
  const [{ tracer, surface }, routes, { headers }] = received
  const route = routes[0]?.endpoint.path
  const span = tracer?.begin(headers.get('traceparent'), { listener: surface, 'http.route': route })
  return span ? runInSpan(span, () => answer(...received)) : answer(...received)
}

async function answer(
  ...[services, routes, request, values, server]: Received
): Promise<Response | undefined> {
  const started = performance.now()
  const requestId = Bun.randomUUIDv7()
  const found = routes.find(({ endpoint }) => endpoint.method === methodOf(request))
  const accounts: BodyAccount[] = []
  const response = await attempt(services, requestId, () => {
    services.checkHost(request.headers.get('host'))
    if (routes.length === 0) throw new Fault('not_found')
    if (!found) throw new Fault('method_not_allowed', { headers: { allow: allowOf(routes) } })
    const params = nameParams(found.endpoint, values)
    const context = contextOf(services, { request, requestId, params }, server, accounts)
    return found.raw ? found.raw(context) : perform(services, found, context)
  }).finally(() => {
    for (const account of accounts) account.release()
  })
  const served = {
    method: request.method,
    route: found?.endpoint.path ?? routes[0]?.endpoint.path ?? null,
    status: response?.status ?? 101,
    duration_ms: Math.round((performance.now() - started) * 10) / 10,
  }
  if (response && !request.bodyUsed && request.body) linger(request, response, server)
  // The next request of this client goes to a process that stays.
  if (services.isStopping()) response?.headers.set('connection', 'close')
  services.onRequest?.(services.surface, served)
  services.log.info('request', { request_id: requestId, listener: services.surface, ...served })
  getCurrentSpan()?.endServed(requestId, served)
  return response ?? undefined
}

/** A body of so many bytes came with its head, as a rule: its client sends no more. */
const AT_ONCE = 16_384
/** The runtime looks every four seconds, and takes one to four for its next look, which may be at once: these are four to eight. */
const LINGER_SECONDS = 5

/**
 * A body that was refused unread. A client that still sends would lose the answer if the connection were
 * closed immediately: the runtime discards input for a few seconds. A stop waits no longer than that.
 * A connection on which nothing is to come stays as long as any other, so that its next request is not met
 * by the end of it.
 */
function linger(request: Request, response: Response, server: Server<unknown> | null): void {
  const declared = Number(request.headers.get('content-length') ?? LARGEST_BODY)
  if (declared > LARGEST_BODY) response.headers.set('connection', 'close')
  else if (declared > AT_ONCE) server?.timeout(request, LINGER_SECONDS)
}

/** Adds data and methods of the connection. */
function contextOf(
  { networkOf, originOf, bodies }: Services,
  { request, requestId, params }: Pick<RequestContext, 'request' | 'requestId' | 'params'>,
  server: Server<unknown> | null,
  accounts: BodyAccount[],
): RequestContext {
  const peer = () => server?.requestIP(request)?.address ?? null
  return {
    request,
    requestId,
    params,
    // Computed on demand: agents are limited by token, not by network.
    get network() {
      return networkOf(request, peer())
    },
    get origin() {
      return originOf(request, peer())
    },
    expectBytes: (count) => {
      const declared = Number(request.headers.get('content-length') ?? count)
      const needed = Math.ceil(Math.min(count, declared) / SLOWEST_BYTES_PER_SECOND)
      if (needed > 1) server?.timeout(request, Math.min(IDLE_SECONDS + needed, LONGEST_SECONDS))
    },
    countBodies: (owner) => {
      const account = bodies.open(owner)
      accounts.push(account)
      return account
    },
    holdOpen: () => server?.timeout(request, 0),
    putOff: () => server?.timeout(request, IDLE_SECONDS),
    upgrade: (data, headers) => server?.upgrade(request, { data, headers }) ?? false,
  }
}

/** HEAD is GET without the body, which the runtime drops (RFC 9110, section 9.3.2). */
function methodOf(request: Request): string {
  return request.method === 'HEAD' ? 'GET' : request.method
}

function allowOf(routes: readonly Route[]): string {
  const methods = routes.map(({ endpoint }) => endpoint.method)
  return [
    ...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))),
  ].join(', ')
}

async function attempt(
  services: Services,
  requestId: string,
  act: () => Promise<Response | null>,
): Promise<Response | null> {
  try {
    return await act()
  } catch (error) {
    return presentFault(toFault(error, requestId, services.log), services.surface, requestId)
  }
}
