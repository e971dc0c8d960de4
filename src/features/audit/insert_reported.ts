/**
 * One statement that stores a report. Its records are one parameter: a parameter for each of their fields took an embedded
 * database, which serves nobody else meanwhile, several times as long.
 */
import { sql } from 'drizzle-orm'
import type { Transaction } from '../../database/open.ts'
import type { auditLogs } from '../../database/schema/index.ts'

export type Row = typeof auditLogs.$inferInsert & { id: string }

/** The columns of a report, with their types. */
const COLUMNS: readonly (readonly [field: keyof Row, column: string, type: string])[] = [
  ['id', 'id', 'uuid'],
  ['workspaceId', 'workspace_id', 'uuid'],
  ['timestamp', 'timestamp', 'timestamptz'],
  ['source', 'source', 'text'],
  ['identityLevel', 'identity_level', 'text'],
  ['agentId', 'agent_id', 'text'],
  ['registrationId', 'registration_id', 'uuid'],
  ['tokenId', 'token_id', 'uuid'],
  ['userId', 'user_id', 'uuid'],
  ['projectId', 'project_id', 'uuid'],
  ['environment', 'environment', 'text'],
  ['method', 'method', 'text'],
  ['targetUrl', 'target_url', 'text'],
  ['targetPath', 'target_path', 'text'],
  ['targetDomain', 'target_domain', 'text'],
  ['credentialRef', 'credential_ref', 'text'],
  ['injectionStyle', 'injection_style', 'text'],
  ['unfilled', 'unfilled', 'jsonb'],
  ['decision', 'decision', 'text'],
  ['reason', 'reason', 'text'],
  ['refusedBy', 'refused_by', 'jsonb'],
  ['statusCode', 'status_code', 'integer'],
  ['durationMs', 'duration_ms', 'integer'],
  ['redacted', 'redacted', 'boolean'],
  ['clientId', 'client_id', 'text'],
  ['contentHash', 'content_hash', 'bytea'],
]

const names = sql.raw(COLUMNS.map(([, column]) => column).join(', '))
const types = sql.raw(COLUMNS.map(([, column, type]) => `${column} ${type}`).join(', '))

/** Stores the rows with a new client ID, in their order. Returns their IDs. */
export async function insertReported(tx: Transaction, rows: readonly Row[]): Promise<Set<string>> {
  if (rows.length === 0) return new Set()
  const records = JSON.stringify(rows.map(recordOf))
  // Without a target: an index, or a table beside partitions (docs/deploy/audit_partitions.sql), makes client ids unique.
  const stored = await tx.execute<{ id: string }>(sql`
    insert into audit_logs (${names})
    select ${names} from json_to_recordset(${records}::text::json) as record(${types})
    on conflict do nothing returning id`)
  return new Set(stored.map(({ id }) => id))
}

function recordOf(row: Row): Record<string, unknown> {
  return Object.fromEntries(
    COLUMNS.map(([field, column]) => {
      const value = row[field]
      return [column, value instanceof Uint8Array ? `\\x${value.toHex()}` : value]
    }),
  )
}
