/** The statements of the trail: a group of intents with the proof that they may be, outcomes, last use. */
import type postgres from 'postgres'
import type { TokenAction } from '../platform/http/endpoint.ts'

/** One decision about what a token asked for, complete or still without its outcome. */
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
  decision: 'allowed' | 'blocked' | 'error'
  reason: string | null
  status_code: number | null
  duration_ms: number | null
  redacted: boolean | null
  /** Of what is no request to an upstream. */
  action: TokenAction | null
}

export type Outcome = {
  id: string
  decision: Entry['decision']
  reason: string | null
  status_code: number
  duration_ms: number
  redacted: boolean
}

/** Stores the entries whose token is live and whose policy is current, and returns their ids. */
export async function insertEntries(
  sql: postgres.Sql | postgres.TransactionSql,
  entries: readonly Entry[],
): Promise<Set<string>> {
  // One row for the whole group: a row for each entry would cost the driver more than the insert.
  const [stored] = await sql.unsafe<{ ids: string | null }[]>(INSERT, [JSON.stringify(entries)], {
    prepare: true,
  })
  return new Set(stored?.ids?.split(' '))
}

/** A text and not a template: the driver would put it together anew each time. */
const INSERT = `with stored as (insert into audit_logs (id, workspace_id, timestamp, source, identity_level, agent_id, registration_id,
      token_id, project_id, environment, method, target_url, target_path, target_domain, credential_ref,
      injection_style, decision, reason, status_code, duration_ms, redacted, action)
    select r.id, r.workspace_id, r.timestamp, 'resolver', r.identity_level, r.agent_id, r.registration_id,
      r.token_id, r.project_id, r.environment, r.method, r.target_url, r.target_path, r.target_domain,
      r.credential_ref, r.injection_style, r.decision, r.reason, r.status_code, r.duration_ms, r.redacted, r.action
    from json_to_recordset($1::text::json) as r(id uuid, workspace_id uuid,
      policy_version bigint, timestamp timestamptz, identity_level text, agent_id text,
      registration_id uuid, token_id uuid, project_id uuid, environment text, method text,
      target_url text, target_path text, target_domain text, credential_ref text,
      injection_style text, decision text, reason text, status_code integer, duration_ms integer,
      redacted boolean, action text)
    join tokens t on t.id = r.token_id and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > clock_timestamp())
    join workspaces w on w.id = r.workspace_id and w.policy_version = r.policy_version
    returning id)
    select string_agg(id::text, ' ') as ids from stored`

export async function updateOutcomes(
  sql: postgres.Sql,
  outcomes: readonly Outcome[],
): Promise<void> {
  await sql`
    update audit_logs a set decision = o.decision, reason = o.reason, status_code = o.status_code,
      duration_ms = o.duration_ms, redacted = o.redacted
    from json_to_recordset(${JSON.stringify(outcomes)}::text::json) as o(id uuid, decision text, reason text,
      status_code integer, duration_ms integer, redacted boolean)
    where a.id = o.id`
}

/** Notes when tokens were last used, to ten seconds. */
export async function stampTokens(
  sql: postgres.Sql,
  used: readonly { token_id: string; at: Date }[],
): Promise<void> {
  await sql`
    update tokens t set last_used_at = u.at
    from json_to_recordset(${JSON.stringify(used)}::text::json) as u(token_id uuid, at timestamptz)
    where t.id = u.token_id and (t.last_used_at is null or t.last_used_at < u.at - interval '10 seconds')`
}
