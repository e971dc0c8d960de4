/** Figures by day: read by the owner of the installation, computed by the clock or on demand. */
import { Cron } from 'croner'
import { describeError } from '../../core/log.ts'
import { listRoute, type Route, route } from '../../http/route.ts'
import type { FeatureServices } from '../../http/services.ts'
import { computeLastDays, computeMissedDays } from './compute.ts'
import { computeMetrics, type DailyRow, listMetrics } from './contract.ts'
import { type StoredDay, selectDays } from './queries.ts'

/** Yesterday, which is whole, and today so far. */
const DEFAULT_DAYS = 2

/** Five past midnight UTC, and five past each hour after it in case no process ran then. */
const SCHEDULE = '5 * * * *'

/** `flush` writes what this process still holds of today. */
export function metricsRoutes({ db, clock }: FeatureServices, flush: () => Promise<void>): Route[] {
  return [
    route(computeMetrics, async ({ body }) => {
      await flush()
      const rows = await computeLastDays({ db, clock }, body.days ?? DEFAULT_DAYS)
      return { days: rows.map(showDay) }
    }),
    listRoute(listMetrics, () => ({
      name: 'metrics',
      read: (page) => selectDays(db, page),
      sortKey: ({ date }) => [date],
      open: (rows) => rows.map(showDay),
    })),
  ]
}

/** Computes each day once, soon after it has ended, in one of the processes. */
export function scheduleMetrics({ db, clock, log }: Pick<FeatureServices, 'db' | 'clock' | 'log'>) {
  return new Cron(SCHEDULE, { timezone: 'UTC', protect: true, unref: true }, async () => {
    try {
      const days = await computeMissedDays({ db, clock })
      if (days.length > 0) log.info('metrics computed', { days: days.length })
    } catch (error) {
      log.warning('computing metrics failed', describeError(error))
    }
  })
}

export function showDay(row: StoredDay): DailyRow {
  return {
    date: row.date,
    total_users: row.totalUsers,
    new_users: row.newUsers,
    total_workspaces: row.totalWorkspaces,
    total_projects: row.totalProjects,
    total_secrets: row.totalSecrets,
    total_agents: row.totalAgents,
    active_tokens: row.activeTokens,
    dau: row.dau,
    wau: row.wau,
    mau: row.mau,
    resolver_calls: row.resolverCalls,
    resolver_blocked: row.resolverBlocked,
    resolver_redacted: row.resolverRedacted,
    resolver_errors: row.resolverErrors,
    active_agents: row.activeAgents,
    resolver_p50_ms: row.resolverP50Ms,
    resolver_p95_ms: row.resolverP95Ms,
    workload_deliveries: row.workloadDeliveries,
    top_domains: row.topDomains,
  }
}
