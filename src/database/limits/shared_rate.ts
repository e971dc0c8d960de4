/** An exact rate limit, shared by all processes on one PostgreSQL, with one statement per request. */
import type { Clock } from '../../core/clock.ts'
import type { Config, Rate } from '../../core/config/config.ts'
import { LruMap } from '../../core/lru.ts'
import type { Reading } from '../open.ts'
import { openKeys } from './keys.ts'
import { buildOverLimitFault, type Limiter, RateLimiter, type RateState } from './rate.ts'
import { type BucketTable, SharedBuckets } from './shared_buckets.ts'

type Surroundings = { db: Reading; config: Config; clock: Clock }

/** A limiter that can run in a transaction. */
export type SharedLimiter = { take(key: string, db?: Reading): Promise<RateState> | RateState }

/** Opens a rate of the control plane. The embedded database has one process, so the rate is kept in memory. */
export function openRate(
  { db, config, clock }: Surroundings,
  name: string,
  rate: Rate,
  table?: BucketTable,
): SharedLimiter {
  if (config.DB_HOST === undefined) return new RateLimiter(rate, clock)
  const buckets = new SharedBuckets(db, clock, table)
  return new SharedRate({ buckets, clock, rate, keyOf: openKeys(config.SECRET_KEY), name })
}

type Options = {
  buckets: SharedBuckets
  clock: Clock
  rate: Rate
  name: string
  keyOf: (name: string, key: string) => string
}

const MAX_KEYS = 100_000

class SharedRate implements Limiter {
  readonly #options: Options
  /** The time until which a key is refused: repeated requests do not query the database. */
  readonly #refused = new LruMap<string, number>({ max: MAX_KEYS })

  constructor(options: Options) {
    this.#options = options
  }

  /** @throws Fault `rate_limited`, and `unavailable` without the database: neither open nor shut for long */
  async take(key: string, db?: Reading): Promise<RateState> {
    const { buckets, clock, rate, keyOf, name } = this.#options
    const { count, seconds } = rate
    const left = (this.#refused.get(key) ?? 0) - clock.now()
    // A clock that was set back must not refuse for longer than a window.
    if (left > 0 && left <= seconds * 1000) throw buildOverLimitFault(rate, left / 1000)
    const { got, lacks } = await buckets.draw(keyOf(name, key), rate, 1, db)
    if (got === 0) {
      const waitSeconds = Math.max(lacks + seconds / count - seconds, 0.001)
      this.#refused.set(key, clock.now() + waitSeconds * 1000)
      throw buildOverLimitFault(rate, waitSeconds)
    }
    const remaining = Math.max(0, Math.floor(((seconds - lacks) * count) / seconds + 1e-3))
    return { limit: count, remaining, resetSeconds: Math.ceil(lacks), windowSeconds: seconds }
  }
}
