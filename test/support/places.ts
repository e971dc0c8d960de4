/**
 * Places for large files of tests. The runner of the suite makes both places for all its processes; a `bun test`
 * without it makes and removes its own.
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ROOM_BYTES = 4 * 1024 ** 3

/**
 * Databases are in memory if the machine has room: the tests need the calls of fsync, not the wait for a disk. A
 * killed process loses nothing of either.
 */
export const databasePlace = process.env.TEST_DATABASE_PLACE ?? makeDatabasePlace()

/** The folder where test/binary/executable.ts builds, unless the runner has done so. */
export const executablePlace = join(tmpdir(), `cr-executable-${process.pid}`)

/** Removed at the end of the process that created them; one that uses another process's files may add more. */
export function removePlaces(): void {
  if (process.env.BUN_TEST_WORKER_ID !== undefined) return
  rmSync(executablePlace, { recursive: true, force: true })
  if (process.env.TEST_DATABASE_PLACE === undefined)
    rmSync(databasePlace, { recursive: true, force: true })
}

function makeDatabasePlace(): string {
  const parent = hasRoom(MEMORY) ? MEMORY : tmpdir()
  removeAbandoned(parent)
  const place = mkdtempSync(join(parent, `cr-run-${process.pid}-`))
  // PostgreSQL may run as another user than the tests.
  chmodSync(place, 0o711)
  return place
}

function hasRoom(directory: string): boolean {
  if (!existsSync(directory) || process.availableMemory() < 2 * ROOM_BYTES) return false
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize >= ROOM_BYTES
}

/** A killed run could not remove its own, and memory is scarce. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = /^cr-run-(\d+)-/.exec(name) ?? []
    if (pid && !isAlive(Number(pid))) rmSync(join(parent, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
