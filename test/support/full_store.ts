/** A workspace with many of everything, which can grow. */

import { quotas } from '../../src/core/config/quotas.ts'
import { foldDeltas } from '../../src/features/audit/upkeep.ts'
import type { TestApp } from './app.ts'

export const INVITATIONS = 1_000
export const RECORDS = 3_000
const KEYS = 400
/** In development: more than the longest page, and more than are counted. */
export const DEVELOPMENT_KEYS = 1_500

export type Store = {
  app: TestApp
  workspaceId: string
  projectId: string
  agent: string
  /** They have all invitations; the first is the owner. */
  people: [owner: string, guest: string]
}

export async function fillStore(store: Store): Promise<void> {
  const {
    app,
    workspaceId,
    projectId,
    agent,
    people: [owner, guest],
  } = store
  const { sql } = app.connection
  const bytes = Buffer.alloc(64)
  const environments = quotas.environments.most - 3
  await sql`insert into secrets (id, workspace_id, project_id, environment, key, value)
    select gen_random_uuid(), ${workspaceId}, ${projectId}, env, 'KEY_' || k, ${bytes}
    from (select 'e' || n as env from generate_series(1, ${environments}::int) n) as envs, generate_series(1, ${KEYS}::int) k`
  await addKeys(store, 1)
  await sql`insert into workspaces (id, name, type)
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, repeat('w', 100), 'shared' from generate_series(1, ${INVITATIONS}::int) n`
  await sql`insert into memberships (id, workspace_id, user_id, role, status, encrypted_workspace_key)
    select gen_random_uuid(), ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, person::uuid, 'member', 'invited', ${bytes}
    from generate_series(1, ${INVITATIONS}::int) n, (values (${owner}), (${guest})) as people(person)`
  await sql`insert into agents (id, workspace_id, name) values (${agent}, ${workspaceId}, 'bot')`
  await sql`insert into tokens (id, workspace_id, kind, agent_id, label, capabilities, verifier, public_key)
    select ('00000000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, ${workspaceId}, 'agent', ${agent}, 'ci', '["use"]', ${bytes}, ${bytes}
    from generate_series(1, 500) n`
  await sql`insert into token_envelopes (token_id, workspace_id, project_id, environment, epoch, envelope, statement, signature)
    select ('00000000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, ${workspaceId}, ${projectId}, 'e' || e, 1, ${bytes}, repeat('s', 700), ${bytes}
    from generate_series(1, 500) n, generate_series(1, 30) e`
  await sql`insert into allowlist_entries (id, workspace_id, domain)
    select gen_random_uuid(), ${workspaceId}, n || '.' || repeat('d', 60) || '.example.com' from generate_series(1, ${quotas.hosts.most}::int) n`
  await sql`insert into audit_logs (id, workspace_id, timestamp, source, identity_level, agent_id, method, target_domain, target_url, credential_ref, injection_style, decision)
    select gen_random_uuid(), ${workspaceId}, now() - n * interval '1 second', 'client', 'agent', 'bot-' || n, 'POST', n || '.example.com',
      'https://' || n || '.example.com/' || repeat('p', 100), 'KEY_1,OTHER_' || n, 'header,header', 'allowed' from generate_series(1, ${RECORDS}::int) n`
  await addCounts(store, 'a')
  await foldDeltas(app.connection.db)
  await sql.unsafe('vacuum analyze')
}

/** Counts of names in the audit: more than the summary adds up. */
function addCounts({ app, workspaceId }: Store, prefix: string) {
  return app.connection.sql`
    insert into audit_rollups (workspace_id, grain, bucket, dimension, value, requests, allowed, blocked, errors, redacted)
    select ${workspaceId}, 'day', '2025-01-01T00:00:00Z'::timestamptz + d * interval '24 hours', 'domain', ${prefix}::text || n, 1, 1, 0, 0, 0
    from generate_series(1, 100) d, generate_series(1, 600) n`
}

function addKeys({ app, workspaceId, projectId }: Store, first: number) {
  return app.connection.sql`
    insert into secrets (id, workspace_id, project_id, environment, key, value)
    select gen_random_uuid(), ${workspaceId}, ${projectId}, 'development', 'KEY_' || k, ${Buffer.alloc(64)}
    from generate_series(${first}::int, ${first + DEVELOPMENT_KEYS - 1}::int) k`
}

/** For each active token, enough that PostgreSQL no longer prefers reading the whole table to an index. */
const REVOKED = 20

/**
 * As many again of everything without a small quota: secrets of an environment, revoked tokens (active ones have a
 * quota), and records.
 */
export async function growStore(store: Store): Promise<void> {
  const { workspaceId } = store
  const { sql } = store.app.connection
  await addKeys(store, DEVELOPMENT_KEYS + 1)
  await sql`insert into tokens (id, workspace_id, kind, agent_id, label, capabilities, verifier, public_key, revoked_at)
    select gen_random_uuid(), workspace_id, kind, agent_id, label, capabilities, verifier, public_key, now()
    from tokens, generate_series(1, ${REVOKED}::int) where workspace_id = ${workspaceId} and agent_id is not null`
  await sql`insert into audit_logs (id, workspace_id, timestamp, source, identity_level, agent_id, method, target_domain, target_url, credential_ref, injection_style, decision)
    select gen_random_uuid(), workspace_id, timestamp - interval '2 hours', source, identity_level, agent_id, method, target_domain, target_url,
      credential_ref, injection_style, decision from audit_logs where workspace_id = ${workspaceId} and source = 'client'`
  await addCounts(store, 'b')
  await foldDeltas(store.app.connection.db)
  await sql.unsafe('vacuum analyze')
}
