/**
 * Locks of the kernel, by SQLite: a lock ends with the process that holds it, also after `kill -9`, and no stale file can
 * keep it.
 */
import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { CliError } from '../terminal/cli_error.ts'

export type Lock = { release(): void }

/** Waits at most `patienceMs`, and blocks this process meanwhile. @throws CliError if it is not available */
export function lockFile(path: string, patienceMs: number): Lock {
  try {
    return open(path, patienceMs)
  } catch (error) {
    throw new CliError('invalid_file', `${path} cannot be locked (${codeOf(error)})`)
  }
}

/** Null if another process holds it. @throws if the file cannot be created */
export function tryLock(path: string): Lock | null {
  try {
    return open(path, 0)
  } catch (error) {
    if (codeOf(error).startsWith('SQLITE_BUSY')) return null
    throw error
  }
}

function open(path: string, patienceMs: number): Lock {
  let lock: Database | undefined
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const held = new Database(path, { create: true, readwrite: true })
    lock = held
    held.run(`PRAGMA busy_timeout = ${patienceMs}`)
    held.run('BEGIN EXCLUSIVE')
    return { release: () => held.close() }
  } catch (error) {
    lock?.close()
    throw error
  }
}

/** Work of this process under the same lock, one after the other: SQLite would have it wait for itself. */
const queues = new Map<string, Promise<unknown>>()

const LOOK_MS = 25

/**
 * Runs `work` exclusively, across processes. After `patienceMs`, or if the file cannot be created, it runs without a
 * lock: a file system without locks must not stop every command.
 */
export function exclusively<T>(
  path: string,
  patienceMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const runLocked = async () => {
    const deadline = performance.now() + patienceMs
    let lock = lockUnlessUnavailable(path)
    while (lock === null && performance.now() < deadline) {
      await Bun.sleep(LOOK_MS)
      lock = lockUnlessUnavailable(path)
    }
    try {
      return await work()
    } finally {
      lock?.release()
    }
  }
  const earlier = queues.get(path) ?? Promise.resolve()
  const mine = earlier.then(runLocked, runLocked)
  queues.set(
    path,
    mine.catch(() => {}),
  )
  return mine
}

const NO_LOCK: Lock = { release: () => {} }

function lockUnlessUnavailable(path: string): Lock | null {
  try {
    return tryLock(path)
  } catch {
    return NO_LOCK
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
