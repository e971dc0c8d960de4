/** The audit trail. No foreign keys: records outlive the objects that they name. */
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
import type { RefusedBy } from '../../core/fault.ts'
import type { Unfilled } from '../../core/policy/unfilled.ts'
import { bytes, createdAt, id, moment } from './columns.ts'

type AuditResource = { type: string; id: string | null; name: string | null }

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
    /** Placeholders that were sent as text; null if there were none. */
    unfilled: jsonb().$type<Unfilled[]>(),
    /** The release that a call with a held secret used, or the request that it waits for. */
    approvalId: uuid(),
    decision: text({ enum: ['allowed', 'blocked', 'error'] }),
    reason: text(),
    /** For a refusal by a policy: the secret and the rule. */
    refusedBy: jsonb().$type<RefusedBy>(),
    /** Null until the outcome is known; stays null if the process died before that. */
    statusCode: integer(),
    durationMs: integer(),
    redacted: boolean(),
    /** Control-plane changes: the action, and its object. */
    action: text(),
    resource: jsonb().$type<AuditResource>(),
    /** Ingestion: the client's own id and a hash of its record, which make a repeat recognisable. */
    clientId: text(),
    contentHash: bytes(),
  },
  (table) => [
    // A list is read backwards from this, with any filter (audit_terms).
    index('audit_logs_by_time').on(table.workspaceId, table.timestamp, table.id),
    uniqueIndex('audit_logs_client_id')
      .on(table.workspaceId, table.clientId)
      .where(sql`client_id is not null`),
    // Retention deletes in the order of arrival, which is the order on disk.
    index('audit_logs_by_arrival').using('brin', table.recordedAt),
  ],
)

/**
 * Terms that lists are filtered by, with the quarters of a second in which each occurs. As an index of `audit_logs`, a
 * thousand simultaneous records cost little more than one. Triggers (in the migrations) write it. A term is a hash of
 * workspace, field and value, so each result is compared with the filter itself.
 */
export const auditTerms = pgTable(
  'audit_terms',
  {
    term: bigint({ mode: 'bigint' }).notNull(),
    bucket: moment().notNull(),
  },
  (table) => [index('audit_terms_by_term').on(table.term, table.bucket)],
)

/**
 * Changes and views by people, stored in the transaction of the change or before the answer. Rows are moved to
 * `audit_logs` within a second (src/audit/changes.ts), together with others, because a record costs most there.
 */
export const auditChanges = pgTable('audit_changes', {
  id: id(),
  workspaceId: uuid().notNull(),
  timestamp: moment().notNull(),
  agentId: text().notNull(),
  registrationId: uuid(),
  userId: uuid(),
  projectId: uuid(),
  environment: text(),
  credentialRef: text(),
  action: text().notNull(),
  resource: jsonb().$type<AuditResource>().notNull(),
})

/**
 * Actions that tokens were allowed, on disk before they happen, one row for each group commit (src/audit/journal.ts). A
 * row is deleted in the transaction that writes the last of its records to `audit_logs`.
 */
export const auditJournal = pgTable('audit_journal', {
  id: id(),
  recordedAt: createdAt(),
  /** The tokens of the group that were live and decided by the current policy. */
  live: text().notNull(),
  intents: text().notNull(),
})

/**
 * Records that the database rejected, each as its intent in the journal, with its outcome if that is known. A record
 * that is moved back there is tried again.
 */
export const auditRefused = pgTable('audit_refused', {
  id: id(),
  recordedAt: createdAt(),
  /** SQLSTATE. */
  code: text().notNull(),
  intent: text().notNull(),
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
 * Changes that triggers on `audit_logs` (in the migrations) add in each transaction, without touching a row that
 * another transaction may hold. audit/upkeep folds them into `audit_rollups`. Together, the two tables always match
 * `audit_logs` exactly.
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

/** Counts by hour and by day (UTC), in total and by the groups of the summary. */
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
