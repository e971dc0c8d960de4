/**
 * One call with credentials: steps 2 to 12 of protocol 6, in order; steps 2 to 8 are in prepare.ts. Each refuses before
 * the next begins. POST /v1/resolve, forward mode, WebSockets and the local proxy all use this; they run step 1, which
 * identifies the caller.
 *
 * Plaintext values exist only from step 5 to step 10. They are decrypted at the end of step 5, because only that proves
 * the policies of step 6. They are inserted in step 7, used for signing in step 8, and sent in step 10. The request is
 * dropped there. The guard of the answer keeps fingerprints. Objects with values print as their names.
 */
import type { BodyAccount } from '../core/body_memory.ts'
import type { Clock } from '../core/clock.ts'
import type { Fault } from '../core/fault.ts'
import { buildUnfilledHeader } from '../core/policy/unfilled.ts'
import { jsonResponse } from '../http/json/write.ts'
import { headersWith } from '../http/reply.ts'
import type { RequestContext } from '../http/route.ts'
import { readAnswer } from './answer/response.ts'
import { type Ending, streamAnswer } from './answer/stream.ts'
import type { Call } from './call.ts'
import type { AddressLookup } from './connection/address_lookup.ts'
import type { Fetcher } from './connection/fetch.ts'
import type { Owner } from './connection/session_pool.ts'
import { withoutCredentials } from './encoded_headers.ts'
import { exchangeGrpc } from './grpc/exchange.ts'
import type { Http2Connector } from './http2/connect.ts'
import { decide, type Job } from './injection/prepare.ts'
import type { OutboundRequest } from './outbound_request.ts'
import type { CallPermission } from './policy/permission.ts'
import type { CallRecord, Conclusion } from './record.ts'
import { faultAfterSending } from './retries.ts'
import type { Scheduler } from './scheduler.ts'
import type { Steps } from './steps.ts'
import { countMessage, meterGuard, type Traffic } from './traffic/traffic.ts'
import type { SocketConnector } from './websocket/connect.ts'
import { weightOf } from './websocket/frame_weight.ts'
import { MessageFiller } from './websocket/message.ts'
import { relay } from './websocket/relay.ts'

/** Services that all calls of a process share. */
export type Outbound = {
  steps: Steps
  /** Schedules the frames of WebSockets and HTTP/2 by their cost. */
  frames: Scheduler
  addresses: AddressLookup
  fetcher: Fetcher
  sockets: SocketConnector
  http2: Http2Connector
  userAgent: string
  clock: Clock
}

/** The caller: its permissions, and its record in the audit. */
export type Principal = {
  /**
   * Calls `attempt` with the current permissions, and again if they change meanwhile. Returns the decision once its
   * record is durable.
   *
   * @throws Fault of the decision, or `audit_unavailable`
   */
  decide<T extends object>(attempt: Attempt<T>): Promise<T>
  /** Returns this caller with another audit record. */
  withRecord(record: CallRecord): Principal
  /** Counts the call's bodies, if the caller has limits. */
  traffic?: Traffic | undefined
  /** Called with an answer's head. */
  recordReceived?(response: Response): void
  /** Adds the call's outcome to the record. */
  conclude(conclusion: Conclusion): void
  /** The owner of its connections to upstreams. */
  owner: Owner
  /** Headers of an answer that is wrapped in JSON. */
  headers: Record<string, string>
  /** Returns the fault that represents any error. */
  faultOf(error: unknown): Fault
  connection: CallerConnection
  /** The memory of the call's bodies, released when its answer has ended, or by the caller if `execute` throws. */
  bodies: BodyAccount
}

/** The caller's connection: can become a WebSocket, and extends its time for a long answer. */
export type CallerConnection = Pick<RequestContext, 'request' | 'upgrade'> &
  Partial<Pick<RequestContext, 'putOff'>>

/** Returns without a wait if everything is known. */
export type Attempt<T> = (permission: CallPermission) => T | Fault | Promise<T | Fault>

type Sending = Omit<Job, 'address'> & { request: OutboundRequest; principal: Principal }

/**
 * Returns the sanitised answer; `null` if the caller's connection became a WebSocket. The caller owns the deadline and
 * ends it if this throws.
 *
 * @throws Fault of the step that refuses or fails, after it was recorded
 */
export async function execute(
  outbound: Outbound,
  principal: Principal,
  { call, deadline, record }: Omit<Job, 'address'>,
): Promise<Response | null> {
  const body = deadline.watch(call.body)
  const whole = body === call.body ? call : { ...call, body }
  const watched = call.from ? withoutCredentials(whole) : whole
  const job: Job = { call: watched, deadline, record, address: null, bodies: principal.bodies }
  if (call.answer !== 'whole') deadline.afterwards(() => principal.bodies.release())
  // Steps 2 to 8. Step 9: the record is durable before anything is sent.
  const request = await principal.decide((permission) => decide(outbound, job, permission))
  try {
    // Steps 10 to 12.
    return await send[call.answer](outbound, { call, deadline, record, request, principal })
  } catch (error) {
    const fault = principal.faultOf(deadline.refusal ?? error)
    principal.conclude(deadline.isUnwanted ? record.abandonment() : record.failure(fault))
    throw faultAfterSending(call.method, fault)
  }
}

const send: Record<
  Call['answer'],
  (outbound: Outbound, sending: Sending) => Promise<Response | null>
> = { whole: sendWhole, streamed: sendStreamed, grpc: exchangeMessages, socket: openSocket }

/** Steps 10 to 12 for an answer that is wrapped in JSON. */
async function sendWhole(
  outbound: Outbound,
  { request, deadline, record, principal }: Sending,
): Promise<Response> {
  // Step 10: one request over TLS 1.3 to the judged address.
  const response = await fetchAnswer(outbound, { request, principal, deadline })
  // Step 11: the answer, checked and sanitised.
  const answer = await readAnswer(
    response,
    meterGuard(
      request.guard(outbound.steps.of(principal.owner, deadline.signal)),
      principal.traffic,
    ),
    deadline.signal,
    request,
    principal.bodies,
  )
  deadline.clear()
  // Step 12: the outcome, into the record of step 9.
  principal.conclude(record.outcome(answer.status_code, answer.redacted))
  const headers = headersWith(record.id, principal.headers)
  const unfilled = record.unfilled.length === 0 ? {} : { unfilled: record.unfilled }
  return jsonResponse({ ...answer, ...unfilled }, { headers }, principal.connection.putOff, () =>
    principal.bodies.release(),
  )
}

async function fetchAnswer(
  { fetcher }: Outbound,
  { request, principal, deadline }: Pick<Sending, 'request' | 'principal' | 'deadline'>,
): Promise<Response> {
  const response = await fetcher.fetch(request, principal.owner, deadline)
  principal.recordReceived?.(response)
  return request.receiveAnswer(response)
}

/** Sends a call and passes its answer on as it arrives. */
async function sendStreamed(
  outbound: Outbound,
  { request, call, deadline, record, principal }: Sending,
): Promise<Response> {
  const response = await fetchAnswer(outbound, { request, principal, deadline })
  const guard = request.guard(outbound.steps.of(principal.owner, deadline.signal))
  return streamAnswer(response, {
    guard: meterGuard(guard, principal.traffic),
    deadline,
    requestId: record.id,
    isHead: call.method === 'HEAD',
    allowsRanges: request.allowsRanges,
    part: request.part,
    isObject: request.isObject,
    bodies: principal.bodies,
    notes: buildUnfilledHeader(record.unfilled),
    credential: credentialOf(record),
    links: call.linkBase && record.target && { base: call.linkBase, source: record.target },
    // Step 12 runs when the stream ends.
    onEnd: (status, ending) => concludeEnding(principal, record, status, ending),
  })
}

function credentialOf({ uses: [first], target }: CallRecord) {
  return first && target
    ? { secret: first.name, url: `https://${target.authority}${target.path}` }
    : null
}

/** Sends a gRPC call. The answer's body ends with the trailers. */
async function exchangeMessages(
  outbound: Outbound,
  { request, call, deadline, record, principal }: Sending,
): Promise<Response> {
  const guard = request.guard(outbound.steps.of(principal.owner, deadline.signal))
  const { workspaceId } = principal.owner
  const stream = await outbound.http2.open(request, principal.owner, deadline, 'grpc')
  return exchangeGrpc(stream, {
    guard: meterGuard(guard, principal.traffic, countMessage),
    deadline,
    body: request.reveal().body,
    checkMessage: call.checkMessage,
    turn: (bytes) => outbound.frames.take(workspaceId, weightOf(bytes)),
    requestId: record.id,
    takesMarks: Boolean(call.mark),
    bodies: principal.bodies,
    onEnd: (status, ending) => concludeEnding(principal, record, status, ending),
  })
}

/** Opens a WebSocket for a call. */
async function openSocket(
  outbound: Outbound,
  { request, deadline, record, principal }: Sending,
): Promise<null> {
  const steps = outbound.steps.of(principal.owner, deadline.signal)
  const { workspaceId } = principal.owner
  const socket = await outbound.sockets.connect(request, deadline.signal)
  relay(socket, {
    messages: new MessageFiller(principal, record, request, steps),
    deadline,
    turn: (bytes) => outbound.frames.take(workspaceId, weightOf(bytes)),
    requestId: record.id,
    connection: principal.connection,
    bodies: principal.bodies,
    traffic: principal.traffic,
    onEnd: (ending) => concludeEnding(principal, record, 101, ending),
  })
  return null
}

function concludeEnding(
  principal: Principal,
  record: CallRecord,
  status: number,
  { fault, redacted }: Ending,
): void {
  const conclusion = fault
    ? record.failure(principal.faultOf(fault), redacted)
    : record.outcome(status, redacted)
  principal.conclude(conclusion)
}
