/**
 * From source, the console is built when it is first opened; the executable contains it. The build runs in a
 * separate process, so the server keeps answering. It needs the development packages, which a `--production` install lacks.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runHelper } from '../core/helper_program.ts'

const ROOT = join(import.meta.dir, '..', '..')
const BUILDER = join(ROOT, 'src', 'dev', 'console.ts')
const ARCHIVE = join(ROOT, 'dist', 'console.tar')
/** Only the console needs this package. */
const CONSOLE_PACKAGE = join(ROOT, 'node_modules', 'react-dom')

/** In the executable, the modules are one file that is not TypeScript. */
export const runsFromSource = import.meta.path.endsWith('.ts')

/** Why there is no console, and the command that fixes it, each as a sentence. */
export class ConsoleNotBuilt extends Error {
  readonly fix: string

  constructor(reason: string, fix: string, options?: ErrorOptions) {
    super(reason, options)
    this.fix = fix
  }
}

/** Builds the console again if its sources changed. @throws ConsoleNotBuilt */
export async function buildConsoleOnDemand(): Promise<void> {
  if (!runsFromSource) return
  if (!existsSync(CONSOLE_PACKAGE)) {
    if (existsSync(ARCHIVE)) return
    throw new ConsoleNotBuilt(
      'The console is not built, because its packages are not installed.',
      'Run `bun install` in the source folder, then try again.',
    )
  }
  // The server's keys are in its environment; a build with a hundred packages gets none of them.
  const { PATH = '', HOME = '' } = process.env
  const build = runHelper([process.execPath, '--no-env-file', BUILDER], {
    limitMs: BUILD_LIMIT_MS,
    cwd: ROOT,
    env: { PATH, HOME },
  })
  const { code, err } = await build.catch((cause: unknown) => {
    throw notBuilt(cause)
  })
  if (code !== 0) throw notBuilt(new Error(err))
}

const BUILD_LIMIT_MS = 300_000

function notBuilt(cause: unknown): ConsoleNotBuilt {
  return new ConsoleNotBuilt(
    'The build of the console failed, or took more than 5 minutes.',
    'Run `bun run console` in the source folder to see why.',
    { cause },
  )
}
