/** Obtains the credential that a call gets for a stored root (protocol 13). No caller gets the root. */
import type { Snapshot } from '../access/snapshots/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import { UnreadBefore } from '../core/async/unread.ts'
import type { Clock } from '../core/clock.ts'
import type { GcmMessage } from '../core/crypto/primitives.ts'
import type { SealedSecret } from '../core/crypto/secret_value.ts'
import { domainMatches } from '../core/net/domain.ts'
import type { DerivedKind } from '../core/policy/policy.ts'
import { Secret } from '../core/secret.ts'
import { endpointOf } from '../derivation/derivation.ts'
import { isDue, isUsable, type Times } from '../derivation/due.ts'
import { listGuardedInPlaintext, listGuardedInState } from '../derivation/guarded.ts'
import { readRoot } from '../derivation/root.ts'
import {
  type DerivedState,
  deriveStateKey,
  openCredential,
  openState,
  stateMessage,
} from '../derivation/state.ts'
import { domainBlocked } from '../outbound/policy/permission.ts'
import { openDerivedCredential } from '../outbound/signing/role_keys.ts'
import { parseTarget } from '../outbound/target.ts'
import type { Renewal } from './renewal.ts'
import type { Renewals } from './renewals.ts'

/** The caller of a credential, and the service that renews it. */
export type DerivedParts = {
  renewals: Renewals
  clock: Clock
  snapshot: Snapshot
  token: LiveToken
  /** Waits for a renewal that the credential needs first. */
  waitFor(renewal: Promise<void>): Promise<void>
}

/** A root, and the key of its environment, which opens it. */
export type StoredRoot = {
  sealed: SealedSecret
  key: Secret
  /** @throws Fault `unreadable_secret` */
  open(): Secret
}

/**
 * A credential that is due is renewed while it is used, and one that has expired before.
 *
 * @throws UnreadBefore while it has to be renewed first
 * @throws Fault `reconnect_required`, `derivation_failed`, `domain_blocked`, `unusable_secret`, `unreadable_secret`
 */
export function toDerivedCredential(parts: DerivedParts, root: StoredRoot): Secret {
  const { renewals, clock, snapshot } = parts
  const { workspaceId, policyVersion } = snapshot
  const named = { workspaceId, policyVersion, place: root.sealed }
  const { stateKey, message, times } = proveStoredRoot(root)
  const now = clock.now()
  const credential = message && isUsable(times, now) ? openCredential(stateKey, message) : null
  if (credential !== null) {
    if (isDue(times, now)) renewals.renewInBackground(named, () => renewalOf(parts, root, stateKey))
    return openDerivedCredential(credential)
  }
  const fault = renewals.faultOf(named)
  if (fault) throw fault
  const renewal = renewalOf(parts, root, stateKey)
  throw new UnreadBefore(() => parts.waitFor(renewals.renew(renewal)))
}

/** Proves a root's policy by opening the root; nothing is derived. @throws Fault `unreadable_secret` */
export function proveRoot(root: StoredRoot): void {
  proveStoredRoot(root)
}

/** A root that opened once with a key, which proves its policy. No value is kept. */
type Proven = { stateKey: Uint8Array; message: GcmMessage | null; times: Times }

/** Kept as long as the cached key, and the secret of one policy version. */
const kept = new WeakMap<Secret, WeakMap<SealedSecret, Proven>>()

function proveStoredRoot(root: StoredRoot): Proven {
  const { sealed, key } = root
  const ofKey = kept.get(key) ?? new WeakMap<SealedSecret, Proven>()
  kept.set(key, ofKey)
  const known = ofKey.get(sealed)
  if (known) return known
  const stateKey = deriveStateKey(key.reveal(), root.open().reveal(), kindOf(sealed))
  const state = openDerivedState(stateKey, sealed)
  const { derived } = sealed
  const message =
    state && derived?.state
      ? stateMessage({ ...sealed, generation: derived.generation }, derived.state)
      : null
  const proof = { stateKey, message, times: timesOf(state, sealed) }
  ofKey.set(sealed, proof)
  return proof
}

/** The values of a root that the guard of answers covers: its secret fields and its whole state (protocol 13.4). */
export function listGuardedDerived(
  sealed: SealedSecret,
  root: Secret,
  key: Uint8Array,
): Uint8Array[] {
  const stateKey = deriveStateKey(key, root.reveal(), kindOf(sealed))
  const state = openDerivedState(stateKey, sealed)
  return [
    ...listGuardedInPlaintext(kindOf(sealed), root.reveal()),
    ...(state ? listGuardedInState(state).map(({ bytes }) => bytes) : []),
  ]
}

/** `null` also for a state that was sealed under another root. */
function openDerivedState(stateKey: Uint8Array, sealed: SealedSecret): DerivedState | null {
  const { derived } = sealed
  if (!derived?.state) return null
  return openState(stateKey, { ...sealed, generation: derived.generation }, derived.state)
}

/** A credential that an API rejected ends at the time in its row. Values are guarded until the time in the state. */
function timesOf(state: DerivedState | null, { derived }: SealedSecret): Times {
  if (state === null) return { expires_at: null, derived_at: null }
  const { expires_at, derived_at } = state
  const rejectedAt = derived?.expiresAt ?? null
  const isEarlier = rejectedAt !== null && expires_at !== null && rejectedAt < expires_at
  return { expires_at: isEarlier ? rejectedAt : expires_at, derived_at }
}

/** @throws Fault `unusable_secret`, `domain_blocked` */
function renewalOf(
  { snapshot, token }: DerivedParts,
  { sealed, open }: StoredRoot,
  stateKey: Uint8Array,
): Renewal {
  const { projectId, environment, key } = sealed
  const root = readRoot(kindOf(sealed), open().reveal(), key)
  const endpoint = parseTarget(endpointOf(root).href)
  const { host, port } = endpoint
  if (!snapshot.allowlist.some((domain) => domainMatches(domain, host, port)))
    throw domainBlocked(endpoint)
  return {
    token,
    workspaceId: snapshot.workspaceId,
    policyVersion: snapshot.policyVersion,
    place: { projectId, environment, key },
    root,
    stateKey: new Secret(stateKey),
    generation: sealed.derived?.generation ?? 0,
    state: openDerivedState(stateKey, sealed),
  }
}

function kindOf({ policy }: SealedSecret): DerivedKind {
  return policy?.kind as DerivedKind
}
