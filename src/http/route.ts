/**
 * Routes: a contract and its handler. The handler's arguments follow from the contract's type, so that no handler
 * accesses a tenant without a grant.
 */

import type { BodyAccount, BodyMemory } from '../core/body_memory.ts'
import type { Caller, Grant, Permission, ResourceRef } from '../core/grant.ts'
import type { Log } from '../core/log.ts'
import type { Tracer } from '../core/trace/tracer.ts'
import type { Limiter } from '../database/limits/rate.ts'
import type { Database, Transaction } from '../database/open.ts'
import type { SignedNote } from '../database/signed_notes.ts'
import type { ConsoleCookies } from './console_cookies.ts'
import type { Endpoint, GrantOf, InputOf, MustRecord, ResultOf, TokenEndpoint } from './endpoint.ts'
import type { Listing, ReadPage } from './page.ts'
import type { BoundAudit, StoreChanges, StoreDenial, UnboundAudit } from './recorder.ts'
import type { Download, EventStream, Reply, Surface } from './reply.ts'

/** Facts about the request besides its parsed parts. */
export type RequestContext = {
  request: Request
  requestId: string
  /** The caller's network: an IPv4 address or an IPv6 /64. */
  network: string
  /** Ours as the caller sees it, also behind a proxy that ends TLS. */
  origin: string
  params: Record<string, string>
  /** Before a body of at most so many bytes is read: gives it the time that a slow line needs. */
  expectBytes(count: number): void
  /**
   * Counts buffered bodies until the response begins. `owner` is a workspace, or a person or network outside of one.
   */
  countBodies(owner: string): BodyAccount
  /** The route's own deadline takes over from the limit on idle connections. */
  holdOpen(): void
  /** That limit holds again, counted from now. */
  putOff(): void
  /** Makes the connection a WebSocket; `false` when the request is no handshake. */
  upgrade(handlers: SocketHandlers, headers: Record<string, string>): boolean
}

/** The handlers of a WebSocket that a raw route made of a request. */
export type SocketHandlers = Required<
  Pick<Bun.WebSocketHandler<unknown>, 'open' | 'message' | 'ping' | 'pong' | 'drain' | 'close'>
>

/** The tools of a member's change: the permission, its transaction, and its record. */
export type Changing<G extends Grant> = { grant: G; tx: Transaction; audit: BoundAudit }

/**
 * The transaction of a change by someone without a grant. The handler opens it when its slow work, such
 * as hashing, is done.
 */
export type OpenTransaction = <T>(
  change: (tx: Transaction, audit: UnboundAudit) => Promise<T>,
) => Promise<T>

type Context<E extends Endpoint> = {
  params: InputOf<E, 'params'>
  query: InputOf<E, 'query'>
  body: InputOf<E, 'body'>
  caller: E['access'] extends { kind: 'public' | 'cron' } ? undefined : Caller
  grant: GrantOf<E>
  /** The transaction in which the grant was given; reading needs none. */
  tx: E['access'] extends { kind: 'member' }
    ? E['method'] extends 'GET'
      ? Database
      : Transaction
    : undefined
  /** Records the change of the endpoint, if it must record one. */
  audit: E['access'] extends { kind: 'member' } ? Recorded<E, BoundAudit> : undefined
  /** The recorder of public and session endpoints. */
  transaction: E['access'] extends { kind: 'member' } ? undefined : Recorded<E, OpenTransaction>
  network: string
  userAgent: string
  /** The last event of a client that continues a stream of events. */
  lastEventId: string | null
  /** Null unless the console's own page calls. */
  cookies: ConsoleCookies | null
  /** The workspace that the header or the query names, for session endpoints over all of them. */
  namedWorkspace: string | undefined
}

type PrepareContext<E extends Endpoint> = {
  body: InputOf<E, 'body'>
  grant: GrantOf<E>
  db: Database
}

type Recorded<E extends Endpoint, T> = MustRecord<E> extends true ? T : undefined

type Answer<E extends Endpoint> = ResultOf<E> | Reply<ResultOf<E>> | Download | EventStream
type Handler<E extends Endpoint> = (context: Context<E>) => Promise<Answer<E>> | Answer<E>

export type Route = {
  endpoint: Endpoint
  handle: ((context: Context<Endpoint>) => unknown) | null
  /** Runs before the transaction. Its result is the handler's `prepared`. */
  prepare: ((context: { body: unknown; grant: Grant; db: Database }) => Promise<unknown>) | null
  /** Set for routes that do all of it themselves: the resolver and delivery. */
  raw: RawHandler | null
}

/** Returns `null` after `upgrade`. */
type RawHandler = (context: RequestContext) => Promise<Response | null>

export function route<const E extends Endpoint>(endpoint: E, handler: Handler<E>): Route {
  return { endpoint, handle: handler as Route['handle'], prepare: null, raw: null }
}

/**
 * For large changes: slow work is done before the transaction, which blocks others. The handler must check that the
 * prepared data is still current.
 */
export function createPreparedRoute<const E extends Endpoint, Prepared>(
  endpoint: E,
  prepare: (context: PrepareContext<E>) => Promise<Prepared>,
  handler: (context: Context<E> & { prepared: Prepared }) => Promise<Answer<E>>,
): Route {
  return {
    endpoint,
    handle: handler as Route['handle'],
    prepare: prepare as Route['prepare'],
    raw: null,
  }
}

/** A paginated list, read by the function. */
export function listRoute<const E extends Endpoint & { paged: true }, Row>(
  endpoint: E,
  describe: (context: Context<E>) => Listing<Row, ResultOf<E>> | Promise<Listing<Row, ResultOf<E>>>,
): Route {
  const handle = async (context: Context<E> & { query: { limit: number }; readPage: ReadPage }) => {
    return context.readPage(await describe(context), context.query)
  }
  return { endpoint, handle: handle as Route['handle'], prepare: null, raw: null }
}

/** Outside of the pipeline: only for routes without a grant and without changes. */
type RawEndpoint = TokenEndpoint | (Endpoint & { method: 'GET' })

export function createRawRoute(endpoint: RawEndpoint, raw: RawHandler): Route {
  return { endpoint, handle: null, prepare: null, raw }
}

/** Implemented by src/identity. */
export type IdentityService = {
  /** @throws Fault `invalid_token` */
  authenticate(headers: Headers): Promise<Caller>
  /** @throws Fault `not_found`, `forbidden`, `validation_error` (no active workspace) */
  authorise(
    db: Database | Transaction,
    caller: Caller,
    permission: Permission,
    resource: ResourceRef,
  ): Promise<Grant>
  /**
   * Both as an earlier request found them, `null` where none did. They count only if `holds` says so.
   *
   * @throws Fault `invalid_token`
   */
  recall(headers: Headers, permission: Permission, resource: ResourceRef): Recalled | null
  /** The grant alone, for who is known to call. It is still to be confirmed by `authorise`. */
  recallGrant(caller: Caller, permission: Permission, resource: ResourceRef): Grant | null
}

export type Recalled = { caller: Caller; grant: Grant; holds(): Promise<boolean> }

/** The label of metrics: the route's pattern, never its path. */
export type ServedRequest = {
  method: string
  route: string | null
  status: number
  duration_ms: number
}

export type Services = {
  surface: Surface
  routes: readonly Route[]
  db: Database
  identity: IdentityService
  storeChanges: StoreChanges
  storeDenial: StoreDenial
  checkHost: (header: string | null) => void
  networkOf: (request: Request, peer: string | null) => string
  originOf: (request: Request, peer: string | null) => string
  limits: { register: Limiter; login: Limiter; api: Limiter }
  /** For the bodies of this process. */
  bodies: BodyMemory
  /** CRON_SECRET, if it is set. */
  cronSecret?: string | undefined
  /** Called after each transaction in which something of a workspace changed, or may have. */
  onChange?: ((workspaceId: string) => void) | undefined
  /** Called after a commit with the stored signed statements. */
  onSigned?: ((note: SignedNote) => void) | undefined
  /** Called after each response. */
  onRequest?: ((surface: Surface, request: ServedRequest) => void) | undefined
  readPage: ReadPage
  /** Absent without tracing. */
  tracer?: Tracer | null | undefined
  log: Log
  /** Whether this process received a stop signal. */
  isStopping(): boolean
}
