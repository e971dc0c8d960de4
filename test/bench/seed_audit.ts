/**
 * Fills a workspace's audit with synthetic records, to test a large one: `bun test/bench/seed_audit.ts <rows>
 * <workspace_id>`, with the variables that select the database.
 */
import type postgres from 'postgres'
import { readConfig } from '../../src/core/config/config.ts'
import { openDatabase } from '../../src/database/open.ts'
import { generateKeys } from '../../src/operator/own_keys.ts'

type Seed = { workspaceId: string; rows: number; days?: number }

/** Records in one statement. */
const CHUNK = 50_000

/**
 * `rows` records over the last `days` days: 20 agents, 25 domains, 40 credentials, 4 projects, a few
 * values of each filter that are rare, and outcomes of all kinds.
 */
export async function seedAudit(
  sql: postgres.Sql,
  { workspaceId, rows, days = 90 }: Seed,
): Promise<void> {
  for (let from = 0; from < rows; from += CHUNK) {
    const to = Math.min(from + CHUNK, rows) - 1
    await sql`
      insert into audit_logs (id, workspace_id, timestamp, recorded_at, source, identity_level, agent_id,
        registration_id, token_id, project_id, environment, method, target_url, target_path,
        target_domain, credential_ref, injection_style, decision, reason, status_code, duration_ms, redacted)
      select gen_random_uuid(), ${workspaceId}, at, at, 'resolver', 'agent', 'agent-' || agent,
        md5('registration ' || agent)::uuid, md5('token ' || agent)::uuid, md5('project ' || n % 4)::uuid,
        case when n % 50000 = 7 then 'staging' when n % 3 = 0 then 'production' else 'development' end,
        case when n % 100000 = 3 then 'DELETE' when n % 4 = 0 then 'POST' else 'GET' end,
        'https://api-' || domain || '.example.com/v1/items', '/v1/items', 'api-' || domain || '.example.com',
        case when n % 10 = 0 then 'SHARED_KEY,KEY_' || n % 40 else 'KEY_' || n % 40 end,
        case when n % 10 = 0 then 'header,basic' else 'header' end,
        case when n % 20 = 0 then 'blocked' when n % 33 = 0 then 'error' else 'allowed' end,
        case when n % 20 = 0 then 'domain_blocked' when n % 33 = 0 then 'upstream_timeout' end,
        case when n % 70000 = 9 then 418 when n % 20 = 0 then 403 when n % 33 = 0 then 504 else 200 end,
        n % 400, n % 100 = 0
      from (
        select n, case when n % 90000 = 11 then 99 else n % 20 end as agent,
          case when n % 80000 = 13 then 99 else n % 25 end as domain,
          now() - make_interval(secs => (${rows}::float8 - n) * ${days * 86_400} / ${rows}) as at
        from generate_series(${from}::int, ${to}::int) as n
      ) as numbers`
  }
  await sql`analyze audit_logs`
}

if (import.meta.main) {
  const [rows, workspaceId] = process.argv.slice(2)
  if (!rows || !workspaceId)
    throw new Error('usage: bun test/bench/seed_audit.ts <rows> <workspace_id>')
  const connection = await openDatabase(readConfig(process.env, generateKeys), () => {})
  await seedAudit(connection.sql, { workspaceId, rows: Number(rows) })
  await connection.close()
}
