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
    // One index per filter, each ending in the order of the list, so that a page is read from it and
    // never sorted. Ascending: lists read them backwards. None has a column that an outcome changes:
    // with pages left half empty (in the migrations) the outcome then touches no index (HOT update).
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
    uniqueIndex('audit_logs_client_id').on(table.workspaceId, table.clientId),
    // Retention deletes in the order of arrival, which is the order on disk.
    index('audit_logs_by_arrival').using('brin', table.recordedAt),
  ],
)

function inOrder<T>({ timestamp, id }: { timestamp: T; id: T }): [T, T] {
  return [timestamp, id]
}

/** The index by status, kept by triggers: in `audit_logs` itself it would make every outcome costly. */
export const auditStatuses = pgTable(
  'audit_statuses',
  {
    workspaceId: uuid().notNull(),
    statusCode: integer().notNull(),
    timestamp: moment().notNull(),
    logId: uuid().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.statusCode, table.timestamp, table.logId] }),
  ],
)

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
