/** The source that a release is built from. */
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..', '..', '..')

export type Source = {
  /** `null` if unknown: outside of a repository, or with uncommitted changes. */
  commit: string | null
  /** SOURCE_DATE_EPOCH or the commit's time, so that equal sources give equal files; else 1970. */
  time: Date
}

export async function describeSource(env: NodeJS.ProcessEnv = process.env): Promise<Source> {
  const isRepository = (await git('rev-parse', '--show-cdup')) === ''
  const isUnchanged = isRepository && (await git('status', '--porcelain')) === ''
  const seconds =
    env.SOURCE_DATE_EPOCH ?? (isRepository && (await git('log', '-1', '--format=%ct')))
  return {
    commit: isUnchanged ? await git('rev-parse', 'HEAD') : null,
    time: new Date(Number(seconds) * 1000),
  }
}

/** Returns `null` where git is not at hand or refuses. */
async function git(...args: string[]): Promise<string | null> {
  const { exitCode, stdout } = await Bun.$`git ${args}`.cwd(ROOT).quiet().nothrow()
  return exitCode === 0 ? stdout.toString().trim() : null
}
