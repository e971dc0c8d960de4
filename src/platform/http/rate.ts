/**
 * Limits that keep one caller from taking what belongs to all. State lives in this process and is
 * bounded: the keys least recently seen are forgotten first, which can only forgive.
 */
import type { Clock } from '../clock.ts'
import type { Rate } from '../config/config.ts'
import { Fault } from '../fault.ts'
import { LruMap } from '../lru.ts'

const MAX_KEYS = 100_000

export type RateState = {
  limit: number
  remaining: number
  resetSeconds: number
  windowSeconds: number
}

/** One token, less what a sum of fractions may lack. */
const WHOLE = 1 - 1e-9

/** A token bucket per key: `count` at once, refilled evenly over `seconds`. */
export class RateLimiter {
  readonly #rate: Rate
  readonly #clock: Clock
  readonly #buckets = new LruMap<string, { tokens: number; at: number }>({ max: MAX_KEYS })

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate
    this.#clock = clock
  }

  /**
   * Takes one token.
   *
   * @throws Fault `rate_limited` with Retry-After in seconds
   */
  take(key: string): RateState {
    const { count, seconds } = this.#rate
    const now = this.#clock.now()
    const bucket = this.#buckets.get(key) ?? { tokens: count, at: now }
    // A clock that was set back must not lock everybody out until it has caught up.
    const since = Math.min(bucket.at, now)
    const tokens = Math.min(count, bucket.tokens + ((now - since) / 1000 / seconds) * count)
    if (tokens >= WHOLE) {
      const left = Math.max(0, tokens - 1)
      this.#buckets.set(key, { tokens: left, at: now })
      return this.#stateOf(left)
    }
    // A refusal refills nothing: many small sums would round below the whole that the wait promised.
    this.#buckets.set(key, { tokens: bucket.tokens, at: since })
    const waitSeconds = Math.ceil(((1 - tokens) * seconds) / count)
    throw new Fault('rate_limited', {
      headers: {
        ...rateHeaders({ ...this.#stateOf(0), resetSeconds: waitSeconds }),
        'retry-after': String(waitSeconds),
      },
    })
  }

  #stateOf(tokens: number): RateState {
    const { count, seconds } = this.#rate
    const resetSeconds = Math.ceil(((count - tokens) * seconds) / count)
    return { limit: count, remaining: Math.floor(tokens), resetSeconds, windowSeconds: seconds }
  }
}

/** The `RateLimit` and `RateLimit-Policy` fields of draft-ietf-httpapi-ratelimit-headers. */
export function rateHeaders(state: RateState): Record<string, string> {
  return {
    ratelimit: `"default";r=${state.remaining};t=${state.resetSeconds}`,
    'ratelimit-policy': `"default";q=${state.limit};w=${state.windowSeconds}`,
  }
}

const FREE_FAILURES = 5
const MAX_WAIT_SECONDS = 300

/**
 * Growing waits after wrong passwords: 1, 2, 4 … 300 s after the fifth in a row. Keys are pairs of
 * account and network, so that a stranger's guessing never locks the owner out.
 */
export class Backoff {
  readonly #clock: Clock
  readonly #failures = new LruMap<string, { count: number; until: number }>({ max: MAX_KEYS })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws Fault `rate_limited` while the wait of this key lasts */
  check(key: string): void {
    const left = (this.#failures.get(key)?.until ?? 0) - this.#clock.now()
    if (left <= 0) return
    throw new Fault('rate_limited', { headers: { 'retry-after': String(Math.ceil(left / 1000)) } })
  }

  failed(key: string): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1
    const waitSeconds =
      count < FREE_FAILURES ? 0 : Math.min(MAX_WAIT_SECONDS, 2 ** (count - FREE_FAILURES))
    this.#failures.set(key, { count, until: this.#clock.now() + waitSeconds * 1000 })
  }

  succeeded(key: string): void {
    this.#failures.delete(key)
  }
}

/** Lets `width` tasks run at a time and `queue` wait; more are refused with 503 `unavailable`. */
export class Semaphore {
  #free: number
  readonly #queue: number
  readonly #waiting: (() => void)[] = []

  constructor({ width, queue }: { width: number; queue: number }) {
    this.#free = width
    this.#queue = queue
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    await this.#enter()
    try {
      return await task()
    } finally {
      this.#leave()
    }
  }

  async #enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    if (this.#waiting.length >= this.#queue) {
      throw new Fault('unavailable', { headers: { 'retry-after': '1' } })
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free += 1
  }
}
