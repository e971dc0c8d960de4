/**
 * Limits that keep one caller from using up shared capacity. State is kept in this process and bounded: the least
 * recently seen keys are forgotten first, which only makes limits more lenient.
 */
import type { Clock } from '../../core/clock.ts'
import type { Rate } from '../../core/config/config.ts'
import { Fault } from '../../core/fault.ts'
import { LruMap } from '../../core/lru.ts'
import { ALONE, type Sharers, shareOf } from './sharers.ts'

const MAX_KEYS = 100_000

export type RateState = {
  limit: number
  remaining: number
  resetSeconds: number
  windowSeconds: number
}

/** Takes one token of a key's bucket. @throws Fault `rate_limited` with Retry-After in seconds */
export type Limiter = { take(key: string): RateState | Promise<RateState> }

/** Returns the fault for a caller who may retry after this many seconds. */
export function buildOverLimitFault({ count, seconds }: Rate, waitSeconds: number): Fault {
  const wait = Math.ceil(waitSeconds)
  const state = { limit: count, remaining: 0, resetSeconds: wait, windowSeconds: seconds }
  return new Fault('rate_limited', {
    headers: { ...rateHeaders(state), 'retry-after': String(wait) },
  })
}

/** One token, minus the rounding error of a sum of fractions. */
const WHOLE = 1 - 1e-9

/** A token bucket per key: `count` in a burst, refilled evenly over `seconds`; each is this process's share. */
export class RateLimiter {
  readonly #whole: Rate
  readonly #clock: Clock
  readonly #sharers: Sharers
  readonly #buckets = new LruMap<string, { tokens: number; at: number }>({ max: MAX_KEYS })

  constructor(rate: Rate, clock: Clock, sharers = ALONE) {
    this.#whole = rate
    this.#clock = clock
    this.#sharers = sharers
  }

  /**
   * Takes one token.
   *
   * @throws Fault `rate_limited` with Retry-After in seconds
   */
  take(key: string): RateState {
    const { seconds } = this.#whole
    const count = shareOf(this.#whole.count, this.#sharers)
    const now = this.#clock.now()
    const bucket = this.#buckets.get(key) ?? { tokens: count, at: now }
    // A clock that was set back must not lock everybody out until it has caught up.
    const since = Math.min(bucket.at, now)
    const tokens = Math.min(count, bucket.tokens + ((now - since) / 1000 / seconds) * count)
    if (tokens >= WHOLE) {
      const left = Math.max(0, tokens - 1)
      this.#buckets.set(key, { tokens: left, at: now })
      const resetSeconds = Math.ceil(((count - left) * seconds) / count)
      return { limit: count, remaining: Math.floor(left), resetSeconds, windowSeconds: seconds }
    }
    // A refusal does not refill: rounding many small amounts could break the promised wait.
    this.#buckets.set(key, { tokens: bucket.tokens, at: since })
    throw buildOverLimitFault({ count, seconds }, ((1 - tokens) * seconds) / count)
  }
}

/** The `RateLimit` and `RateLimit-Policy` fields of draft-ietf-httpapi-ratelimit-headers. */
export function rateHeaders(state: RateState): Record<string, string> {
  return {
    ratelimit: `"default";r=${state.remaining};t=${state.resetSeconds}`,
    'ratelimit-policy': `"default";q=${state.limit};w=${state.windowSeconds}`,
  }
}
