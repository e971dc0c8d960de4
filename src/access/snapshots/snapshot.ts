/** A workspace at one policy version. Its maps hold data read on demand. */
import { Unread } from '../../core/async/unread.ts'
import type { SealedSecret } from '../../core/crypto/secret_value.ts'
import type { Fault } from '../../core/fault.ts'
import { type Domain, parseDomain } from '../../core/net/domain.ts'
import type { Chain, SignedText } from '../../sigchain/index.ts'
import type { LiveToken } from '../tokens.ts'
import type { StoredRelease } from './releases.ts'

/** A project's environment for which a token was given an envelope. */
export type Granted = { projectId: string; environment: string }

/** Returns the name under which an environment is kept, and the environment of a name. */
export function placeNameOf({ projectId, environment }: Granted): string {
  return `${projectId}/${environment}`
}

export function environmentIn(placeName: string): string {
  return placeName.slice(placeName.indexOf('/') + 1)
}

/** A secret that may be used outside of headers, by its stored policy. */
export type PlaceableSecret = { projectId: string; key: string; locations: readonly string[] }

/** `signed` is the statement of a signed workspace's administrator. */
export type SealedEnvelope = {
  epoch: number
  envelope: Uint8Array | null
  signed: SignedText | null
}

/** A token with a verified grant, as long as its stored row does not change. */
export type VerifiedToken = {
  grant: SignedText
  binding: Uint8Array
  /** Terms of the stored row that were compared with the grant. */
  terms: LiveToken['terms']
  /** Whether the token's secret was available to verify the binding. */
  isBound: boolean
  /** Milliseconds: when the grant ends, by the clock of this process. */
  until: number
}

/** The contents of an environment: the SHA-256 of each value, and the manifest of all values; null for an empty one. */
export type VerifiedEnvironment = {
  hashes: ReadonlyMap<string, Uint8Array<ArrayBuffer>>
  manifest: SignedText | null
  /** The manifest's revision; 0 without a manifest. */
  revision: number
}

/** The verified parts of a signed workspace: its chain or the reason of its refusal, and other parts on demand. */
export type Signed = {
  chain: Chain | Fault
  tokens: Map<string, VerifiedToken>
  /** IDs of tokens with a verified state of every environment that they were given. */
  whole: Set<string>
  environments: Map<string, VerifiedEnvironment>
}

export type Snapshot = {
  workspaceId: string
  policyVersion: number
  epoch: number
  allowlist: readonly Domain[]
  secrets: Map<string, readonly SealedSecret[]>
  /** Secrets that policies allow outside of headers, by environment. */
  placeable: Map<string, readonly PlaceableSecret[]>
  envelopes: Map<string, SealedEnvelope | null>
  /** Grants by token. */
  grants: Map<string, readonly Granted[]>
  /** Whole environments, by name; null for a project that is not of this workspace. */
  environments: Map<string, readonly SealedSecret[] | null>
  /** Whether a token of the workspace has releases of held secrets, live or ended. */
  hasReleases: boolean
  /** Releases by token. */
  releases: Map<string, readonly StoredRelease[]>
  /** Null for a plain workspace. */
  signed: Signed | null
}

/** Thrown when a lazily read part has a newer version than the snapshot. */
export class StaleSnapshot extends Error {}

type Known = Pick<Snapshot, 'workspaceId' | 'policyVersion' | 'epoch' | 'allowlist' | 'hasReleases'>

export function emptySnapshot(known: Known, chain: Chain | Fault | null = null): Snapshot {
  return {
    ...known,
    signed: chain && { chain, tokens: new Map(), whole: new Set(), environments: new Map() },
    secrets: new Map(),
    placeable: new Map(),
    envelopes: new Map(),
    grants: new Map(),
    environments: new Map(),
    releases: new Map(),
  }
}

/** Secrets, envelopes and grants that one snapshot may hold before it is read again. */
const MAX_PARTS = 5000
/** Maximum bytes of an environment's ciphertexts for which it is kept. */
const SMALL_BYTES = 65_536

export function isFull(snapshot: Snapshot): boolean {
  return partsOf(snapshot) > MAX_PARTS
}

/** Whether an environment fits. Half of the space is for data that should not be read twice. */
export function fitsInto(snapshot: Snapshot, environment: readonly SealedSecret[]): boolean {
  const bytes = environment.reduce((sum, secret) => sum + bytesOf(secret), 0)
  return bytes <= SMALL_BYTES && partsOf(snapshot) + environment.length < MAX_PARTS / 2
}

function bytesOf({ ciphertext, derived }: SealedSecret): number {
  return (ciphertext?.length ?? 0) + (derived?.state?.length ?? 0)
}

function partsOf({
  secrets,
  placeable,
  envelopes,
  grants,
  environments,
  signed,
}: Snapshot): number {
  const lists = [...placeable.values(), ...grants.values(), ...environments.values()]
  const single = secrets.size + envelopes.size + (signed?.tokens.size ?? 0)
  return lists.reduce((sum, list) => sum + (list?.length ?? 1), single)
}

/** Keeps a verified environment, and drops secrets that were read from it by name before it was verified. */
export function keepVerified(
  { signed, secrets }: Snapshot,
  place: Granted,
  verified: VerifiedEnvironment,
): void {
  const isKnown = signed?.environments.has(placeNameOf(place))
  signed?.environments.set(placeNameOf(place), verified)
  if (isKnown) return
  for (const name of secrets.keys())
    if (name.startsWith(`${place.environment}/`)) secrets.delete(name)
}

/** Names of verified secrets in all snapshots together, each of about 150 bytes. */
const MAX_VERIFIED_NAMES = 500_000

/** Returns the least recently used workspaces, whose snapshots are evicted for newly verified data. */
export function selectEvicted(
  kept: Iterable<[workspaceId: string, { snapshot: Snapshot | null }]>,
  { workspaceId }: Snapshot,
): string[] {
  const sizes = [...kept].map(([id, { snapshot }]) => ({ id, names: verifiedNamesOf(snapshot) }))
  let total = sizes.reduce((sum, { names }) => sum + names, 0)
  return sizes.flatMap(({ id, names }) => {
    if (total <= MAX_VERIFIED_NAMES || names === 0 || id === workspaceId) return []
    total -= names
    return [id]
  })
}

function verifiedNamesOf(snapshot: Snapshot | null): number {
  const verified = [...(snapshot?.signed?.environments.values() ?? [])]
  return verified.reduce((sum, { hashes }) => sum + hashes.size, 0)
}

/** A part that was read before. @throws Unread */
export function snapshotPart<T>(parts: Map<string, T>, name: string, read: () => Promise<T>): T {
  const part = parts.get(name)
  if (part !== undefined) return part
  throw new Unread(read().then((found) => parts.set(name, found)))
}

export function parseDomains(text: string): Domain[] {
  const domain = parseDomain(text)
  return domain ? [domain] : []
}

export function chainName(policyVersion: number): string {
  return `${policyVersion}/chain`
}
