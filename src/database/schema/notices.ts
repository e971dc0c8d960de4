/** Targets of a workspace's notices, and the queue of undelivered ones (protocol 14.5). */
import { sql } from 'drizzle-orm'
import { index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { bytes, createdAt, moment } from './columns.ts'
import { workspaces } from './workspaces.ts'

const workspaceId = () =>
  uuid()
    .notNull()
    .references(() => workspaces.id, { onDelete: 'cascade' })

export const noticeTargets = pgTable(
  'notice_targets',
  {
    id: uuid().primaryKey(),
    workspaceId: workspaceId(),
    type: text({ enum: ['webhook', 'slack', 'discord', 'ntfy'] }).notNull(),
    /** The URL's host; the URL itself is in `secret`. */
    host: text().notNull(),
    events: jsonb().$type<string[]>().notNull(),
    /** The URL and the signing key as JSON. Sealed: `notice_targets.secret`. */
    secret: bytes().notNull(),
    createdBy: uuid(),
    createdAt: createdAt(),
    /** A deleted target gets one last notice. Its row is deleted when that notice has ended. */
    deletedAt: moment(),
  },
  (table) => [index().on(table.workspaceId)],
)

/** One row per notice and target. Delivered and failed rows are the delivery log. */
export const noticeQueue = pgTable(
  'notices',
  {
    id: uuid().primaryKey(),
    workspaceId: workspaceId(),
    targetId: uuid()
      .notNull()
      .references(() => noticeTargets.id, { onDelete: 'cascade' }),
    event: text().notNull(),
    /** The cause of the notice: a target gets one notice per cause. */
    cause: text().notNull(),
    body: jsonb().$type<Record<string, unknown>>().notNull(),
    status: text({ enum: ['queued', 'delivered', 'failed'] })
      .notNull()
      .default('queued'),
    attempts: integer().notNull().default(0),
    createdAt: createdAt(),
    /** When the next attempt is due, or when the notice ended. A sending process moves it ahead first. */
    nextAt: moment().notNull(),
    attemptedAt: moment(),
    /** Why the last attempt failed: a status code or an error code. */
    lastError: text(),
  },
  (table) => [
    uniqueIndex('notices_cause').on(table.targetId, table.cause),
    index('notices_due').on(table.status, table.nextAt),
    index('notices_queued').on(table.targetId).where(sql`status = 'queued'`),
    index('notices_by_time').on(table.workspaceId, table.createdAt, table.id),
  ],
)
