import { z } from 'zod'
import { pagination } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { text } from '../../http/fields.ts'

/** Days that may be computed at once. */
export const MAX_DAYS = 366

const count = z.number().int()

/** One day of the whole installation, UTC (docs/guides/monitoring.md, "Daily figures"). */
const day = z
  .object({
    date: z.iso.date(),
    total_users: count,
    new_users: count,
    total_workspaces: count,
    total_projects: count,
    total_secrets: count,
    total_agents: count,
    active_tokens: count,
    dau: count,
    wau: count,
    mau: count,
    resolver_calls: count,
    resolver_blocked: count,
    resolver_redacted: count,
    resolver_errors: count,
    active_agents: count,
    resolver_p50_ms: count.nullable(),
    resolver_p95_ms: count.nullable(),
    workload_deliveries: count,
    top_domains: z.array(z.object({ domain: text('api.stripe.com'), calls: count })),
  })
  .meta({ id: 'DailyMetrics' })

export type DailyRow = z.output<typeof day>

export const computeMetrics = defineEndpoint({
  name: 'metrics.compute',
  summary: 'Recalculate the metrics of the last days, including today; idempotent',
  method: 'POST',
  unrecorded: 'figures of the whole server, computed from stored data',
  path: '/telemetry/internal/compute-metrics/',
  access: { kind: 'cron' },
  body: z.strictObject({ days: z.number().int().min(1).max(MAX_DAYS).optional() }),
  bodyOptional: true,
  result: z.object({ days: z.array(day) }),
})

export const listMetrics = defineEndpoint({
  name: 'metrics.list',
  summary: 'List daily metrics, newest first',
  method: 'GET',
  path: '/telemetry/metrics/',
  access: { kind: 'session', instanceOwner: true },
  query: pagination.omit({ workspace_id: true }),
  result: z.array(day),
  paged: true,
})
