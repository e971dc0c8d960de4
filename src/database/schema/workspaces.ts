/** Tenants: their members, their contents, and the hosts to which they may send. */
import {
  bigint,
  boolean,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core'
import { roles } from '../../core/grant.ts'
import { users } from './accounts.ts'
import { bytes, createdAt, id, moment, updatedAt } from './columns.ts'

export const workspaces = pgTable('workspaces', {
  id: id(),
  name: text().notNull(),
  type: text({ enum: ['personal', 'shared'] }).notNull(),
  /** Counts the workspace keys: a rekey makes the next one. */
  epoch: integer().notNull().default(1),
  rekeyRequired: boolean().notNull().default(false),
  /**
   * Grows with every change that affects the resolver's decisions (triggers in the migrations), so that a cache filled
   * under an older number is detected when the audit intent is written.
   */
  policyVersion: bigint({ mode: 'number' }).notNull().default(1),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
})

const workspaceId = () =>
  uuid()
    .notNull()
    .references(() => workspaces.id, { onDelete: 'cascade' })

/**
 * SHA-256 of the client's ciphertext; null in workspaces that are not signed. Lists show it, and it is compared with
 * the signed hash, so that no value has to be opened for that. Readers of values compute their hashes.
 */
const valueHash = () => bytes()

export const memberships = pgTable(
  'memberships',
  {
    id: id(),
    workspaceId: workspaceId(),
    userId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    role: text({ enum: roles }).notNull(),
    status: text({ enum: ['active', 'invited'] }).notNull(),
    /** Sealed: `memberships.encrypted_workspace_key`. */
    encryptedWorkspaceKey: bytes().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [unique().on(table.workspaceId, table.userId), index().on(table.userId)],
)

export const allowlistEntries = pgTable(
  'allowlist_entries',
  {
    id: id(),
    workspaceId: workspaceId(),
    domain: text().notNull(),
    addedBy: uuid().references(() => users.id, { onDelete: 'set null' }),
    addedAt: createdAt(),
  },
  (table) => [unique().on(table.workspaceId, table.domain)],
)

export const allowlistLog = pgTable(
  'allowlist_log',
  {
    id: id(),
    workspaceId: workspaceId(),
    domain: text().notNull(),
    action: text({ enum: ['added', 'removed'] }).notNull(),
    performedBy: uuid().references(() => users.id, { onDelete: 'set null' }),
    performedAt: createdAt(),
  },
  (table) => [index().on(table.workspaceId, table.id)],
)

export const projects = pgTable(
  'projects',
  {
    id: id(),
    workspaceId: workspaceId(),
    name: text().notNull(),
    description: text().notNull().default(''),
    /** Environments that exist although nothing is stored in them yet. */
    environments: text().array().notNull().default([]),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [unique().on(table.workspaceId, table.name)],
)

export const secrets = pgTable(
  'secrets',
  {
    id: id(),
    workspaceId: workspaceId(),
    projectId: uuid()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    environment: text().notNull(),
    key: text().notNull(),
    /** In the outer layer; beneath it the client's ciphertext. */
    sealed: bytes('value').notNull(),
    valueHash: valueHash(),
    /** `json`, not `jsonb`: kept as sent, because the ciphertext binds it. */
    policy: json().$type<unknown>(),
    version: integer().notNull().default(1),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    unique().on(table.projectId, table.environment, table.key),
    index().on(table.workspaceId, table.environment, table.key),
  ],
)

/** The last ten values of each secret, the current one included. */
export const secretVersions = pgTable(
  'secret_versions',
  {
    secretId: uuid()
      .notNull()
      .references(() => secrets.id, { onDelete: 'cascade' }),
    version: integer().notNull(),
    /** In the outer layer; beneath it the client's ciphertext. */
    sealed: bytes('value').notNull(),
    valueHash: valueHash(),
    policy: json().$type<unknown>(),
    createdBy: uuid().references(() => users.id, { onDelete: 'set null' }),
    createdAt: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.secretId, table.version] })],
)

/**
 * Deleted projects, for the days in which they can be restored. They are rows of a separate table, and not marked ones
 * of `projects`, so that no query can overlook the deletion.
 */
export const deletedProjects = pgTable(
  'deleted_projects',
  {
    id: uuid().primaryKey(),
    workspaceId: workspaceId(),
    name: text().notNull(),
    description: text().notNull(),
    environments: text().array().notNull().default([]),
    createdAt: moment().notNull(),
    updatedAt: moment().notNull(),
    deletedAt: createdAt(),
  },
  (table) => [index().on(table.workspaceId), index().on(table.deletedAt)],
)

/** Secrets that were deleted, alone or with their project: rows of `secrets`, with blobs bound to these places. */
export const deletedSecrets = pgTable(
  'deleted_secrets',
  {
    id: uuid().primaryKey(),
    workspaceId: workspaceId(),
    projectId: uuid().notNull(),
    environment: text().notNull(),
    key: text().notNull(),
    sealed: bytes('value').notNull(),
    valueHash: valueHash(),
    policy: json().$type<unknown>(),
    version: integer().notNull(),
    createdAt: moment().notNull(),
    updatedAt: moment().notNull(),
    /** The project with which it was deleted and is restored; null if only the secret was deleted. */
    deletedWith: uuid().references(() => deletedProjects.id, { onDelete: 'cascade' }),
    deletedAt: createdAt(),
  },
  (table) => [
    index().on(table.projectId),
    index().on(table.deletedWith),
    index().on(table.deletedAt),
  ],
)

export const deletedSecretVersions = pgTable(
  'deleted_secret_versions',
  {
    secretId: uuid()
      .notNull()
      .references(() => deletedSecrets.id, { onDelete: 'cascade' }),
    version: integer().notNull(),
    sealed: bytes('value').notNull(),
    valueHash: valueHash(),
    policy: json().$type<unknown>(),
    createdBy: uuid().references(() => users.id, { onDelete: 'set null' }),
    createdAt: moment().notNull(),
  },
  (table) => [primaryKey({ columns: [table.secretId, table.version] })],
)
