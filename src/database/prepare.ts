/** Checks a database before anything listens: its schema is Cloakroom's, and its keys are this server's keys. */
import { isNull } from 'drizzle-orm'
import type { Config } from '../core/config/config.ts'
import { utf8 } from '../core/crypto/encoding.ts'
import { OuterLayer } from '../core/crypto/outer_layer.ts'
import { Pepper, secretKeysOf } from '../core/crypto/pepper.ts'
import { hkdf } from '../core/crypto/primitives.ts'
import type { Log } from '../core/log.ts'
import { checkEncryptionKey, requireEncryptionKey } from './keys/key_check.ts'
import { checkSecretKey } from './keys/secret_key_check.ts'
import { countPendingMigrations, migrate, migrations } from './migrations/migrate.ts'
import { OlderSchema } from './migrations/schema_error.ts'
import { demandNotMoving } from './moving.ts'
import type { Connection, Database } from './open.ts'
import { instance } from './schema/index.ts'

type Keys = Pick<Config, 'ENCRYPTION_KEY' | 'SECRET_KEY' | 'SECRET_KEY_LOST'>

type OpenedKeys = { outer: OuterLayer; pepper: Pepper; preloginKey: Uint8Array | null }

/**
 * A resolver on PostgreSQL only checks: its user can neither write these rows nor read accounts.
 *
 * @throws ConfigError when ENCRYPTION_KEY does not open the data, or SECRET_KEY did not make it; SchemaError;
 *   ServerUnreachable while its rows are moved
 */
export async function prepareDatabase(
  { sql, db, kind }: Connection,
  { ROLE, ...keys }: Keys & Pick<Config, 'ROLE'>,
  log: Log,
): Promise<OpenedKeys> {
  if (kind === 'postgresql') await demandNotMoving(sql)
  if (ROLE === 'resolver' && kind === 'postgresql') {
    const pending = await countPendingMigrations(sql)
    if (pending !== 0) throw new OlderSchema(pending)
    return await requireKeys(db, { ...keys, ROLE }, log)
  }
  const onWait = () => log.warning('a migration is blocked by other transactions')
  const applied = await migrate(sql, migrations, { onWait })
  if (applied > 0) log.info('migrated', { applied })
  return await checkKeys(db, keys, log)
}

/** Checks keys without changes, as far as a process of that role may read. @throws ConfigError */
export async function requireKeys(
  db: Database,
  { ROLE, ...keys }: Keys & Pick<Config, 'ROLE'>,
  log: Log,
): Promise<OpenedKeys> {
  const pepper = Pepper.parse(keys.SECRET_KEY)
  const of = ROLE === 'resolver' ? 'tokens' : 'all'
  await checkSecretKey(db, { pepper, lost: keys.SECRET_KEY_LOST, of }, log)
  const outer = OuterLayer.parse(keys.ENCRYPTION_KEY)
  await requireEncryptionKey(db, outer)
  return { outer, pepper, preloginKey: null }
}

/** @throws ConfigError */
export async function checkKeys(
  db: Database,
  { ENCRYPTION_KEY, SECRET_KEY, SECRET_KEY_LOST: lost }: Keys,
  log: Log,
): Promise<OpenedKeys> {
  const pepper = Pepper.parse(SECRET_KEY)
  await checkSecretKey(db, { pepper, lost, of: 'all' }, log)
  const outer = OuterLayer.parse(ENCRYPTION_KEY)
  await checkEncryptionKey(db, outer)
  return { outer, pepper, preloginKey: await settlePreloginKey(db, SECRET_KEY) }
}

/**
 * Settles the key of the fake salts that prelogin answers for addresses without an account (protocol 5.1). It is kept
 * in the database, because a key that followed SECRET_KEY would change at a rotation: the salts of unknown addresses
 * would change with it, the salts of accounts would not, and a stranger could tell them apart.
 *
 * It is stored in the clear: it only hides which addresses have accounts, and the table of users shows those to any
 * reader of the database. It is an HKDF output, from which SECRET_KEY cannot be computed.
 *
 * If the database has no key, it is derived from the first SECRET_KEY as in earlier versions, so that an upgrade
 * changes no answer. If several processes start together, the first one's key is used by all.
 *
 * Requires the row of the instance, which `checkEncryptionKey` makes.
 */
async function settlePreloginKey(db: Database, secretKey: string): Promise<Uint8Array> {
  const [first] = secretKeysOf(secretKey)
  const derived = hkdf(utf8(first), new Uint8Array(), 'cloakroom/v1/prelogin')
  await db.update(instance).set({ preloginKey: derived }).where(isNull(instance.preloginKey))
  const [row] = await db.select({ key: instance.preloginKey }).from(instance)
  return row?.key ?? derived
}
