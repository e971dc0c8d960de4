/**
 * The policies that their authors gave: of the secrets that a token may name, those whose ciphertexts open
 * with them. A description that somebody wrote into the database reaches no agent.
 */
import type { Granted } from '../access/snapshot.ts'
import { type Snapshot, StaleSnapshot } from '../access/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import type { SealedSecret } from '../platform/crypto/secret_value.ts'
import { Fault } from '../platform/fault.ts'
import type { Policy } from '../platform/policy.ts'
import { whenRead } from '../platform/unread.ts'
import { eachOpened } from './opened.ts'
import type { ResolverServices } from './services.ts'

/** By project, environment and name. */
export type ProvenPolicies = ReadonlyMap<string, Policy>

const MAX_ATTEMPTS = 5

/** By snapshot and token: what was proven holds until the workspace changes. */
const known = new WeakMap<Snapshot, Map<string, Promise<ProvenPolicies>>>()

export function placeNameOf(projectId: string, environment: string, name: string): string {
  return `${projectId}/${environment}/${name}`
}

/** @throws Fault `unavailable` while the workspace keeps changing */
export async function provenPolicies(
  services: ResolverServices,
  token: LiveToken,
  policyVersion: number,
): Promise<ProvenPolicies> {
  const { snapshots } = services
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    try {
      const snapshot = await snapshots.of(token.workspaceId)
      if (snapshot.policyVersion >= policyVersion) return await proveOnce(services, snapshot, token)
    } catch (error) {
      if (!(error instanceof StaleSnapshot)) throw error
    }
    snapshots.forget(token.workspaceId)
  }
  throw new Fault('unavailable')
}

function proveOnce(
  services: ResolverServices,
  snapshot: Snapshot,
  token: LiveToken,
): Promise<ProvenPolicies> {
  const ofTokens = known.get(snapshot) ?? new Map<string, Promise<ProvenPolicies>>()
  known.set(snapshot, ofTokens)
  const proving = ofTokens.get(token.id) ?? proveAll(services, snapshot, token)
  ofTokens.set(token.id, proving)
  proving.catch(() => ofTokens.delete(token.id))
  return proving
}

async function proveAll(
  services: ResolverServices,
  snapshot: Snapshot,
  token: LiveToken,
): Promise<ProvenPolicies> {
  const proven = new Map<string, Policy>()
  const { snapshots } = services
  for (const place of await whenRead(() => snapshots.grants(snapshot, token.id))) {
    await prove(services, snapshot, token, place, proven).catch((error) => {
      if (!(error instanceof Fault && error.code === 'key_not_provisioned')) throw error
    })
  }
  return proven
}

async function prove(
  services: ResolverServices,
  snapshot: Snapshot,
  token: LiveToken,
  place: Granted,
  proven: Map<string, Policy>,
): Promise<void> {
  const { projectId, environment } = place
  const isBound = ({ policy }: SealedSecret) => policy !== null
  await eachOpened(services, { snapshot, token, place }, isBound, ({ key, policy }, value) => {
    if (policy !== null && value) proven.set(placeNameOf(projectId, environment, key), policy)
  })
}
