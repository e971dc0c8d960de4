/**
 * Changing a file of the user's own configuration, while no other command does: two at once lose nothing. The lock is
 * one of the kernel, by SQLite: it ends with the process, and no stale file can keep it.
 */
import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { z } from 'zod'
import { CliError } from '../terminal/cli_error.ts'
import { type OwnWords, readOwnJson } from './read.ts'
import { replaceFile } from './replace.ts'

/** Milliseconds that a change by another command is waited for. */
const PATIENCE_MS = 30_000

/** `change` makes the next content of the present one, or `undefined` where nothing is to change. @throws CliError */
export function changeOwnJson<T extends z.ZodType>(
  path: string,
  form: T,
  words: OwnWords,
  change: (before: z.output<T>) => z.output<T> | undefined,
): void {
  if (change(readOwnJson(path, form, words)) === undefined) return
  const lock = lockBeside(path)
  try {
    const next = change(readOwnJson(path, form, words))
    if (next !== undefined) replaceFile(path, `${JSON.stringify(next, null, 2)}\n`)
  } finally {
    lock.close()
  }
}

function lockBeside(path: string): Database {
  let lock: Database | undefined
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    lock = new Database(`${path}.lock`, { create: true, readwrite: true })
    lock.run(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
    lock.run('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock?.close()
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    throw new CliError('invalid_file', `${path} cannot be locked (${code})`)
  }
}
