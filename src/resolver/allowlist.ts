/**
 * The allowlist for a token: which hosts a proxy has to read at all. A token could find it out call by
 * call; the list spares the calls, and spares the resolver what else a program wants to reach.
 */
import { Fault } from '../platform/fault.ts'
import { rateHeaders } from '../platform/http/rate.ts'
import { commonHeaders, present } from '../platform/http/reply.ts'
import type { RequestContext } from '../platform/http/route.ts'
import { listDomains } from './contract.ts'
import type { ResolverServices } from './services.ts'

type Services = Pick<ResolverServices, 'tokens' | 'snapshots' | 'limiter'>

/** @throws Fault `invalid_token`, `rate_limited`, `scope_required` for a token that cannot decrypt */
export async function allowedDomains(
  { tokens, snapshots, limiter }: Services,
  { request, requestId }: RequestContext,
): Promise<Response> {
  const token = await tokens.authenticate(request.headers)
  const rate = limiter.take(token.id)
  // No record proves here that the token is still live, and what is cached current.
  const version = (await tokens.versions([token.id])).get(token.id)
  if (version === undefined) throw new Fault('invalid_token')
  if (token.isSealed) throw new Fault('scope_required')
  const cached = await snapshots.of(token.workspaceId)
  if (cached.policyVersion < version) snapshots.forget(token.workspaceId)
  const snapshot = await snapshots.of(token.workspaceId)
  const domains = snapshot.allowlist.map(({ text }) => text)
  const headers = { ...commonHeaders(requestId), ...rateHeaders(rate) }
  return present(listDomains, { domains }, headers)
}
