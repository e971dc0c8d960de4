// tier: quick
/**
 * `dependencies` are exactly the packages that the program imports: `bun install --production` installs only them for
 * the demo and a server from source.
 */
import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import project from '../package.json' with { type: 'json' }
import { findReachable, packagesOf } from '../src/dev/imports.ts'
import { consolePackages } from '../src/dev/release/console_packages.ts'

const SOURCE = join(import.meta.dir, '..', 'src')
const STARTS_THREAD = /^(?!.*\.browser\.)(?!console\/web\/).*worker\.ts$/

/** Threads are started by their path, so no import reaches them. */
const threads = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => STARTS_THREAD.test(path))
  .map((path) => join(SOURCE, path))
const files = findReachable([join(SOURCE, 'main.ts'), ...threads])

test('the program imports each of `dependencies`, and no other package', () => {
  expect([...packagesOf(files)].sort()).toEqual(Object.keys(project.dependencies).sort())
})

test('the walk over imports reaches the server, the commands, the demo and the threads, but not the console', () => {
  const reached = [...files].map((path) => path.slice(SOURCE.length + 1))
  for (const path of [
    'server/serve.ts',
    'cli/demo/index.ts',
    'cli/commands/use/mcp.ts',
    'database/embedded/worker.ts',
    'access/signed/chain_worker.ts',
  ])
    expect(reached).toContain(path)
  expect(reached.filter((path) => path.startsWith('console/web/'))).toEqual([])
  expect(reached.length).toBeGreaterThan(700)
})

test('packages that only the console uses are development dependencies', () => {
  const packages = consolePackages()
  expect(packages).toContain('react-dom')
  const missing = packages.filter((name) => !(name in project.devDependencies))
  expect(missing).toEqual([])
})
