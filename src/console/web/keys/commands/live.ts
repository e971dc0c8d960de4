/** Refused calls: the hosts that wait for a user, and the one change that lets a call through. */
import { listKnownHosts } from '../../../../client/actions/allowlist.ts'
import { findMissingKeys, giveKeys, isWithin } from '../../../../client/actions/grant.ts'
import { readRefusedHosts } from '../../../../client/actions/refused_hosts.ts'
import { uploadSecrets } from '../../../../client/actions/set_secrets.ts'
import { readProvenValue } from '../../../../client/actions/stored_secrets.ts'
import {
  type Allowing,
  addPolicyEntry,
  allowingOf,
  type RefusedCall,
} from '../../../../client/agents/allowing.ts'
import { holderOf } from '../../../../client/agents/tokens.ts'
import type { WorkspacePlace } from '../../../../client/workspace.ts'
import type { Policy } from '../../../../core/policy/policy.ts'
import { getAgent } from '../../../../features/agents/contract.ts'
import { Refused } from '../failure.ts'
import { type HostNarrowing, limitFor } from '../host_limit.ts'
import { environmentAt, placeIn } from '../places.ts'
import { findActiveToken, projectNamesOf } from '../tokens.ts'
import type { UnlockedSession } from '../unlocked_session.ts'
import { allowlistCommands } from './allowlist.ts'

export const liveCommands = { refused: listRefusedHosts, propose, allow }

type Of = { workspaceId: string }

const REFUSED_SINCE = '24h'

/** Hosts that were refused in the last 24 hours and are still not allowed. */
async function listRefusedHosts(session: UnlockedSession, { workspaceId }: Of) {
  return readRefusedHosts(await placeIn(session, workspaceId), REFUSED_SINCE)
}
type Proposed = {
  change: Allowing
  isDone: boolean
  version: number | null
  link: number | null
  /** The list that the change adds to, as it is now. */
  before: readonly string[] | null
  to: { label: string; agent: string; project: string; environment: string } | null
  /** For a new host: the secret's new host limit, and the number of other secrets without one. */
  narrowing: HostNarrowing | null
  unlimited: number
}

const NOTHING = {
  ...{ isDone: false, version: null, link: null, before: null, to: null },
  ...{ narrowing: null, unlimited: 0 },
}

/** Returns the change that would let the call through. Changes nothing. */
async function propose(
  session: UnlockedSession,
  { workspaceId, call }: Of & { call: RefusedCall },
): Promise<Proposed> {
  const change = allowingOf(call)
  if (change.kind === 'policy') {
    const { policy, version } = await secretOf(session, workspaceId, change)
    const isDone = addPolicyEntry(policy, change) === policy
    return { ...NOTHING, change, isDone, version, before: policy?.[change.rule] ?? null }
  }
  const place = await placeIn(session, workspaceId)
  if (change.kind === 'grant') return proposeGrant(session, place, change)
  if (change.kind === 'none') return { ...NOTHING, change }
  const chain = await place.workspace.newestChain()
  const before = chain ? [...chain.allowlist] : await listKnownHosts(place)
  const isDone = before.includes(change.domain)
  const limits = await limitFor(session, workspaceId, call, change.domain).catch(() => null)
  return { ...NOTHING, ...limits, change, isDone, before, link: chain ? chain.seq + 1 : null }
}

type Order = Of & { change: Allowing; version: number | null; narrowing: HostNarrowing | null }

/**
 * Makes exactly the change that was shown. It limits the secret before it allows the host, so that a failure in between
 * allows nothing.
 *
 * @throws ApiError `conflict` if the secret changed since
 */
async function allow(session: UnlockedSession, { workspaceId, change, version, narrowing }: Order) {
  if (change.kind === 'allowlist') {
    if (narrowing) {
      const { before: _before, after, version: seen, ...secret } = narrowing
      await setPolicy(session, workspaceId, secret, seen, (policy) => ({
        ...policy,
        allowed_domains: [...after],
      }))
    }
    await allowlistCommands.add(session, { workspaceId, domain: change.domain })
  }
  if (change.kind === 'grant') await grant(session, workspaceId, change)
  if (change.kind === 'policy')
    await setPolicy(session, workspaceId, change, version, (policy) =>
      addPolicyEntry(policy, change),
    )
}

type OfSecret = { projectId: string; environment: string; secret: string }

/** Value and policy prove each other. @throws Unproven */
async function secretOf(
  session: UnlockedSession,
  workspaceId: string,
  { projectId, environment, secret }: OfSecret,
) {
  const place = await environmentAt(session, { workspaceId, projectId, environment })
  return { place, ...(await readProvenValue(place, secret)) }
}

async function setPolicy(
  session: UnlockedSession,
  workspaceId: string,
  of: OfSecret,
  version: number | null,
  change: (policy: Policy | null) => Policy | null,
) {
  const { place, version: expectedVersion, ...stored } = await secretOf(session, workspaceId, of)
  if (version !== expectedVersion) throw new Refused('conflict')
  const policy = change(stored.policy)
  await uploadSecrets(
    place,
    [{ key: of.secret, value: stored.value, policy, expectedVersion }],
    false,
  )
}

type Granting = Extract<Allowing, { kind: 'grant' }>

/** A record can name any environment, so a key is proposed only within the token's signed grant. */
async function proposeGrant(session: UnlockedSession, place: WorkspacePlace, change: Granting) {
  const { agentId, tokenId, environment } = change
  const { workspace } = place
  const token = await findActiveToken(place, { agentId }, tokenId)
  const { scope } = await holderOf(workspace, token, { agentId })
  if (scope !== null && !isWithin(scope, change)) {
    return { ...NOTHING, change: { kind: 'none', why: 'scope' } as const }
  }
  const params = { workspace_id: workspace.id, registration_id: agentId }
  const [projects, { name: agent }] = await Promise.all([
    projectNamesOf(session, workspace.id),
    session.api.call(getAgent, { params }),
  ])
  const project = projects.get(change.projectId) ?? change.projectId
  const isDone = findMissingKeys(workspace, token, [change]).length === 0
  return { ...NOTHING, change, isDone, to: { label: token.label, agent, project, environment } }
}

async function grant(
  session: UnlockedSession,
  workspaceId: string,
  { agentId, tokenId, projectId, environment }: Granting,
) {
  const place = await placeIn(session, workspaceId)
  const token = await findActiveToken(place, { agentId }, tokenId)
  await giveKeys(place, { agentId }, token, [{ projectId, environment }])
}
