/** The rows of people. Only `sessions.ts` writes the rows of their sessions. */
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { toBase64 } from '../../core/crypto/encoding.ts'
import type { Database, Transaction } from '../../database/open.ts'
import { passkeys, users } from '../../database/schema/index.ts'
import type { ShownKeys } from '../../sigchain/index.ts'

export type User = typeof users.$inferSelect

/** Any constant does, as long as nothing else in this database locks it. */
const REGISTRATION_LOCK = 7_310_542

/** Makes registrations wait for each other until their transactions end, so that one comes first. */
export async function queueRegistrations(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${REGISTRATION_LOCK})`)
}

export async function hasUsers(db: Database | Transaction): Promise<boolean> {
  const rows = await db.select({ id: users.id }).from(users).limit(1)
  return rows.length > 0
}

/** The new row, or `null` when the address has an account. */
export async function insertUser(
  tx: Transaction,
  values: typeof users.$inferInsert,
): Promise<User | null> {
  const [user] = await tx.insert(users).values(values).onConflictDoNothing().returning()
  return user ?? null
}

/** `email` in lower case. */
export async function findUserByEmail(
  db: Database | Transaction,
  email: string,
): Promise<User | null> {
  const [user] = await db.select().from(users).where(eq(users.email, email))
  return user ?? null
}

/** The row of an authenticated person. */
export async function getUser(db: Database | Transaction, userId: string): Promise<User> {
  const [user] = await db.select().from(users).where(eq(users.id, userId))
  if (!user) throw new Error('an authenticated account does not exist')
  return user
}

/** The hash that was checked: changes only happen if it is still the current one. */
export type AccountProof = { passwordHash: string } | { recoveryVerifierHash: string }

/**
 * Locks the row against other log-ins and changes, with `update` also against new memberships; returns whether the
 * proof is still valid.
 */
export async function lockUser(
  tx: Transaction,
  userId: string,
  proof: AccountProof,
  strength: 'no key update' | 'update' = 'no key update',
): Promise<boolean> {
  const rows = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, userId), buildStillHolds(proof)))
    .for(strength)
  return rows.length > 0
}

/** Changes password or recovery data. Returns whether the proof was still valid. */
export async function updateCredentials(
  tx: Transaction,
  userId: string,
  proof: AccountProof,
  values: Partial<typeof users.$inferInsert>,
): Promise<boolean> {
  const rows = await tx
    .update(users)
    .set({ ...values, updatedAt: sql`now()` })
    .where(and(eq(users.id, userId), buildStillHolds(proof)))
    .returning({ id: users.id })
  return rows.length > 0
}

/** They open to keys that the account no longer has; the passkeys go on to log in. */
export async function dropSeedCopies(tx: Transaction, userId: string): Promise<void> {
  await tx.update(passkeys).set({ encryptedSeed: null }).where(eq(passkeys.userId, userId))
}

export async function deletePasskeys(tx: Transaction, userId: string): Promise<void> {
  await tx.delete(passkeys).where(eq(passkeys.userId, userId))
}

/** Also deletes sessions, passkeys and remaining memberships. */
export async function deleteUser(tx: Transaction, userId: string): Promise<void> {
  await tx.delete(users).where(eq(users.id, userId))
}

function buildStillHolds(proof: AccountProof): SQL {
  return 'passwordHash' in proof
    ? eq(users.passwordHash, proof.passwordHash)
    : eq(users.recoveryVerifierHash, proof.recoveryVerifierHash)
}

/** The public keys of a person, by which others know them. */
export function showKeys({ signingKey, publicKey }: User): ShownKeys {
  return { signing_key: signingKey && toBase64(signingKey), public_key: toBase64(publicKey) }
}

/** A person as the contract shows them. */
export function showUser(user: User) {
  return {
    id: user.id,
    email: user.email,
    first_name: user.firstName,
    last_name: user.lastName,
    ...showKeys(user),
    is_instance_owner: user.isInstanceOwner,
    created_at: user.createdAt,
    updated_at: user.updatedAt,
  }
}
