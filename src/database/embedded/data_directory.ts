/**
 * Decides whether a directory may be used as DATA_DIR, and ensures that one process at a time uses it: two processes
 * destroy a data directory silently. A crash during the first start leaves either nothing or a complete data directory.
 *
 * DATA_DIR/cloakroom.lock   held for the life of the process; also marks the directory as a DATA_DIR
 * DATA_DIR/postgres         PostgreSQL's data directory
 * DATA_DIR/postgres.new-…   a template being extracted or a backup being restored, perhaps by a killed process
 */

import { Database } from 'bun:sqlite'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { type Config, ConfigError } from '../../core/config/config.ts'
import {
  buildDamagedError,
  buildNotWritableError,
  DataDirectoryError,
} from './data_directory_error.ts'
import { finishReplacement } from './replace_cluster.ts'
import { extractTemplate, NEW_CLUSTER_PREFIX } from './template_archive.ts'

/** SECRET_KEY and ENCRYPTION_KEY of the embedded mode (operator/own_keys.ts). */
export const KEYS_FILE = 'keys.env'

export const LOCK = 'cloakroom.lock'
const OWN_ONLY = 0o600
/** A backup that is made for another process, which is given it when it is whole (operator/backup). */
export const SPOOL_PREFIX = 'backup.new-'
export const CLUSTER = 'postgres'
/** The only data format that this build opens: PGlite 0.5.16 is PostgreSQL 18. */
const POSTGRES_MAJOR = '18'
/** PostgreSQL's PG_CONTROL_FILE_SIZE, in bytes. */
const CONTROL_FILE_SIZE = 8192
/** Files that a new file system, or one with only the keys restored, may contain. */
const NEUTRAL = new Set(['lost+found', KEYS_FILE])

/** Requires a database, for commands that must not create the embedded one. @throws ConfigError if it is missing */
export function requireCluster({ DB_HOST, DATA_DIR }: Pick<Config, 'DB_HOST' | 'DATA_DIR'>): void {
  if (DB_HOST === undefined && !existsSync(join(DATA_DIR, CLUSTER)))
    throw new ConfigError([
      'DATA_DIR: contains no database (set it, or DB_HOST, as for the server)',
    ])
}

export type DataDirectory = {
  /** Absolute path of DATA_DIR. */
  root: string
  /** Absolute path of PostgreSQL's data directory. */
  cluster: string
  /** Lets another process use the directory. */
  release(): void
}

/**
 * Takes the directory for this process, and fills it if it is new.
 * @param dataDir made if it does not exist; relative to the working directory.
 * @throws {DataDirectoryError} for every reason that an operator can do something about.
 */
export async function claimDataDirectory(
  dataDir: string,
  log: (message: string) => void,
): Promise<DataDirectory> {
  const { root, release } = lockDataDirectory(dataDir, log)
  try {
    const cluster = join(root, CLUSTER)
    if (!listNames(root).includes(CLUSTER)) await fill(root, cluster, log)
    checkCluster(root, cluster)
    requireRoom(root)
    removePidFile(root, cluster)
    return { root, cluster, release }
  } catch (error) {
    release()
    throw error
  }
}

/**
 * Opens the directory, after interrupted work in it is finished or removed.
 * @throws {DataDirectoryError}
 */
export function lockDataDirectory(
  dataDir: string,
  log: (message: string) => void,
): Pick<DataDirectory, 'root' | 'release'> {
  const root = resolve(dataDir)
  prepareRoot(root)
  demandOwner(root)
  const lock = takeLock(root)
  try {
    removeLeftovers(root, log)
    finishReplacement(root, CLUSTER)
    return { root, release: () => lock.close() }
  } catch (error) {
    lock.close()
    throw error
  }
}

/** A foreign directory is refused before anything in it is touched. */
function prepareRoot(root: string): void {
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw buildNotWritableError(root, codeOf(error), error)
  }
  const names = listNames(root)
  if (names.length === 0 || names.includes(LOCK)) return
  throw new DataDirectoryError(
    'foreign',
    `The data directory ${root} is not empty and was not created by Cloakroom. It was not changed.`,
  )
}

/** Requires that the data belongs to this user: files that root writes into it are unreadable to the owner's server. */
function demandOwner(root: string): void {
  const owner = statSync(join(root, CLUSTER), { throwIfNoEntry: false })?.uid
  const own = process.getuid?.()
  if (owner === undefined || own === undefined || owner === own) return
  throw new DataDirectoryError(
    'foreign',
    `The data in ${root} belongs to user ${owner}, but this is user ${own}. Run the command as that user. Nothing was changed.`,
  )
}

/** SQLite's lock is a lock of the kernel: kill -9 releases it, and no stale file can keep it. */
function takeLock(root: string): Database {
  let lock: Database | undefined
  try {
    const file = join(root, LOCK)
    // Anyone who can open the file can lock it. Any close of it would release a lock that this process may hold.
    if (!existsSync(file)) closeSync(openSync(file, 'a', OWN_ONLY))
    chmodSync(file, OWN_ONLY)
    lock = new Database(file, { create: true, readwrite: true })
    lock.run('PRAGMA busy_timeout = 0')
    lock.run('PRAGMA locking_mode = EXCLUSIVE')
    lock.run('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock?.close()
    throw explainLock(root, error)
  }
}

function explainLock(root: string, error: unknown): DataDirectoryError {
  const code = codeOf(error)
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return new DataDirectoryError(
      'in_use',
      `The data directory ${root} is in use by another process.`,
      error,
    )
  }
  if (code.startsWith('SQLITE_NOTADB') || code.startsWith('SQLITE_CORRUPT')) {
    return buildDamagedError(root, `${LOCK} is not a lock file`, error)
  }
  return buildNotWritableError(root, codeOf(error), error)
}

function removeLeftovers(root: string, log: (message: string) => void): void {
  for (const name of listNames(root)) {
    if (!name.startsWith(NEW_CLUSTER_PREFIX) && !name.startsWith(SPOOL_PREFIX)) continue
    log(`Removing ${join(root, name)}, left by an interrupted command.`)
    rmSync(join(root, name), { recursive: true, force: true })
  }
}

/**
 * Removes PostgreSQL's own lock, which is safe while this process holds the directory. A kill during its writing leaves
 * it empty, and an empty one prevents PostgreSQL from starting.
 */
function removePidFile(root: string, cluster: string): void {
  try {
    rmSync(join(cluster, 'postmaster.pid'), { force: true })
  } catch (error) {
    throw buildNotWritableError(root, codeOf(error), error)
  }
}

async function fill(root: string, cluster: string, log: (message: string) => void): Promise<void> {
  log(`Creating a new database in ${root}.`)
  try {
    await extractTemplate(root, cluster)
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'].includes(codeOf(error))) {
      throw buildNotWritableError(root, codeOf(error), error)
    }
    throw error
  }
}

/** A recovery begins a segment of the log, 16 MiB, and writes pages and a checkpoint besides. */
const RECOVERY_BYTES = 20 * 1024 * 1024

/** PostgreSQL does not recover on a full disk: it would abort in the middle, again with each start. */
function requireRoom(root: string): void {
  const { bavail, bsize } = statfsSync(root)
  if (bavail * bsize < RECOVERY_BYTES) throw buildNotWritableError(root, 'ENOSPC', undefined)
}

function checkCluster(root: string, cluster: string): void {
  const version = readVersion(root, cluster)
  if (version !== POSTGRES_MAJOR) {
    throw new DataDirectoryError(
      'other_version',
      `The data directory ${root} was created by PostgreSQL ${version}; this build supports only ${POSTGRES_MAJOR}.`,
    )
  }
  const control = statSync(join(cluster, 'global', 'pg_control'), { throwIfNoEntry: false })
  if (control?.size !== CONTROL_FILE_SIZE)
    throw buildDamagedError(root, 'pg_control is missing or truncated')
}

function readVersion(root: string, cluster: string): string {
  try {
    const version = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
    if (/^[0-9.]{1,8}$/.test(version)) return version
  } catch (error) {
    throw buildDamagedError(root, 'PG_VERSION cannot be read', error)
  }
  throw buildDamagedError(root, 'PG_VERSION has no version')
}

function listNames(root: string): string[] {
  try {
    return readdirSync(root).filter((name) => !NEUTRAL.has(name))
  } catch (error) {
    throw buildNotWritableError(root, codeOf(error), error)
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
