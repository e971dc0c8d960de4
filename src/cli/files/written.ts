/** Writing values into a file of the project: for its owner only, whole or not at all, over nothing by accident. */
import { randomUUID } from 'node:crypto'
import { chmodSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { CliError } from '../terminal/cli_error.ts'
import { confirmed } from '../terminal/confirmed.ts'

/**
 * Returns whether the file is another now. Asks before other content is lost.
 *
 * @throws CliError for a link, which may lead anywhere, and unless `yes` where there is no one to ask
 */
export async function writePrivately(
  path: string,
  text: string,
  { yes }: { yes: boolean },
): Promise<boolean> {
  const present = lstatSync(path, { throwIfNoEntry: false })
  if (present?.isSymbolicLink()) {
    throw new CliError(
      'invalid_file',
      `${path} is a link; nothing was written`,
      'name the file itself',
    )
  }
  if (present && !present.isFile()) {
    throw new CliError('invalid_file', `${path} is no file; nothing was written`)
  }
  if (present && readFileSync(path, 'utf8') === text) {
    chmodSync(path, 0o600)
    return false
  }
  if (present) await askToReplace(path, yes)
  replace(path, text)
  return true
}

async function askToReplace(path: string, yes: boolean): Promise<void> {
  if (!yes && !process.stdin.isTTY) {
    throw new CliError(
      'file_exists',
      `${path} is there and has other content; nothing was written`,
      'replace it with --force, or name another file',
    )
  }
  await confirmed({ yes }, `Replace ${path}?`)
}

function replace(path: string, text: string): void {
  const draft = `${path}.${randomUUID()}`
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    throw new CliError('invalid_file', `${path} cannot be written (${code})`)
  }
}
