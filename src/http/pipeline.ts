/**
 * One request through its contract, in the order of protocol 2: rate,
 * authentication, path and tenant, role, body, state. Nothing of a body is read before the caller is
 * known, and every handler that touches a tenant receives a transaction and a grant, never less. What
 * changes something says so to the audit, or fails.
 */
import { timingSafeEqual } from 'node:crypto'
import { transactWhenRead } from '../core/async/unread.ts'
import { sha256 } from '../core/crypto/primitives.ts'
import { Fault } from '../core/fault.ts'
import { type Caller, type Grant, RoleDenied } from '../core/grant.ts'
import { describeError, type Log } from '../core/log.ts'
import { currentSpan, traced } from '../core/trace/span.ts'
import { isUuid, parsePart } from '../core/validation/validate.ts'
import { isUnwilling, unavailableFault } from '../database/errors.ts'
import { rateHeaders } from '../database/limits/rate.ts'
import type { Reading, Transaction } from '../database/open.ts'
import { transactNoting } from '../database/signed_notes.ts'
import { consoleCookies } from './console_cookies.ts'
import { type Endpoint, type EndpointAccess, mustRecord } from './endpoint.ts'
import { Recorder, UnrecordedChange } from './recorder.ts'
import { commonHeaders, present } from './reply.ts'
import { DEFAULT_BODY_LIMIT, queryOf, readBody } from './request_body.ts'
import type { OpenTransaction, RequestContext, Route, Services } from './route.ts'
import { activeOf, namedInBody, resourceOf } from './tenant.ts'

type Act = (context: object) => unknown

/** @throws Fault for every refusal */
export async function perform(
  services: Services,
  route: Route,
  received: RequestContext,
): Promise<Response> {
  const { endpoint, handle } = route
  const { request, network } = received
  const headers = commonHeaders(received.requestId)
  const caller = await traced('authenticate', {}, () =>
    admit(services, endpoint.access, received, headers),
  )
  if (endpoint.access.kind !== 'public') currentSpan()?.trace.know()
  checkIds(received.params)
  // Before any query: a name that cannot be one, such as text with NUL, must not reach the database.
  const params = endpoint.params && parsePart(endpoint.params, received.params)
  const context = { ...received, params: { ...received.params, ...params } }
  const input = {
    params,
    caller,
    network,
    userAgent: request.headers.get('user-agent') ?? '',
    lastEventId: request.headers.get('last-event-id'),
    cookies: consoleCookies(request.headers),
    namedWorkspace: activeOf(request),
    readPage: services.readPage,
  }
  const act: Act = (more) => (handle as Act)({ ...input, ...more })
  const { access } = endpoint
  const result =
    caller && access.kind === 'member'
      ? await actAsMember(caller, access, services, route, context, act)
      : await actWithoutGrant(services, endpoint, await inputOf(endpoint, context, caller), act)
  // The runtime's time limit counts from the beginning of a response, however steadily it is read.
  return present(endpoint, result, headers, received.putOff)
}

/** What a member's role does not permit is put on record, whether the matrix says so or the handler. */
async function actAsMember(...args: Parameters<typeof actWithGrant>): Promise<unknown> {
  const [, , services, { endpoint }] = args
  try {
    return await actWithGrant(...args)
  } catch (error) {
    if (error instanceof RoleDenied) {
      const { storeDenial, db, log } = services
      const stored = storeDenial(db, error.member, endpoint.name)
      await stored.catch(
        onlyLogged(log, 'a refusal could not be put on record', endpoint.name, (failure) =>
          Boolean(unavailableFault(failure)),
        ),
      )
    }
    throw error
  }
}

async function actWithGrant(
  caller: Caller,
  { permission, tenant }: Extract<EndpointAccess, { kind: 'member' }>,
  services: Services,
  { endpoint, prepare }: Route,
  context: RequestContext,
  act: Act,
): Promise<unknown> {
  const { identity, db, onChange } = services
  const { request } = context
  const authoriseIn = (tx: Reading, body: unknown) =>
    identity.authorise(tx, caller, permission, resourceOf(tenant, context, body))
  const isNamedBefore = endpoint.body && !namedInBody(tenant, request)
  const early = isNamedBefore ? await authoriseIn(db, undefined) : undefined
  const body = await bodyOf(endpoint, context, early?.workspaceId ?? caller.userId)
  const prepared =
    prepare && (await prepare({ body, grant: early ?? (await authoriseIn(db, body)), db }))
  const actIn = async (tx: Reading) => {
    const grant = await authoriseIn(tx, body)
    const query = endpoint.query && parsePart(endpoint.query, queryOf(request))
    const inside: Act = (more) =>
      naming(grant, () => act({ body, query, tx, grant, prepared, ...more }))
    if (!mustRecord(endpoint)) return { result: await inside({}), changed: grant.workspaceId }
    const audit = new Recorder(grant)
    const result = await recorded(services, endpoint, { tx, audit }, () => inside({ audit }))
    return { result, changed: audit.isUnchanged ? undefined : grant.workspaceId }
  }
  // Each statement sees what is committed when it begins, in a transaction or not: to read, none is needed.
  const reads = endpoint.method === 'GET'
  const { result, changed } = await (reads
    ? actIn(db)
    : transactWhenRead(() => transactNoting(services, actIn)))
  if (changed !== undefined && !reads) onChange?.(changed)
  return result
}

/** A refusal by a handler's own rules, such as who may touch an owner, says whose it is too. */
async function naming<T>(grant: Grant, act: () => T): Promise<Awaited<T>> {
  try {
    return await act()
  } catch (error) {
    throw error instanceof Fault && error.code === 'forbidden'
      ? new RoleDenied(grant, error)
      : error
  }
}

/** The handler opens its transaction, if it needs one; where it must leave a record, through here. */
async function actWithoutGrant(
  services: Services,
  endpoint: Endpoint,
  input: object,
  act: Act,
): Promise<unknown> {
  if (!mustRecord(endpoint)) return act(input)
  let isRecorded = false
  const transaction: OpenTransaction = async (change) => {
    const act = (tx: Transaction) => {
      const audit = new Recorder()
      return recorded(services, endpoint, { tx, audit }, () => change(tx, audit))
    }
    const result = await transactWhenRead(() => transactNoting(services, act))
    isRecorded = true
    return result
  }
  const result = await act({ ...input, transaction })
  if (!isRecorded) throw new UnrecordedChange(endpoint.name)
  return result
}

/** @throws UnrecordedChange, which rolls the transaction back */
async function recorded<T>(
  { storeChanges, log }: Services,
  { name, method }: Endpoint,
  { tx, audit }: { tx: Reading; audit: Recorder },
  change: () => T,
): Promise<Awaited<T>> {
  const result = await change()
  const store = () => traced('audit write', {}, () => audit.store(tx, name, storeChanges))
  if (method === 'GET') {
    const stored = store()
    // A database that is lost may come back without this record: then nothing is shown.
    await stored.catch(onlyLogged(log, 'a read could not be put on record', name, isUnwilling))
  } else await store()
  return result
}

/** Reads and refusals go on while the database takes no writes, as on a full disk; the log has them. */
function onlyLogged(
  log: Log,
  message: string,
  endpoint: string,
  isBearable: (error: unknown) => boolean,
) {
  return (error: unknown): void => {
    if (!isBearable(error)) throw error
    log.error(message, { endpoint, ...describeError(error) })
  }
}

/** Rate limits and authentication; adds the rate's headers to the response. */
async function admit(
  { limits, identity, cronSecret }: Services,
  access: EndpointAccess,
  { request, network }: RequestContext,
  headers: Record<string, string>,
): Promise<Caller | undefined> {
  if (access.kind === 'public') {
    if (access.rate) Object.assign(headers, rateHeaders(await limits[access.rate].take(network)))
    if (access.console && !consoleCookies(request.headers)) throw notTheConsole()
    return undefined
  }
  if (access.kind === 'cron') {
    Object.assign(headers, rateHeaders(await limits.login.take(network)))
    checkCronSecret(cronSecret, request.headers)
    return undefined
  }
  const caller = await identity.authenticate(request.headers)
  Object.assign(headers, rateHeaders(await limits.api.take(caller.sessionId)))
  if (access.kind === 'session' && access.instanceOwner && !caller.isInstanceOwner)
    throw new Fault('forbidden', { message: 'Only the owner of this installation may call this.' })
  return caller
}

function notTheConsole(): Fault {
  return new Fault('forbidden', { message: 'Only the page of the console may call this.' })
}

/** An id that is none cannot name anything: 404, like one that does not exist. */
function checkIds(params: Record<string, string>): void {
  for (const [name, value] of Object.entries(params)) {
    if (name.endsWith('_id') && !isUuid(value)) throw new Fault('not_found')
  }
}

async function inputOf(endpoint: Endpoint, context: RequestContext, caller: Caller | undefined) {
  const query = endpoint.query && parsePart(endpoint.query, queryOf(context.request))
  return { query, body: await bodyOf(endpoint, context, caller?.userId ?? context.network) }
}

async function bodyOf(
  endpoint: Endpoint,
  { request, expectBytes, countBodies }: RequestContext,
  owner: string,
): Promise<unknown> {
  if (!endpoint.body) return undefined
  const optional = endpoint.bodyOptional === true
  expectBytes(endpoint.bodyLimit ?? DEFAULT_BODY_LIMIT)
  const account = countBodies(owner)
  return readBody(request, endpoint.body, { limit: endpoint.bodyLimit, optional, account })
}

/** @throws Fault `not_found` where no secret is set, `invalid_token` */
function checkCronSecret(secret: string | undefined, headers: Headers): void {
  if (!secret) throw new Fault('not_found')
  const [, presented = ''] = /^Bearer +(.+)$/i.exec(headers.get('authorization') ?? '') ?? []
  // Hashes have one length, so that the time does not depend on the secret's.
  if (!timingSafeEqual(sha256(presented), sha256(secret))) throw new Fault('invalid_token')
}
