/** The filters of audit records, and the selected columns. */
import {
  and,
  asc,
  desc,
  eq,
  gte,
  inArray,
  lt,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import { isUuid } from '../../core/validation/validate.ts'
import { auditLogs } from '../../database/schema/index.ts'
import { shownClientId } from './client_id.ts'
import type { RecordFilters } from './contract.ts'

/** The sort key of the last record that was read. */
export type Position = { timestamp: string; id: string }
export type AuditPage = { after: Position | null; limit: number; order: 'newest' | 'oldest' }

export const shown = {
  id: auditLogs.id,
  workspace_id: auditLogs.workspaceId,
  timestamp: auditLogs.timestamp,
  recorded_at: auditLogs.recordedAt,
  source: auditLogs.source,
  identity_level: auditLogs.identityLevel,
  agent_id: auditLogs.agentId,
  registration_id: auditLogs.registrationId,
  token_id: auditLogs.tokenId,
  user_id: auditLogs.userId,
  project_id: auditLogs.projectId,
  environment: auditLogs.environment,
  method: auditLogs.method,
  target_url: auditLogs.targetUrl,
  target_path: auditLogs.targetPath,
  target_domain: auditLogs.targetDomain,
  credential_ref: auditLogs.credentialRef,
  injection_style: auditLogs.injectionStyle,
  unfilled: auditLogs.unfilled,
  approval_id: auditLogs.approvalId,
  decision: auditLogs.decision,
  reason: auditLogs.reason,
  refused_by: auditLogs.refusedBy,
  status_code: auditLogs.statusCode,
  duration_ms: auditLogs.durationMs,
  redacted: auditLogs.redacted,
  action: auditLogs.action,
  resource: auditLogs.resource,
  client_id: shownClientId,
}

/** By the sort key of what is read. */
export function sortByPosition(
  { timestamp, id }: Record<keyof Position, SQLWrapper>,
  { order }: AuditPage,
): SQL[] {
  const by = order === 'newest' ? desc : asc
  return [by(timestamp), by(id)]
}

/** The years that a list can name; a clock that says something else sorts before or behind all of them. */
export const FIRST = new Date('0001-01-01T00:00:00Z')
const LAST = new Date('9999-12-31T00:00:00Z')

export function matches(workspaceId: string, filters: RecordFilters): SQL | undefined {
  const { since, until } = filters
  const { timestamp } = auditLogs
  return and(
    eq(auditLogs.workspaceId, workspaceId),
    gte(timestamp, since ?? FIRST),
    lt(timestamp, until ?? LAST),
    equals(filters),
  )
}

function equals({
  project_id,
  environment,
  agent_id,
  domain,
  method,
  status_code,
  action,
  credential,
  decision,
}: RecordFilters): SQL | undefined {
  return and(
    project_id === undefined ? undefined : eq(auditLogs.projectId, project_id),
    environment === undefined ? undefined : eq(auditLogs.environment, environment),
    or(...(agent_id ?? []).map(isOf)),
    domain === undefined ? undefined : inArray(auditLogs.targetDomain, domain),
    method === undefined ? undefined : eq(auditLogs.method, method),
    status_code === undefined ? undefined : eq(auditLogs.statusCode, status_code),
    action === undefined ? undefined : inArray(auditLogs.action, action),
    decision === undefined ? undefined : eq(auditLogs.decision, decision),
    decision === undefined || action !== undefined ? undefined : isRequest,
    or(...(credential ?? []).map(isCredential)),
  )
}

export const isRequest = sql`is_request(${auditLogs.source}, ${auditLogs.action})`

/** Few names are split: those that contain the text. */
function isCredential(name: string): SQL {
  const { credentialRef } = auditLogs
  return sql`(strpos(${credentialRef}, ${name}) > 0 and ${name} = any(string_to_array(${credentialRef}, ',')))`
}

/** A UUID may be an agent's id, a token's, or a name that looks like one. */
function isOf(agent: string): SQL | undefined {
  const { agentId, registrationId, tokenId } = auditLogs
  if (!isUuid(agent)) return eq(agentId, agent)
  return or(eq(agentId, agent), eq(registrationId, agent), eq(tokenId, agent))
}
