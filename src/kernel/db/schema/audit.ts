/** The audit trail. No foreign keys: records outlive what they speak of. */
import {
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, moment } from './columns.ts'

export const auditLogs = pgTable(
  'audit_logs',
  {
    id: id(),
    workspaceId: uuid().notNull(),
    timestamp: moment().notNull(),
    recordedAt: createdAt(),
    source: text({ enum: ['resolver', 'client', 'control_plane'] }).notNull(),
    identityLevel: text({ enum: ['agent', 'workload', 'user', 'anonymous'] }).notNull(),
    /** The agent's name, a workload's label, or the person's e-mail address. */
    agentId: text().notNull(),
    registrationId: uuid(),
    tokenId: uuid(),
    userId: uuid(),
    projectId: uuid(),
    environment: text(),
    method: text(),
    targetUrl: text(),
    targetPath: text(),
    targetDomain: text(),
    credentialRef: text(),
    injectionStyle: text(),
    decision: text({ enum: ['allowed', 'blocked', 'error'] }),
    reason: text(),
    /** Null until the outcome is known: then the process died in between. */
    statusCode: integer(),
    durationMs: integer(),
    redacted: boolean(),
    /** Control-plane changes: what was done, and to what. */
    action: text(),
    resource: jsonb().$type<{ type: string; id: string | null; name: string | null }>(),
    /** Ingestion: the client's own id and a hash of its record, which make a repeat recognisable. */
    clientId: text(),
    contentHash: bytes(),
  },
  (table) => [
    index('audit_logs_by_time').on(table.workspaceId, table.timestamp.desc(), table.id.desc()),
    uniqueIndex('audit_logs_client_id').on(table.workspaceId, table.clientId),
  ],
)
