/**
 * Requests to use held secrets, and agents' proposals. A request that does not verify is counted and never shown, because
 * a server can invent it.
 */
import {
  denyApprovalRequest,
  type ListedApproval,
  listedApprovals,
  revokeApprovalRelease,
} from '../../../../client/actions/approvals.ts'
import { readProposals } from '../../../../client/actions/proposals.ts'
import {
  longestWindow,
  type ReleaseWindow,
  releaseRequest,
} from '../../../../client/approvals/release.ts'
import {
  UnverifiedRequest,
  type VerifiedRequest,
  verifiedRequest,
} from '../../../../client/approvals/verify.ts'
import type { WorkspacePlace } from '../../../../client/workspace.ts'
import { callMethods } from '../../../../core/policy/policy.ts'
import { printable } from '../../../../core/printable.ts'
import { getApproval } from '../../../../features/approvals/contract.ts'
import { Refused } from '../failure.ts'
import { placeIn } from '../places.ts'
import { type ShownRequest, shownRequest } from '../shown_request.ts'
import { projectNamesOf } from '../tokens.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const approvalsCommands = { waiting, allow, status, deny, revoke }

type Of = { workspaceId: string }
type OfRequest = Of & { id: string }

/** The most requests that are verified and shown. */
const MAX_SHOWN = 50
/** Requests that are verified at the same time. */
const AT_ONCE = 8
/** Milliseconds after which a request is verified again: its token, host or secret may have changed. */
const FRESH_MS = 30_000

/** Oldest requests first, so that a new request moves no other. */
async function waiting(session: UnlockedSession, { workspaceId }: Of) {
  const place = serverPlace(session, workspaceId)
  const [approvals, proposals] = await Promise.all([
    listedApprovals(place, ['pending', 'released']),
    readProposals(place, 'open'),
  ])
  const pending = approvals.filter(({ status: found }) => found === 'pending').reverse()
  const checked = await checkedRequests(session, workspaceId, pending.slice(0, MAX_SHOWN))
  const requests = checked.filter((request) => request !== null)
  return {
    requests,
    hidden: checked.length - requests.length,
    more: Math.max(0, pending.length - MAX_SHOWN),
    released: approvals.filter(({ status: found }) => found === 'released').map(releasedOf),
    proposals: proposals.map(proposedOf).reverse(),
  }
}

/** A place without a key, because lists are read often and are not trusted. @throws Refused `locked` */
function serverPlace(session: UnlockedSession, workspaceId: string) {
  session.reader()
  return { api: session.api, workspace: { id: workspaceId } }
}

function releasedOf({ id, agent, method, host, scope, secrets, expires_at }: ListedApproval) {
  const window = scope && { methods: scope.methods, host: scope.host, prefix: scope.path_prefix }
  return {
    id,
    agent: printable(agent),
    ...{ method, host, window },
    secrets: secrets.map(({ key }) => key),
    expiresAt: expires_at,
  }
}

function proposedOf(proposal: Awaited<ReturnType<typeof readProposals>>[number]) {
  const { id, agent, reason, hosts, secrets } = proposal
  return {
    id,
    agent: printable(agent),
    reason: printable(reason),
    hosts,
    secrets: secrets.map(({ key, description }) => ({
      key,
      description: description === null ? null : printable(description),
    })),
  }
}

type Checked = { at: number; request: ShownRequest | null }
/** Verified requests, by the session's chains and the request's ID. */
const checks = new WeakMap<object, Map<string, Checked>>()

async function checkedRequests(
  session: UnlockedSession,
  workspaceId: string,
  pending: readonly ListedApproval[],
): Promise<(ShownRequest | null)[]> {
  const known = checksOf(session)
  const isDue = ({ id }: ListedApproval) => Date.now() - (known.get(id)?.at ?? 0) > FRESH_MS
  const due = pending.filter(isDue)
  for (const [id, { at }] of known) if (Date.now() - at > FRESH_MS) known.delete(id)
  if (due.length > 0) {
    const place = await placeIn(session, workspaceId)
    const names = await projectNamesOf(session, workspaceId)
    for (let from = 0; from < due.length; from += AT_ONCE)
      await Promise.all(
        due.slice(from, from + AT_ONCE).map(async ({ id }) => {
          const found = await verifiedOrNull(place, id)
          known.set(id, { at: Date.now(), request: found && shownRequest(found, names) })
        }),
      )
  }
  return pending.map(({ id }) => known.get(id)?.request ?? null)
}

function checksOf(session: UnlockedSession): Map<string, Checked> {
  const { chains } = session.reader().trust
  const known = checks.get(chains) ?? new Map<string, Checked>()
  checks.set(chains, known)
  return known
}

async function verifiedOrNull(place: WorkspacePlace, id: string): Promise<VerifiedRequest | null> {
  try {
    return await verifiedRequest(place, id)
  } catch (error) {
    if (error instanceof UnverifiedRequest) return null
    throw error
  }
}

/** Later calls below `prefix`. The methods include that of this call. */
type Window = { methods: readonly string[]; prefix: string; seconds: number }

/**
 * Signs exactly the call that was shown, by its digest. A window also covers later calls.
 *
 * @throws ApiError, UntrustedChain, Refused `conflict` for another call, `unverified_request`
 */
async function allow(
  session: UnlockedSession,
  { workspaceId, id, digest, window }: OfRequest & { digest: string; window: Window | null },
) {
  const place = await placeIn(session, workspaceId)
  try {
    const request = await verifiedRequest(place, id)
    if (request.approval.digest !== digest) throw new Refused('conflict')
    return await releaseRequest(place, request, window && windowOf(request, window))
  } catch (error) {
    if (!(error instanceof UnverifiedRequest)) throw error
    throw new Refused('unverified_request', error.message)
  } finally {
    checksOf(session).delete(id)
  }
}

/** @throws Refused `conflict` for a window that the policies do not permit, or that belongs to another call */
function windowOf(request: VerifiedRequest, window: Window): ReleaseWindow {
  const { call, held } = request
  const { prefix, seconds } = window
  const { prefixes } = shownRequest(request, new Map())
  const methods = callMethods.filter((known) => window.methods.includes(known))
  const includesCall = methods.some((method) => method === call.method) && prefixes.includes(prefix)
  if (!includesCall || methods.length < window.methods.length || seconds > longestWindow(held))
    throw new Refused('conflict')
  return { host: new URL(call.target_url).host, methods, path_prefix: prefix, seconds }
}

/** The current status of a request. */
async function status(session: UnlockedSession, { workspaceId, id }: OfRequest) {
  const params = { workspace_id: workspaceId, approval_id: id }
  return (await session.api.call(getApproval, { params })).status
}

/** Denies a request for 1 hour. `muteSeconds` denies all requests of its token for these secrets. @throws ApiError `conflict` */
async function deny(
  session: UnlockedSession,
  { workspaceId, id, muteSeconds }: OfRequest & { muteSeconds: number | null },
) {
  await denyApprovalRequest(serverPlace(session, workspaceId), id, muteSeconds ?? undefined)
}

/** @throws ApiError `conflict` */
async function revoke(session: UnlockedSession, { workspaceId, id }: OfRequest) {
  await revokeApprovalRelease(serverPlace(session, workspaceId), id)
}
