/** Lists and decides verified requests to use held secrets. */
import { systemTimers, type Timers } from '../../core/async/timers.ts'
import { denyApproval, listApprovals, revokeApproval } from '../../features/approvals/contract.ts'
import { openSignedState, type SignedState } from '../approvals/reading.ts'
import {
  readVerifiedRequest,
  UnverifiedRequest,
  type VerifiedRequest,
} from '../approvals/verify.ts'
import { type Api, ApiError, type CallResult } from '../http/api.ts'
import type { WorkspacePlace } from '../workspace.ts'

export type ListedApproval = CallResult<typeof listApprovals>[number]
export type ApprovalStatus = ListedApproval['status']

/** `fault` is the reason why a pending request fails verification. Its server data is then untrusted. */
export type CheckedApproval = ListedApproval & {
  request: VerifiedRequest | null
  fault: string | null
}

/** A workspace on the server, without its key. */
export type ServerPlace = { api: Api; workspace: { id: string } }

/** Requests that are verified at the same time. */
const AT_ONCE = 4
const MAX_WAIT_MS = 60_000
const BUSY: readonly number[] = [429, 503]

/** Newest first. Pending ones are verified. Others have ended. @throws ApiError, UntrustedChain */
export async function readApprovals(
  place: WorkspacePlace,
  statuses: readonly ApprovalStatus[] | null,
  timers: Pick<Timers, 'sleep'> = systemTimers,
): Promise<CheckedApproval[]> {
  const listed = await retryOnce(() => fetchApprovals(place, statuses), timers)
  const state = openSignedState(place.workspace)
  const checked: CheckedApproval[] = []
  for (let from = 0; from < listed.length; from += AT_ONCE) {
    const some = listed.slice(from, from + AT_ONCE)
    const check = (one: ListedApproval) => retryOnce(() => checkApproval(place, one, state), timers)
    checked.push(...(await Promise.all(some.map(check))))
  }
  return checked
}

/** Whether the server only requests a pause. */
export function isBusy(error: unknown): error is ApiError {
  return error instanceof ApiError && BUSY.includes(error.status)
}

/** Repeats a read after the requested pause. */
async function retryOnce<T>(read: () => Promise<T>, { sleep }: Pick<Timers, 'sleep'>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!isBusy(error) || error.retryAfterMs === null || error.retryAfterMs > MAX_WAIT_MS)
      throw error
    await sleep(error.retryAfterMs)
    return read()
  }
}

/** Pending requests that were not seen before, oldest first, and how many of them do not verify. `seen` gets their IDs. */
export async function readNewApprovals(
  place: WorkspacePlace,
  seen: Set<string>,
): Promise<{ requests: VerifiedRequest[]; hidden: number }> {
  const listed = await fetchApprovals(place, ['pending'])
  const fresh = listed.filter(({ id }) => !seen.has(id)).reverse()
  const state = openSignedState(place.workspace)
  const requests: VerifiedRequest[] = []
  for (const one of fresh) {
    const { request } = await checkApproval(place, one, state)
    seen.add(one.id)
    if (request) requests.push(request)
  }
  return { requests, hidden: fresh.length - requests.length }
}

/** According to the server. */
export async function fetchApprovals(
  { api, workspace }: ServerPlace,
  statuses: readonly ApprovalStatus[] | null,
): Promise<ListedApproval[]> {
  const params = { workspace_id: workspace.id }
  if (statuses === null) return api.list(listApprovals, { params })
  const lists = statuses.map((status) => api.list(listApprovals, { params, query: { status } }))
  return (await Promise.all(lists)).flat().sort((one, other) => (one.id < other.id ? 1 : -1))
}

async function checkApproval(
  place: WorkspacePlace,
  listed: ListedApproval,
  state: SignedState,
): Promise<CheckedApproval> {
  if (listed.status !== 'pending') return { ...listed, request: null, fault: null }
  try {
    return { ...listed, request: await readVerifiedRequest(place, listed.id, state), fault: null }
  } catch (error) {
    if (!(error instanceof UnverifiedRequest)) throw error
    return { ...listed, request: null, fault: error.why }
  }
}

/** For an hour, or longer for all requests of the token for these secrets. @throws ApiError `conflict` */
export async function denyApprovalRequest(
  { api, workspace }: ServerPlace,
  approval_id: string,
  muteSeconds?: number,
): Promise<void> {
  const body = muteSeconds === undefined ? {} : { mute_seconds: muteSeconds }
  await api.call(denyApproval, { params: { workspace_id: workspace.id, approval_id }, body })
}

/** Ends a release on every process. @throws ApiError `conflict` */
export async function revokeApprovalRelease(
  { api, workspace }: ServerPlace,
  approval_id: string,
): Promise<void> {
  const params = { workspace_id: workspace.id, approval_id }
  await api.call(revokeApproval, { params, body: {} })
}
