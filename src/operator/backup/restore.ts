/** `cloakroom restore`: a verified backup becomes the database, in place of none or of the one before. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../core/config/config.ts'
import { openLog } from '../../core/log.ts'
import { CLUSTER, lockDataDirectory } from '../../database/embedded/data_directory.ts'
import { replaceCluster } from '../../database/embedded/replace_cluster.ts'
import { NEW_CLUSTER_PREFIX } from '../../database/embedded/template_archive.ts'
import { type Connection, openDatabase } from '../../database/open.ts'
import { awaitServer } from '../../database/reach.ts'
import { linesOf } from './file.ts'
import { load } from './load.ts'
import { BackupProblem } from './problem.ts'
import { readBackup, type VerifiedBackup } from './read.ts'

type Given = { file: string; identities: readonly string[]; force: boolean }

export type Restored = Pick<VerifiedBackup, 'header' | 'sums'> & {
  place: string
  /** Where the old database is kept. */
  kept: string | null
}

/** @throws BackupProblem, ConfigError and DataDirectoryError; then what was there is as it was */
export async function restore(config: Config, given: Given): Promise<Restored> {
  const { ENCRYPTION_KEY } = config
  const read: typeof readBackup = (_, key, take) =>
    readBackup(linesOf(given.file, given.identities), key, take)
  const verified = await read(linesOf(given.file, given.identities), ENCRYPTION_KEY)
  const fill = (connection: Connection) =>
    load(connection, { config, contents: verified.header }, async (take) => {
      const again = await read(linesOf(given.file, given.identities), ENCRYPTION_KEY, take)
      if (again.digest !== verified.digest)
        throw new BackupProblem('failed', 'the file changed while it was read')
      return again
    })
  const done =
    config.DB_HOST === undefined
      ? await intoDirectory(config, given.force, fill)
      : await intoServer(config, fill)
  return { ...done, header: verified.header, sums: verified.sums }
}

async function intoServer(config: Config, fill: (connection: Connection) => Promise<void>) {
  const log = openLog(config.LOG_LEVEL)
  await awaitServer(config, log)
  const connection = await openDatabase(config, () => process.exit(1))
  try {
    await fill(connection)
    return { place: connection.location, kept: null }
  } finally {
    await connection.close()
  }
}

/** Made beside the old one, proven to open with our keys, and then put in its place. */
export async function intoDirectory(
  config: Config,
  force: boolean,
  fill: (connection: Connection) => Promise<void>,
): Promise<{ place: string; kept: string | null }> {
  const log = openLog(config.LOG_LEVEL)
  const { root, release } = lockDataDirectory(config.DATA_DIR, (text) => log.info(text))
  try {
    if (existsSync(join(root, CLUSTER)) && !force)
      throw new BackupProblem(
        'file_exists',
        `${root} has a database: with --force the backup takes its place, and it is kept beside it`,
      )
    const staging = mkdtempSync(join(root, NEW_CLUSTER_PREFIX))
    try {
      const place = { ...config, DB_HOST: undefined, DATA_DIR: staging }
      const connection = await openDatabase(place, () => process.exit(1))
      try {
        await fill(connection)
      } finally {
        await connection.close()
      }
      const staged = join(staging, CLUSTER)
      return {
        place: root,
        kept: replaceCluster(root, staged, { cluster: CLUSTER, now: new Date() }),
      }
    } finally {
      rmSync(staging, { recursive: true, force: true })
    }
  } finally {
    release()
  }
}
