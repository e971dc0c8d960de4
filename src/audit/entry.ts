/** One decision about a token's request, under the names of the columns of `audit_logs`. */
import type { RefusedBy } from '../core/fault.ts'
import type { Unfilled } from '../core/policy/unfilled.ts'
import type { TokenAction } from '../http/endpoint.ts'

/** Complete, or an intent: still without its outcome. */
export type Entry = {
  id: string
  workspace_id: string
  /** The version under which the decision was made. */
  policy_version: number
  token_id: string
  registration_id: string | null
  agent_id: string
  identity_level: 'agent' | 'workload'
  timestamp: Date
  project_id: string | null
  environment: string | null
  method: string | null
  target_url: string | null
  target_path: string | null
  target_domain: string | null
  credential_ref: string | null
  injection_style: string | null
  /** Placeholders that go out as text. */
  unfilled?: readonly Unfilled[] | null
  /** The release that a call with a held secret uses, or the request that it waits for. */
  approval_id?: string | null
  decision: 'allowed' | 'blocked' | 'error'
  reason: string | null
  refused_by?: RefusedBy | null
  status_code: number | null
  duration_ms: number | null
  redacted: boolean | null
  /** Only for actions that are not a request to an upstream. */
  action: TokenAction | null
}

/** An entry with the number of its proof in its group. */
export type Intent = { entry: Entry; proof: number }

/** How a call ended. An intent has only the decision. */
export type EntryConclusion = Pick<
  Entry,
  'decision' | 'reason' | 'refused_by' | 'status_code' | 'duration_ms' | 'redacted'
>

export type RecordedOutcome = {
  id: string
  decision: Entry['decision']
  reason: string | null
  refused_by?: RefusedBy | null
  status_code: number
  duration_ms: number
  redacted: boolean
}
