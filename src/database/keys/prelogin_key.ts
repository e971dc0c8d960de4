/**
 * The key of the fake salts that prelogin answers for addresses without an account (protocol 5.1). It is kept in the
 * database, because a key that followed SECRET_KEY would change at a rotation: the salts of unknown addresses would change
 * with it, the salts of accounts would not, and a stranger could tell them apart.
 *
 * It is stored in the clear: it only hides which addresses have accounts, and the table of users shows those to any
 * reader of the database. It is an HKDF output, from which SECRET_KEY cannot be computed.
 */
import { isNull } from 'drizzle-orm'
import { utf8 } from '../../core/crypto/encoding.ts'
import { secretKeysOf } from '../../core/crypto/pepper.ts'
import { hkdf } from '../../core/crypto/primitives.ts'
import type { Database } from '../open.ts'
import { instance } from '../schema/index.ts'

/**
 * Reads the key, and stores it first where the database has none: derived from the first SECRET_KEY as versions before
 * did, so that an upgrade changes no answer. Of processes that start together the first one decides for all.
 *
 * Requires the row of the instance, which `checkEncryptionKey` makes.
 */
export async function settlePreloginKey(db: Database, secretKey: string): Promise<Uint8Array> {
  const [first] = secretKeysOf(secretKey)
  const derived = hkdf(utf8(first), new Uint8Array(), 'cloakroom/v1/prelogin')
  await db.update(instance).set({ preloginKey: derived }).where(isNull(instance.preloginKey))
  const [row] = await db.select({ key: instance.preloginKey }).from(instance)
  return row?.key ?? derived
}
