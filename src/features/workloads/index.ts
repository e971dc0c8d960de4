/** Delivery of secrets to containers and CI jobs, on both listeners. */
import { admitToken } from '../../access/admission.ts'
import type { Access } from '../../access/index.ts'
import { requireGrantedNow, snapshotNow } from '../../access/snapshots/snapshot_now.ts'
import { rateHeaders } from '../../database/limits/rate.ts'
import { buildCommonHeaders, present } from '../../http/reply.ts'
import { createRawRoute, type RequestContext, type Route } from '../../http/route.ts'
import { bearerText } from '../../identity/authenticate.ts'
import { deliverEnvironment, getToken, getVersion } from './contract.ts'
import { deliver } from './deliver.ts'
import type { Delivering } from './derived.ts'

export function workloadRoutes(access: Delivering): Route[] {
  return [
    createRawRoute(deliverEnvironment, (context) => deliver(access, context)),
    createRawRoute(getToken, (context) => describeToken(access, context)),
    createRawRoute(getVersion, (context) => returnVersion(access, context)),
  ]
}

/**
 * GET /api/workloads/token/: what the token is that asks, what it may and until when, so that its holder can tell.
 * It leaves no record, because the issuer received the same data.
 *
 * @throws Fault `invalid_token`, `rate_limited`
 */
async function describeToken(
  access: Access,
  { request, requestId }: RequestContext,
): Promise<Response> {
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(access, getToken, { text, requestId })
  const described = await access.describeToken(token.id)
  await requireGrantedNow(access, token)
  const shown = {
    ...described,
    token_id: token.id,
    can_decrypt: !token.isSealed,
    capabilities: [...described.capabilities],
  }
  return present(getToken, shown, { ...buildCommonHeaders(requestId), ...rateHeaders(rate) })
}

/**
 * GET /api/workloads/version/: the policy version of a token's workspace, for clients that look for changes. A
 * delivery would be a record in the audit each time; this reveals nothing that would be worth one.
 *
 * @throws Fault `invalid_token`, `rate_limited`, `scope_required`
 */
async function returnVersion(
  access: Access,
  { request, requestId }: RequestContext,
): Promise<Response> {
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(access, getVersion, { text, requestId })
  const { policyVersion: version } = await snapshotNow(access, token)
  return present(
    getVersion,
    { version },
    { ...buildCommonHeaders(requestId), ...rateHeaders(rate) },
  )
}
