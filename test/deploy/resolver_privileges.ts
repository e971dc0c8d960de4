/**
 * The privileges of the resolver's database user, by table, with columns if it is not all of them. A new privilege
 * needs a decision here, and in docs/guides/database-users.md.
 */
export const RESOLVER_PRIVILEGES: Readonly<Record<string, string>> = {
  agents: 'SELECT (id, name)',
  allowlist_entries: 'SELECT (domain, workspace_id)',
  allowlist_log: '',
  approvals:
    'DELETE, INSERT (agent, body_bytes, body_type, details, digest, expires_at, host, id, method, registration_id, requested_at, secrets, token_id, workspace_id), SELECT, UPDATE (details, status, used_at, used_by)',
  audit_changes: '',
  audit_deltas: '',
  audit_journal: 'DELETE, INSERT, SELECT',
  audit_logs:
    'INSERT, SELECT (decision, duration_ms, id, reason, redacted, refused_by, source, status_code), UPDATE (decision, duration_ms, reason, redacted, refused_by, status_code)',
  audit_refused: 'INSERT',
  audit_rollups: '',
  audit_terms: '',
  cloakroom_migrations: 'SELECT',
  daily_metrics: '',
  deleted_projects: '',
  deleted_secret_versions: '',
  deleted_secrets: '',
  derived_states:
    'INSERT (environment, generation, key, lease_id, lease_until, project_id, workspace_id), SELECT, UPDATE (derived_at, expired_count, expired_since, expires_at, failed_at, failed_code, failures, generation, is_final, lease_id, lease_until, retry_at, sent_at, state)',
  failed_attempts: '',
  instance: 'SELECT (key_check)',
  live_processes: 'INSERT, SELECT, UPDATE (seen_at)',
  manifests: 'SELECT (environment, project_id, signature, statement, workspace_id)',
  memberships: '',
  notice_targets: 'SELECT (deleted_at, events, id, secret, type, workspace_id)',
  notices:
    'INSERT (body, cause, event, id, next_at, target_id, workspace_id), SELECT, UPDATE (attempted_at, attempts, last_error, next_at, status)',
  passkeys: '',
  projects: 'SELECT (id, name, workspace_id)',
  proposals: 'INSERT, SELECT, UPDATE (created_at, expires_at, reason, secrets)',
  rate_limits: '',
  secret_versions: '',
  secrets: 'SELECT (environment, key, policy, project_id, value, workspace_id)',
  session_tokens: '',
  sessions: '',
  spent_challenges: '',
  token_calls: 'DELETE, INSERT, SELECT, UPDATE (until)',
  token_days: 'INSERT, SELECT, UPDATE (bytes, calls, model_tokens)',
  token_envelopes:
    'SELECT (envelope, environment, epoch, project_id, signature, statement, token_id, workspace_id)',
  token_grants: 'SELECT',
  token_rates: 'INSERT, SELECT, UPDATE (full_at, taken)',
  token_uses: 'INSERT, SELECT, UPDATE (last_used_at)',
  tokens:
    'SELECT (agent_id, capabilities, created_at, environment, expires_at, hosts, id, kind, label, limits, project_id, public_key, revoked_at, secrets, verifier, workspace_id)',
  used_ids: '',
  user_activity: '',
  users: '',
  workspace_links: 'SELECT (seq, signature, statement, workspace_id)',
  workspaces: 'SELECT (epoch, id, name, policy_version)',
}
