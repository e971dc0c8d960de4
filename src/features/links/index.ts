/** Links: what the members of signed workspaces have signed. They are returned as stored; clients verify them. */
import { admitToken } from '../../access/admission.ts'
import type { Access } from '../../access/index.ts'
import type { ChainCache } from '../../access/signed/chains.ts'
import { requireGrantedNow } from '../../access/snapshots/snapshot_now.ts'
import { Fault } from '../../core/fault.ts'
import { parsePart } from '../../core/validation/validate.ts'
import { rateHeaders } from '../../database/limits/rate.ts'
import { buildCommonHeaders, present } from '../../http/reply.ts'
import { queryOf } from '../../http/request_body.ts'
import { createRawRoute, type RequestContext, type Route, route } from '../../http/route.ts'
import type { FeatureServices } from '../../http/services.ts'
import { bearerText } from '../../identity/authenticate.ts'
import type { Notices } from '../../notices/notices.ts'
import { listLinks, listLinksForToken } from './contract.ts'
import { hasMembership, selectLinks } from './queries.ts'

export { acceptFirstLink, acceptLink, type Claim, chainOf } from './accept.ts'

/** Services of features that change signed workspaces, or announce changes. */
export type SignedServices = FeatureServices & { chains: ChainCache; notices: Notices }

export function linkRoutes({ db }: FeatureServices): Route[] {
  return [
    route(listLinks, async ({ caller, params: { workspace_id: workspaceId }, query }) => {
      // An invited person compares fingerprints and checks the chain before accepting.
      if (!(await hasMembership(db, workspaceId, caller.userId))) throw new Fault('not_found')
      return selectLinks(db, workspaceId, query.after)
    }),
  ]
}

/** On both listeners. */
export function tokenLinkRoutes(access: Access, { db }: FeatureServices): Route[] {
  return [createRawRoute(listLinksForToken, (context) => showLinks(access, db, context))]
}

/** @throws Fault `invalid_token`, `unverified_state`, `rate_limited`, `scope_required`, `validation_error` … */
async function showLinks(
  access: Access,
  db: FeatureServices['db'],
  { request, requestId, putOff }: RequestContext,
): Promise<Response> {
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(access, listLinksForToken, { text, requestId })
  const { after } = parsePart(listLinksForToken.query, queryOf(request))
  // Without an audit record, check here that the token is live and granted.
  if (!(await access.tokens.versions([token.id])).has(token.id)) throw new Fault('invalid_token')
  await requireGrantedNow(access, token)
  const links = await selectLinks(db, token.workspaceId, after)
  const headers = { ...buildCommonHeaders(requestId), ...rateHeaders(rate) }
  return present(listLinksForToken, links, headers, putOff)
}
