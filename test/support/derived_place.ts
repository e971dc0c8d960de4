import type { Connection } from '../../src/database/open.ts'
import type { DerivedPlace } from '../../src/renewal/leases.ts'

/** A workspace with one secret to derive from, and a token, as rows: none of them opens. */
export async function insertDerivedPlace(
  sql: Connection['sql'],
): Promise<{ place: DerivedPlace; tokenId: string }> {
  const [workspaceId, projectId, agentId, tokenId] = Array.from({ length: 4 }, () =>
    Bun.randomUUIDv7(),
  ) as [string, string, string, string]
  const bytes = Buffer.alloc(8)
  await sql`insert into workspaces (id, name, type) values (${workspaceId}, 'w', 'shared')`
  await sql`insert into projects (id, workspace_id, name) values (${projectId}, ${workspaceId}, 'p')`
  await sql`insert into agents (id, workspace_id, name) values (${agentId}, ${workspaceId}, 'bot')`
  await sql`insert into tokens (id, workspace_id, kind, agent_id, label, capabilities, verifier, public_key)
    values (${tokenId}, ${workspaceId}, 'agent', ${agentId}, 'ci', '["use"]', ${bytes}, ${bytes})`
  await sql`insert into secrets (id, workspace_id, project_id, environment, key, value, policy)
    values (${Bun.randomUUIDv7()}, ${workspaceId}, ${projectId}, 'development', 'OAUTH', ${bytes}, '{"kind": "oauth2"}')`
  return { place: { workspaceId, projectId, environment: 'development', key: 'OAUTH' }, tokenId }
}
