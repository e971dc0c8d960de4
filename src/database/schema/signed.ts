/**
 * Texts that members of signed workspaces signed, as sent. These tables are trusted only for the signatures. The
 * version of a workspace's id marks it as signed, so that no row can make it plain.
 */
import { integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { tokens } from './agents.ts'
import { bytes, createdAt } from './columns.ts'
import { workspaces } from './workspaces.ts'

const workspaceId = () =>
  uuid()
    .notNull()
    .references(() => workspaces.id, { onDelete: 'cascade' })

const signed = { statement: text().notNull(), signature: bytes().notNull() }

export const workspaceLinks = pgTable(
  'workspace_links',
  {
    workspaceId: workspaceId(),
    /** Counts from 1 without a gap. */
    seq: integer().notNull(),
    ...signed,
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.seq] })],
)

export const tokenGrants = pgTable('token_grants', {
  tokenId: uuid()
    .primaryKey()
    .references(() => tokens.id, { onDelete: 'cascade' }),
  workspaceId: workspaceId(),
  ...signed,
  binding: bytes().notNull(),
})

/** One for each environment with a write so far. Its project may be deleted and restored. */
export const manifests = pgTable(
  'manifests',
  {
    workspaceId: workspaceId(),
    projectId: uuid().notNull(),
    environment: text().notNull(),
    revision: integer().notNull(),
    ...signed,
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.projectId, table.environment] })],
)
