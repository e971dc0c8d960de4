/**
 * GET /api/workloads/version/: the policy version of a token's workspace, for clients that look for changes. A
 * delivery would be a record in the audit each time; this says nothing that would be worth one.
 */
import { admitToken } from '../../access/admission.ts'
import type { Access } from '../../access/index.ts'
import { snapshotNow } from '../../access/snapshots/snapshot_now.ts'
import { rateHeaders } from '../../database/limits/rate.ts'
import { commonHeaders, present } from '../../http/reply.ts'
import type { RequestContext } from '../../http/route.ts'
import { bearerText } from '../../identity/authenticate.ts'
import { getVersion } from './contract.ts'

/** @throws Fault `invalid_token`, `rate_limited`, `scope_required` */
export async function tellVersion(
  access: Access,
  { request, requestId }: RequestContext,
): Promise<Response> {
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(access, getVersion, { text, requestId })
  const { policyVersion: version } = await snapshotNow(access, token)
  return present(getVersion, { version }, { ...commonHeaders(requestId), ...rateHeaders(rate) })
}
