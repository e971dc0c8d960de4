import { z } from 'zod'
import { defineEndpoint } from '../kernel/endpoint.ts'
import { environmentName, line, pagination, timestamp, uuid } from '../kernel/validate.ts'

/** The audit names its workspace in the query, always: nothing stands in for it. */
const workspace = z.strictObject({ workspace_id: uuid })

/** The years that both JavaScript and PostgreSQL write with four digits. */
const EARLIEST = Date.UTC(1, 0, 2)
const LATEST = Date.UTC(9999, 11, 30)

/** An ISO 8601 moment with `Z` or an offset, or a day, which begins at midnight UTC. */
const moment = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], 'must be an ISO 8601 date or time')
  .transform((text) => new Date(text))
  .refine(
    (date) => date.getTime() >= EARLIEST && date.getTime() <= LATEST,
    'must be in the years 1 to 9999',
  )

/** `since` belongs to the range, `until` does not. */
const range = { since: moment.optional(), until: moment.optional() }

const filters = {
  project_id: uuid.optional(),
  environment: environmentName.optional(),
  /** A name, a registration_id or a token_id. */
  agent_id: line(320).optional(),
  domain: line(255).toLowerCase().optional(),
  method: z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/)
    .toUpperCase()
    .optional(),
  status_code: z.coerce.number().int().min(0).max(999).optional(),
  ...range,
}

const filterQuery = z.object(filters)
export type Filters = z.output<typeof filterQuery>

export const auditRecord = z.object({
  id: uuid,
  workspace_id: uuid,
  timestamp,
  recorded_at: timestamp,
  source: z.enum(['resolver', 'client', 'control_plane']),
  identity_level: z.enum(['agent', 'workload', 'user', 'anonymous']),
  agent_id: z.string(),
  registration_id: uuid.nullable(),
  token_id: uuid.nullable(),
  user_id: uuid.nullable(),
  project_id: uuid.nullable(),
  environment: z.string().nullable(),
  method: z.string().nullable(),
  target_url: z.string().nullable(),
  target_path: z.string().nullable(),
  target_domain: z.string().nullable(),
  credential_ref: z.string().nullable(),
  injection_style: z.string().nullable(),
  decision: z.enum(['allowed', 'blocked', 'error']).nullable(),
  reason: z.string().nullable(),
  status_code: z.number().int().nullable(),
  duration_ms: z.number().int().nullable(),
  redacted: z.boolean().nullable(),
  action: z.string().nullable(),
  resource: z
    .object({ type: z.string(), id: z.string().nullable(), name: z.string().nullable() })
    .nullable(),
  client_id: z.string().nullable(),
})

export const listAuditLogs = defineEndpoint({
  name: 'audit.list',
  summary: 'List the audit records of a workspace, newest first',
  method: 'GET',
  path: '/api/audit/logs/',
  access: { kind: 'member', permission: 'audit.read', tenant: 'query.workspace_id' },
  query: pagination.extend({ workspace_id: uuid, ...filters }),
  result: z.array(auditRecord),
  paged: true,
})

export const getAuditLog = defineEndpoint({
  name: 'audit.get',
  summary: 'Show one audit record',
  method: 'GET',
  path: '/api/audit/logs/{log_id}/',
  access: { kind: 'member', permission: 'audit.read', tenant: 'query.workspace_id' },
  params: z.object({ log_id: uuid }),
  query: workspace,
  result: auditRecord,
})

const count = z.number().int()

export const summariseAudit = defineEndpoint({
  name: 'audit.summary',
  summary: 'Count the requests of a workspace; changes on the control plane are not requests',
  method: 'GET',
  path: '/api/audit/summary/',
  access: { kind: 'member', permission: 'audit.read', tenant: 'query.workspace_id' },
  query: workspace.extend(range),
  result: z.object({
    totals: z.object({
      requests: count,
      allowed: count,
      blocked: count,
      errors: count,
      redacted: count,
    }),
    by_agent: z.array(z.object({ agent_id: z.string(), count, last_used_at: timestamp })),
    by_domain: z.array(z.object({ domain: z.string(), count })),
    by_credential: z.array(z.object({ credential_ref: z.string(), count })),
    by_day: z.array(z.object({ date: z.iso.date(), count })),
  }),
})

export const exportAudit = defineEndpoint({
  name: 'audit.export',
  summary: 'Download audit records as one JSON object per line, newest first',
  method: 'GET',
  path: '/api/audit/export/',
  access: { kind: 'member', permission: 'audit.export', tenant: 'query.workspace_id' },
  query: workspace.extend({ format: z.literal('jsonl').default('jsonl'), ...filters }),
  mediaType: 'application/x-ndjson',
})
