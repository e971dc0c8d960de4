/** The rows of passkeys. Accounts drop the copies of seeds, and all of them, where an account's keys or owner change. */
import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { lp } from '../../core/crypto/encoding.ts'
import type { OuterLayer } from '../../core/crypto/outer_layer.ts'
import type { Pepper } from '../../core/crypto/pepper.ts'
import { sha256 } from '../../core/crypto/primitives.ts'
import type { Database, Transaction } from '../../database/open.ts'
import { passkeys } from '../../database/schema/index.ts'
import type { Page } from '../../http/page.ts'

export type StoredPasskey = typeof passkeys.$inferSelect

type Place = Pick<StoredPasskey, 'id' | 'userId'>

export function sealSeed(outer: OuterLayer, { id, userId }: Place, seed: Uint8Array) {
  return outer.seal('passkeys.encrypted_seed', userId, [{ uuid: userId }, { uuid: id }], seed)
}

/** Null for none, and for what was not sealed for this row. */
export async function openSeed(
  outer: OuterLayer,
  { id, userId, encryptedSeed: blob }: Place & Pick<StoredPasskey, 'encryptedSeed'>,
): Promise<Uint8Array | null> {
  const row = [{ uuid: userId }, { uuid: id }]
  return blob && outer.open('passkeys.encrypted_seed', userId, row, blob)
}

type Key = Place & Pick<StoredPasskey, 'rpId' | 'credentialId' | 'publicKey'>

/** The account and host of a key: the data that is stored with the pepper. */
export function sealKey(pepper: Pepper, key: Key): Uint8Array {
  return pepper.sealVerifier(...keyOf(key))
}

/** `wrong` for a row that was made up, altered or moved. */
export function matchKey(pepper: Pepper, key: Key & Pick<StoredPasskey, 'verifier'>) {
  return pepper.matchVerifier(...keyOf(key), key.verifier)
}

function keyOf({ id, userId: ownerId, rpId, credentialId, publicKey }: Key) {
  return [{ kind: 'pky', id, ownerId }, sha256(lp(rpId, credentialId, publicKey))] as const
}

const own = (userId: string, id: string) => and(eq(passkeys.userId, userId), eq(passkeys.id, id))

/** Newest first; one row more than the page holds. */
export function selectPasskeys(
  db: Database,
  userId: string,
  { after: [before], limit }: Page,
): Promise<StoredPasskey[]> {
  const earlier = before === undefined ? undefined : lt(passkeys.id, before)
  return db
    .select()
    .from(passkeys)
    .where(and(eq(passkeys.userId, userId), earlier))
    .orderBy(desc(passkeys.id))
    .limit(limit + 1)
}

export async function findPasskey(db: Database, userId: string, id: string) {
  const [found] = await db.select().from(passkeys).where(own(userId, id))
  return found ?? null
}

export async function findByCredential(db: Database, credentialId: Uint8Array) {
  const [found] = await db.select().from(passkeys).where(eq(passkeys.credentialId, credentialId))
  return found ?? null
}

/** Null if the credential already exists. */
export async function insertPasskey(tx: Transaction, values: typeof passkeys.$inferInsert) {
  const [row] = await tx.insert(passkeys).values(values).onConflictDoNothing().returning()
  return row ?? null
}

export async function updatePasskey(
  tx: Transaction,
  { userId, id }: Pick<StoredPasskey, 'userId' | 'id'>,
  values: Partial<Pick<StoredPasskey, 'label' | 'encryptedSeed'>>,
) {
  const [row] = await tx.update(passkeys).set(values).where(own(userId, id)).returning()
  return row ?? null
}

/** Tells whether nobody has used it since it was read: of two that show the same counter one is a copy. */
export async function countUse(
  tx: Transaction,
  { userId, id, counter: before }: StoredPasskey,
  used: Partial<Pick<StoredPasskey, 'counter' | 'verifier'>>,
): Promise<boolean> {
  const rows = await tx
    .update(passkeys)
    .set({ ...used, lastUsedAt: sql`now()` })
    .where(and(own(userId, id), eq(passkeys.counter, before)))
    .returning({ id: passkeys.id })
  return rows.length > 0
}

export async function deletePasskey(db: Database, userId: string, id: string): Promise<boolean> {
  const gone = await db.delete(passkeys).where(own(userId, id)).returning({ id: passkeys.id })
  return gone.length > 0
}
