/** Proves at start that ENCRYPTION_KEY opens the data: a server that cannot read its data must not begin to listen. */
import { ConfigError } from '../../core/config/config.ts'
import type { OuterLayer } from '../../core/crypto/outer_layer.ts'
import type { Database } from '../open.ts'
import { instance } from '../schema/index.ts'

/** @throws ConfigError when the key is another one than the data was sealed under */
export async function checkEncryptionKey(db: Database, outer: OuterLayer): Promise<void> {
  await db
    .insert(instance)
    .values({ keyCheck: await outer.sealCheck() })
    .onConflictDoNothing()
  await requireEncryptionKey(db, outer)
}

/** The same check, without creating a missing key check value. @throws ConfigError */
export async function requireEncryptionKey(db: Database, outer: OuterLayer): Promise<void> {
  const [row] = await db.select({ keyCheck: instance.keyCheck }).from(instance)
  if (!row || (await outer.openCheck(row.keyCheck))) return
  throw new ConfigError([
    'ENCRYPTION_KEY: cannot decrypt the data in this database (restore the previous key; to rotate, put the new key before the old one, separated by a comma)',
  ])
}
