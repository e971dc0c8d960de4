/** Writing values into a file of the project: for its owner only, whole or not at all, over nothing by accident. */
import { dirname } from 'node:path'
import { type Host, pathFrom } from '../host.ts'
import { CliError } from '../terminal/cli_error.ts'
import { confirmed } from '../terminal/confirmed.ts'
import { demandInside, isThere, readNamedFile } from './read.ts'
import { demandReplaceable, demandRoom, replaceFile } from './replace.ts'

/**
 * Returns whether the file is another now. Asks before other content is lost.
 *
 * @throws CliError for a link, which may lead anywhere, and unless `yes` where there is no one to ask
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
  // The same content too: the mode of the file, or another name of it, may let others read it.
  replaceFile(path, content, 'secret', file)
  return !isSame
}

/**
 * Before something is done that gives its result once: the file can be written, and what it has may be lost.
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
  await confirmed(host, { yes }, `Replace ${path}?`)
}
