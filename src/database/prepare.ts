/** What must hold of a database before anything listens: its schema is ours, and our keys are its keys. */
import type { Config } from '../core/config/config.ts'
import { OuterLayer } from '../core/crypto/outer_layer.ts'
import { Pepper } from '../core/crypto/pepper.ts'
import type { Log } from '../core/log.ts'
import { checkEncryptionKey, requireEncryptionKey } from './keys/key_check.ts'
import { settlePreloginKey } from './keys/prelogin_key.ts'
import { checkSecretKey } from './keys/secret_key_check.ts'
import { migrate, migrations, pendingMigrations } from './migrations/migrate.ts'
import { OlderSchema } from './migrations/schema_error.ts'
import { demandNotMoving } from './moving.ts'
import type { Connection, Database } from './open.ts'

type Keys = Pick<Config, 'ENCRYPTION_KEY' | 'SECRET_KEY' | 'SECRET_KEY_LOST'>

type OpenedKeys = { outer: OuterLayer; pepper: Pepper; preloginKey: Uint8Array | null }

/**
 * A resolver on PostgreSQL only looks: its user may write nothing of this, and read no accounts.
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
    const pending = await pendingMigrations(sql)
    if (pending !== 0) throw new OlderSchema(pending)
    return await requireKeys(db, { ...keys, ROLE }, log)
  }
  const onWait = () => log.warning('a migration waits for other transactions')
  const applied = await migrate(sql, migrations, { onWait })
  if (applied > 0) log.info('migrated', { applied })
  return await checkKeys(db, keys, log)
}

/** Only looks, at what a process of that role may read. @throws ConfigError */
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
