/**
 * The allowlist for a token: which hosts a proxy has to read at all. A token could find it out call by
 * call; the list spares the calls, and spares the resolver what else a program wants to reach.
 */
import { admitToken } from '../access/admission.ts'
import { snapshotNow } from '../access/snapshots/snapshot_now.ts'
import type { LiveToken } from '../access/tokens.ts'
import { type Domain, domainMatches, parseDomain } from '../core/net/domain.ts'
import { rateHeaders } from '../database/limits/rate.ts'
import { commonHeaders, present } from '../http/reply.ts'
import type { RequestContext } from '../http/route.ts'
import { bearerText } from '../identity/authenticate.ts'
import { listDomains } from './contract.ts'
import type { ResolverServices } from './services.ts'

/** @throws Fault `invalid_token`, `rate_limited`, `scope_required`, and what `snapshotNow` throws */
export async function allowedDomains(
  services: ResolverServices,
  { request, requestId }: RequestContext,
): Promise<Response> {
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(services, listDomains, { text, requestId })
  const snapshot = await snapshotNow(services, token)
  const domains = snapshot.allowlist.map(({ text }) => text).filter((text) => isFor(token, text))
  const headers = { ...commonHeaders(requestId), ...rateHeaders(rate) }
  return present(listDomains, { domains }, headers)
}

/** A narrowed token needs no more than its hosts. */
function isFor({ hosts }: LiveToken, text: string): boolean {
  if (hosts === null || hosts.includes(text)) return true
  const domain = parseDomain(text)
  return domain !== null && hosts.some((one) => overlap(domain, parseDomain(one)))
}

function overlap(one: Domain, other: Domain | null): boolean {
  if (other === null) return false
  return domainMatches(one, other.host, other.port) || domainMatches(other, one.host, one.port)
}
