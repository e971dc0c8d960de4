/** Refused calls: which hosts wait for a person, and the one change that lets a call through, shown before it is made. */
import { knownHosts } from '../../../../client/actions/allowlist.ts'
import { giveKeys, isWithin, lackingKeys } from '../../../../client/actions/grant.ts'
import { readRefusedHosts } from '../../../../client/actions/refused_hosts.ts'
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
import type { Policy } from '../../../../core/policy/policy.ts'
import { getAgent } from '../../../../features/agents/contract.ts'
import { Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { type HostNarrowing, limitFor } from '../host_limit.ts'
import { environmentAt, placeIn } from '../places.ts'

import { activeToken, projectNamesOf } from '../tokens.ts'
import { allowlistCommands } from './allowlist.ts'

export const liveCommands = { refused, propose, allow }

type Of = { workspaceId: string }

const REFUSED_SINCE = '24h'

/** Hosts that agents were refused lately, and that are still not allowed. */
async function refused(held: HeldKeys, { workspaceId }: Of) {
  return readRefusedHosts(await placeIn(held, workspaceId), REFUSED_SINCE)
}
type Proposed = {
  change: Allowing
  isDone: boolean
  version: number | null
  link: number | null
  /** The list that the change adds to, as it is now. */
  before: readonly string[] | null
  to: { label: string; agent: string; project: string; environment: string } | null
  /** For a new host: what limits the secret to it, and other secrets in its environment that have no host limit. */
  narrowing: HostNarrowing | null
  unlimited: number
}

const NOTHING = {
  ...{ isDone: false, version: null, link: null, before: null, to: null },
  ...{ narrowing: null, unlimited: 0 },
}

/** Works out the change and what it is made to. Changes nothing. */
async function propose(
  held: HeldKeys,
  { workspaceId, call }: Of & { call: RefusedCall },
): Promise<Proposed> {
  const change = allowingOf(call)
  if (change.kind === 'policy') {
    const { policy, version } = await secretOf(held, workspaceId, change)
    const isDone = widened(policy, change) === policy
    return { ...NOTHING, change, isDone, version, before: policy?.[change.rule] ?? null }
  }
  const place = await placeIn(held, workspaceId)
  if (change.kind === 'grant') return proposeGrant(held, place, change)
  if (change.kind === 'none') return { ...NOTHING, change }
  const chain = await place.workspace.newestChain()
  const before = chain ? [...chain.allowlist] : await knownHosts(place)
  const isDone = before.includes(change.domain)
  const limits = await limitFor(held, workspaceId, call, change.domain).catch(() => null)
  return { ...NOTHING, ...limits, change, isDone, before, link: chain ? chain.seq + 1 : null }
}

type Order = Of & { change: Allowing; version: number | null; narrowing: HostNarrowing | null }

/**
 * Makes exactly the change that was shown. The secret is limited before its host is allowed, so a failure between the
 * two allows nothing.
 *
 * @throws ApiError `conflict` if the secret changed since
 */
async function allow(held: HeldKeys, { workspaceId, change, version, narrowing }: Order) {
  if (change.kind === 'allowlist') {
    if (narrowing) {
      const { before: _before, after, version: seen, ...secret } = narrowing
      await setPolicy(held, workspaceId, secret, seen, (policy) => ({
        ...policy,
        allowed_domains: [...after],
      }))
    }
    await allowlistCommands.add(held, { workspaceId, domain: change.domain })
  }
  if (change.kind === 'grant') await grant(held, workspaceId, change)
  if (change.kind === 'policy')
    await setPolicy(held, workspaceId, change, version, (policy) => widened(policy, change))
}

type OfSecret = { projectId: string; environment: string; secret: string }

/** Value and policy prove each other. @throws Unproven */
async function secretOf(
  held: HeldKeys,
  workspaceId: string,
  { projectId, environment, secret }: OfSecret,
) {
  const place = await environmentAt(held, { workspaceId, projectId, environment })
  return { place, ...(await provenValue(place, secret)) }
}

async function setPolicy(
  held: HeldKeys,
  workspaceId: string,
  of: OfSecret,
  version: number | null,
  change: (policy: Policy | null) => Policy | null,
) {
  const { place, version: expectedVersion, ...stored } = await secretOf(held, workspaceId, of)
  if (version !== expectedVersion) throw new Refused('conflict')
  const policy = change(stored.policy)
  await uploadSecrets(
    place,
    [{ key: of.secret, value: stored.value, policy, expectedVersion }],
    false,
  )
}

type Granting = Extract<Allowing, { kind: 'grant' }>

/** A record can name any token and environment: a key is proposed only if the token's signed grant has the environment. */
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
