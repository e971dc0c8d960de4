/**
 * A folder for the files of one run, such as a bundle of certificates: two runs at once write nothing over each other. It
 * is removed when the run ends. A run that was killed leaves its folder, which the next run removes.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CliError } from '../terminal/cli_error.ts'
import { lockFile, tryLock } from './lock.ts'

export type RunFolder = { path: string; remove(): void }

const LOCK = 'run.lock'
/** A younger folder may be about to get its lock. */
const YOUNG_MS = 60_000

/** @throws CliError where `parent` cannot be written */
export function openRunFolder(parent: string, now: () => number = Date.now): RunFolder {
  removeAbandoned(parent, now())
  const path = join(parent, randomUUID())
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    throw new CliError('invalid_file', `${path} cannot be created (${code})`)
  }
  const lock = lockFile(join(path, LOCK), 0)
  return {
    path,
    remove: () => {
      lock.release()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

function removeAbandoned(parent: string, now: number): void {
  for (const name of namesIn(parent)) {
    const path = join(parent, name)
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found || now - found.mtimeMs < YOUNG_MS) continue
    if (isHeld(join(path, LOCK))) continue
    rmSync(path, { recursive: true, force: true })
  }
}

/** One that cannot be looked at is left alone. */
function isHeld(path: string): boolean {
  try {
    const lock = tryLock(path)
    lock?.release()
    return lock === null
  } catch {
    return true
  }
}

function namesIn(parent: string): string[] {
  try {
    return readdirSync(parent)
  } catch {
    return []
  }
}
