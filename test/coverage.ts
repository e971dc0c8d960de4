/**
 * Runs the quick tier with Bun's coverage. It prints the lines that no quick test runs, and writes coverage/lcov.info.
 *
 * bun run coverage [path …]     the quick test files whose path contains one of the words; all of them by default
 */
import { listTestFiles, ROOT } from './runner/plan.ts'
import { watched } from './support/watched.ts'

const words = process.argv.slice(2)
const files = listTestFiles()
  .filter(
    ({ path, tier }) =>
      tier === 'quick' && (words.length === 0 || words.some((word) => path.includes(word))),
  )
  .map(({ path }) => `./${path}`)
if (files.length === 0) throw new Error('No quick test file has such a path.')
const reporters = ['--coverage-reporter=text', '--coverage-reporter=lcov']
const command = [process.execPath, 'test', '--coverage', ...reporters, ...files]
const run = watched(Bun.spawn(command, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] }))
process.exitCode = await run.exited
