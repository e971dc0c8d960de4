/** Checks that the database is reachable, not newer than this version, and fits the key. Writes nothing. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../core/config/config.ts'
import { openLog } from '../../core/log.ts'
import { CLUSTER } from '../../database/embedded/data_directory.ts'
import { DataDirectoryError } from '../../database/embedded/open.ts'
import { countPendingMigrations } from '../../database/migrations/migrate.ts'
import type { Connection } from '../../database/open.ts'
import { requireKeys } from '../../database/prepare.ts'
import { withConnection } from '../connection.ts'
import { Failed } from './check.ts'

/** @throws Error with the problem */
export async function checkDatabase(config: Config): Promise<string> {
  const cluster = join(config.DATA_DIR, CLUSTER)
  if (config.DB_HOST === undefined && !existsSync(cluster))
    return 'embedded: no database yet; the first start creates it'
  // Another user's start would leave files that the server cannot read.
  if (config.DB_HOST === undefined && statSync(cluster).uid !== process.getuid?.())
    throw new Failed('not checked: it belongs to another user')
  try {
    return await withServerDatabase(config, (connection) => describe(connection, config))
  } catch (error) {
    if (!(error instanceof DataDirectoryError) || error.problem !== 'in_use') throw error
    return 'embedded: in use by a server (check that one with cloakroom health)'
  }
}

async function describe({ sql, db, location }: Connection, config: Config): Promise<string> {
  const pending = await countPendingMigrations(sql)
  if (pending === null) return `${location}: no tables yet; the first start creates them`
  if (pending > 0) return `${location}: the next start applies ${pending} migrations`
  await requireKeys(db, config, openLog('error'))
  return `${location}: ENCRYPTION_KEY and SECRET_KEY fit`
}

/** Connects once, without retries. */
export function withServerDatabase<T>(
  config: Config,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  return withConnection({ ...config, DB_WAIT_SECONDS: 0, LOG_LEVEL: 'error' }, use, () => undefined)
}
