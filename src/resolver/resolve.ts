/**
 * POST /v1/resolve: the story of one request, step by step as docs/protocol.md numbers them. Each step
 * refuses before the next begins. The value of a credential exists from step 9 to step 11 only, in
 * types that print `[redacted]`.
 */
import type { AuditTrail } from '../audit/trail.ts'
import type { KeyCache } from '../broker/key_cache.ts'
import type { LiveToken, TokenBook } from '../broker/tokens.ts'
import { StaleView, type View, type ViewBook } from '../broker/views.ts'
import { domainMatches } from '../kernel/domain.ts'
import { Fault } from '../kernel/fault.ts'
import type { RateLimiter } from '../kernel/rate.ts'
import { commonHeaders } from '../kernel/reply.ts'
import { readJsonBody } from '../kernel/request_body.ts'
import { type Exchange, toFault } from '../kernel/serve.ts'
import { parsePart } from '../kernel/validate.ts'
import type { AddressBook } from './address_book.ts'
import { readAnswer } from './answer.ts'
import { type OutboundCall, resolveCall } from './contract.ts'
import { checkPolicies, findSecrets, openSecrets, scopeOf } from './credentials.ts'
import { Decision } from './decision.ts'
import type { Dialler } from './dial.ts'
import { checkCallerHeaders, type HeaderPair } from './headers.ts'
import { findPlaceholders, injectPlaceholders } from './placeholders.ts'
import { Sanitiser } from './sanitise.ts'
import { parseTarget, type Target } from './target.ts'

export type ResolverServices = {
  tokens: TokenBook
  views: ViewBook
  keys: KeyCache
  trail: AuditTrail
  addresses: AddressBook
  dialler: Dialler
  limiter: RateLimiter
  /** Milliseconds, where the call names no deadline. */
  defaultTimeoutMs: number
  userAgent: string
  log: Parameters<typeof toFault>[2]
}

/** All that is sent, and the sanitiser that knows what of it must not come back. */
type Plan = { target: Target; address: string; headers: HeaderPair[]; sanitiser: Sanitiser }

type Job = {
  token: LiveToken
  call: OutboundCall
  deadline: AbortSignal
  decision: Decision
  /** Looked up at most once per request, however often the decision is made anew. */
  address: Promise<string> | null
}

/** How often a decision is made anew because the policy changed meanwhile. */
const MAX_ATTEMPTS = 5

export async function resolve(
  services: ResolverServices,
  { request, requestId }: Exchange,
): Promise<Response> {
  // Step 1: the token, its rate, then the body.
  const token = await services.tokens.authenticate(request.headers)
  const decision = new Decision(token, requestId)
  if (token.presented.kind === 'sea') return await refuseSealed(services, token, decision)
  services.limiter.take(token.id)
  const call = await readCall(services, token, request)
  const deadline = AbortSignal.timeout(call.timeout_ms ?? services.defaultTimeoutMs)
  // Steps 2 to 9, again from the start whenever the policy changed while they were taken.
  const plan = await decide(services, { token, call, deadline, decision, address: null })
  try {
    // Step 10: one request over TLS 1.3 to the judged address.
    const response = await services.dialler.send(outboundOf(services, plan, call), deadline)
    // Step 11: the answer, bounded, checked and sanitised.
    const answer = await readAnswer(response, plan.sanitiser, deadline)
    // Step 12: the outcome, into the record of step 9.
    services.trail.conclude(decision.outcome(answer.status_code, answer.redacted))
    return Response.json(answer, { headers: commonHeaders(requestId) })
  } catch (error) {
    const fault = toFault(error, requestId, services.log)
    services.trail.conclude(decision.failure(fault))
    throw fault
  }
}

/**
 * Decides and records. The record is only stored if the token is live and the policy still the one
 * that was decided by; otherwise both are read again.
 *
 * @throws Fault whatever step refused, after the refusal was recorded
 */
async function decide(services: ResolverServices, job: Job): Promise<Plan> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const plan = await decideOnce(services, job)
    if (plan instanceof Fault) throw plan
    if (plan) return plan
    services.views.forget(job.token.workspaceId)
    await services.tokens.confirm(job.token)
  }
  throw new Fault('unavailable')
}

/** `null` when what was decided by is no longer current: then nothing was stored. */
async function decideOnce(services: ResolverServices, job: Job): Promise<Plan | Fault | null> {
  try {
    const view = await services.views.of(job.token.workspaceId)
    const plan = await takeSteps(services, job, view)
    // Step 9: durable before the credential leaves.
    const verdict = await services.trail.record(job.decision.entry(view.policyVersion, plan))
    return verdict === 'recorded' ? plan : null
  } catch (error) {
    if (error instanceof StaleView) return null
    throw error
  }
}

/** Steps 2 to 8: a plan, or the fault of the step that refused. */
async function takeSteps(services: ResolverServices, job: Job, view: View): Promise<Plan | Fault> {
  const { token, call, decision } = job
  try {
    // Step 2: the target.
    const target = parseTarget(call.target_url)
    decision.sees(call, target)
    // Step 3: the allowlist; an empty one blocks all.
    if (!view.allowlist.some((domain) => domainMatches(domain, target.host, target.port))) {
      throw new Fault('domain_blocked')
    }
    // Steps 4 and 5: placeholders, and the secrets they name in the token's scope.
    const placeholders = findPlaceholders(Object.entries(call.headers))
    const scope = scopeOf(token, call)
    decision.asks(scope, placeholders)
    const sealed = await findSecrets(services.views, view, scope, placeholders)
    decision.finds(sealed.values())
    // Opening proves the policy, which the ciphertext binds: only then is the policy believed.
    const values = await openSecrets(services, view, token, sealed)
    // Step 6: the policy of each secret.
    checkPolicies(sealed, placeholders, target, call.method)
    // Step 7: the caller's headers, and the credentials among them.
    const headers = checkCallerHeaders(call.headers)
    const injection = injectPlaceholders(headers, values)
    const revealed = [...values.values()].map((value) => value.reveal())
    // Step 8: the one address to dial.
    job.address ??= services.addresses.find(target.host, target.port, job.deadline)
    const address = await job.address
    const sanitiser = new Sanitiser(revealed, injection.wholes)
    return { target, address, headers: injection.headers, sanitiser }
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

/** Sealed-only tokens cannot decrypt: they serve delivery and audit ingestion. */
async function refuseSealed(
  services: ResolverServices,
  token: LiveToken,
  decision: Decision,
): Promise<never> {
  const { policyVersion } = await services.views.of(token.workspaceId)
  const fault = new Fault('scope_required')
  const verdict = await services.trail.record(decision.entry(policyVersion, fault))
  if (verdict === 'stale') {
    services.views.forget(token.workspaceId)
    await services.tokens.confirm(token)
  }
  throw fault
}

/** A body is only complained about to a token that is live at this moment. */
async function readCall(
  services: ResolverServices,
  token: LiveToken,
  request: Request,
): Promise<OutboundCall> {
  try {
    const body = await readJsonBody(request, { limit: resolveCall.bodyLimit })
    return parsePart(resolveCall.body, body) as OutboundCall
  } catch (error) {
    await services.tokens.confirm(token)
    throw error
  }
}

function outboundOf(
  { userAgent }: ResolverServices,
  { target, address, headers }: Plan,
  call: OutboundCall,
) {
  const names = new Set(headers.map(([name]) => name.toLowerCase()))
  const kept = headers.filter(([name]) => name.toLowerCase() !== 'accept-encoding')
  const agent: HeaderPair[] = names.has('user-agent') ? [] : [['user-agent', userAgent]]
  return {
    address,
    host: target.host,
    port: target.port,
    authority: target.authority,
    pathAndQuery: `${target.path}${target.search}`,
    method: call.method,
    // An upstream that does not compress cannot send a bomb.
    headers: [...kept, ...agent, ['accept-encoding', 'identity'] satisfies HeaderPair],
    body: bodyOf(call),
  }
}

function bodyOf({ body, body_encoding }: OutboundCall): Uint8Array | null {
  if (body === null || body === undefined) return null
  return body_encoding === 'base64' ? Uint8Array.fromBase64(body) : new TextEncoder().encode(body)
}
