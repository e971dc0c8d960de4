/**
 * One request through its contract, in the order of protocol 2: rate, authentication, path and tenant, role, body,
 * state. No body is read before the caller is authenticated. Every handler for a tenant receives a transaction and a
 * grant. Changes must be recorded in the audit log, or the request fails.
 */
import { transactWhenRead, UnreadBefore } from '../core/async/unread.ts'
import { Fault } from '../core/fault.ts'
import { type Caller, type Grant, type ProjectGrant, RoleDenied } from '../core/grant.ts'
import { getCurrentSpan, traceWork } from '../core/trace/span.ts'
import { isUuid, parsePart } from '../core/validation/validate.ts'
import { unavailableFault } from '../database/errors.ts'
import { rateHeaders } from '../database/limits/rate.ts'
import type { Reading, Transaction } from '../database/open.ts'
import { transactNoting } from '../database/signed_notes.ts'
import { admit, recall } from './admit.ts'
import { consoleCookies } from './console_cookies.ts'
import { type Endpoint, type EndpointAccess, mustRecord } from './endpoint.ts'
import { logUnlessStored, recordChange } from './recorded.ts'
import { UnrecordedChange } from './recorder.ts'
import { buildCommonHeaders, EventStream, present } from './reply.ts'
import { DEFAULT_BODY_LIMIT, queryOf, readBody } from './request_body.ts'
import type { OpenTransaction, RequestContext, Route, Services } from './route.ts'
import { activeOf, isNamedInBody, resourceOf } from './tenant.ts'

type Act = (context: object) => unknown

/** @throws Fault for every refusal */
export async function perform(
  services: Services,
  route: Route,
  received: RequestContext,
): Promise<Response> {
  const headers = buildCommonHeaders(received.requestId)
  const remembered = await actRemembered(services, route, received, headers)
  const { result } = remembered ?? (await actAuthenticated(services, route, received, headers))
  // The runtime's time limit counts from the beginning of a response, however steadily it is read.
  return present(route.endpoint, result, headers, received.putOff)
}

/** An unauthenticated caller, or one with changed rights. */
async function actAuthenticated(
  services: Services,
  route: Route,
  received: RequestContext,
  headers: Record<string, string>,
): Promise<{ result: unknown }> {
  const { access } = route.endpoint
  const caller = await traceWork('authenticate', {}, () =>
    admit(services, access, received, headers),
  )
  if (access.kind !== 'public') getCurrentSpan()?.trace.know()
  return { result: await actAs(caller, services, route, received) }
}

/**
 * For a member with a cached session and role: one statement confirms both, while reads already begin. `null` if they
 * are not cached or changed. Nothing was returned or changed then.
 */
async function actRemembered(
  services: Services,
  route: Route,
  received: RequestContext,
  headers: Record<string, string>,
): Promise<{ result: unknown } | null> {
  const recalled = recall(services, route.endpoint, received)
  if (!recalled) return null
  const { caller, grant } = recalled
  Object.assign(headers, rateHeaders(await services.limits.api.take(caller.sessionId)))
  const holds = traceWork('authenticate', {}, () => recalled.holds())
  const act = () => actAs(caller, services, route, received, { grant, holds })
  const reading = route.endpoint.method === 'GET' ? act() : null
  reading?.catch(() => {})
  if (!(await holds)) {
    void reading?.then(stopStream, () => {})
    return null
  }
  getCurrentSpan()?.trace.know()
  return { result: await (reading ?? act()) }
}

function stopStream(result: unknown): void {
  if (result instanceof EventStream) result.stop()
}

/** A grant of an earlier request. Nothing is put on record before it is known to hold. */
type Remembered = { grant: Grant; holds: Promise<boolean> }

async function actAs(
  caller: Caller | undefined,
  services: Services,
  route: Route,
  received: RequestContext,
  remembered?: Remembered,
): Promise<unknown> {
  const { endpoint, handle } = route
  const { request, network } = received
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
  return caller && endpoint.access.kind === 'member'
    ? actAsMember({ caller, remembered }, endpoint.access, services, route, context, act)
    : actWithoutGrant(services, endpoint, await inputOf(endpoint, context, caller), act)
}

/** Records refusals by role, both from the matrix and from a handler. */
async function actAsMember(...args: Parameters<typeof actWithGrant>): Promise<unknown> {
  const [{ remembered }, , services, { endpoint }] = args
  try {
    return await actWithGrant(...args)
  } catch (error) {
    if (error instanceof RoleDenied && (await remembered?.holds) !== false) {
      const { storeDenial, db, log } = services
      const stored = storeDenial(db, error.member, endpoint.name)
      await stored.catch(
        logUnlessStored(log, 'a refusal could not be recorded', endpoint.name, (failure) =>
          Boolean(unavailableFault(failure)),
        ),
      )
    }
    throw error
  }
}

async function actWithGrant(
  { caller, remembered }: { caller: Caller; remembered?: Remembered | undefined },
  { permission, tenant }: Extract<EndpointAccess, { kind: 'member' }>,
  services: Services,
  { endpoint, prepare }: Route,
  context: RequestContext,
  act: Act,
): Promise<unknown> {
  const { identity, db, onChange } = services
  const { request } = context
  const resourceIn = (body: unknown) => resourceOf(tenant, context, body)
  const authoriseIn = (tx: Reading, body: unknown) =>
    identity.authorise(tx, caller, permission, resourceIn(body))
  const isNamedBefore = endpoint.body && !isNamedInBody(tenant, request)
  const early = remembered?.grant ?? (isNamedBefore ? await authoriseIn(db, undefined) : undefined)
  const body = await bodyOf(endpoint, context, early?.workspaceId ?? caller.userId)
  const prepared =
    prepare && (await prepare({ body, grant: early ?? (await authoriseIn(db, body)), db }))
  const actIn = async (tx: Reading, grant: Grant) => {
    const query = endpoint.query && parsePart(endpoint.query, queryOf(request))
    const runInside: Act = (more) =>
      nameResourceOnRefusal(grant, () => act({ body, query, tx, grant, prepared, ...more }))
    if (!mustRecord(endpoint)) return { result: await runInside({}), changed: grant.workspaceId }
    const recording = { tx, actor: grant, holds: remembered?.holds }
    const { result, isUnchanged } = await recordChange(services, endpoint, recording, (audit) =>
      runInside({ audit }),
    )
    return { result, changed: isUnchanged ? undefined : grant.workspaceId }
  }
  // Each statement sees data committed before it begins, so reads need no transaction.
  if (endpoint.method === 'GET')
    return (await actIn(db, early ?? (await authoriseIn(db, body)))).result
  let known = early ?? identity.recallGrant(caller, permission, resourceIn(body))
  const change = async (tx: Transaction) => {
    const authorising = authoriseIn(tx, body)
    if (!known) return actIn(tx, await authorising)
    // The handler starts with the remembered grant. Its changes are committed only if this transaction reads the same grant.
    const [authorised, acted] = await Promise.allSettled([authorising, actIn(tx, known)])
    if (authorised.status === 'rejected') throw authorised.reason
    if (!isSameGrant(authorised.value, known)) {
      known = authorised.value
      throw new UnreadBefore(async () => {})
    }
    if (acted.status === 'rejected') throw acted.reason
    return acted.value
  }
  const { result, changed } = await transactWhenRead(() => transactNoting(services, change, known))
  if (changed !== undefined) onChange?.(changed)
  return result
}

function isSameGrant(one: Partial<ProjectGrant>, other: Partial<ProjectGrant>): boolean {
  const names = ['workspaceId', 'projectId', 'projectName', 'role', 'email'] as const
  return names.every((name) => one[name] === other[name])
}

/** A refusal by a handler's own rules, such as changes of an owner, also names the actor. */
async function nameResourceOnRefusal<T>(grant: Grant, act: () => T): Promise<Awaited<T>> {
  try {
    return await act()
  } catch (error) {
    throw error instanceof Fault && error.code === 'forbidden'
      ? new RoleDenied(grant, error)
      : error
  }
}

/** The handler opens its own transaction, if needed. Recorded changes must use this one. */
async function actWithoutGrant(
  services: Services,
  endpoint: Endpoint,
  input: object,
  act: Act,
): Promise<unknown> {
  if (!mustRecord(endpoint)) return act(input)
  let isRecorded = false
  const transaction: OpenTransaction = async (change) => {
    const act = (tx: Transaction) =>
      recordChange(services, endpoint, { tx }, (audit) => change(tx, audit))
    const { result } = await transactWhenRead(() => transactNoting(services, act))
    isRecorded = true
    return result
  }
  const result = await act({ ...input, transaction })
  if (!isRecorded) throw new UnrecordedChange(endpoint.name)
  return result
}

/** An invalid ID matches nothing: 404, like an ID that does not exist. */
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
