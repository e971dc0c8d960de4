/**
 * Writes a file of secrets or settings atomically, by replacing the old one. So its mode is always right, and hard
 * links to the old file keep the old content. Links are not followed, because a repository may contain a malicious one.
 */
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { CliError } from '../terminal/cli_error.ts'

/** For its owner only, but for settings, which are committed. */
const MODES = { secret: 0o600, committed: 0o644 } as const

/**
 * `file` is the path if it differs from the name in messages. @throws CliError if it cannot be written, or is a link or
 * not a file
 */
export function replaceFile(
  path: string,
  text: string | Uint8Array,
  content: keyof typeof MODES = 'secret',
  file: string = path,
): void {
  demandReplaceable(path, file)
  const draft = `${file}.${randomUUID()}`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeDraft(draft, text, MODES[content])
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw unwritable(path, error)
  }
}

/** That as much can be written there now: before something is fetched that is given once. @throws CliError */
export function demandRoom(path: string, bytes: number): void {
  const draft = `${path}.${randomUUID()}`
  try {
    writeDraft(draft, ' '.repeat(bytes), MODES.secret)
  } catch (error) {
    throw unwritable(path, error)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Before something is done elsewhere that is to be noted there. @throws CliError */
export function demandWritable(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    demandRoom(join(directory, 'writable'), 1)
  } catch (error) {
    const why = error instanceof CliError ? error.message : unwritable(directory, error).message
    throw new CliError(
      'invalid_file',
      `${why}; nothing was done`,
      `make ${directory} writable, or set XDG_CONFIG_HOME to another folder`,
    )
  }
}

function unwritable(path: string, error: unknown): CliError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return new CliError('invalid_file', `${path} cannot be written (${code})`)
}

/** The size of an existing file, otherwise `null`. @throws CliError for links, and other items than files */
export function demandReplaceable(path: string, file: string = path): number | null {
  const present = presentAt(file, path)
  if (present?.isSymbolicLink()) {
    throw new CliError(
      'invalid_file',
      `${path} is a link; nothing was written`,
      'name the file itself',
    )
  }
  if (present?.isDirectory()) {
    throw new CliError(
      'invalid_file',
      `${path} is a folder; nothing was written`,
      'name a file in it',
    )
  }
  if (present && !present.isFile()) {
    throw new CliError('invalid_file', `${path} is not a regular file; nothing was written`)
  }
  return present?.size ?? null
}

function presentAt(file: string, path: string) {
  try {
    return lstatSync(file, { throwIfNoEntry: false })
  } catch (error) {
    // ENOTDIR, for example: a folder of the path is a file.
    throw unwritable(path, error)
  }
}

/** On the disk before it gets its name: a crash leaves the old file. */
function writeDraft(draft: string, text: string | Uint8Array, mode: number): void {
  const file = openSync(draft, 'wx', mode)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
