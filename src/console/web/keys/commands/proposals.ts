/** What an agent proposes, made as ordinary signed changes by the person who accepts it. */
import {
  allowProposed,
  closeProposed,
  type ListedProposal,
  missingHosts,
  missingSecrets,
  storeProposed,
} from '../../../../client/actions/proposals.ts'
import type { HeldKeys } from '../held.ts'
import { environmentAt, type Place, placeIn } from '../places.ts'

export const proposalsCommands = { hosts, secrets, accept, reject }

type Of = { workspaceId: string }
type Proposed = Pick<ListedProposal, 'id' | 'hosts' | 'secrets'>

/** Those that are not allowed yet. */
async function hosts(held: HeldKeys, { workspaceId, hosts }: Of & Pick<Proposed, 'hosts'>) {
  return missingHosts(await placeIn(held, workspaceId), { hosts })
}

/** Those that the environment does not have. */
async function secrets(held: HeldKeys, { secrets, ...at }: Place & Pick<Proposed, 'secrets'>) {
  return (await missingSecrets(await environmentAt(held, at), { secrets })).map(({ key }) => key)
}

type Acceptance = Of & {
  proposal: Proposed
  /** The hosts that were shown as missing. */
  hosts: string[]
  /** Where its secrets are stored, and their values by name; null for a proposal without secrets. */
  stored: { projectId: string; environment: string; values: Record<string, string> } | null
}

/** Exactly what was shown. @throws ApiError, UntrustedChain */
async function accept(held: HeldKeys, { workspaceId, proposal, hosts, stored }: Acceptance) {
  const place = await placeIn(held, workspaceId)
  await allowProposed(place, hosts)
  if (stored !== null) {
    const { projectId, environment, values } = stored
    const there = await environmentAt(held, { workspaceId, projectId, environment })
    await storeProposed(there, proposal, new Map(Object.entries(values)))
  }
  await closeProposed(place, proposal.id, 'accepted')
}

/** The same proposal stays rejected. */
async function reject(held: HeldKeys, { workspaceId, id }: Of & { id: string }) {
  await closeProposed({ api: held.api, workspace: { id: workspaceId } }, id, 'rejected')
}
