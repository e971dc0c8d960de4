/** When a credential is renewed, how long it stays in use, and how long a failed renewal waits (protocol 13.3). */
import type { DerivedState } from './state_form.ts'

const MIN_LEFT_MS = 60_000
const USABLE_LEFT_MS = 10_000
const MAX_DELAY_S = 300

/** Null without a credential. */
export type Times = Pick<DerivedState, 'expires_at' | 'derived_at'>

/** Whether less than max(60 s, a fifth of the lifetime) is left, capped at half of it. Always without a credential. */
export function isDue({ expires_at, derived_at }: Times, nowMs: number): boolean {
  if (expires_at === null || derived_at === null) return true
  const lifetimeMs = expires_at - derived_at
  return expires_at - nowMs < Math.min(Math.max(MIN_LEFT_MS, lifetimeMs / 5), lifetimeMs / 2)
}

/** Whether a credential has at least 10 seconds left, or a quarter of a lifetime under 40 seconds. */
export function isUsable({ expires_at, derived_at }: Times, nowMs: number): boolean {
  if (expires_at === null || derived_at === null) return false
  const leastMs = Math.min(USABLE_LEFT_MS, Math.max(0, expires_at - derived_at) / 4)
  return expires_at - nowMs >= leastMs && expires_at > nowMs
}

/**
 * Returns the seconds until a secret's next attempt: the endpoint's wait, or else 1, 2, 4 … 300.
 *
 * @param failures how many attempts failed in a row, at least 1
 */
export function retryDelayS(failures: number, askedS: number | null): number {
  if (askedS !== null) return Math.max(askedS, 1)
  return Math.min(2 ** (Math.max(failures, 1) - 1), MAX_DELAY_S)
}
