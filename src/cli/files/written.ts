/** Writing values into a file of the project: for its owner only, whole or not at all, over nothing by accident. */
import { dirname } from 'node:path'
import { type Host, pathFrom } from '../host.ts'
import { CliError } from '../terminal/cli_error.ts'
import { confirmed } from '../terminal/confirmed.ts'
import { demandInside, readNamedFile } from './read.ts'
import { demandReplaceable, replaceFile } from './replace.ts'

/**
 * Returns whether the file is another now. Asks before other content is lost.
 *
 * @throws CliError for a link, which may lead anywhere, and unless `yes` where there is no one to ask
 */
export async function writePrivately(
  host: Host,
  path: string,
  text: string,
  { yes }: { yes: boolean },
): Promise<boolean> {
  const file = pathFrom(host, path)
  const size = demandReplaceable(path, file)
  demandInside(host, dirname(path))
  const isSame =
    size === Buffer.byteLength(text) && readNamedFile(host, path).toString('utf8') === text
  if (size !== null && !isSame) await askToReplace(host, path, yes)
  // The same content too: the mode of the file, or another name of it, may let others read it.
  replaceFile(path, text, 'secret', file)
  return !isSame
}

async function askToReplace(host: Host, path: string, yes: boolean): Promise<void> {
  if (!yes && !host.streams.stdin.isTTY) {
    throw new CliError(
      'file_exists',
      `${path} is there and has other content; nothing was written`,
      'replace it with --force, or name another file',
    )
  }
  await confirmed(host, { yes }, `Replace ${path}?`)
}
