/**
 * From source, the console and the documentation are built when they are first opened; the executable contains them. The
 * build runs in a separate process, so the server keeps answering. It needs the development packages, which a
 * `--production` install lacks.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runHelper } from '../core/helper_program.ts'

const ROOT = join(import.meta.dir, '..', '..')
/** Only the builds need this package. */
const BUILD_PACKAGE = join(ROOT, 'node_modules', 'tailwindcss')

type Part = 'console' | 'documentation'

const BUILDS: Record<Part, { builder: string; archive: string; script: string }> = {
  console: { builder: 'src/dev/console.ts', archive: 'dist/console.tar', script: 'console' },
  documentation: { builder: 'src/dev/docs/index.ts', archive: 'dist/docs.tar', script: 'docs' },
}

/** In the executable, the modules are one file that is not TypeScript. */
export const runsFromSource = import.meta.path.endsWith('.ts')

/** Why a part is not built, and the command that fixes it, each as a sentence. */
export class NotBuilt extends Error {
  readonly fix: string

  constructor(reason: string, fix: string, options?: ErrorOptions) {
    super(reason, options)
    this.fix = fix
  }
}

/** Builds a part again if its sources changed. @throws NotBuilt */
export async function buildOnDemand(part: Part): Promise<void> {
  if (!runsFromSource) return
  const { builder, archive } = BUILDS[part]
  if (!existsSync(BUILD_PACKAGE)) {
    if (existsSync(join(ROOT, archive))) return
    throw new NotBuilt(
      `The ${part} is not built, because its packages are not installed.`,
      'Run `bun install` in the source folder, then try again.',
    )
  }
  // The server's keys are in its environment; a build with a hundred packages gets none of them.
  const { PATH = '', HOME = '' } = process.env
  const build = runHelper([process.execPath, '--no-env-file', join(ROOT, builder)], {
    limitMs: BUILD_LIMIT_MS,
    cwd: ROOT,
    env: { PATH, HOME },
  })
  const { code, err } = await build.catch((cause: unknown) => {
    throw explainNotBuilt(part, cause)
  })
  if (code !== 0) throw explainNotBuilt(part, new Error(err))
}

const BUILD_LIMIT_MS = 300_000

function explainNotBuilt(part: Part, cause: unknown): NotBuilt {
  return new NotBuilt(
    `The build of the ${part} failed, or took more than 5 minutes.`,
    `Run \`bun run ${BUILDS[part].script}\` in the source folder to see why.`,
    { cause },
  )
}
