/**
 * The local backend: the member's own session reads the sealed secrets, and values are opened here, for
 * one request each. The steps are the resolver's, in its order and with its functions; the server never
 * sees a value, and learns of the request from its audit record.
 */

import type { AddressLookup } from '../outbound/address_lookup.ts'
import { bytesOf, type Call, contentTypeOf } from '../outbound/call.ts'
import { Deadline } from '../outbound/deadline.ts'
import type { Fetcher } from '../outbound/fetch.ts'
import { checkCallerHeaders, isHandshake } from '../outbound/headers.ts'
import { fillLocations, findLocations } from '../outbound/locations.ts'
import { findPlaceholders, injectPlaceholders, type Placeholder } from '../outbound/placeholders.ts'
import { type Plan, planOf } from '../outbound/plan.ts'
import { type Ending, streamAnswer } from '../outbound/stream.ts'
import { parseTarget } from '../outbound/target.ts'
import type { SocketConnector } from '../outbound/websocket_connect.ts'
import { systemClock } from '../platform/clock.ts'
import type { SealedSecret } from '../platform/crypto/secret_value.ts'
import { Fault } from '../platform/fault.ts'
import type { Secret } from '../platform/secret.ts'
import { checkPolicies } from '../resolver/credentials.ts'
import type { Backend, Inbound } from './backend.ts'
import { restoreLinks } from './links.ts'
import type { Outbox } from './outbox.ts'
import { type AuditRecord, faultOf, RecordBook } from './record.ts'
import { bodyOf, checkMethod, headersOf } from './request.ts'
import type { VaultCache, VaultSnapshot } from './vault_snapshot.ts'

export type LocalServices = {
  vault: VaultCache
  projectId: string
  environment: string
  outbox: Outbox
  addresses: AddressLookup
  fetcher: Fetcher
  sockets: SocketConnector
  /** Milliseconds between two signs of life of the upstream. */
  timeoutMs: number
  userAgent: string
  close(): Promise<void>
}

type Work = { inbound: Inbound; book: RecordBook; deadline: Deadline }
type Begun = Work & { plan: Plan; end(outcome: AuditRecord): void }

/** Where links would be led that restoreLinks leads elsewhere; nobody sees it. */
const PLACE_OF_LINKS = 'https://proxy.invalid'

export function localBackend(services: LocalServices): Backend {
  return {
    covers: async (host, port) => {
      const snapshot = await services.vault.current().catch(() => null)
      return snapshot?.allows(host, port) ?? false
    },
    execute: (inbound) => execute(services, inbound),
    refused: async (host, port) => {
      const book = openBook(services, host, 'CONNECT', Bun.randomUUIDv7())
      book.sees(parseTarget(`https://${host}:${port}/`))
      await services.outbox.add(book.failure(new Fault('domain_blocked')))
    },
    close: services.close,
  }
}

async function execute(services: LocalServices, inbound: Inbound): Promise<Response | null> {
  const { request, requestId, authority } = inbound
  const host = authority.replace(/:\d+$/, '')
  const book = openBook(services, host, request.method, requestId)
  const deadline = new Deadline(services.timeoutMs)
  deadline.endWith(request.signal)
  const work = { inbound, book, deadline }
  try {
    const plan = await decide(services, work)
    return await carryOut(services, { ...work, plan, end: await begin(services, work) })
  } catch (error) {
    // Also lets go of an upstream whose answer was refused half-way.
    deadline.abort()
    throw error
  }
}

function openBook(
  { projectId, environment }: LocalServices,
  host: string,
  method: string,
  id: string,
): RecordBook {
  return new RecordBook({ id, method, host, projectId, environment })
}

/** Steps 2 to 8. @throws Fault, after the refusal was put on record */
async function decide(services: LocalServices, work: Work): Promise<Plan> {
  try {
    return await takeSteps(services, work)
  } catch (error) {
    const fault = faultOf(error)
    // A disk that is full does not make a refusal anything else.
    await services.outbox.add(work.book.failure(fault)).catch(() => {})
    throw fault
  }
}

async function takeSteps(
  services: LocalServices,
  { inbound, book, deadline }: Work,
): Promise<Plan> {
  const { request, authority, pathAndQuery } = inbound
  const target = parseTarget(`https://${authority}${pathAndQuery}`)
  book.sees(target)
  const snapshot = await services.vault.current()
  if (!snapshot.allows(target.host, target.port)) throw new Fault('domain_blocked')
  const method = checkMethod(request)
  const headers = headersOf(request.headers)
  const demanded = findPlaceholders(Object.entries(headers))
  book.asks(demanded)
  const body = await bodyOf(request, headers, snapshot.scansBodies)
  const locations = findLocations(target, bytesOf(body), contentTypeOf(headers))
  const accepted = locations.found.filter((candidate) => isAccepted(snapshot, candidate))
  const placeholders = [...demanded, ...accepted]
  book.asks(placeholders)
  const { sealed, values } = openAll(snapshot, placeholders)
  checkPolicies(sealed, placeholders, target, method)
  const injection = injectPlaceholders(checkCallerHeaders(headers), values)
  const filled = fillLocations(target, locations, accepted, values)
  const address = await services.addresses.find(target.host, target.port, deadline.signal)
  const call = callOf(inbound, headers, body, services.timeoutMs)
  const parts = { target, address, injection, filled, values }
  return planOf({ userAgent: services.userAgent, clock: systemClock }, call, parts)
}

/** Outside of headers a name is text, unless its secret's policy lists the place. */
function isAccepted(snapshot: VaultSnapshot, { name, style }: Placeholder): boolean {
  const { policy } = snapshot.sealed(name) ?? {}
  return policy?.allowed_locations?.some((location) => location === style) ?? false
}

/**
 * Opening proves the policy, which the ciphertext binds: only then is the policy believed.
 *
 * @throws Fault `unknown_secret`, `unreadable_secret`
 */
function openAll(snapshot: VaultSnapshot, placeholders: readonly Placeholder[]) {
  const sealed = new Map<string, SealedSecret>()
  const values = new Map<string, Secret>()
  for (const { name } of placeholders) {
    const entry = snapshot.sealed(name)
    if (!entry) {
      throw new Fault('unknown_secret', { message: `There is no secret ${name} here.` })
    }
    sealed.set(name, entry)
    if (!values.has(name)) values.set(name, snapshot.open(entry))
  }
  return { sealed, values }
}

function callOf(
  { request, linkBase }: Inbound,
  headers: Record<string, string>,
  body: Call['body'],
  timeoutMs: number,
): Call {
  return {
    targetUrl: '',
    method: request.method,
    headers,
    body,
    projectId: null,
    environment: null,
    timeoutMs,
    answer: isHandshake(request) ? 'socket' : 'streamed',
    signing: null,
    leadBackTo: linkBase === null ? null : PLACE_OF_LINKS,
  }
}

/** Step 9: durable before the credential leaves. @throws Fault `audit_unavailable` */
async function begin({ outbox }: LocalServices, { book }: Work): Promise<Begun['end']> {
  try {
    const entry = await outbox.begin(book.intent())
    // An outcome that does not reach the disk leaves the record without one.
    return (outcome) => void entry.end(outcome).catch(() => {})
  } catch (cause) {
    throw new Fault('audit_unavailable', { cause })
  }
}

/** Steps 10 to 12. @throws Fault `upstream_*`, after it was put on record */
async function carryOut(services: LocalServices, begun: Begun): Promise<Response | null> {
  try {
    return isHandshake(begun.inbound.request)
      ? await answerSocket(services, begun)
      : await answerStreamed(services, begun)
  } catch (error) {
    const { deadline, book, end } = begun
    const fault = faultOf(error)
    end(deadline.isUnwanted ? book.abandonment() : book.failure(fault))
    throw fault
  }
}

async function answerStreamed(
  { fetcher }: LocalServices,
  { inbound, plan, deadline, book, end }: Begun,
): Promise<Response> {
  const { linkBase, requestId } = inbound
  const response = await fetcher.fetch(
    { ...plan, body: deadline.watch(plan.body) },
    deadline.signal,
  )
  const answer = await streamAnswer(response, {
    ...plan,
    deadline,
    requestId,
    leadBackTo: linkBase === null ? null : PLACE_OF_LINKS,
    onEnd: (ending) => end(outcomeOf(book, response.status, ending)),
  })
  if (linkBase !== null) restoreLinks(answer.headers, linkBase)
  return answer
}

async function answerSocket(
  { sockets }: LocalServices,
  { inbound, plan, deadline, book, end }: Begun,
): Promise<null> {
  const { relay } = await import('../outbound/websocket.ts')
  const socket = await sockets.connect(plan, deadline.signal)
  const context = {
    ...inbound,
    network: '',
    params: {},
    expectBytes() {},
    holdOpen() {},
    putOff() {},
  }
  relay(socket, context, {
    ...plan,
    deadline,
    onEnd: (ending) => end(outcomeOf(book, 101, ending)),
  })
  return null
}

function outcomeOf(book: RecordBook, status: number, { fault, redacted }: Ending): AuditRecord {
  return fault ? book.failure(fault, redacted) : book.outcome(status, redacted)
}
