/** Quotas by person and hour. They count additions and not stored rows, so deleting makes no room. */
import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../core/config/config.ts'
import { hourlyQuotas } from '../../core/config/quotas.ts'
import { Fault } from '../../core/fault.ts'
import type { Database, Transaction } from '../open.ts'
import { demandBeforeCommit } from '../signed_notes.ts'
import { quotaFault } from './quota.ts'
import { openRate, type SharedLimiter } from './shared_rate.ts'

export type HourlyQuota = keyof typeof hourlyQuotas
type Services = { db: Database; config: Config; clock: Clock }

const SECONDS = 3_600

/** Limiters by database, like the counters of a server on PostgreSQL. */
const limiters = new WeakMap<Database, Map<HourlyQuota, SharedLimiter>>()

/** Call it for each that is added, in the transaction that adds it. @throws Fault `quota_exceeded` */
export function countHourly(
  tx: Transaction,
  services: Services,
  name: HourlyQuota,
  userId: string,
): Promise<void> {
  return demandBeforeCommit(tx, count(tx, services, name, userId))
}

async function count(
  tx: Transaction,
  services: Services,
  name: HourlyQuota,
  userId: string,
): Promise<void> {
  const quota = hourlyQuotas[name]
  const most = services.config[quota.setting]
  try {
    await limiterOf(services, name, most).take(userId, tx)
  } catch (error) {
    if (error instanceof Fault && error.code === 'rate_limited') throw quotaFault(quota, most)
    throw error
  }
}

function limiterOf(services: Services, name: HourlyQuota, count: number): SharedLimiter {
  const known = limiters.get(services.db) ?? new Map<HourlyQuota, SharedLimiter>()
  limiters.set(services.db, known)
  const limiter =
    known.get(name) ?? openRate(services, hourlyQuotas[name].counter, { count, seconds: SECONDS })
  known.set(name, limiter)
  return limiter
}
