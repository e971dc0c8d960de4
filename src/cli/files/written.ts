/** Writes values into a project's file: private, atomic, and without accidental overwrites. */
import { dirname } from 'node:path'
import { type Host, pathFrom } from '../host.ts'
import { CliError } from '../terminal/cli_error.ts'
import { requireConfirmation } from '../terminal/confirmed.ts'
import { demandInside, isThere, readNamedFile } from './read.ts'
import { demandReplaceable, demandRoom, replaceFile } from './replace.ts'

/**
 * Returns whether the file changed. Asks before it overwrites other content. @throws CliError for a link, and without
 * `yes` or a terminal
 */
export async function writePrivately(
  host: Host,
  path: string,
  content: string | Uint8Array,
  { yes }: { yes: boolean },
): Promise<boolean> {
  const file = pathFrom(host, path)
  const size = demandReplaceable(path, file)
  demandInside(host, dirname(path))
  demandFolder(path, file)
  const isSame =
    size === Buffer.byteLength(content) && readNamedFile(host, path).equals(Buffer.from(content))
  if (size !== null && !isSame) {
    await askToReplace(host, path, yes, 'exists with different content; nothing was written')
  }
  // Also for equal content: the file's mode, or a hard link, may let others read it.
  replaceFile(path, content, 'secret', file)
  return !isSame
}

/**
 * Checks before a one-time result that the file can be written, and may be overwritten.
 *
 * @throws CliError as `writePrivately`
 */
export async function demandPlace(
  host: Host,
  path: string,
  { yes }: { yes: boolean },
): Promise<void> {
  const file = pathFrom(host, path)
  const size = demandReplaceable(path, file)
  demandInside(host, dirname(path))
  demandFolder(path, file)
  demandRoom(file, 1)
  if (size !== null) await askToReplace(host, path, yes, 'exists; nothing was sent')
}

/** A missing folder is more likely a typo than a place for secrets. @throws CliError */
function demandFolder(path: string, file: string): void {
  if (isThere(dirname(file))) return
  const folder = dirname(path)
  throw new CliError(
    'invalid_file',
    `the folder ${folder} does not exist; nothing was done`,
    `create it with: mkdir -p ${folder}`,
  )
}

async function askToReplace(host: Host, path: string, yes: boolean, reason: string): Promise<void> {
  if (!yes && !host.streams.stdin.isTTY) {
    throw new CliError(
      'file_exists',
      `${path} ${reason}`,
      'replace it with --force, or give another file',
    )
  }
  await requireConfirmation(host, { yes }, `Replace ${path}?`)
}
