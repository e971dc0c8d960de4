/** Changing a file of the user's own configuration, while no other command does: two at once lose nothing. */
import type { z } from 'zod'
import { lockFile } from './lock.ts'
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
  const lock = lockFile(`${path}.lock`, PATIENCE_MS)
  try {
    const next = change(readOwnJson(path, form, words))
    if (next !== undefined) replaceFile(path, `${JSON.stringify(next, null, 2)}\n`)
  } finally {
    lock.release()
  }
}
