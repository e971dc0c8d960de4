/**
 * The packages that only the console uses. They are development dependencies, because a production install does not
 * build the console. An executable contains them.
 */
import { join } from 'node:path'
import project from '../../../package.json' with { type: 'json' }
import { packagesOf } from '../imports.ts'

const SOURCE = join(import.meta.dir, '..', '..')
/** The second pattern is for files that replace others in browsers (src/dev/browser_files.ts). */
const CONSOLE_FILES = ['console/web/**/*.{ts,tsx}', '**/*.browser.ts']

export function consolePackages(): string[] {
  const files = CONSOLE_FILES.flatMap((pattern) => [
    ...new Bun.Glob(pattern).scanSync({ cwd: SOURCE, absolute: true }),
  ])
  const found = [...packagesOf(files.filter((path) => !path.endsWith('.d.ts')))]
  return found.filter((name) => !(name in project.dependencies)).sort()
}
