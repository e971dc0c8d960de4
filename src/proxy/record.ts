/** Audit records of calls through the local backend, as POST /api/internal/audit/logs/ takes them. */

import { Fault } from '../core/fault.ts'
import type { Unfilled } from '../core/policy/unfilled.ts'
import { MAX_JOINED } from '../features/audit/contract.ts'
import type { CallRecord, Conclusion } from '../outbound/record.ts'

/** Names and ids, never a value or a query. Without an outcome until the call has ended. */
export type ProxyRecord = {
  id: string
  timestamp: string
  method: string
  target_domain: string
  target_url: string | null
  project_id: string
  environment: string
  decision: Conclusion['decision']
  reason: string | null
  status_code: number | null
  duration_ms: number | null
  redacted: boolean | null
  credential_ref: string | null
  injection_style: string | null
  unfilled: readonly Unfilled[] | null
}

/** The known facts about a call before its target is parsed. */
export type RecordOrigin = { host: string; method: string; projectId: string; environment: string }

/** The server refuses longer URLs: such a record has the domain alone. */
const MAX_URL = 8192

/** `conclusion` is `null` before the credential is sent. */
export function auditRecordOf(
  { id, startedAt, target, uses, unfilled }: CallRecord,
  { host, method, projectId, environment }: RecordOrigin,
  conclusion: Conclusion | null,
): ProxyRecord {
  const reported = uses.slice(0, MAX_JOINED)
  const joinField = (field: 'name' | 'style') =>
    reported.length === 0 ? null : reported.map((use) => use[field]).join(',')
  return {
    id,
    timestamp: startedAt.toISOString(),
    method,
    target_domain: host,
    target_url: target === null || target.auditUrl.length > MAX_URL ? null : target.auditUrl,
    project_id: projectId,
    environment,
    decision: 'allowed',
    reason: null,
    status_code: null,
    duration_ms: null,
    redacted: null,
    credential_ref: joinField('name'),
    injection_style: joinField('style'),
    unfilled: unfilled.length === 0 ? null : unfilled,
    ...conclusion,
  }
}

/** Anything that is no fault is our defect. */
export function recordFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('internal_error', { cause: error })
}
