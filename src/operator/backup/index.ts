/** Backups for the command line. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError, readConfig } from '../../core/config/config.ts'
import { CLUSTER, KEYS_FILE } from '../../database/embedded/data_directory.ts'
import { DataDirectoryError } from '../../database/embedded/open.ts'
import { SchemaError } from '../../database/migrations/schema_error.ts'
import { ServerUnreachable } from '../../database/reach.ts'
import { readOwnKeys } from '../own_keys.ts'
import { BackupProblem } from './problem.ts'

export { identitiesIn } from './file.ts'
export { backUp } from './make.ts'
export { move } from './move.ts'
export { restore } from './restore.ts'
export { BackupProblem, ConfigError }

/** Returns the server's settings, with its keys. @throws ConfigError if keys are missing: none are created */
export function serverConfig(): Config {
  return readConfig(process.env, (dataDir) => {
    if (existsSync(join(dataDir, KEYS_FILE))) return readOwnKeys(dataDir, () => {})
    if (!existsSync(join(dataDir, CLUSTER)))
      throw new ConfigError([
        `DATA_DIR: ${dataDir} has neither a database nor keys (set it as for the server, or set DB_HOST, SECRET_KEY and ENCRYPTION_KEY)`,
      ])
    throw new ConfigError([
      `ENCRYPTION_KEY: the server keys are missing (copy ${KEYS_FILE} into ${dataDir}, or set SECRET_KEY and ENCRYPTION_KEY)`,
    ])
  })
}

/** Returns the problem if a person can act on it, or `null` for a bug. */
export function problemIn(error: unknown): BackupProblem | null {
  if (error instanceof BackupProblem) return error
  if (error instanceof DataDirectoryError || error instanceof ServerUnreachable)
    return new BackupProblem('failed', error.message, error)
  if (error instanceof SchemaError)
    return new BackupProblem('failed', `${error.code}: ${error.message}`, error)
  return null
}
