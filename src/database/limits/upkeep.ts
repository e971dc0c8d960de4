/** Removes rows that limits no longer need. The control plane does it, because it may delete rows of every limit. */
import { Cron } from 'croner'
import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../core/config/config.ts'
import { describeError, type Log } from '../../core/log.ts'
import type { Database } from '../open.ts'
import { sweepAttempts } from './shared_backoff.ts'
import { SharedBuckets } from './shared_buckets.ts'
import { sweepProcesses } from './sharers.ts'
import { TokenSpendingStore } from './token_spending.ts'

const HOUR_MS = 3_600_000

export function scheduleSweeps({
  db,
  clock,
  config,
  log,
}: {
  db: Database
  clock: Clock
  config: Config
  log: Log
}): { stop(): void } {
  const buckets = new SharedBuckets(db, clock)
  const tokenBuckets = new SharedBuckets(db, clock, 'token_rates')
  const spending = new TokenSpendingStore(db, clock)
  let sweptDaysAt = Number.NEGATIVE_INFINITY
  return new Cron('*/20 * * * * *', { protect: true, unref: true }, async () => {
    try {
      await spending.sweepCalls()
      if (performance.now() - sweptDaysAt > HOUR_MS) {
        await spending.sweepDays()
        sweptDaysAt = performance.now()
      }
      if (config.DB_HOST === undefined) return
      await buckets.sweep()
      await tokenBuckets.sweep()
      await sweepAttempts(db)
      await sweepProcesses(db)
    } catch (error) {
      log.warning('expired limit counters could not be deleted', describeError(error))
    }
  })
}
