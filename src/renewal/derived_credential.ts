/** From a stored root to the credential that a call gets (protocol 13). No caller gets the root. */
import type { Snapshot } from '../access/snapshots/snapshots.ts'
import type { LiveToken } from '../access/tokens.ts'
import { UnreadBefore } from '../core/async/unread.ts'
import type { Clock } from '../core/clock.ts'
import type { SealedSecret } from '../core/crypto/secret_value.ts'
import { domainMatches } from '../core/net/domain.ts'
import type { DerivedKind } from '../core/policy/policy.ts'
import { Secret } from '../core/secret.ts'
import { endpointOf } from '../derivation/derivation.ts'
import { isDue, isUsable } from '../derivation/due.ts'
import { guardedInPlaintext, guardedInState } from '../derivation/guarded.ts'
import { readRoot } from '../derivation/root.ts'
import { type DerivedState, deriveStateKey, openState } from '../derivation/state.ts'
import { domainBlocked } from '../outbound/policy/permission.ts'
import { openedCredential } from '../outbound/signing/role_keys.ts'
import { parseTarget } from '../outbound/target.ts'
import type { Renewal } from './renewal.ts'
import type { Renewals } from './renewals.ts'

/** Who uses the credential, and what renews it. */
export type DerivedParts = {
  renewals: Renewals
  clock: Clock
  snapshot: Snapshot
  token: LiveToken
  /** Waits for a renewal that the credential needs first. */
  waitFor(renewal: Promise<void>): Promise<void>
}

/** A root that was opened with the key of its environment. */
export type OpenedRoot = { sealed: SealedSecret; root: Secret; key: Secret }

/**
 * A credential that is due is renewed while it is used, and one that has expired before.
 *
 * @throws UnreadBefore while it has to be renewed first
 * @throws Fault `reconnect_required`, `derivation_failed`, `domain_blocked`, `unusable_secret`
 */
export function derivedCredential(parts: DerivedParts, opened: OpenedRoot): Secret {
  const { renewals, clock, snapshot } = parts
  const { workspaceId, policyVersion } = snapshot
  const named = { workspaceId, policyVersion, place: opened.sealed }
  const stateKey = stateKeyOf(opened)
  const state = openDerivedState(stateKey, opened.sealed)
  const now = clock.now()
  if (state?.credential && isUsable(state, now)) {
    if (isDue(state, now))
      renewals.renewInBackground(named, () => renewalOf(parts, opened, stateKey, state))
    return openedCredential(state.credential)
  }
  const fault = renewals.faultOf(named)
  if (fault) throw fault
  const renewal = renewalOf(parts, opened, stateKey, state)
  throw new UnreadBefore(() => parts.waitFor(renewals.renew(renewal)))
}

/** What the guard of answers knows of a root: its secret fields, and everything that its state holds (protocol 13.4). */
export function guardedDerived(sealed: SealedSecret, root: Secret, key: Uint8Array): Uint8Array[] {
  const stateKey = deriveStateKey(key, root.reveal(), kindOf(sealed))
  const state = openDerivedState(stateKey, sealed)
  return [
    ...guardedInPlaintext(kindOf(sealed), root.reveal()),
    ...(state ? guardedInState(state).map(({ bytes }) => bytes) : []),
  ]
}

function stateKeyOf({ sealed, root, key }: OpenedRoot): Uint8Array {
  return deriveStateKey(key.reveal(), root.reveal(), kindOf(sealed))
}

/** `null` also for a state that was sealed under another root. A rejected credential ends when its row says so. */
export function openDerivedState(stateKey: Uint8Array, sealed: SealedSecret): DerivedState | null {
  const { derived } = sealed
  if (!derived?.state) return null
  const state = openState(stateKey, { ...sealed, generation: derived.generation }, derived.state)
  const { expiresAt } = derived
  const isEarlier = expiresAt !== null && expiresAt < (state?.expires_at ?? 0)
  return state && isEarlier ? { ...state, expires_at: expiresAt } : state
}

/** @throws Fault `unusable_secret`, `domain_blocked` */
function renewalOf(
  { snapshot, token }: DerivedParts,
  { sealed, root: plaintext }: OpenedRoot,
  stateKey: Uint8Array,
  state: DerivedState | null,
): Renewal {
  const { projectId, environment, key } = sealed
  const root = readRoot(kindOf(sealed), plaintext.reveal(), key)
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
    state,
  }
}

function kindOf({ policy }: SealedSecret): DerivedKind {
  return policy?.kind as DerivedKind
}
