/**
 * What limits count where several processes share a PostgreSQL (src/database/limits). Keys are hashes. All but
 * `failed_attempts` are unlogged (in the migration): after a crash of the server or a failover they are empty.
 */
import { boolean, doublePrecision, integer, pgTable, uuid } from 'drizzle-orm/pg-core'
import { bytes, moment } from './columns.ts'

/** Wrong passwords, recovery keys and passkeys in a row; no attempt counts before `until`. */
export const failedAttempts = pgTable('failed_attempts', {
  key: bytes().primaryKey(),
  count: integer().notNull(),
  until: moment().notNull(),
})

const buckets = () => ({
  key: bytes().primaryKey(),
  /** Seconds since 1970 at which the bucket is full again: as far ahead as what was taken takes to refill. */
  fullAt: doublePrecision().notNull(),
  /** What the last statement took. */
  taken: integer().notNull(),
})

export const rateLimits = pgTable('rate_limits', buckets())

/** Of 0020; nothing uses it. It is left for versions that do (test/database/migration_effects.test.ts). */
export const tokenRates = pgTable('token_rates', buckets())

/** Processes that serve this database, one row for each role: each says so every five seconds. */
export const liveProcesses = pgTable('live_processes', {
  id: uuid().primaryKey(),
  /** As a resolver, or as a control plane. */
  resolves: boolean().notNull(),
  seenAt: moment().notNull(),
})
