/** What must hold of a database before anything listens: its schema is ours, and our keys are its keys. */
import type { Config } from '../config/config.ts'
import { OuterLayer } from '../crypto/outer_layer.ts'
import { Pepper } from '../crypto/pepper.ts'
import type { Log } from '../log.ts'
import { checkEncryptionKey } from './key_check.ts'
import { migrate, migrations } from './migrate.ts'
import type { Connection, Database } from './open.ts'
import { checkSecretKey } from './secret_key_check.ts'

type Keys = Pick<Config, 'ENCRYPTION_KEY' | 'SECRET_KEY' | 'SECRET_KEY_LOST'>

/** @throws ConfigError when ENCRYPTION_KEY does not open the data, or SECRET_KEY did not make it */
export async function prepareDatabase(
  { sql, db }: Connection,
  keys: Keys,
  log: Log,
): Promise<{ outer: OuterLayer; pepper: Pepper }> {
  const onWait = () => log.warning('a migration waits for other transactions')
  const applied = await migrate(sql, migrations, { onWait })
  if (applied > 0) log.info('migrated', { applied })
  return await checkKeys(db, keys, log)
}

/** @throws ConfigError */
export async function checkKeys(
  db: Database,
  { ENCRYPTION_KEY, SECRET_KEY, SECRET_KEY_LOST: lost }: Keys,
  log: Log,
): Promise<{ outer: OuterLayer; pepper: Pepper }> {
  const pepper = Pepper.parse(SECRET_KEY)
  await checkSecretKey(db, { pepper, lost }, log)
  const outer = OuterLayer.parse(ENCRYPTION_KEY)
  await checkEncryptionKey(db, outer)
  return { outer, pepper }
}
