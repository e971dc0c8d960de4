/** The audit entry of a call or a delivery. */
import type { Entry, RecordedOutcome } from '../audit/trail.ts'
import type { Unfilled } from '../core/policy/unfilled.ts'
import type { LiveToken } from './tokens.ts'

type Known = {
  id: string
  startedAt: Date
  projectId: string | null
  environment: string | null
  method: string | null
  target: { auditUrl: string; path: string; domain: string } | null
  uses: readonly { name: string; style: string }[]
  /** Placeholders that go out as text. */
  unfilled?: readonly Unfilled[]
  /** Only for calls with held secrets. */
  approvalId?: string | null
  /** Only for actions that are not a request to an upstream. */
  action?: Entry['action']
}

/** Creates an entry. `conclusion` is `null` for an allowed call that still waits for its outcome. */
export function entryOf(
  token: LiveToken,
  policyVersion: number,
  {
    id,
    startedAt,
    projectId,
    environment,
    method,
    target,
    uses,
    unfilled = [],
    approvalId = null,
    action = null,
  }: Known,
  conclusion: Omit<RecordedOutcome, 'id'> | null,
): Entry {
  const joinParts = (parts: readonly string[]) => (parts.length === 0 ? null : parts.join(','))
  return {
    id,
    workspace_id: token.workspaceId,
    policy_version: policyVersion,
    token_id: token.id,
    registration_id: token.registrationId,
    agent_id: token.name,
    identity_level: token.kind,
    timestamp: startedAt,
    project_id: projectId,
    environment,
    method,
    target_url: target?.auditUrl ?? null,
    target_path: target?.path ?? null,
    target_domain: target?.domain ?? null,
    credential_ref: joinParts(uses.map(({ name }) => name)),
    injection_style: joinParts(uses.map(({ style }) => style)),
    unfilled: unfilled.length === 0 ? null : unfilled,
    approval_id: approvalId,
    decision: 'allowed',
    reason: null,
    status_code: null,
    duration_ms: null,
    redacted: null,
    action,
    ...conclusion,
  }
}
