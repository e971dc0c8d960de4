/**
 * Verified policies of a token's secrets: those that decrypt their ciphertexts. So no agent sees a description that was
 * inserted into the database. Held secrets cannot be decrypted here, so their policies are unproven (protocol 14.1):
 * whether one is held is proven by its ciphertext, which the manifest covers.
 */
import type { Credential } from '../access/credentials.ts'
import { type Granted, placeNameOf } from '../access/snapshots/snapshot.ts'
import { snapshotSince } from '../access/snapshots/snapshot_now.ts'
import type { Snapshot } from '../access/snapshots/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import { decideWhenRead } from '../core/async/unread.ts'
import { isSealedHeld, type SealedSecret } from '../core/crypto/secret_value.ts'
import { Fault } from '../core/fault.ts'
import { type Policy, policy as policySchema } from '../core/policy/policy.ts'
import { openEach } from './opened.ts'
import type { ResolverServices } from './services.ts'

/** Policies and credentials by project, environment and name. */
export type Proven = {
  /** Policies by credential. A held secret's policy is the stored one, without its description. */
  policies: ReadonlyMap<string, Policy>
  /** The contents of a signed workspace that the token may see; null in a plain one. */
  credentials: Credential[] | null
}

/** Proven credentials by snapshot and token, valid until the workspace changes. */
const known = new WeakMap<Snapshot, Map<string, Promise<Proven>>>()

export function credentialNameOf(place: Granted, name: string): string {
  return `${placeNameOf(place)}/${name}`
}

/** @throws Fault `unverified_state` and the like; `unavailable` while the workspace keeps changing */
export function readProvenPolicies(
  services: ResolverServices,
  token: LiveToken,
  policyVersion: number,
): Promise<Proven> {
  const { snapshots } = services
  return snapshotSince(services, token, policyVersion, async (snapshot) => {
    await decideWhenRead(() => snapshots.requireVerified(snapshot, token))
    return proveOnce(services, snapshot, token)
  })
}

function proveOnce(
  services: ResolverServices,
  snapshot: Snapshot,
  token: LiveToken,
): Promise<Proven> {
  const ofTokens = known.get(snapshot) ?? new Map<string, Promise<Proven>>()
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
): Promise<Proven> {
  const policies = new Map<string, Policy>()
  const credentials: Credential[] | null = snapshot.signed && []
  const { snapshots } = services
  for (const place of await decideWhenRead(() => snapshots.grants(snapshot, token.id))) {
    await prove(services, snapshot, token, place, policies).catch((error) => {
      if (!(error instanceof Fault && error.code === 'key_not_provisioned')) throw error
    })
    const verified = isIn(place, token) && snapshot.signed?.environments.get(placeNameOf(place))
    if (verified) for (const name of verified.hashes.keys()) credentials?.push({ ...place, name })
  }
  return { policies, credentials: credentials?.sort(compareCredentials) ?? null }
}

/** Sorts as the database does. */
function compareCredentials(one: Credential, other: Credential): number {
  const keys = ['name', 'environment', 'projectId'] as const
  const key = keys.find((each) => one[each] !== other[each])
  return key === undefined ? 0 : one[key] < other[key] ? -1 : 1
}

function isIn(place: Granted, { projectId, environment }: LiveToken): boolean {
  return (
    (projectId ?? place.projectId) === place.projectId &&
    (environment ?? place.environment) === place.environment
  )
}

async function prove(
  services: ResolverServices,
  snapshot: Snapshot,
  token: LiveToken,
  place: Granted,
  proven: Map<string, Policy>,
): Promise<void> {
  const isBound = ({ policy }: SealedSecret) => policy !== null
  await openEach(services, { snapshot, token, place }, isBound, (sealed, value) => {
    const policy = value ? sealed.policy : snapshot.signed && readUnprovenPolicy(sealed)
    if (policy) proven.set(credentialNameOf(place, sealed.key), policy)
  })
}

/** Returns the stored policy of a held secret if it is well-formed. A description is free text, so it is left out. */
function readUnprovenPolicy(sealed: SealedSecret): Policy | null {
  if (!isSealedHeld(sealed)) return null
  const { success, data } = policySchema.safeParse(sealed.policy)
  if (!success || data === null) return null
  const { description: _, ...listed } = data
  return listed
}
