/**
 * Requests to use held secrets, and agents' proposals. A request that does not verify is counted and never shown, because
 * a server can invent it.
 */
import {
  denyApprovalRequest,
  fetchApprovals,
  type ListedApproval,
  revokeApprovalRelease,
} from '../../../../client/actions/approvals.ts'
import { isNotFound } from '../../../../client/actions/end_tokens.ts'
import { readProposals } from '../../../../client/actions/proposals.ts'
import {
  findLongestWindow,
  type ReleaseWindow,
  releaseRequest,
} from '../../../../client/approvals/release.ts'
import {
  readVerifiedRequest,
  UnverifiedRequest,
  type VerifiedRequest,
} from '../../../../client/approvals/verify.ts'
import { ChangedName } from '../../../../client/known_names.ts'
import type { WorkspacePlace } from '../../../../client/workspace.ts'
import { callMethods } from '../../../../core/policy/policy.ts'
import { printable } from '../../../../core/printable.ts'
import { listAgents } from '../../../../features/agents/contract.ts'
import { getApproval } from '../../../../features/approvals/contract.ts'
import { Refused } from '../failure.ts'
import { placeIn } from '../places.ts'
import {
  type ShownNames,
  type ShownRequest,
  toShownRequest,
  windowPrefixes,
} from '../shown_request.ts'
import { projectNamesOf } from '../tokens.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const approvalsCommands = { waiting: listWaiting, allow, status, deny, revoke }

type Of = { workspaceId: string }
type OfRequest = Of & { id: string }

/** The most requests that are verified and shown. */
const MAX_SHOWN = 50
/** Requests that are verified at the same time. */
const AT_ONCE = 8
/** Milliseconds after which a request is verified again: its token, host or secret may have changed. */
const FRESH_MS = 30_000

/** Oldest requests first, so that a new request moves no other. */
async function listWaiting(session: UnlockedSession, { workspaceId }: Of) {
  const place = serverPlace(session, workspaceId)
  const [approvals, proposals] = await Promise.all([
    fetchApprovals(place, ['pending', 'released']),
    readProposals(place, 'open'),
  ])
  const pending = approvals.filter(({ status: found }) => found === 'pending').reverse()
  const isEmpty = approvals.length + proposals.length === 0
  const names = isEmpty ? NO_NAMES : await namesIn(session, workspaceId)
  const checked = await checkRequests(session, workspaceId, pending.slice(0, MAX_SHOWN), names)
  return {
    requests: checked.filter((request) => request !== null && request !== ENDED),
    hidden: checked.filter((request) => request === null).length,
    more: Math.max(0, pending.length - MAX_SHOWN),
    released: approvals
      .filter(({ status: found }) => found === 'released')
      .map((one) => releasedOf(one, names)),
    proposals: proposals.map((one) => proposedOf(one, names)).reverse(),
  }
}

/** A place without a key, because lists are read often and are not trusted. @throws Refused `locked` */
function serverPlace(session: UnlockedSession, workspaceId: string) {
  session.reader()
  return { api: session.api, workspace: { id: workspaceId } }
}

function releasedOf(approval: ListedApproval, { agents }: ShownNames) {
  const { id, method, host, scope, secrets, expires_at } = approval
  const window = scope && { methods: scope.methods, host: scope.host, prefix: scope.path_prefix }
  return {
    id,
    agent: printable(toListedAgent(approval, agents)),
    ...{ method, host, window },
    secrets: secrets.map(({ key }) => key),
    expiresAt: expires_at,
  }
}

function proposedOf(
  proposal: Awaited<ReturnType<typeof readProposals>>[number],
  { agents }: ShownNames,
) {
  const { id, reason, hosts, secrets } = proposal
  return {
    id,
    agent: printable(toListedAgent(proposal, agents)),
    reason: printable(reason),
    hosts,
    secrets: secrets.map(({ key, description }) => ({
      key,
      description: description === null ? null : printable(description),
    })),
  }
}

/** A row that is not signed names its agent by ID too. Its name comes from the checked list of agents. */
function toListedAgent(
  { agent, registration_id: id }: { agent: string; registration_id: string | null },
  agents: ShownNames['agents'],
): string {
  return id === null ? agent : (agents.get(id) ?? agent)
}

const NO_NAMES: ShownNames = { projects: new Map(), agents: new Map() }

async function namesIn(session: UnlockedSession, workspaceId: string): Promise<ShownNames> {
  const [projects, agents] = await Promise.all([
    projectNamesOf(session, workspaceId),
    session.api.list(listAgents, { params: { workspace_id: workspaceId } }),
  ])
  return { projects, agents: new Map(agents.map(({ id, name }) => [id, name])) }
}

/** A request that ended after it was listed. */
const ENDED = 'ended'
/** Null for a request that does not verify. */
type Check = ShownRequest | typeof ENDED | null
type Checked = { at: number; request: Check }
/** Verified requests, by the session's chains and the request's ID. */
const checks = new WeakMap<object, Map<string, Checked>>()

async function checkRequests(
  session: UnlockedSession,
  workspaceId: string,
  pending: readonly ListedApproval[],
  names: ShownNames,
): Promise<Check[]> {
  const known = checksOf(session)
  const isDue = ({ id }: ListedApproval) => Date.now() - (known.get(id)?.at ?? 0) > FRESH_MS
  const due = pending.filter(isDue)
  for (const [id, { at }] of known) if (Date.now() - at > FRESH_MS) known.delete(id)
  if (due.length > 0) {
    const place = await placeIn(session, workspaceId)
    for (let from = 0; from < due.length; from += AT_ONCE)
      await Promise.all(
        due.slice(from, from + AT_ONCE).map(async ({ id }) => {
          const request = await checkRequest(session, place, id, names)
          known.set(id, { at: Date.now(), request })
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

async function checkRequest(
  session: UnlockedSession,
  place: WorkspacePlace,
  id: string,
  names: ShownNames,
): Promise<Check> {
  try {
    return toShownRequest(await requestOf(session, place, id), names)
  } catch (error) {
    if (isNotFound(error)) return ENDED
    if (error instanceof UnverifiedRequest || error instanceof ChangedName) return null
    throw error
  }
}

/** A verified request of an agent whose pinned name did not change. @throws UnverifiedRequest, ChangedName, ApiError */
async function requestOf(session: UnlockedSession, place: WorkspacePlace, id: string) {
  const request = await readVerifiedRequest(place, id)
  session.names.demand(request.grant.agent_id ?? undefined)
  return request
}

/** Later calls below `prefix`. The methods include that of this call. */
type Window = { methods: readonly string[]; prefix: string; seconds: number }

/**
 * Signs exactly the call that was shown, by its digest. A window also covers later calls.
 *
 * @throws ApiError, UntrustedChain, ChangedName, Refused `conflict` for another call, `unverified_request`
 */
async function allow(
  session: UnlockedSession,
  { workspaceId, id, digest, window }: OfRequest & { digest: string; window: Window | null },
) {
  const place = await placeIn(session, workspaceId)
  try {
    const request = await requestOf(session, place, id)
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
  const prefixes = windowPrefixes(new URL(call.target_url).pathname)
  const methods = callMethods.filter((known) => window.methods.includes(known))
  const includesCall = methods.some((method) => method === call.method) && prefixes.includes(prefix)
  if (!includesCall || methods.length < window.methods.length || seconds > findLongestWindow(held))
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
