/** Takes away what limits no longer need; the control plane does it, which may delete rows of all of them. */
import { Cron } from 'croner'
import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../core/config/config.ts'
import { describeError, type Log } from '../../core/log.ts'
import type { Database } from '../open.ts'
import { sweepAttempts } from './shared_backoff.ts'
import { SharedBuckets } from './shared_buckets.ts'
import { sweepProcesses } from './sharers.ts'

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
  return new Cron('*/20 * * * * *', { protect: true, unref: true }, async () => {
    if (config.DB_HOST === undefined) return
    try {
      await buckets.sweep()
      await sweepAttempts(db)
      await sweepProcesses(db)
    } catch (error) {
      log.warning('counts of limits could not be swept', describeError(error))
    }
  })
}
