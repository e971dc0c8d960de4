/**
 * Steps 10 to 12 of the resolver: the call goes out, the answer comes back whole, as it arrives or as a
 * WebSocket, and its outcome goes into the record that was durable before.
 */

import { Sanitiser } from '../leak_guard/sanitise.ts'
import type { Call } from '../outbound/call.ts'
import type { Deadline } from '../outbound/deadline.ts'
import type { Plan } from '../outbound/plan.ts'
import { readAnswer } from '../outbound/response.ts'
import { type Ending, streamAnswer } from '../outbound/stream.ts'
import { relay } from '../outbound/websocket.ts'
import { type RateState, rateHeaders } from '../platform/http/rate.ts'
import { commonHeaders } from '../platform/http/reply.ts'
import { type RequestContext, toFault } from '../platform/http/serve.ts'
import type { Decision } from './decision.ts'
import type { ResolverServices } from './services.ts'

type Work = {
  plan: Plan
  call: Call
  deadline: Deadline
  decision: Decision
  /** Told to who calls through /v1/resolve; streamed answers carry the upstream's own. */
  rate: RateState
}
type Carrier = (
  services: ResolverServices,
  context: RequestContext,
  work: Work,
) => Promise<Response | null>

const carriers: Record<Call['answer'], Carrier> = {
  whole: answerWhole,
  streamed: answerStreamed,
  socket: answerSocket,
}

/**
 * `null` when the caller's connection became a WebSocket.
 *
 * @throws Fault `upstream_*`, or why it was not permitted any more, after it was recorded
 */
export async function carryOut(
  services: ResolverServices,
  context: RequestContext,
  work: Work,
): Promise<Response | null> {
  const { decision, deadline, call } = work
  if (call.answer !== 'whole') holdOpen(services, work)
  try {
    return await carriers[call.answer](services, context, work)
  } catch (error) {
    const fault = toFault(deadline.refusal ?? error, decision.id, services.log)
    services.trail.conclude(deadline.isUnwanted ? decision.abandonment() : decision.failure(fault))
    throw fault
  }
}

/** What takes its time ends when it is not permitted any more. */
function holdOpen({ liveCalls }: ResolverServices, { decision, deadline }: Work): void {
  const { basis } = decision
  if (!basis) return
  deadline.afterwards(liveCalls.hold(basis, (fault) => deadline.refuse(fault)))
}

async function answerWhole(
  { fetcher, trail }: ResolverServices,
  _: RequestContext,
  { plan, deadline, decision, rate }: Work,
): Promise<Response> {
  // Step 10: one request over TLS 1.3 to the judged address.
  const response = await fetcher.fetch(plan, deadline.signal)
  // Step 11: the answer, checked and sanitised.
  const sanitiser = new Sanitiser(plan.values, plan.wholes)
  const answer = await readAnswer(response, sanitiser, deadline.signal)
  deadline.clear()
  // Step 12: the outcome, into the record of step 9.
  trail.conclude(decision.outcome(answer.status_code, answer.redacted))
  const headers = { ...commonHeaders(decision.id), ...rateHeaders(rate) }
  return Response.json(answer, { headers })
}

async function answerStreamed(
  services: ResolverServices,
  _: RequestContext,
  { plan, call, deadline, decision }: Work,
): Promise<Response> {
  const body = deadline.watch(plan.body)
  const response = await services.fetcher.fetch({ ...plan, body }, deadline.signal)
  return streamAnswer(response, {
    ...plan,
    deadline,
    requestId: decision.id,
    leadBackTo: call.leadBackTo,
    // Step 12 comes when the stream ends.
    onEnd: (ending) => conclude(services, decision, response.status, ending),
  })
}

async function answerSocket(
  services: ResolverServices,
  context: RequestContext,
  { plan, deadline, decision }: Work,
): Promise<null> {
  const socket = await services.sockets.connect(plan, deadline.signal)
  relay(socket, context, {
    ...plan,
    deadline,
    onEnd: (ending) => conclude(services, decision, 101, ending),
  })
  return null
}

function conclude(
  { trail, log }: ResolverServices,
  decision: Decision,
  status: number,
  { fault, redacted }: Ending,
): void {
  const outcome = fault
    ? decision.failure(toFault(fault, decision.id, log), redacted)
    : decision.outcome(status, redacted)
  trail.conclude(outcome)
}
