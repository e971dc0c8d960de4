/** The installation as a whole: its row, its limits' counters, its figures by day, and IDs that were given out. */
import {
  bigint,
  boolean,
  date,
  doublePrecision,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { bytes, createdAt, moment } from './columns.ts'

/** One row. */
export const instance = pgTable('instance', {
  id: smallint().primaryKey().default(1),
  /** A known text under ENCRYPTION_KEY: proves at start that the key opens the data. */
  keyCheck: bytes().notNull(),
  /** Derives the salts of addresses without an account (src/database/prepare.ts). Null until a server that has it starts. */
  preloginKey: bytes(),
  createdAt: createdAt(),
  /** The newest scheduled backup that a process has claimed: minutes since 1970. */
  backupMinute: bigint({ mode: 'number' }),
  backedUpAt: moment(),
  /** Null if a backup has succeeded since. */
  backupFailedAt: moment(),
})

/**
 * Counters of limits that several processes share on PostgreSQL (src/database/limits). Keys are hashes. All tables
 * except `failed_attempts` are unlogged (in the migration): after a crash of the server or a failover they are empty.
 *
 * Consecutive wrong passwords, recovery keys and passkeys. No attempt counts before `until`.
 */
export const failedAttempts = pgTable('failed_attempts', {
  key: bytes().primaryKey(),
  count: integer().notNull(),
  until: moment().notNull(),
})

const buckets = () => ({
  key: bytes().primaryKey(),
  /** Seconds since 1970 at which the bucket is full again. */
  fullAt: doublePrecision().notNull(),
  /** The count that the last statement took. */
  taken: integer().notNull(),
})

export const rateLimits = pgTable('rate_limits', buckets())

/** Calls per minute of tokens with limits. Version 0020 used this table for all tokens. */
export const tokenRates = pgTable('token_rates', buckets())

/** Processes that serve this database, one row for each role, updated every five seconds. */
export const liveProcesses = pgTable('live_processes', {
  id: uuid().primaryKey(),
  /** Whether the process is a resolver, or else a control plane. */
  resolves: boolean().notNull(),
  seenAt: moment().notNull(),
})

const count = () => bigint({ mode: 'number' }).notNull()

/** Figures about the whole installation, by day (UTC): counts, never contents. */
export const dailyMetrics = pgTable('daily_metrics', {
  date: date({ mode: 'string' }).primaryKey(),
  totalUsers: count(),
  newUsers: count(),
  totalWorkspaces: count(),
  totalProjects: count(),
  totalSecrets: count(),
  totalAgents: count(),
  activeTokens: count(),
  /** Distinct people with authenticated activity that day, and in the 7 and 30 days ending with it. */
  dau: count(),
  wau: count(),
  mau: count(),
  resolverCalls: count(),
  resolverBlocked: count(),
  resolverRedacted: count(),
  resolverErrors: count(),
  activeAgents: count(),
  /** Null on a day without a call that was carried out. */
  resolverP50Ms: integer(),
  resolverP95Ms: integer(),
  workloadDeliveries: count(),
  topDomains: jsonb().$type<{ domain: string; calls: number }[]>().notNull(),
  /** A row that was computed after the end of its day is final, except for later deletions. */
  computedAt: moment().notNull(),
})

/** Active users by day. No foreign key: activity outlives the account. */
export const userActivity = pgTable(
  'user_activity',
  { day: date({ mode: 'string' }).notNull(), userId: uuid().notNull() },
  (table) => [primaryKey({ columns: [table.day, table.userId] })],
)

/**
 * IDs that were given out, kept after their rows are deleted (protocol 5.1): a second workspace with a deleted one's ID
 * would read its audit, and a second token would revive a revoked one. Triggers (migration 0022) add a row for each new
 * row of these tables, in the same transaction. Nothing deletes one.
 */
export const usedIds = pgTable(
  'used_ids',
  {
    kind: text({ enum: ['workspace', 'account', 'agent', 'token', 'project'] }).notNull(),
    id: uuid().notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.id] })],
)
