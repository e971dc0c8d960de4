/** Requests to use held secrets, their releases, and proposals (protocol 14). */
import { sql } from 'drizzle-orm'
import { index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { callMethods } from '../../core/policy/policy.ts'
import { bytes, moment } from './columns.ts'
import { workspaces } from './workspaces.ts'

const workspaceId = () =>
  uuid()
    .notNull()
    .references(() => workspaces.id, { onDelete: 'cascade' })

/** The asking token, and its agent's ID and name: a request outlives both, so there is no foreign key. */
const requester = () => ({
  tokenId: uuid().notNull(),
  registrationId: uuid(),
  agent: text().notNull(),
})

type StoredSecret = { project_id: string; environment: string; key: string; held: boolean }
type StoredScope = { host: string; methods: (typeof callMethods)[number][]; path_prefix: string }

/** One row per request. Equal pending requests of a token are one row. */
export const approvals = pgTable(
  'approvals',
  {
    id: uuid().primaryKey(),
    workspaceId: workspaceId(),
    ...requester(),
    /** The call, as b64url HMAC-SHA256 under a key that the database has not. */
    digest: text().notNull(),
    host: text().notNull(),
    method: text().notNull(),
    /** All secrets that the call uses, by place and name. */
    secrets: jsonb().$type<StoredSecret[]>().notNull(),
    bodyBytes: integer(),
    bodyType: text(),
    /** Sealed: `approvals.details`. Null after 24 hours. */
    details: bytes(),
    status: text({ enum: ['pending', 'released', 'used', 'denied', 'revoked', 'expired'] })
      .notNull()
      .default('pending'),
    requestedAt: moment().notNull(),
    /** When a pending request expires, or a release. */
    expiresAt: moment().notNull(),
    decidedBy: uuid(),
    decidedAt: moment(),
    /** Until when a denial refuses all requests of the token for these secrets. */
    mutedUntil: moment(),
    statement: text(),
    signature: bytes(),
    /** Null for a release of one call. */
    scope: jsonb().$type<StoredScope>(),
    /** Sealed: `approvals.envelopes`. Null 24 hours after the end of the release. */
    envelopes: bytes(),
    usedAt: moment(),
    /** The request ID of the call that used a single release. */
    usedBy: uuid(),
  },
  (table) => [
    index('approvals_by_time').on(table.workspaceId, table.requestedAt, table.id),
    index('approvals_released')
      .on(table.workspaceId, table.tokenId)
      .where(sql`envelopes is not null`),
    index('approvals_by_token').on(table.tokenId, table.requestedAt),
    uniqueIndex('approvals_pending').on(table.tokenId, table.digest).where(sql`status = 'pending'`),
  ],
)

/** Hosts and secrets that an agent asks members to allow or to add. */
export const proposals = pgTable(
  'proposals',
  {
    id: uuid().primaryKey(),
    workspaceId: workspaceId(),
    ...requester(),
    reason: text().notNull(),
    hosts: jsonb().$type<string[]>().notNull(),
    secrets: jsonb().$type<{ key: string; description: string | null }[]>().notNull(),
    /** SHA-256 of the proposal: a token makes equal proposals only once. */
    contentHash: bytes().notNull(),
    status: text({ enum: ['open', 'accepted', 'rejected'] })
      .notNull()
      .default('open'),
    createdAt: moment().notNull(),
    /** When an open proposal expires. */
    expiresAt: moment().notNull(),
    closedBy: uuid(),
    closedAt: moment(),
  },
  (table) => [
    index('proposals_by_time').on(table.workspaceId, table.createdAt, table.id),
    uniqueIndex('proposals_content').on(table.tokenId, table.contentHash),
  ],
)
