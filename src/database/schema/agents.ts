/** Agents and their tokens. The database holds verifiers and public keys, so it can use no token. */
import { sql } from 'drizzle-orm'
import {
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import type { Capability } from '../../core/capability.ts'
import type { TokenLimits } from '../../core/token_limits.ts'
import { users } from './accounts.ts'
import { bytes, createdAt, id, moment } from './columns.ts'
import { workspaces } from './workspaces.ts'

const workspaceId = () =>
  uuid()
    .notNull()
    .references(() => workspaces.id, { onDelete: 'cascade' })

/** Deleted agents stay for the audit. `projectId` has no foreign key: a scope outlives its project. */
export const agents = pgTable(
  'agents',
  {
    id: id(),
    workspaceId: workspaceId(),
    projectId: uuid(),
    name: text().notNull(),
    deletedAt: moment(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex('agents_live_name')
      .on(
        table.workspaceId,
        sql`coalesce(${table.projectId}, '00000000-0000-0000-0000-000000000000')`,
        table.name,
      )
      .where(sql`${table.deletedAt} is null`),
  ],
)

export const tokens = pgTable(
  'tokens',
  {
    /** The id inside the token; a client may have chosen it. */
    id: uuid().primaryKey(),
    workspaceId: workspaceId(),
    kind: text({ enum: ['agent', 'workload'] }).notNull(),
    agentId: uuid().references(() => agents.id, { onDelete: 'cascade' }),
    projectId: uuid(),
    environment: text(),
    label: text().notNull(),
    capabilities: jsonb().$type<readonly Capability[]>().notNull(),
    /** Hosts that the token is narrowed to (protocol 6.3); null for all. */
    hosts: jsonb().$type<readonly string[]>(),
    secrets: jsonb().$type<readonly string[]>(),
    /** The token's limits (protocol 6.3); null without limits. */
    limits: jsonb().$type<TokenLimits>(),
    /** The pepper's key id and the MAC of SHA-256(tokenAuth), protocol 4. */
    verifier: bytes().notNull(),
    publicKey: bytes().notNull(),
    expiresInDays: integer(),
    expiresAt: moment(),
    revokedAt: moment(),
    /** Written by versions before 0021, and kept for them. `tokenUses` has later uses. */
    lastUsedAt: moment(),
    createdBy: uuid().references(() => users.id, { onDelete: 'set null' }),
    createdAt: createdAt(),
  },
  (table) => [
    index().on(table.workspaceId),
    // In the order of a holder's list, so that a page reads its own rows only.
    index().on(table.agentId, table.createdAt, table.id),
    index().on(table.projectId, table.kind, table.createdAt, table.id),
    // Active tokens have a quota; revoked and expired ones pile up beside them.
    index('tokens_active')
      .on(table.agentId, sql`coalesce(${table.expiresAt}, 'infinity'::timestamptz)`)
      .where(sql`${table.revokedAt} is null`),
    check(
      'tokens_capabilities',
      sql`${table.capabilities} in ('["use"]', '["use", "read"]', '["read"]')`,
    ),
  ],
)

/**
 * Last uses, separate from `tokens`, so that the resolver's user cannot lock its rows. It has no foreign key, which
 * could delay deletions. Rows of deleted tokens are swept.
 */
export const tokenUses = pgTable('token_uses', {
  tokenId: uuid().primaryKey(),
  lastUsedAt: moment().notNull(),
})

export const tokenEnvelopes = pgTable(
  'token_envelopes',
  {
    tokenId: uuid()
      .notNull()
      .references(() => tokens.id, { onDelete: 'cascade' }),
    workspaceId: workspaceId(),
    projectId: uuid().notNull(),
    environment: text().notNull(),
    epoch: integer().notNull(),
    /** Sealed: `token_envelopes.envelope`. */
    envelope: bytes().notNull(),
    /** The signature of a signed workspace's administrator; null in plain workspaces. */
    statement: text(),
    signature: bytes(),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.tokenId, table.projectId, table.environment] })],
)
