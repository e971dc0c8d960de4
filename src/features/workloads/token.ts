/**
 * GET /api/workloads/token/: what the token is that asks, what it may and until when, so that who was given one
 * can tell. It leaves no record: nothing is said that was not said to those who issued it.
 */
import { admitToken } from '../../access/admission.ts'
import type { Access } from '../../access/index.ts'
import { requireGrantedNow } from '../../access/snapshots/snapshot_now.ts'
import { rateHeaders } from '../../database/limits/rate.ts'
import { commonHeaders, present } from '../../http/reply.ts'
import type { RequestContext } from '../../http/route.ts'
import { bearerText } from '../../identity/authenticate.ts'
import { getToken } from './contract.ts'

/** @throws Fault `invalid_token`, `rate_limited` */
export async function describeToken(
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
  return present(getToken, shown, { ...commonHeaders(requestId), ...rateHeaders(rate) })
}
