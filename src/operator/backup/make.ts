/** `cloakroom backup`: through the process with the embedded database, or directly from PostgreSQL. */
import { createWriteStream } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Config } from '../../core/config/config.ts'
import { OuterLayer } from '../../core/crypto/outer_layer.ts'
import { openLog } from '../../core/log.ts'
import { requireCluster } from '../../database/embedded/data_directory.ts'
import { DataDirectoryError } from '../../database/embedded/open.ts'
import { requireEncryptionKey } from '../../database/keys/key_check.ts'
import { countPendingMigrations } from '../../database/migrations/migrate.ts'
import { OlderSchema } from '../../database/migrations/schema_error.ts'
import { type Connection, openDatabase } from '../../database/open.ts'
import { requireKeys } from '../../database/prepare.ts'
import { awaitServer } from '../../database/reach.ts'
import { askServer } from '../operator_socket.ts'
import { dump } from './dump.ts'
import { encrypterFor, writeLines, writeWhole } from './file.ts'
import type { BackupSums } from './format.ts'
import { BackupProblem } from './problem.ts'
import { requireBackupRoom } from './room.ts'
import { NO_ROOM } from './spool.ts'

type Wanted = { file: string; recipients: readonly string[] }

/** @throws BackupProblem, ConfigError, DataDirectoryError; then there is no file */
export async function backUp(config: Config, { file, recipients }: Wanted): Promise<BackupSums> {
  const encrypter = encrypterFor(recipients)
  return await writeWhole(file, async (part) => {
    const asked = config.DB_HOST ? null : await receive(config.DATA_DIR, { part, recipients })
    if (asked) return asked
    return await withDatabase(config, { mayBeOlder: true }, async (source) => {
      await requireBackupRoom(source.sql, dirname(resolve(file)))
      const { sums } = await writeLines(part, encrypter, (take) => dump(source, take))
      return sums
    })
  })
}

async function receive(
  dataDir: string,
  { part, recipients }: { part: string; recipients: readonly string[] },
): Promise<BackupSums | null> {
  const answer = await askServer(dataDir, 'backup', { recipients })
  if (answer === null) return null
  if (!answer.ok || answer.body === null)
    throw new BackupProblem(
      answer.status === NO_ROOM ? 'disk_full' : 'failed',
      `the server could not create the backup: ${await answer.text()}`,
    )
  await pipeline(Readable.from(answer.body), createWriteStream(part, { flags: 'wx', mode: 0o600 }))
  if (Bun.file(part).size !== Number(answer.headers.get('x-bytes')))
    throw new BackupProblem('failed', 'the server stopped during the backup')
  return JSON.parse(answer.headers.get('x-summary') ?? '{}') as BackupSums
}

type Use = {
  /** The message if another process uses the database. */
  inUse?: string
  /** Whether an older schema is accepted. */
  mayBeOlder: boolean
}

/** Opens the current database, which a server of another version may use. @throws SchemaError, ConfigError */
export async function withDatabase<T>(
  config: Config,
  { inUse = 'Its socket does not respond.', mayBeOlder }: Use,
  work: (source: Parameters<typeof dump>[0] & Pick<Connection, 'connectBesides'>) => Promise<T>,
): Promise<T> {
  requireCluster(config)
  const log = openLog(config.LOG_LEVEL)
  // A command reports an unavailable database immediately.
  await awaitServer({ ...config, DB_WAIT_SECONDS: 0 }, log)
  const connection = await openDatabase(config, () => process.exit(1)).catch((error: unknown) => {
    if (!(error instanceof DataDirectoryError) || error.problem !== 'in_use') throw error
    throw new BackupProblem('failed', `${error.message} ${inUse}`, error)
  })
  try {
    const pending = await countPendingMigrations(connection.sql)
    if (pending === null || (pending > 0 && !mayBeOlder)) throw new OlderSchema(pending)
    // With an older schema, the start that migrates it counts the rows under SECRET_KEY.
    if (pending === 0) await requireKeys(connection.db, { ...config, ROLE: 'all' }, log)
    else await requireEncryptionKey(connection.db, OuterLayer.parse(config.ENCRYPTION_KEY))
    const { sql, connectBesides } = connection
    return await work({ sql, connectBesides, encryptionKey: config.ENCRYPTION_KEY, now: Date.now })
  } finally {
    await connection.close()
  }
}
