/** An older version: its sources at a commit, with the dependencies of that time, and its own command line. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../../..')

export type OldVersion = {
  commit: string
  directory: string
  /** The arguments that start its command line. */
  command: string[]
  /** Its executable, built by its own `bun run build`. */
  build(): Promise<string>
  remove(): Promise<void>
}

/** The last commit before the one that added a migration; HEAD if none has yet. */
export async function commitBefore(migration: string | undefined): Promise<string> {
  const path = `drizzle/${migration}.sql`
  const added = migration && (await git('log', '--format=%H', '--diff-filter=A', '--', path))
  return git('rev-parse', added ? `${added.split('\n').at(-1)}^` : 'HEAD')
}

export async function checkOut(commit: string): Promise<OldVersion> {
  const directory = join(mkdtempSync(join(tmpdir(), 'cr-old-')), 'sources')
  await git('worktree', 'add', '--detach', directory, commit)
  await run([process.execPath, 'install', '--frozen-lockfile'], directory)
  return {
    commit,
    directory,
    command: [process.execPath, join(directory, 'src/main.ts')],
    build: async () => {
      await run([process.execPath, 'run', 'build'], directory)
      return join(directory, 'dist/cloakroom')
    },
    remove: async () => {
      await git('worktree', 'remove', '--force', directory)
      rmSync(join(directory, '..'), { recursive: true, force: true })
    },
  }
}

export function git(...args: string[]): Promise<string> {
  return run(['git', ...args], ROOT)
}

async function run(command: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${err}`)
  return out.trim()
}
