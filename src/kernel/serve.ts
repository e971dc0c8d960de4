/**
 * The way of every request, in the order that the protocol fixes (section 2): host, rate,
 * authentication, path and tenant, role, body, state. Nothing of a body is read before the caller is
 * known, and every handler that touches a tenant receives a transaction and a grant, never less.
 * Besides app.ts this is the only file that knows Elysia.
 */
import type { Server } from 'bun'
import { Elysia } from 'elysia'
import { unavailableFault } from './db/errors.ts'
import type { Database, Transaction } from './db/open.ts'
import type { Access, Endpoint, InputOf, Permission, ResultOf, Tenant } from './endpoint.ts'
import { Fault, invalidField } from './fault.ts'
import type { Caller, Grant, GrantOf, ResourceRef } from './grant.ts'
import { describeError, type Log } from './log.ts'
import { type RateLimiter, rateHeaders } from './rate.ts'
import {
  commonHeaders,
  type Download,
  present,
  presentFault,
  type Reply,
  type Surface,
} from './reply.ts'
import { readJsonBody } from './request_body.ts'
import { isUuid, parsePart } from './validate.ts'

/** A connection on which nothing moves for so long is closed. */
const IDLE_SECONDS = 30

const PARAMETER = /\{(\w+)\}/g

/** What a handler may know about the request besides its parsed parts. */
export type Exchange = {
  request: Request
  requestId: string
  /** The caller's network: an IPv4 address or an IPv6 /64. */
  network: string
  params: Record<string, string>
}

type Context<E extends Endpoint> = {
  params: InputOf<E, 'params'>
  query: InputOf<E, 'query'>
  body: InputOf<E, 'body'>
  caller: E['access'] extends { kind: 'public' } ? undefined : Caller
  grant: GrantOf<E>
  /** The transaction in which the grant was given; public and session endpoints open their own. */
  tx: E['access'] extends { kind: 'member' } ? Transaction : undefined
  network: string
  userAgent: string
  /** The workspace that the header or the query names, for session endpoints over all of them. */
  namedWorkspace: string | undefined
}

type Answer<E extends Endpoint> = ResultOf<E> | Reply<ResultOf<E>> | Download
type Handler<E extends Endpoint> = (context: Context<E>) => Promise<Answer<E>> | Answer<E>

export type Route = {
  endpoint: Endpoint
  handle: ((context: Context<Endpoint>) => unknown) | null
  /** Set for routes that tell their whole story themselves: the resolver and delivery. */
  raw: ((exchange: Exchange) => Promise<Response>) | null
}

export function route<const E extends Endpoint>(endpoint: E, handler: Handler<E>): Route {
  return { endpoint, handle: handler as Route['handle'], raw: null }
}

export function rawRoute(
  endpoint: Endpoint,
  raw: (exchange: Exchange) => Promise<Response>,
): Route {
  return { endpoint, handle: null, raw }
}

/** Implemented by the identity slice. */
export type Identity = {
  /** @throws Fault `invalid_token` */
  authenticate(headers: Headers): Promise<Caller>
  /** @throws Fault `not_found`, `forbidden`, `validation_error` (no active workspace) */
  authorise(
    db: Database | Transaction,
    caller: Caller,
    permission: Permission,
    resource: ResourceRef,
  ): Promise<Grant>
}

export type Services = {
  surface: Surface
  routes: readonly Route[]
  db: Database
  identity: Identity
  checkHost: (header: string | null) => void
  networkOf: (request: Request, peer: string | null) => string
  limits: { register: RateLimiter; login: RateLimiter; api: RateLimiter }
  log: Log
}

/** One port with its routes behind it. */
export type Listener = {
  /** Starts to accept; answers the origin, `http://host:port`. */
  open(socket: { hostname: string; port: number }): string
  /** Stops accepting and waits for what runs, at most `drainMs`. */
  close(drainMs: number): Promise<void>
}

/** Builds one listener's application from its routes. */
export function serve(services: Services): Listener {
  const app = new Elysia({
    name: services.surface,
    serve: { maxRequestBodySize: 64 * 1024 * 1024 },
  })
  // Only what no route below takes comes here: hooks of Elysia hold for later routes.
  app.onError(({ request, server }) => answer(services, [], request, [], peerOf(server, request)))
  for (const [pattern, routes] of byPattern(services.routes)) {
    app.all(
      pattern,
      ({ request, params, server }) =>
        answer(services, routes, request, inPathOrder(params ?? {}), peerOf(server, request)),
      { parse: 'none' },
    )
  }
  return {
    // A second process on the same port is an accident until workers exist: it must fail, not share.
    open: (socket) => {
      app.listen({ ...socket, reusePort: false, idleTimeout: IDLE_SECONDS })
      return app.server?.url.origin ?? ''
    },
    close: async (drainMs) => {
      const force = setTimeout(() => app.stop(true), drainMs)
      await app.stop()
      clearTimeout(force)
    },
  }
}

function peerOf(server: Server<unknown> | null, request: Request): string | null {
  return server?.requestIP(request)?.address ?? null
}

/** Paths that differ only in the names of their parameters are one path to a router. */
function byPattern(routes: readonly Route[]): Map<string, Route[]> {
  const patterns = new Map<string, Route[]>()
  for (const candidate of routes) {
    let position = 0
    const pattern = candidate.endpoint.path.replace(PARAMETER, () => `:p${position++}`)
    patterns.set(pattern, [...(patterns.get(pattern) ?? []), candidate])
  }
  return patterns
}

/** The router finds values from the end of the path; their names are those of `byPattern`. */
function inPathOrder(params: Record<string, string>): string[] {
  return Object.keys(params).map((_, position) => params[`p${position}`] ?? '')
}

/** Gives the router's values, in their order in the path, the names of the contract. */
function nameParams(endpoint: Endpoint, values: readonly string[]): Record<string, string> {
  const names = [...endpoint.path.matchAll(PARAMETER)].map((match) => match[1] ?? '')
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
}

async function answer(
  services: Services,
  routes: readonly Route[],
  request: Request,
  values: readonly string[],
  peer: string | null,
): Promise<Response> {
  const started = performance.now()
  const requestId = Bun.randomUUIDv7()
  const found = routes.find(({ endpoint }) => endpoint.method === methodOf(request))
  const response = await attempt(services, requestId, async () => {
    services.checkHost(request.headers.get('host'))
    if (routes.length === 0) throw new Fault('not_found')
    if (!found) throw new Fault('method_not_allowed', { headers: { allow: allowOf(routes) } })
    const params = nameParams(found.endpoint, values)
    const exchange = { request, requestId, params, network: services.networkOf(request, peer) }
    return found.raw ? found.raw(exchange) : perform(services, found, exchange)
  })
  services.log.info('request', {
    request_id: requestId,
    listener: services.surface,
    method: request.method,
    route: found?.endpoint.path ?? routes[0]?.endpoint.path ?? null,
    status: response.status,
    duration_ms: Math.round((performance.now() - started) * 10) / 10,
  })
  return response
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
  act: () => Promise<Response>,
): Promise<Response> {
  try {
    return await act()
  } catch (error) {
    return presentFault(toFault(error, requestId, services.log), services.surface, requestId)
  }
}

/** Faults pass; a lost database is 503; anything else is a defect that the caller learns nothing of. */
export function toFault(error: unknown, requestId: string, log: Log): Fault {
  if (error instanceof Fault && error.status !== 500) return error
  const fault = unavailableFault(error) ?? new Fault('internal_error', { cause: error })
  const origin = error instanceof Fault ? (error.cause ?? error) : error
  log.error('request failed', {
    request_id: requestId,
    error_code: fault.code,
    ...describeError(origin),
  })
  return fault
}

async function perform(
  services: Services,
  { endpoint, handle }: Route,
  received: Exchange,
): Promise<Response> {
  const { request } = received
  const headers = commonHeaders(received.requestId)
  const caller = await admit(services, endpoint.access, received, headers)
  checkIds(received.params)
  // Before any query: a name that cannot be one, such as text with NUL, must not reach the database.
  const params = parsePart(endpoint.params, received.params) as Exchange['params'] | undefined
  const exchange = { ...received, params: { ...received.params, ...params } }
  if (
    endpoint.access.kind === 'member' &&
    caller &&
    endpoint.body &&
    !namedInBody(endpoint.access.tenant, request)
  ) {
    const { permission, tenant } = endpoint.access
    await services.identity.authorise(
      services.db,
      caller,
      permission,
      resourceOf(tenant, exchange, undefined),
    )
  }
  const input = await parseInput(endpoint, exchange)
  const context = {
    ...input,
    params,
    caller,
    network: exchange.network,
    userAgent: request.headers.get('user-agent') ?? '',
    namedWorkspace: activeOf(request),
  }
  const act = handle as (context: unknown) => unknown
  if (endpoint.access.kind !== 'member' || !caller)
    return present(endpoint, await act(context), headers)
  const { permission, tenant } = endpoint.access
  const resource = resourceOf(tenant, exchange, input.body)
  const result = await services.db.transaction(async (tx) => {
    const grant = await services.identity.authorise(tx, caller, permission, resource)
    return act({ ...context, tx, grant })
  })
  return present(endpoint, result, headers)
}

/** Rate limits and authentication; adds the rate's headers to the answer. */
async function admit(
  { limits, identity }: Services,
  access: Access,
  { request, network }: Exchange,
  headers: Record<string, string>,
): Promise<Caller | undefined> {
  if (access.kind === 'public') {
    if (access.rate) Object.assign(headers, rateHeaders(limits[access.rate].take(network)))
    return undefined
  }
  const caller = await identity.authenticate(request.headers)
  Object.assign(headers, rateHeaders(limits.api.take(caller.sessionId)))
  return caller
}

/** An id that is none cannot name anything: 404, like one that does not exist. */
function checkIds(params: Record<string, string>): void {
  for (const [name, value] of Object.entries(params)) {
    if (name.endsWith('_id') && !isUuid(value)) throw new Fault('not_found')
  }
}

function namedInBody(tenant: Tenant, request: Request): boolean {
  return tenant === 'body.project_id' || (tenant === 'active' && activeOf(request) === undefined)
}

function activeOf(request: Request): string | undefined {
  return request.headers.get('x-workspace-id') ?? activeInQuery(request)
}

function activeInQuery(request: Request): string | undefined {
  return new URL(request.url).searchParams.get('workspace_id') ?? undefined
}

/** The resource that the request names; parts that cannot name anything are 404. */
function resourceOf(tenant: Tenant, exchange: Exchange, body: unknown): ResourceRef {
  const { request, params } = exchange
  switch (tenant) {
    case 'path.workspace_id':
      return { workspaceId: params.workspace_id }
    case 'path.project_id':
      return { projectId: params.project_id }
    case 'path.workspace_project':
      return { workspaceId: params.workspace_id, projectId: params.project_id }
    case 'path.project_name':
      return { workspaceId: params.workspace_id, projectName: params.project_name }
    case 'query.workspace_id':
      return { workspaceId: activeInQuery(request) }
    case 'body.project_id':
      return { projectId: namesOf(body).project_id }
    default:
      return activeResource(exchange, body)
  }
}

function activeResource({ request, params }: Exchange, body: unknown): ResourceRef {
  if (params.project !== undefined && isUuid(params.project)) return { projectId: params.project }
  const workspaceId = activeOf(request) ?? namesOf(body).workspace_id
  if (workspaceId !== undefined && !isUuid(workspaceId)) throw new Fault('not_found')
  return { workspaceId, projectName: params.project }
}

function namesOf(body: unknown): { project_id?: string; workspace_id?: string } {
  return body ?? {}
}

async function parseInput(endpoint: Endpoint, { request }: Exchange) {
  const optional = endpoint.bodyOptional === true
  const raw = endpoint.body
    ? await readJsonBody(request, { limit: endpoint.bodyLimit, optional })
    : undefined
  return {
    query: parsePart(endpoint.query, queryOf(request)),
    body: parsePart(endpoint.body, raw === undefined && optional ? {} : raw),
  }
}

/** Repeated parameters are refused: two readers would pick different ones. */
function queryOf(request: Request): Record<string, string> {
  const query: Record<string, string> = Object.create(null)
  for (const [name, value] of new URL(request.url).searchParams) {
    if (name in query) throw invalidField(name.slice(0, 64), 'is given twice')
    query[name] = value
  }
  return query
}
