/** People and their sessions. The secrets that unlock their keys never reach these tables. */
import { bigint, boolean, index, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, moment, updatedAt } from './columns.ts'

/** The client's key derivation (protocol 3.1), as sent on the wire. */
type StoredKdf = {
  algorithm: 'argon2id'
  memory_kib: number
  iterations: number
  parallelism: number
}

export const users = pgTable('users', {
  id: id(),
  /** Lower-case. */
  email: text().notNull().unique(),
  firstName: text().notNull().default(''),
  lastName: text().notNull().default(''),
  /** Argon2id under the pepper of the client's derived password (protocol 4). */
  passwordHash: text().notNull(),
  keySalt: text().notNull(),
  kdf: jsonb().$type<StoredKdf>().notNull(),
  publicKey: bytes().notNull(),
  /** Ed25519, with the proof that it belongs to the address and the public key; null in accounts without one. */
  signingKey: bytes(),
  keyProof: bytes(),
  /** Sealed: `users.encrypted_private_key`. */
  encryptedPrivateKey: bytes().notNull(),
  recoveryVerifierHash: text(),
  /** Sealed: `users.recovery_private_key`. */
  recoveryPrivateKey: bytes(),
  isInstanceOwner: boolean().notNull().default(false),
  termsAgreedAt: moment(),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
})

/** One log-in. Its tokens are replaced with each refresh. */
export const sessions = pgTable(
  'sessions',
  {
    id: id(),
    userId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The passkey that opened the session, if any. The session ends with the passkey. */
    passkeyId: uuid().references(() => passkeys.id, { onDelete: 'cascade' }),
    userAgent: text().notNull().default(''),
    revokedAt: moment(),
    lastUsedAt: createdAt(),
    createdAt: createdAt(),
  },
  (table) => [index().on(table.userId), index().on(table.passkeyId)],
)

export const sessionTokens = pgTable(
  'session_tokens',
  {
    /** The id inside the token. */
    id: uuid().primaryKey(),
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    kind: text({ enum: ['access', 'refresh'] }).notNull(),
    /** The pepper's key id and the MAC of SHA-256(tokenAuth), protocol 4. */
    verifier: bytes().notNull(),
    expiresAt: moment().notNull(),
    /** Refresh tokens only: when a successor was issued. */
    rotatedAt: moment(),
    createdAt: createdAt(),
  },
  (table) => [index().on(table.sessionId)],
)

/** Passkeys for sign-in, which may include a wrapped copy of the account's seed. */
export const passkeys = pgTable(
  'passkeys',
  {
    id: id(),
    userId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The host name whose pages may use it. */
    rpId: text().notNull(),
    credentialId: bytes().notNull().unique(),
    publicKey: bytes().notNull(),
    /** The pepper's key id and the MAC of the row: an inserted row is no log-in (protocol 4.1). */
    verifier: bytes().notNull(),
    counter: bigint({ mode: 'number' }).notNull(),
    transports: text().array().notNull(),
    label: text().notNull(),
    /** Sealed: `passkeys.encrypted_seed`; null if it cannot unlock, or the keys were replaced since. */
    encryptedSeed: bytes(),
    lastUsedAt: moment(),
    createdAt: createdAt(),
  },
  (table) => [index().on(table.userId)],
)

/** Used challenges, kept beyond their validity, so that none is used twice. */
export const spentChallenges = pgTable('spent_challenges', {
  challenge: bytes().primaryKey(),
  spentAt: createdAt(),
})
