/** Requests to use held secrets: members see and decide them, tokens see their own (protocol 14). */
import { admitToken } from '../../access/admission.ts'
import type { Access } from '../../access/index.ts'
import { requireGrantedNow } from '../../access/snapshots/snapshot_now.ts'
import { toBase64 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import { parsePart } from '../../core/validation/validate.ts'
import { rateHeaders } from '../../database/limits/rate.ts'
import type { Database } from '../../database/open.ts'
import { buildCommonHeaders, present } from '../../http/reply.ts'
import {
  type Changing,
  createRawRoute,
  listRoute,
  type RequestContext,
  type Route,
  route,
} from '../../http/route.ts'
import { bearerText } from '../../identity/authenticate.ts'
import type { SignedServices } from '../links/index.ts'
import { selectGrant } from '../statements/index.ts'
import {
  denyApproval,
  getApproval,
  getOwnApproval,
  listApprovals,
  releaseApproval,
  revokeApproval,
} from './contract.ts'
import {
  type DecideGrant,
  selectApproval,
  selectApprovals,
  selectOwn,
  storeDecision,
} from './queries.ts'
import {
  buildDecidedFault,
  buildDecisionNotice,
  describeApproval,
  storeSignedRelease,
} from './release.ts'

export function approvalRoutes(services: SignedServices): Route[] {
  const { outer } = services
  return [
    listRoute(listApprovals, ({ tx, grant, query: { status } }) => ({
      name: `approvals ${status ?? ''}`,
      read: (page) => selectApprovals(tx, grant, { ...page, status }),
      sortKey: ({ requested_at, id }) => [requested_at.toISOString(), id],
    })),
    route(getApproval, async ({ tx, grant, params: { approval_id: id } }) => {
      const found = await selectApproval(tx, grant, id)
      if (!found) throw new Fault('not_found')
      const { sealedDetails, ...approval } = found
      const { workspaceId } = grant
      const token = { workspaceId, tokenId: approval.token_id }
      const stored = sealedDetails && [{ row: [{ uuid: id }], blob: sealedDetails }]
      const [details] = stored ? await outer.openAll('approvals.details', workspaceId, stored) : []
      const signed = (await selectGrant(tx, token)) ?? null
      return { ...approval, details: details ? toBase64(details) : null, grant: signed }
    }),
    route(releaseApproval, async ({ params: { approval_id: id }, body, ...changing }) => {
      await storeSignedRelease(changing, services, { id, body })
      return undefined
    }),
    route(denyApproval, ({ params: { approval_id: id }, body, ...changing }) =>
      decide(changing, services, { id, muteSeconds: body.mute_seconds, status: 'denied' }),
    ),
    route(revokeApproval, ({ params: { approval_id: id }, body, ...changing }) =>
      decide(changing, services, { id, muteSeconds: body.mute_seconds, status: 'revoked' }),
    ),
  ]
}

type Decision = { id: string; status: 'denied' | 'revoked'; muteSeconds: number | undefined }

/** To decide again changes nothing. */
async function decide(
  { tx, grant, audit }: Changing<DecideGrant>,
  { notices }: SignedServices,
  { id, ...decision }: Decision,
): Promise<undefined> {
  const { status } = decision
  const isStored = await storeDecision(tx, grant, id, decision)
  const approval = await selectApproval(tx, grant, id)
  if (!approval) throw new Fault('not_found')
  if (isStored) {
    audit.record({ action: `approval.${status}`, ...describeApproval(approval) })
    await notices.announce(grant.workspaceId, buildDecisionNotice(grant, approval, status), tx)
  } else if (approval.status === status) audit.unchanged()
  else throw buildDecidedFault(approval)
}

/** On the resolver's listener. */
export function ownApprovalRoutes(access: Access, db: Database): Route[] {
  return [createRawRoute(getOwnApproval, (context) => showOwn(access, db, context))]
}

/** @throws Fault `invalid_token`, `rate_limited`, `scope_required`, `not_found` for another token's */
async function showOwn(
  access: Access,
  db: Database,
  { request, requestId, params }: RequestContext,
): Promise<Response> {
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(access, getOwnApproval, { text, requestId })
  const { approval_id: id } = parsePart(getOwnApproval.params, params)
  if (!(await access.tokens.versions([token.id])).has(token.id)) throw new Fault('invalid_token')
  await requireGrantedNow(access, token)
  const found = await selectOwn(db, { workspaceId: token.workspaceId, tokenId: token.id, id })
  if (!found) throw new Fault('not_found')
  return present(getOwnApproval, found, { ...buildCommonHeaders(requestId), ...rateHeaders(rate) })
}
