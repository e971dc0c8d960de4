/** One renewal of a derived credential: its secret, and its inputs. */
import type { LiveToken } from '../access/tokens.ts'
import type { SecretPlace } from '../core/crypto/secret_value.ts'
import type { Secret } from '../core/secret.ts'
import type { Outcome } from '../derivation/derivation.ts'
import type { Root } from '../derivation/root.ts'
import type { DerivedState } from '../derivation/state.ts'

/** A secret as of one version of its workspace's policy. */
export type NamedDerived = { workspaceId: string; policyVersion: number; place: SecretPlace }

/** The inputs of a renewal, kept until it has ended. */
export type Renewal = NamedDerived & {
  token: LiveToken
  root: Root
  stateKey: Secret
  /** The generation of the state that was read; 0 without one. */
  generation: number
  state: DerivedState | null
}

export function rowOf({ workspaceId, place }: NamedDerived) {
  return { workspaceId, ...place }
}

export function nameOf({ workspaceId, policyVersion, place }: NamedDerived): string {
  const { projectId, environment, key } = place
  return `${workspaceId}/${policyVersion}/${projectId}/${environment}/${key}`
}

/** How a renewal ended that was sent, or could not be. `mayBeSpent`: its refresh token may have been replaced. */
export type SentRequest = {
  outcome: Outcome
  status: number | null
  derivedAt: number
  mayBeSpent: boolean
}
