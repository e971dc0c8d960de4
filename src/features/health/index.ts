/** Health for load balancers and people, with no detail that helps an attacker. */
import { sql } from 'drizzle-orm'
import { version } from '../../../package.json'
import { endsWithin } from '../../core/async/timeout.ts'
import { Fault } from '../../core/fault.ts'
import { Reply } from '../../http/reply.ts'
import { type Route, route } from '../../http/route.ts'
import type { FeatureServices } from '../../http/services.ts'
import { getHealth, getResolverHealth, getStatus } from './contract.ts'

export type CacheProbe = () => void

export function healthRoutes(services: FeatureServices, probeCache: CacheProbe): Route[] {
  const startedAt = services.clock.now()
  const report = () => {
    requireRunning(services)
    return examine(services, probeCache, startedAt)
  }
  return [route(getHealth, report), route(getStatus, report)]
}

export function resolverHealthRoutes(services: FeatureServices): Route[] {
  return [
    route(getResolverHealth, () => {
      requireRunning(services)
      return {
        status: 'healthy' as const,
        service: 'resolver' as const,
        timestamp: new Date(services.clock.now()),
      }
    }),
  ]
}

/** Balancers turn to other processes before the ports of this one close. @throws Fault `unavailable` */
function requireRunning({ isStopping }: FeatureServices): void {
  if (isStopping()) throw new Fault('unavailable')
}

async function examine(
  { db, outer, clock }: FeatureServices,
  probeCache: CacheProbe,
  startedAt: number,
) {
  const [database, cache, encryption] = await Promise.all([
    measure(() => db.execute(sql`select 1`)),
    measure(async () => probeCache()),
    measure(async () => outer.openCheck(await outer.sealCheck())),
  ])
  const checks = { database, cache, encryption }
  const healthy = Object.values(checks).every(({ status }) => status === 'healthy')
  const report = {
    status: healthy ? ('healthy' as const) : ('degraded' as const),
    version,
    uptime_seconds: Math.floor((clock.now() - startedAt) / 1000),
    checks,
  }
  return new Reply(report, { status: healthy ? 200 : 503 })
}

/** Milliseconds that a check may take before it counts as failed. */
const TIMEOUT_MS = 3000

async function measure(check: () => Promise<unknown>) {
  const started = performance.now()
  const passed = await endsWithin(TIMEOUT_MS, check()).catch(() => false)
  const latency_ms = Math.round((performance.now() - started) * 100) / 100
  return { status: passed ? ('healthy' as const) : ('unhealthy' as const), latency_ms }
}
