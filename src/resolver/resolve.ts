/**
 * The story of one call, step by step as docs/protocol.md numbers them. Each step
 * refuses before the next begins. The value of a credential exists from step 9 to step 11 only, in
 * types that print `[redacted]`.
 */

import { decideDurably } from '../access/decide.ts'
import type { Decided } from '../access/locked_decision.ts'
import type { Snapshot } from '../access/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import { bytesOf, type Call, callOf, contentTypeOf } from '../outbound/call.ts'
import { Deadline } from '../outbound/deadline.ts'
import { checkCallerHeaders } from '../outbound/headers.ts'
import { fillLocations, findLocations } from '../outbound/locations.ts'
import { findPlaceholders, injectPlaceholders, type Placeholder } from '../outbound/placeholders.ts'
import { type Plan, planOf } from '../outbound/plan.ts'
import { usesOf } from '../outbound/signing.ts'
import { parseTarget } from '../outbound/target.ts'
import { Fault } from '../platform/fault.ts'
import { readBody } from '../platform/http/request_body.ts'
import type { RequestContext } from '../platform/http/serve.ts'
import { domainMatches } from '../platform/net/domain.ts'
import { carryOut } from './carry_out.ts'
import { resolveCall } from './contract.ts'
import { acceptLocations, checkPolicies, findSecrets, openSecrets, scopeOf } from './credentials.ts'
import { Decision } from './decision.ts'
import type { ResolverServices } from './services.ts'

type Job = {
  token: LiveToken
  call: Call
  deadline: Deadline
  decision: Decision
  /** Looked up at most once per request, however often the decision is made anew. */
  address: Promise<string> | null
}

/** POST /v1/resolve: the call is described in JSON. */
export async function resolve(
  services: ResolverServices,
  context: RequestContext,
): Promise<Response | null> {
  // Step 1: the token, its rate, then the body.
  const token = await services.tokens.authenticate(context.request.headers)
  return admit(services, context, token, async ({ headers }) => {
    context.expectBytes(resolveCall.bodyLimit)
    const options = { limit: resolveCall.bodyLimit }
    const body = await readBody(context.request, resolveCall.body, options)
    return callOf(body, headers.get('accept'), services.defaultTimeoutMs)
  })
}

/** The rest of step 1 and all others, for whichever way the caller describes its call. */
export async function admit(
  services: ResolverServices,
  context: RequestContext,
  token: LiveToken,
  readCall: (request: Request) => Promise<Call>,
): Promise<Response | null> {
  const { request, requestId } = context
  const decision = new Decision(token, requestId)
  const rate = services.limiter.take(token.id)
  if (token.isSealed) return await refuseSealed(services, token, decision)
  const turn = services.scheduler.take(token.workspaceId)
  if (turn) await turn
  const call = await readLive(services, token, () => readCall(request))
  // From here on the call's own deadline limits it, not the listener's patience with connections.
  context.holdOpen()
  const deadline = new Deadline(call.timeoutMs)
  deadline.afterwards(context.putOff)
  if (call.answer !== 'whole') deadline.endWith(request.signal)
  try {
    // Still of step 1: a place among the calls of its workspace, for as long as it lasts.
    deadline.afterwards(await services.bulkheads.enter(token.workspaceId, deadline.signal))
    // Steps 2 to 9, again from the start whenever the policy changed while they were taken.
    const job: Job = { token, call, deadline, decision, address: null }
    const plan = await decideDurably(services, token, (snapshot, snapshots) =>
      decide({ ...services, snapshots }, job, snapshot),
    )
    // Steps 10 to 12.
    return await carryOut(services, context, { plan, call, deadline, decision, rate })
  } catch (error) {
    // Also lets go of an upstream whose answer was refused half-way.
    deadline.abort()
    throw error
  }
}

/** Steps 2 to 9: what was decided, with the record that must be durable before anything is sent. */
async function decide(
  services: ResolverServices,
  job: Job,
  snapshot: Snapshot,
): Promise<Decided<Plan>> {
  const result = await takeSteps(services, job, snapshot)
  return { result, entry: job.decision.entry(snapshot.policyVersion, result) }
}

/** Steps 2 to 8: a plan, or the fault of the step that refused. */
async function takeSteps(
  services: ResolverServices,
  job: Job,
  snapshot: Snapshot,
): Promise<Plan | Fault> {
  const { token, call, decision } = job
  try {
    // Step 2: the target.
    const target = parseTarget(call.targetUrl)
    decision.sees(call, target)
    // Step 3: the allowlist; an empty one blocks all.
    if (!snapshot.allowlist.some((domain) => domainMatches(domain, target.host, target.port))) {
      throw new Fault('domain_blocked')
    }
    // Steps 4 and 5: placeholders, and the secrets they name in the token's scope.
    const demanded = demandedBy(call)
    const scope = scopeOf(token, call)
    decision.asks(scope, demanded)
    const locations = findLocations(target, bytesOf(call.body), contentTypeOf(call.headers))
    const accepted = await acceptLocations(services.snapshots, snapshot, scope, locations.found)
    const placeholders = [...demanded, ...accepted]
    decision.asks(scope, placeholders)
    const sealed = await findSecrets(services.snapshots, snapshot, scope, placeholders)
    decision.finds(sealed.values())
    // Opening proves the policy, which the ciphertext binds: only then is the policy believed.
    const values = await openSecrets(services, snapshot, token, sealed)
    // Step 6: the policy of each secret.
    checkPolicies(sealed, placeholders, target, call.method)
    // Step 7: the caller's headers, and the credentials among them and elsewhere.
    const injection = injectPlaceholders(checkCallerHeaders(call.headers), values)
    const filled = fillLocations(target, locations, accepted, values)
    // Step 8: the one address to connect to.
    job.address ??= services.addresses.find(target.host, target.port, job.deadline.signal)
    const request = { target, address: await job.address, injection, filled, values }
    return planOf(services, call, request)
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

/** Placeholders that must be known: those in headers, and what a signature is made with. */
function demandedBy({ headers, signing }: Call): Placeholder[] {
  return [...findPlaceholders(Object.entries(headers)), ...(signing ? usesOf(signing) : [])]
}

/** Sealed-only tokens cannot decrypt: they serve delivery and audit ingestion. */
async function refuseSealed(
  services: ResolverServices,
  token: LiveToken,
  decision: Decision,
): Promise<never> {
  const result = new Fault('scope_required')
  return decideDurably<never>(services, token, async ({ policyVersion }) => ({
    result,
    entry: decision.entry(policyVersion, result),
  }))
}

/** A call is only complained about to a token that is live at this moment. */
async function readLive(
  services: ResolverServices,
  token: LiveToken,
  read: () => Promise<Call>,
): Promise<Call> {
  try {
    return await read()
  } catch (error) {
    await services.tokens.confirm(token)
    throw error
  }
}
