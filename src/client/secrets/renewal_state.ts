/** How the renewals of a secret went, whose credential calls derive (protocol 13.2). */
import type { DerivedKind, Policy } from '../../core/policy/policy.ts'

/** The renewal state that the server lists with a secret; null before the first attempt. */
type Hints =
  | { expires_at: string | null; failed_at: string | null; failed_code: string | null }
  | null
  | undefined

export type RenewalState = {
  kind: DerivedKind
  /**
   * `new`: never renewed. `valid`: until `until`. `expired`: the next call renews it. `retrying`: the last attempt failed
   * with `failedCode`, and calls try again. `reconnect`: the provider refused for the reason `failedCode`.
   */
  state: 'new' | 'valid' | 'expired' | 'retrying' | 'reconnect'
  until: string | null
  failedAt: string | null
  failedCode: string | null
}

/** Failures after which calls try again by themselves (protocol 13.3); every other one is final. */
const TRANSIENT =
  /^(http_\d+|invalid_answer|answer_too_large|unreachable|timeout|unsupported_token_type|temporarily_unavailable|slow_down|server_error|derivation_failed|domain_blocked|address_blocked|upstream_\w+)$/

/** Null for a secret that is not renewed. */
export function renewalOf(
  policy: Pick<Policy, 'kind'> | null,
  hints: Hints,
  now: number = Date.now(),
): RenewalState | null {
  if (policy?.kind === undefined) return null
  const { expires_at: until = null, failed_at: failedAt = null } = hints ?? {}
  const failedCode = hints?.failed_code ?? null
  const state = stateOf(until, failedCode, now)
  return { kind: policy.kind, state, until, failedAt, failedCode }
}

function stateOf(
  until: string | null,
  failedCode: string | null,
  now: number,
): RenewalState['state'] {
  if (failedCode) return TRANSIENT.test(failedCode) ? 'retrying' : 'reconnect'
  if (until === null) return 'new'
  return Date.parse(until) > now ? 'valid' : 'expired'
}
