/** The audit trail. No foreign keys: records outlive what they speak of. */
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
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
    /** Null until the outcome is known, or for ever where the process died in between. */
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
    // One index per filter, each ending in the order of the list, so that a page is read from it and
    // never sorted. Ascending: lists read them backwards.
    index('audit_logs_by_time').on(table.workspaceId, table.timestamp, table.id),
    index('audit_logs_by_project').on(table.workspaceId, table.projectId, ...inOrder(table)),
    index('audit_logs_by_environment').on(table.workspaceId, table.environment, ...inOrder(table)),
    index('audit_logs_by_agent').on(table.workspaceId, table.agentId, ...inOrder(table)),
    index('audit_logs_by_registration').on(
      table.workspaceId,
      table.registrationId,
      ...inOrder(table),
    ),
    index('audit_logs_by_token').on(table.workspaceId, table.tokenId, ...inOrder(table)),
    index('audit_logs_by_domain').on(table.workspaceId, table.targetDomain, ...inOrder(table)),
    index('audit_logs_by_method').on(table.workspaceId, table.method, ...inOrder(table)),
    index('audit_logs_by_status').on(table.workspaceId, table.statusCode, ...inOrder(table)),
    index('audit_logs_by_action')
      .on(table.workspaceId, table.action, ...inOrder(table))
      .where(sql`action is not null`),
    // Names of one credential; records of several are few, and their names too long for an index.
    index('audit_logs_by_credential')
      .on(table.workspaceId, table.credentialRef, ...inOrder(table))
      .where(sql`credential_ref not like '%,%'`),
    index('audit_logs_by_several')
      .on(table.workspaceId, table.timestamp, table.id)
      .where(sql`credential_ref like '%,%'`),
    uniqueIndex('audit_logs_client_id')
      .on(table.workspaceId, table.clientId)
      .where(sql`client_id is not null`),
    // Retention deletes in the order of arrival, which is the order on disk.
    index('audit_logs_by_arrival').using('brin', table.recordedAt),
  ],
)

function inOrder<T>({ timestamp, id }: { timestamp: T; id: T }): [T, T] {
  return [timestamp, id]
}

/**
 * What tokens were let do, on disk before it is done, one row for each group commit (src/audit/journal.ts).
 * A row goes in the transaction that writes the last of its records to `audit_logs`.
 */
export const auditJournal = pgTable('audit_journal', {
  id: id(),
  recordedAt: createdAt(),
  /** Which of the tokens of the group were live and decided for by the current policy. */
  live: text().notNull(),
  intents: text().notNull(),
})

/** Counts of one bucket; in `audit_deltas` a change of them, which is negative when records go. */
const counts = () => ({
  requests: bigint({ mode: 'number' }).notNull(),
  allowed: bigint({ mode: 'number' }).notNull(),
  blocked: bigint({ mode: 'number' }).notNull(),
  errors: bigint({ mode: 'number' }).notNull(),
  redacted: bigint({ mode: 'number' }).notNull(),
})

/**
 * What triggers on `audit_logs` (in the migrations) add in the transaction of each change, without
 * touching a row that another transaction may hold: audit/upkeep folds them into `audit_rollups`.
 * The two together always say exactly what `audit_logs` says.
 */
export const auditDeltas = pgTable('audit_deltas', {
  workspaceId: uuid().notNull(),
  /** The hour of `timestamp`, UTC. */
  hour: moment().notNull(),
  agentId: text().notNull(),
  targetDomain: text(),
  credentialRef: text(),
  ...counts(),
})

/** Counts by hour and by day (UTC), in all and by what the summary groups by. */
export const auditRollups = pgTable(
  'audit_rollups',
  {
    workspaceId: uuid().notNull(),
    grain: text({ enum: ['hour', 'day'] }).notNull(),
    bucket: moment().notNull(),
    dimension: text({ enum: ['total', 'agent', 'domain', 'credential'] }).notNull(),
    /** Empty for the total. */
    value: text().notNull(),
    ...counts(),
  },
  (table) => [
    primaryKey({
      columns: [table.workspaceId, table.grain, table.bucket, table.dimension, table.value],
    }),
  ],
)
