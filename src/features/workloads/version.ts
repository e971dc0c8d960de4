/**
 * GET /api/workloads/version/: the policy version of a token's workspace, for clients that look for changes. A
 * delivery would be a record in the audit each time; this says nothing that would be worth one.
 */
import { admitToken } from '../../access/admission.ts'
import type { Access } from '../../access/index.ts'
import { bearerText } from '../../identity/authenticate.ts'
import { Fault } from '../../platform/fault.ts'
import { rateHeaders } from '../../platform/http/rate.ts'
import { commonHeaders, present } from '../../platform/http/reply.ts'
import type { RequestContext } from '../../platform/http/route.ts'
import { getVersion } from './contract.ts'

/** @throws Fault `invalid_token`, `rate_limited`, `scope_required` */
export async function tellVersion(
  access: Access,
  { request, requestId }: RequestContext,
): Promise<Response> {
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(access, getVersion, { text, requestId })
  // No record proves here that the token is still live.
  const version = (await access.tokens.versions([token.id])).get(token.id)
  if (version === undefined) throw new Fault('invalid_token')
  return present(getVersion, { version }, { ...commonHeaders(requestId), ...rateHeaders(rate) })
}
