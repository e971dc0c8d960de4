/** Derived credentials: the sealed state of a secret's short-lived credential, and hints about it. */
import { bigint, boolean, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, moment } from './columns.ts'
import { workspaces } from './workspaces.ts'

/**
 * At most one row per secret. It outlives a deleted secret for as long as that can be restored (triggers in
 * migration 0027), so it references neither the secret nor the project.
 */
export const derivedStates = pgTable(
  'derived_states',
  {
    workspaceId: uuid()
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    projectId: uuid().notNull(),
    environment: text().notNull(),
    key: text().notNull(),
    /** Rises with each stored state. A new row starts at the time in milliseconds, above all earlier rows of its place. */
    generation: bigint({ mode: 'number' }).notNull(),
    /** Sealed: `derived.state`. Null until the first state is stored. */
    state: bytes(),
    derivedAt: moment(),
    /** When the credential expires; earlier once an upstream has rejected it. */
    expiresAt: moment(),
    leaseId: uuid(),
    leaseUntil: moment(),
    /** When a refresh token may have left without its successor being stored. */
    sentAt: moment(),
    failedAt: moment(),
    failedCode: text(),
    failures: integer().notNull().default(0),
    retryAt: moment(),
    /** Nothing is derived until the secret is written. */
    isFinal: boolean().notNull().default(false),
    /** Credentials that upstreams rejected since `expired_since`. */
    expiredCount: integer().notNull().default(0),
    expiredSince: moment(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.projectId, table.environment, table.key] }),
  ],
)
