/** The one change that would let a refused call through, worked out, shown, and made when somebody says so. */

import { giveKeys, isWithin, lackingKeys } from '../../../../client/actions/grant.ts'
import { uploadSecrets } from '../../../../client/actions/set_secrets.ts'
import { provenValue } from '../../../../client/actions/stored_secrets.ts'
import {
  type Allowing,
  allowingOf,
  type RefusedCall,
  widened,
} from '../../../../client/agents/allowing.ts'
import { holderOf } from '../../../../client/agents/tokens.ts'
import type { WorkspacePlace } from '../../../../client/workspace.ts'
import { getAgent } from '../../../../features/agents/contract.ts'
import { Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { environmentAt, placeIn } from '../places.ts'
import { activeToken, projectNamesOf } from '../tokens.ts'
import { allowlistCommands } from './allowlist.ts'

export const liveCommands = { propose, allow }

type Of = { workspaceId: string }

type Proposed = {
  change: Allowing
  isDone: boolean
  version: number | null
  link: number | null
  before: readonly string[] | null
  to: { label: string; agent: string; project: string; environment: string } | null
}

const NOTHING = { isDone: false, version: null, link: null, before: null, to: null }

/** The change, with what it is made to as it is now; nothing is done. */
async function propose(
  held: HeldKeys,
  { workspaceId, call }: Of & { call: RefusedCall },
): Promise<Proposed> {
  const change = allowingOf(call)
  const place = await placeIn(held, workspaceId)
  const chain = await place.workspace.newestChain()
  if (change.kind === 'policy') {
    const { policy, version } = await secretOf(held, workspaceId, change)
    const isDone = widened(policy, change) === policy
    return { ...NOTHING, change, isDone, version, before: policy?.[change.rule] ?? null }
  }
  if (change.kind === 'grant') return proposeGrant(held, place, change)
  const isDone = change.kind === 'allowlist' && chain?.allowlist.has(change.domain) === true
  const link = change.kind === 'allowlist' && chain ? chain.seq + 1 : null
  return { ...NOTHING, change, isDone, link }
}

/** Exactly what was shown. @throws ApiError `conflict` where the secret is another by now */
async function allow(
  held: HeldKeys,
  { workspaceId, change, version }: Of & { change: Allowing; version: number | null },
) {
  if (change.kind === 'allowlist') {
    await allowlistCommands.add(held, { workspaceId, domain: change.domain })
  }
  if (change.kind === 'grant') await grant(held, workspaceId, change)
  if (change.kind === 'policy') await widen(held, workspaceId, change, version)
}

type Widening = Extract<Allowing, { kind: 'policy' }>

/** Value and policy prove each other. @throws Unproven */
async function secretOf(
  held: HeldKeys,
  workspaceId: string,
  { projectId, environment, secret }: Widening,
) {
  const place = await environmentAt(held, { workspaceId, projectId, environment })
  return { place, ...(await provenValue(place, secret)) }
}

async function widen(
  held: HeldKeys,
  workspaceId: string,
  change: Widening,
  version: number | null,
) {
  const { place, version: expectedVersion, ...stored } = await secretOf(held, workspaceId, change)
  if (version !== expectedVersion) throw new Refused('conflict')
  const policy = widened(stored.policy, change)
  await uploadSecrets(
    place,
    [{ key: change.secret, value: stored.value, policy, expectedVersion }],
    false,
  )
}

type Granting = Extract<Allowing, { kind: 'grant' }>

/** A record can name any token and any environment: only what was signed for that one is proposed. */
async function proposeGrant(held: HeldKeys, place: WorkspacePlace, change: Granting) {
  const { agentId, tokenId, environment } = change
  const { workspace } = place
  const token = await activeToken(place, { agentId }, tokenId)
  const { scope } = await holderOf(workspace, token, { agentId })
  if (scope !== null && !isWithin(scope, change)) {
    return { ...NOTHING, change: { kind: 'none', why: 'scope' } as const }
  }
  const params = { workspace_id: workspace.id, registration_id: agentId }
  const [projects, { name: agent }] = await Promise.all([
    projectNamesOf(held, workspace.id),
    held.api.call(getAgent, { params }),
  ])
  const project = projects.get(change.projectId) ?? change.projectId
  const isDone = lackingKeys(workspace, token, [change]).length === 0
  return { ...NOTHING, change, isDone, to: { label: token.label, agent, project, environment } }
}

async function grant(
  held: HeldKeys,
  workspaceId: string,
  { agentId, tokenId, projectId, environment }: Granting,
) {
  const place = await placeIn(held, workspaceId)
  const token = await activeToken(place, { agentId }, tokenId)
  await giveKeys(place, { agentId }, token, [{ projectId, environment }])
}
