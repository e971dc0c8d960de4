/** One workspace as of one policy version. What is read on demand is in its maps. */
import type { SealedSecret } from '../platform/crypto/secret_value.ts'
import type { Domain } from '../platform/net/domain.ts'

/** A project's environment for which a token was given an envelope. */
export type Granted = { projectId: string; environment: string }

/** A secret that may stand elsewhere than in headers, by its stored policy. */
export type PlaceableSecret = { projectId: string; key: string; locations: readonly string[] }

export type SealedEnvelope = { epoch: number; envelope: Uint8Array | null }

export type Snapshot = {
  workspaceId: string
  policyVersion: number
  epoch: number
  allowlist: readonly Domain[]
  secrets: Map<string, readonly SealedSecret[]>
  /** By environment: what policies let stand outside of headers. */
  placeable: Map<string, readonly PlaceableSecret[]>
  envelopes: Map<string, SealedEnvelope | null>
  /** By token. */
  grants: Map<string, readonly Granted[]>
  /** Whole environments, by name; null for a project that is not of this workspace. */
  environments: Map<string, readonly SealedSecret[] | null>
}

/** Thrown when a lazily read part is of a newer version than the snapshot. */
export class StaleSnapshot extends Error {}

export function emptySnapshot(
  known: Pick<Snapshot, 'workspaceId' | 'policyVersion' | 'epoch' | 'allowlist'>,
): Snapshot {
  return {
    ...known,
    secrets: new Map(),
    placeable: new Map(),
    envelopes: new Map(),
    grants: new Map(),
    environments: new Map(),
  }
}

/** Secrets, envelopes and grants that one snapshot may hold before it is read anew. */
const MAX_PARTS = 5000
/** Bytes of the ciphertexts of an environment up to which it is kept with whatever it was read for. */
const SMALL_BYTES = 65_536

export function isFull(snapshot: Snapshot): boolean {
  return partsOf(snapshot) > MAX_PARTS
}

/** Half of the room is for what is not to be read twice. */
export function hasRoomFor(snapshot: Snapshot, environment: readonly SealedSecret[]): boolean {
  const bytes = environment.reduce((sum, { ciphertext }) => sum + (ciphertext?.length ?? 0), 0)
  return bytes <= SMALL_BYTES && partsOf(snapshot) + environment.length < MAX_PARTS / 2
}

function partsOf({ secrets, placeable, envelopes, grants, environments }: Snapshot): number {
  const lists = [...placeable.values(), ...grants.values(), ...environments.values()]
  return lists.reduce((sum, list) => sum + (list?.length ?? 1), secrets.size + envelopes.size)
}
