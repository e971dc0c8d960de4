/**
 * Runs the quick tier with Bun's coverage. It prints the lines that no quick test runs, and writes coverage/lcov.info.
 *
 * bun run coverage [path …]     the quick test files whose path contains one of the words; all of them by default
 */
import { join } from 'node:path'
import { watched } from './support/watched.ts'

const ROOT = join(import.meta.dir, '..')
const QUICK = /^\/\/ tier: quick\b/

const words = process.argv.slice(2)
const files: string[] = []
for (const path of new Bun.Glob('test/**/*.test.{ts,tsx}').scanSync({ cwd: ROOT })) {
  const isWanted = words.length === 0 || words.some((word) => path.includes(word))
  if (isWanted && QUICK.test(await Bun.file(join(ROOT, path)).text())) files.push(`./${path}`)
}
if (files.length === 0) throw new Error('No quick test file has such a path.')
const reporters = ['--coverage-reporter=text', '--coverage-reporter=lcov']
const command = [process.execPath, 'test', '--coverage', ...reporters, ...files.sort()]
const run = watched(Bun.spawn(command, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] }))
process.exitCode = await run.exited
