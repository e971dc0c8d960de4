/**
 * Opens the embedded PostgreSQL (PGlite) of DATA_DIR for this process and returns how postgres.js reaches it. A write
 * that postgres.js acknowledges is on the disk: it survives kill -9, and a power cut as far as the disk keeps its
 * promises. Before the disk is full, writes are refused with SQLSTATE 25006 and reads continue.
 */

import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import initdbWasm from '@electric-sql/pglite/initdb.wasm' with { type: 'file' }
import postgresWasm from '@electric-sql/pglite/pglite.wasm' with { type: 'file' }
import { claimDataDirectory, type DataDirectory } from './data_directory.ts'
import { buildDamagedError, buildNotWritableError } from './data_directory_error.ts'
import { DatabaseThread } from './thread.ts'
import type { Programs } from './worker_messages.ts'

export { DataDirectoryError } from './data_directory_error.ts'

/**
 * Run this through SQL, outside a transaction, about every hour: there is no autovacuum. The log is kept short without
 * help (upkeep.ts).
 */
export const vacuumStatement = 'VACUUM (ANALYZE)'

export type EmbeddedOptions = {
  dataDir: string
  /**
   * Called at most once, when the database can no longer be trusted or its thread died: log the reason and exit, the
   * next start recovers. From then on, no statement is acknowledged.
   */
  onFailure(reason: string): void
  log?(message: string): void
}

export type EmbeddedDatabase = {
  /**
   * Options for postgres.js, which also needs `max: 1` and `ssl: false`: there is one session, and a second connection
   * waits until the first one closes.
   */
  settings: { path: string; user: string; database: string }
  /** Absolute path of DATA_DIR. */
  directory: string
  /** Successful fsync calls since the start. */
  countSyncs(): Promise<number>
  /** Disconnects the driver, writes a last checkpoint and frees the directory. Never throws. */
  close(): Promise<void>
}

/**
 * @throws {DataDirectoryError} if the directory is in use, foreign, damaged, of another version of
 *   PostgreSQL, or cannot be written.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const [directory, programs] = await Promise.all([
    claimDataDirectory(options.dataDir, options.log ?? (() => undefined)),
    compilePrograms(),
  ])
  const socketDirectory = makeSocketDirectory(directory.cluster)
  const path = join(socketDirectory, 's')
  const thread = new DatabaseThread()
  const close = async (): Promise<void> => {
    const stopped = await thread.close()
    rmSync(socketDirectory, { recursive: true, force: true })
    // A thread that does not answer may still write: then only the end of the process frees it.
    if (stopped) directory.release()
  }
  try {
    await thread.open({ kind: 'open', directory: directory.cluster, socketPath: path, programs })
  } catch (error) {
    await close()
    throw explainOpen(directory, error)
  }
  thread.watch(options.onFailure)
  return {
    settings: { path, user: 'postgres', database: 'postgres' },
    directory: directory.root,
    countSyncs: () => thread.countSyncs(),
    close,
  }
}

function explainOpen(directory: DataDirectory, error: unknown): Error {
  const why = error instanceof Error ? error.message : String(error)
  if (/No space left|Disk quota|Permission denied|Read-only file system/.test(why)) {
    return buildNotWritableError(directory.root, why, error)
  }
  return buildDamagedError(directory.root, why, error)
}

/**
 * Creates the socket's directory. Socket paths are limited to about 100 bytes, so it is in the directory for temporary
 * files, under a name that belongs to the data directory: the leftovers of a killed process are found and replaced. If
 * another user has created the name, a random one is used.
 */
function makeSocketDirectory(cluster: string): string {
  const name = createHash('sha256').update(cluster).digest('hex').slice(0, 16)
  const path = join(tmpdir(), `cloakroom-${name}`)
  try {
    rmSync(path, { recursive: true, force: true })
    mkdirSync(path, { mode: 0o700 })
    return path
  } catch {
    return mkdtempSync(join(tmpdir(), 'cloakroom-'))
  }
}

/**
 * Compiles PostgreSQL once for the process. Threads that get one module share its compiled code, so that a second
 * database in the process opens in half the time.
 */
let programs: Promise<Programs> | undefined

function compilePrograms(): Promise<Programs> {
  programs ??= compileBoth()
  return programs
}

async function compileBoth(): Promise<Programs> {
  const [postgres, initdb] = await Promise.all([compile(postgresWasm), compile(initdbWasm)])
  return { postgres, initdb }
}

async function compile(path: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await Bun.file(path).arrayBuffer())
}
