/** What must hold of a database before anything listens: its schema is ours, and our key opens its data. */
import { OuterLayer } from '../crypto/outer_layer.ts'
import type { Log } from '../log.ts'
import { checkEncryptionKey } from './key_check.ts'
import { migrate } from './migrate.ts'
import type { Connection } from './open.ts'

/** @throws ConfigError when ENCRYPTION_KEY does not open the data */
export async function prepareDatabase(
  { sql, db }: Connection,
  { ENCRYPTION_KEY }: { ENCRYPTION_KEY: string },
  log: Log,
): Promise<OuterLayer> {
  const applied = await migrate(sql)
  if (applied > 0) log.info('migrated', { applied })
  const outer = OuterLayer.parse(ENCRYPTION_KEY)
  await checkEncryptionKey(db, outer)
  return outer
}
