/** `cloakroom restore`: creates the database from a verified backup, or replaces the existing one. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../core/config/config.ts'
import { openLog } from '../../core/log.ts'
import { CLUSTER, lockDataDirectory } from '../../database/embedded/data_directory.ts'
import { replaceCluster } from '../../database/embedded/replace_cluster.ts'
import { NEW_CLUSTER_PREFIX } from '../../database/embedded/template_archive.ts'
import { withConnection } from '../connection.ts'
import { linesOf } from './file.ts'
import { type Archive, load } from './load.ts'
import { BackupProblem } from './problem.ts'
import { readBackup, type TakeRows, type VerifiedBackup } from './read.ts'

type Given = { file: string; identities: readonly string[]; force: boolean }

type Filled = {
  place: string
  /** The path of the old database. */
  kept: string | null
}

export type Restored = Pick<VerifiedBackup, 'header' | 'sums'> & Filled

/** @throws BackupProblem, ConfigError and DataDirectoryError; then the previous database is unchanged */
export async function restore(config: Config, given: Given): Promise<Restored> {
  const read = (take?: TakeRows) =>
    readBackup(linesOf(given.file, given.identities), config.ENCRYPTION_KEY, take)
  const verified = await read()
  const { header, sums } = verified
  const supply = async (take: TakeRows) => {
    const again = await read(take)
    if (again.digest !== verified.digest)
      throw new BackupProblem('failed', 'the file changed during the restore')
    return again
  }
  return { ...(await fill(config, { ...header, supply }, given.force)), header, sums }
}

/** Creates the configured database from an archive. */
export async function fill(config: Config, archive: Archive, force = false): Promise<Filled> {
  if (config.DB_HOST === undefined) return await fillDirectory(config, archive, force)
  return await withConnection(config, async (connection) => {
    await load(connection, config, archive)
    return { place: connection.location, kept: null }
  })
}

/** Creates the new one beside the old one, proves that the keys open it, and then replaces the old one. */
async function fillDirectory(config: Config, archive: Archive, force: boolean): Promise<Filled> {
  const log = openLog(config.LOG_LEVEL)
  const { root, release } = lockDataDirectory(config.DATA_DIR, (text) => log.info(text))
  try {
    if (existsSync(join(root, CLUSTER)) && !force)
      throw new BackupProblem(
        'file_exists',
        `${root} already has a database. To replace it, pass --force. The old one is kept.`,
      )
    const staging = mkdtempSync(join(root, NEW_CLUSTER_PREFIX))
    try {
      await withConnection({ ...config, DATA_DIR: staging }, (connection) =>
        load(connection, config, archive),
      )
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
