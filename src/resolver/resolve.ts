/**
 * A token's calls: step 1 of protocol 6 is here; outbound/execute.ts takes all others
 * with what the token may use, and a record that is durable before anything is sent.
 */
import { type Admitted, admitToken } from '../access/admission.ts'
import { decideDurably } from '../access/decide.ts'
import { entryOf } from '../access/entry.ts'
import type { LiveToken } from '../access/tokens.ts'
import { bearerText } from '../identity/authenticate.ts'
import type { Call, CallBody } from '../outbound/call.ts'
import { Deadline } from '../outbound/deadline.ts'
import { type Connection, execute, type Principal } from '../outbound/execute.ts'
import { CallRecord } from '../outbound/record.ts'
import { Fault } from '../platform/fault.ts'
import { rateHeaders } from '../platform/http/rate.ts'
import { readBody } from '../platform/http/request_body.ts'
import type { RequestContext } from '../platform/http/route.ts'
import { toFault } from '../platform/http/unexpected_error.ts'
import { type OutboundCall, resolveCall } from './contract.ts'
import type { Basis } from './live_calls.ts'
import { type NamedScope, TokenPermission } from './permission.ts'
import type { ResolverServices } from './services.ts'

/** What a caller asks the resolver for. */
export type TokenCall = {
  call: Call
  scope: NamedScope
  /** Milliseconds for the whole call; between two signs of life unless the answer is `whole`. */
  timeoutMs: number
}

/** POST /v1/resolve: the call is described in JSON. */
export async function resolve(
  services: ResolverServices,
  context: RequestContext,
): Promise<Response | null> {
  const { request, requestId } = context
  const text = bearerText(request.headers)
  const admitted = await admitToken(services, resolveCall, { text, requestId })
  return perform(services, context, admitted, async ({ headers }) => {
    context.expectBytes(resolveCall.bodyLimit)
    const options = { limit: resolveCall.bodyLimit }
    const body = await readBody(request, resolveCall.body, options)
    return tokenCallOf(body, headers.get('accept'), services.defaultTimeoutMs)
  })
}

/** The rest of step 1, and all others, for whichever way the caller describes its call. */
export async function perform(
  services: ResolverServices,
  context: RequestContext,
  { token, rate }: Admitted,
  readCall: (request: Request) => Promise<TokenCall>,
): Promise<Response | null> {
  const { request, requestId } = context
  const { projectId, environment } = token
  const record = new CallRecord({ id: requestId, projectId, environment })
  const turn = services.scheduler.take(token.workspaceId)
  if (turn) await turn
  const { call, scope, timeoutMs } = await readLive(services, token, () => readCall(request))
  // From here on the call's own deadline limits it, not the listener's patience with connections.
  context.holdOpen()
  const deadline = new Deadline(timeoutMs)
  deadline.afterwards(context.putOff)
  deadline.endWith(request.signal)
  const isLong = call.answer !== 'whole'
  return deadline.during(async () => {
    // A place among the calls of its workspace, for as long as it lasts.
    deadline.afterwards(await services.bulkheads.enter(token.workspaceId, deadline.signal))
    const caller = { token, record, scope, deadline, isLong, connection: context }
    const principal = principalOf(services, caller)
    const answer = await execute(services.outbound, principal, { call, deadline, record })
    // Streamed answers have the upstream's own.
    if (!isLong && answer) setAll(answer.headers, rateHeaders(rate))
    return answer
  })
}

type Caller = {
  token: LiveToken
  record: CallRecord
  scope: NamedScope
  deadline: Deadline
  isLong: boolean
  connection: Connection
}

function principalOf(
  services: ResolverServices,
  { token, record, scope, deadline, isLong, connection }: Caller,
): Principal {
  const { keys, guards, liveCalls, trail, log } = services
  return {
    decide: async (attempt) => {
      const request = await decideDurably(services, token, async (snapshot, snapshots) => {
        const parts = { snapshots, keys, guards, snapshot, token }
        const result = await attempt(new TokenPermission(parts, scope))
        const isRefused = result instanceof Fault
        const refusal = isRefused ? record.refusal(result, deadline.isUnwanted) : null
        return { result, entry: entryOf(token, snapshot.policyVersion, record, refusal) }
      })
      // What takes its time ends when it is not permitted any more.
      const basis = isLong ? basisOf(token, record) : null
      if (basis) deadline.afterwards(liveCalls.hold(basis, (fault) => deadline.refuse(fault)))
      return request
    },
    owner: { workspaceId: token.workspaceId, tokenId: token.id },
    conclude: (conclusion) => trail.conclude({ id: record.id, ...conclusion }),
    faultOf: (error) => toFault(error, record.id, log),
    connection,
  }
}

/** What a call was let through on. */
function basisOf(token: LiveToken, record: CallRecord): Basis | null {
  const { target, method, override, projectId, environment, placeholders } = record
  if (target === null || method === null || environment === null) return null
  const asked = { target, method, override }
  return { token, scope: { projectId, environment }, placeholders, asked }
}

/** A call is only complained about to a token that is live at this moment. */
async function readLive(
  services: ResolverServices,
  token: LiveToken,
  read: () => Promise<TokenCall>,
): Promise<TokenCall> {
  try {
    return await read()
  } catch (error) {
    await services.tokens.confirm(token)
    throw error
  }
}

function tokenCallOf(
  body: OutboundCall,
  accept: string | null,
  defaultTimeoutMs: number,
): TokenCall {
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
    },
    scope: { projectId: body.project_id ?? null, environment: body.environment ?? null },
    timeoutMs: body.timeout_ms ?? defaultTimeoutMs,
  }
}

function bodyOf({ method, body, body_encoding }: OutboundCall): CallBody {
  if (body === null || body === undefined) return null
  if (method === 'GET' || method === 'HEAD') return null
  const bytes =
    body_encoding === 'base64' ? Uint8Array.fromBase64(body) : new TextEncoder().encode(body)
  return { bytes }
}

function setAll(headers: Headers, more: Record<string, string>): void {
  for (const [name, value] of Object.entries(more)) headers.set(name, value)
}
