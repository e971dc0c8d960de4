/** Reads the configured database without writing to it: the embedded one is copied first. */
import { Database as Sqlite } from 'bun:sqlite'
import { constants, cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { TransactionSql } from 'postgres'
import type { Config } from '../../core/config/config.ts'
import { CLUSTER, LOCK } from '../../database/embedded/data_directory.ts'
import { type Database, databaseIn } from '../../database/open.ts'
import { Failed } from '../checks/check.ts'
import { withServerDatabase } from '../checks/database.ts'
import { freeBytesOf } from '../checks/limits.ts'

type Look<T> = (tx: TransactionSql, db: Database) => Promise<T>

/** @throws Failed, and the errors of a start */
export async function lookAt<T>(config: Config, look: Look<T>): Promise<T | null> {
  if (config.DB_HOST !== undefined) return await readWithFallback(config, look)
  const root = resolve(config.DATA_DIR)
  if (!existsSync(join(root, CLUSTER))) return null
  const copy = copyOf(root)
  try {
    return await readWithFallback({ ...config, DATA_DIR: copy }, look)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function readWithFallback<T>(config: Config, look: Look<T>): Promise<T> {
  return withServerDatabase(config, ({ sql }) =>
    sql
      .begin('isolation level repeatable read read only', async (tx) => ({
        found: await look(tx, databaseIn(tx, sql)),
      }))
      .then(({ found }) => found),
  )
}

/** Opening the database itself would write to it. */
function copyOf(root: string): string {
  const lock = lockAgainstStart(join(root, LOCK))
  try {
    const needed = sizeOf(join(root, CLUSTER))
    if (needed > freeBytesOf(tmpdir()))
      throw new Failed(`${tmpdir()} has no space for a copy of ${needed} bytes: set TMPDIR`)
    const copy = mkdtempSync(join(tmpdir(), 'cloakroom-upgrade-'))
    for (const name of [LOCK, CLUSTER])
      cpSync(join(root, name), join(copy, name), {
        recursive: true,
        mode: constants.COPYFILE_FICLONE,
      })
    return copy
  } finally {
    lock.close()
  }
}

/** A reader of the lock file prevents servers from starting, and proves that none runs. */
function lockAgainstStart(path: string): Sqlite {
  const lock = new Sqlite(path, { readonly: true })
  try {
    lock.run('PRAGMA busy_timeout = 0')
    lock.run('BEGIN')
    lock.query('SELECT count(*) FROM sqlite_master').get()
    return lock
  } catch (error) {
    lock.close()
    throw new Failed('a running server uses DATA_DIR: stop it first', { cause: error })
  }
}

function sizeOf(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).reduce(
    (sum, name) => sum + statSync(join(directory, name)).size,
    0,
  )
}
