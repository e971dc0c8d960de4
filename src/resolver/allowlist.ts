/**
 * The allowlist for a token: which hosts a proxy has to read at all. A token could find it out call by
 * call; the list spares the calls, and spares the resolver what else a program wants to reach.
 */
import { admitToken } from '../access/admission.ts'
import { bearerText } from '../identity/authenticate.ts'
import { Fault } from '../platform/fault.ts'
import { rateHeaders } from '../platform/http/rate.ts'
import { commonHeaders, present } from '../platform/http/reply.ts'
import type { RequestContext } from '../platform/http/route.ts'
import { listDomains } from './contract.ts'
import type { ResolverServices } from './services.ts'

/** @throws Fault `invalid_token`, `rate_limited`, `scope_required` */
export async function allowedDomains(
  services: ResolverServices,
  { request, requestId }: RequestContext,
): Promise<Response> {
  const { tokens, snapshots } = services
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(services, listDomains, { text, requestId })
  // No record proves here that the token is still live, and what is cached current.
  const version = (await tokens.versions([token.id])).get(token.id)
  if (version === undefined) throw new Fault('invalid_token')
  const cached = await snapshots.of(token.workspaceId)
  if (cached.policyVersion < version) snapshots.forget(token.workspaceId)
  const snapshot = await snapshots.of(token.workspaceId)
  const domains = snapshot.allowlist.map(({ text }) => text)
  const headers = { ...commonHeaders(requestId), ...rateHeaders(rate) }
  return present(listDomains, { domains }, headers)
}
