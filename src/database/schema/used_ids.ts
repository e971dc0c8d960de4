/**
 * IDs that were given out, kept after their rows are deleted (protocol 5.1): a second workspace with the ID of a
 * deleted one would read its audit, and a second token would make a revoked one valid again.
 */
import { pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'

/** Triggers (migration 0022) add a row for each new row of these tables, in the same transaction. Nothing deletes one. */
export const usedIds = pgTable(
  'used_ids',
  {
    kind: text({ enum: ['workspace', 'account', 'agent', 'token', 'project'] }).notNull(),
    id: uuid().notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.id] })],
)
