/** Accepts agents' proposals as ordinary signed changes, or rejects them. */
import {
  allowProposed,
  closeProposed,
  type ListedProposal,
  listMissingHosts,
  listMissingSecrets,
  storeProposed,
} from '../../../../client/actions/proposals.ts'
import { environmentAt, type Place, placeIn } from '../places.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const proposalsCommands = { hosts, secrets, accept, reject }

type Of = { workspaceId: string }
type Proposed = Pick<ListedProposal, 'id' | 'hosts' | 'secrets'>

/** Proposed hosts that are not allowed yet. */
async function hosts(
  session: UnlockedSession,
  { workspaceId, hosts }: Of & Pick<Proposed, 'hosts'>,
) {
  return listMissingHosts(await placeIn(session, workspaceId), { hosts })
}

/** Proposed secrets that the environment lacks. */
async function secrets(
  session: UnlockedSession,
  { secrets, ...at }: Place & Pick<Proposed, 'secrets'>,
) {
  return (await listMissingSecrets(await environmentAt(session, at), { secrets })).map(
    ({ key }) => key,
  )
}

type Acceptance = Of & {
  proposal: Proposed
  /** The hosts that were shown as missing. */
  hosts: string[]
  /** The place of the secrets, and their values by name. Null for a proposal without secrets. */
  stored: { projectId: string; environment: string; values: Record<string, string> } | null
}

/** Accepts exactly the proposal that was shown. @throws ApiError, UntrustedChain */
async function accept(
  session: UnlockedSession,
  { workspaceId, proposal, hosts, stored }: Acceptance,
) {
  const place = await placeIn(session, workspaceId)
  await allowProposed(place, hosts)
  if (stored !== null) {
    const { projectId, environment, values } = stored
    const there = await environmentAt(session, { workspaceId, projectId, environment })
    await storeProposed(there, proposal, new Map(Object.entries(values)))
  }
  await closeProposed(place, proposal.id, 'accepted')
}

/** Rejects a proposal. If an agent repeats it, it stays rejected. */
async function reject(session: UnlockedSession, { workspaceId, id }: Of & { id: string }) {
  await closeProposed({ api: session.api, workspace: { id: workspaceId } }, id, 'rejected')
}
