import { z } from 'zod'
import { line, pagination, timestamp, wholeNumber } from '../../core/validation/validate.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import {
  environment,
  exampleId,
  id,
  integer,
  projectId,
  recordId,
  registrationId,
  text,
  tokenId,
  userId,
  workspaceId,
} from '../../http/fields.ts'
import { method, placedRecord, rangeEnd, refusedBy, unfilled } from './reported_record.ts'

/** Audit requests always name their workspace in the query. There is no default. */
const workspace = z.strictObject({ workspace_id: workspaceId })

const decision = z.enum(['allowed', 'blocked', 'error'])

/** `since` belongs to the range, `until` does not. */
const range = { since: rangeEnd.optional(), until: rangeEnd.optional() }

/** Names in one filter. */
const MAX_NAMES = 10
/** More than there are. */
const MAX_ACTIONS = 64

/** One name, or several with commas between them: a record matches if it has any of them. */
function namesIn(text: z.ZodString, example: string, most = MAX_NAMES, description?: string) {
  return (
    text
      // A name may have commas itself.
      .transform((joined) => [...new Set([joined, ...joined.split(',')])])
      .refine(({ length }) => length <= most + 1, `may have at most ${most} names`)
      .meta({ examples: [example], ...(description && { description }) })
      .optional()
  )
}

const ACTORS =
  'actors, separated by commas: e-mail addresses of members, names of agents, labels of workloads, or IDs of agents or tokens'

const filters = {
  project_id: projectId.optional(),
  environment: environment.optional(),
  agent_id: namesIn(line(320 * MAX_NAMES), 'deploy-bot', MAX_NAMES, ACTORS),
  domain: namesIn(line(255 * MAX_NAMES).toLowerCase(), 'api.stripe.com'),
  method: method.optional(),
  /** Changes, or reads, on the control plane. */
  action: namesIn(line(64 * MAX_ACTIONS), 'secret.read', MAX_ACTIONS),
  /** Names of secrets that were used, delivered, read or changed. */
  credential: namesIn(line(128 * MAX_NAMES), 'STRIPE_API_KEY'),
  /** Decisions on calls, or with `action` on its records: `blocked` was refused, `error` failed. */
  decision: decision.optional(),
  status_code: wholeNumber(0, 999)
    .meta({ examples: [200] })
    .optional(),
  ...range,
}

const filterQuery = z.object(filters)
export type RecordFilters = z.output<typeof filterQuery>

export const auditRecord = z
  .object({
    id,
    workspace_id: workspaceId,
    timestamp,
    recorded_at: timestamp,
    source: z.enum(['resolver', 'client', 'control_plane']),
    identity_level: z.enum(['agent', 'workload', 'user', 'anonymous']),
    agent_id: text('deploy-bot'),
    registration_id: registrationId.nullable(),
    token_id: tokenId.nullable(),
    user_id: userId.nullable(),
    project_id: projectId.nullable(),
    environment: text('production').nullable(),
    method: text('POST').nullable(),
    target_url: text('https://api.stripe.com/v1/charges').nullable(),
    target_path: text('/v1/charges').nullable(),
    target_domain: text('api.stripe.com').nullable(),
    credential_ref: text('STRIPE_API_KEY').nullable(),
    injection_style: text('header').nullable(),
    unfilled: unfilled.nullable(),
    approval_id: text(exampleId(9)).nullable(),
    decision: decision.nullable(),
    reason: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
    refused_by: refusedBy.nullable(),
    status_code: integer(200).nullable(),
    duration_ms: z.number().int().nullable(),
    redacted: z.boolean().nullable(),
    action: text('secret.updated').nullable(),
    resource: z
      .object({
        type: text('secret'),
        id: text(exampleId(8)).nullable(),
        name: text('STRIPE_API_KEY').nullable(),
      })
      .nullable(),
    client_id: text('call-0001').nullable(),
  })
  .meta({ id: 'AuditLogRecord' })

export const listAuditLogs = defineEndpoint({
  name: 'audit.list',
  summary: 'List audit records in either direction',
  method: 'GET',
  path: '/api/audit/logs/',
  access: { kind: 'member', permission: 'audit.read', tenant: 'query.workspace_id' },
  query: pagination.extend({
    workspace_id: workspaceId,
    ...filters,
    order: z.enum(['newest', 'oldest']).default('newest'),
  }),
  result: z.array(auditRecord),
  paged: true,
})

export const getAuditLog = defineEndpoint({
  name: 'audit.get',
  summary: 'Get an audit record',
  method: 'GET',
  path: '/api/audit/logs/{log_id}/',
  access: { kind: 'member', permission: 'audit.read', tenant: 'query.workspace_id' },
  params: z.object({ log_id: recordId }),
  query: workspace,
  result: auditRecord,
})

export const watchAudit = defineEndpoint({
  name: 'audit.watch',
  summary: 'Stream new audit records as server-sent events',
  method: 'GET',
  path: '/api/workspaces/{workspace_id}/live/',
  access: { kind: 'member', permission: 'audit.read', tenant: 'path.workspace_id' },
  params: z.object({ workspace_id: workspaceId }),
  mediaType: 'text/event-stream',
})

const count = z.number().int()

export const summariseAudit = defineEndpoint({
  name: 'audit.summary',
  summary: 'Count the calls of a workspace, or its changes with one action',
  method: 'GET',
  path: '/api/audit/summary/',
  access: { kind: 'member', permission: 'audit.read', tenant: 'query.workspace_id' },
  query: workspace.extend(filters),
  result: z.object({
    totals: z.object({
      requests: count,
      allowed: count,
      blocked: count,
      errors: count,
      /** Null with the filter `decision` alone: counts do not combine the two. */
      redacted: count.nullable(),
    }),
    by_agent: z.array(z.object({ agent_id: text('deploy-bot'), count, last_used_at: timestamp })),
    by_domain: z.array(z.object({ domain: text('api.stripe.com'), count })),
    by_credential: z.array(z.object({ credential_ref: text('STRIPE_API_KEY'), count })),
    /** Days (UTC) with requests, oldest first; of more than 90 the newest. */
    by_day: z.array(
      z.object({ date: z.iso.date(), count, allowed: count, blocked: count, errors: count }),
    ),
    /** False if only the newest records were counted. Without filters, totals and days are always exact. */
    is_whole: z.boolean(),
  }),
})

/** As a draft of a policy is tried out on them: `objectionToRecorded` of src/core/policy. */
export const summariseCalls = defineEndpoint({
  name: 'audit.calls',
  summary: 'Count recent calls with a secret by target, most frequent first',
  method: 'GET',
  path: '/api/audit/calls/',
  access: { kind: 'member', permission: 'audit.read', tenant: 'query.workspace_id' },
  query: workspace.extend({
    project_id: projectId.optional(),
    environment: environment.optional(),
    credential: line(128).meta({ examples: ['STRIPE_API_KEY'] }),
    since: rangeEnd.default(() => new Date(Date.now() - 7 * 86_400_000)),
  }),
  result: z.object({
    kinds: z.array(
      z
        .object({
          method: text('POST'),
          target_url: text('https://api.stripe.com/v1/charges'),
          style: text('header'),
          decision,
          count,
          last_at: timestamp,
        })
        .meta({ id: 'CallKind' }),
    ),
    calls: count,
    /** False if there were more calls, or kinds of calls, than reported. */
    is_whole: z.boolean(),
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

export { MAX_JOINED } from './reported_record.ts'

/** Milliseconds by which a reporting client's clock may be ahead. */
export const MAX_AHEAD_MS = 5 * 60_000

export const recordAuditLogs = defineEndpoint({
  name: 'audit.record',
  summary: 'Report calls made by a client itself; a repeated client ID is stored once',
  method: 'POST',
  path: '/api/internal/audit/logs/',
  access: {
    kind: 'token',
    capability: 'use',
    sealed: true,
    orSession: true,
    action: 'audit.reported',
  },
  body: z.union([placedRecord, z.array(placedRecord).min(1).max(1000)]),
  bodyLimit: 4 * 1_048_576,
  result: z.object({ created: count, duplicates: count, ids: z.array(id) }),
  success: 201,
  faults: ['not_found', 'conflict'],
})
