/**
 * A token's calls: step 1 of protocol 6 is here. outbound/execute.ts takes all others with the token's permissions, and
 * a record that is durable before anything is sent.
 */
import { type Admitted, admitToken } from '../access/admission.ts'
import { decideDurably, orRefusal } from '../access/decide.ts'
import { entryOf } from '../access/entry.ts'
import type { LiveToken } from '../access/tokens.ts'
import type { BodyAccount } from '../core/body_memory.ts'
import { Fault } from '../core/fault.ts'
import { MAX_CALL_MS } from '../core/policy/policy.ts'
import type { TokenLimits } from '../core/token_limits.ts'
import { rateHeaders } from '../database/limits/rate.ts'
import { readBody } from '../http/request_body.ts'
import type { RequestContext } from '../http/route.ts'
import { bearerText } from '../identity/authenticate.ts'
import type { Call, CallBody } from '../outbound/call.ts'
import { CallDeadline } from '../outbound/deadline.ts'
import { execute } from '../outbound/execute.ts'
import { CallRecord } from '../outbound/record.ts'
import { CallPlace } from './call_place.ts'
import { type OutboundCall, resolveCall } from './contract.ts'
import { LimitedCall } from './limits/limited_call.ts'
import type { NamedScope } from './named_scope.ts'
import { withoutOwnToken } from './own_token.ts'
import { TokenPrincipal } from './principal.ts'
import type { Deadlines, ResolverServices } from './services.ts'

/** A caller's request to the resolver. */
export type TokenCall = {
  call: Call
  scope: NamedScope
  /** Milliseconds for the whole call if the answer is `whole`; otherwise, milliseconds of silence. */
  timeoutMs: number
  /** Whether the upstream receives the trace. */
  passesTrace: boolean
}

const NO_WAIT = { waitMs: 0, reason: null }

/** POST /v1/resolve: the call is described in JSON. */
export async function resolve(
  services: ResolverServices,
  context: RequestContext,
): Promise<Response | null> {
  const { request, requestId } = context
  const text = bearerText(request.headers)
  const admitted = await admitToken(services, resolveCall, { text, requestId })
  return await resolveTokenCall(services, context, admitted, async ({ headers }, account) => {
    context.expectBytes(resolveCall.bodyLimit)
    const options = { limit: resolveCall.bodyLimit, account }
    const body = await readBody(request, resolveCall.body, options)
    return tokenCallOf(body, headers.get('accept'), services.deadlines)
  })
}

/** The rest of step 1 and all other steps, for any form of the call. */
export async function resolveTokenCall(
  services: ResolverServices,
  context: RequestContext,
  { token, rate }: Admitted,
  readCall: (request: Request, account: BodyAccount) => Promise<TokenCall>,
): Promise<Response | null> {
  const account = services.bodies.open(token.workspaceId)
  try {
    return await performCounted(services, context, { token, rate }, account, readCall)
  } catch (error) {
    account.release()
    throw error
  }
}

/** Releases the account when the answer has ended, but not when it throws. */
async function performCounted(
  services: ResolverServices,
  context: RequestContext,
  { token, rate }: Admitted,
  bodies: BodyAccount,
  readCall: (request: Request, account: BodyAccount) => Promise<TokenCall>,
): Promise<Response | null> {
  const { request, requestId } = context
  const { projectId, environment, workspaceId } = token
  const record = new CallRecord({ id: requestId, projectId, environment })
  if (token.limits) await requireMinute(services, token, token.limits, record)
  const turn = services.scheduler.take(workspaceId)
  if (turn) await turn
  const { call, scope, timeoutMs, passesTrace } = await readLive(services, token, () =>
    readCall(request, bodies),
  )
  // From here on, the call's own deadline limits it, not the listener's time-out for connections.
  context.holdOpen()
  const deadline = new CallDeadline(timeoutMs, services.timers)
  deadline.afterwards(context.putOff)
  deadline.endWith(request.signal)
  const limited = startLimitedCall(services, token, call, deadline)
  try {
    // A slot among the calls of its workspace, until the call ends.
    const running = new CallPlace(services.bulkheads, workspaceId, deadline)
    const entering = running.enter()
    if (entering) await entering
    const headers = rateHeaders(rate)
    const { approval = NO_WAIT } = call
    const waiting = { running, approval, limited }
    const caller = { token, record, scope, deadline, connection: context, headers, bodies }
    const principal = new TokenPrincipal(services, { ...caller, ...lengthOf(call), ...waiting })
    const counted = limited ? { ...call, body: limited.meterBody(call.body) } : call
    const sent = passesTrace ? { ...counted, traceparent: principal.traceparent } : counted
    const answer = await execute(services.outbound, principal, { call: sent, deadline, record })
    // The caller's next call, in any process, sees this one counted.
    await limited?.waitUntilSettled()
    return answer
  } catch (error) {
    const isLate = deadline.isLate
    // Also ends a partially received response that was refused.
    deadline.abort()
    limited?.settle(null)
    await limited?.waitUntilSettled()
    throw isLate ? withLimit(error, call, timeoutMs, services.deadlines) : error
  }
}

function startLimitedCall(
  { limits }: ResolverServices,
  { id, limits: own }: LiveToken,
  call: Call,
  deadline: CallDeadline,
): LimitedCall | null {
  return own && new LimitedCall({ limits, token: { id, limits: own }, call, deadline })
}

/** Runs before the body is read. Refused calls count as well. @throws Fault `budget_exceeded`, which is recorded */
async function requireMinute(
  services: ResolverServices,
  token: LiveToken,
  limits: TokenLimits,
  record: CallRecord,
): Promise<void> {
  const refusal = await orRefusal(() => services.limits.takeMinute({ id: token.id, limits }))
  if (!refusal) return
  await decideDurably<never>(services, token, ({ policyVersion }) => ({
    result: refusal,
    entry: entryOf(token, policyVersion, record, record.refusal(refusal)),
  }))
}

/** Whether the response may take longer, and whether more is sent meanwhile. */
function lengthOf({ answer }: Call) {
  return { isLong: answer !== 'whole', isConversation: answer === 'socket' || answer === 'grpc' }
}

/** Names the setting that ended a call, unless the call set a shorter time, or the setting is at its maximum. */
function withLimit(
  error: unknown,
  { answer }: Call,
  timeoutMs: number,
  { wholeMs, silenceMs }: Deadlines,
): unknown {
  const [setting, ms] =
    answer === 'whole'
      ? (['RESOLVER_TIMEOUT_MS', wholeMs] as const)
      : (['RESOLVER_SILENCE_MS', silenceMs] as const)
  const isOfSetting = timeoutMs === ms && ms < MAX_CALL_MS
  if (!isOfSetting || !(error instanceof Fault) || error.code !== 'upstream_timeout') return error
  return error.withFix({ setting })
}

/** Returns milliseconds. The operator limits a stream's longest silence, even if the call names one. */
export function deadlineFor(
  isWhole: boolean,
  named: number | null | undefined,
  { wholeMs, silenceMs }: Deadlines,
): number {
  return isWhole ? (named ?? wholeMs) : Math.min(named ?? silenceMs, silenceMs)
}

/** Reads a call. Only a token that is live at this moment learns about its errors. */
async function readLive(
  services: ResolverServices,
  token: LiveToken,
  read: () => Promise<TokenCall>,
): Promise<TokenCall> {
  try {
    const asked = await read()
    return { ...asked, call: withoutOwnToken(asked.call, token.secretText()) }
  } catch (error) {
    await services.tokens.confirm(token)
    throw error
  }
}

function tokenCallOf(body: OutboundCall, accept: string | null, deadlines: Deadlines): TokenCall {
  const wantsStream = body.stream ?? /\btext\/event-stream\b/i.test(accept ?? '')
  return {
    call: {
      targetUrl: body.target_url,
      method: body.method,
      headers: body.headers,
      body: bodyOf(body),
      answer: wantsStream ? 'streamed' : 'whole',
      signing: body.sign ?? null,
      linkBase: null,
      isStrict: body.strict_placeholders ?? false,
      approval: { waitMs: body.approval_wait_ms ?? 0, reason: body.reason ?? null },
    },
    scope: { projectId: body.project_id ?? null, environment: body.environment ?? null },
    timeoutMs: deadlineFor(!wantsStream, body.timeout_ms, deadlines),
    passesTrace: body.trace ?? false,
  }
}

function bodyOf({ method, body, body_encoding }: OutboundCall): CallBody {
  if (body === null || body === undefined) return null
  if (method === 'GET' || method === 'HEAD') return null
  const bytes =
    body_encoding === 'base64' ? Uint8Array.fromBase64(body) : new TextEncoder().encode(body)
  return { bytes }
}
