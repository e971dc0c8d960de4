// tier: quick
/** The runner's guarantees: tiers, databases, budget, skipped tests and the warning of a slow run. */
import { describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { watched } from '../support/watched.ts'
import { groupFiles } from './execute.ts'
import { listTestFiles, plan, type Request, ROOT, type TestFile } from './plan.ts'
import recorded from './recorded.json' with { type: 'json' }
import { readReport } from './report.ts'
import { overBudget } from './timings.ts'
import { Watchdog } from './watchdog.ts'

const files: TestFile[] = [
  { path: 'test/a.test.ts', tier: 'quick', databases: 'once' },
  { path: 'test/b.test.ts', tier: 'quick', databases: 'in test:all' },
  { path: 'test/c.test.ts', tier: 'quick', databases: 'always' },
  { path: 'test/d.test.ts', tier: 'all', databases: 'once' },
  { path: 'test/e.test.ts', tier: 'all', databases: 'in test:all' },
]

const request: Request = {
  tier: 'quick',
  words: [],
  rest: false,
  main: 'postgresql',
  other: 'embedded',
}

/** The letters of the chosen files by database, such as `abc|c`. */
function chosen(asked: Partial<Request>): string {
  const { passes } = plan(files, { ...request, ...asked })
  return passes
    .map((pass) => pass.files.map((file) => file.slice('test/'.length, 'test/a'.length)).join(''))
    .join('|')
}

describe('the plan of a run', () => {
  test('a plan has each quick file once, and twice if it requests both databases', () => {
    expect(chosen({})).toBe('abc|c')
  })

  test('a test:all plan has every file, and those with the database as their subject on both', () => {
    expect(chosen({ tier: 'all' })).toBe('abcde|bce')
  })

  test('a --rest plan leaves out the files that the quick tier ran in full', () => {
    expect(chosen({ tier: 'all', rest: true })).toBe('de|be')
  })

  test('a plan has only one database if PostgreSQL is not installed', () => {
    expect(chosen({ main: 'embedded', other: null })).toBe('abc')
  })

  test('a plan of a word has its files in any tier, on each database that they are about', () => {
    expect(chosen({ words: ['test/d'] })).toBe('d|')
    expect(chosen({ words: ['test/e', 'test/a'] })).toBe('ae|e')
  })

  test('a plan counts the files that the tier leaves out', () => {
    expect(plan(files, request).leftOut).toBe(2)
  })
})

describe('this tree', () => {
  const all = listTestFiles()

  test('each test file has its tier in the first line', () => {
    expect(all.length).toBeGreaterThan(300)
  })

  test('no quick file took longer than its budget', () => {
    expect(overBudget(all)).toEqual([])
    const quick = all.filter(({ tier }) => tier === 'quick')
    const unrecorded = quick.filter(({ path }) => !(path in recorded.postgresql))
    expect(unrecorded.length).toBeLessThan(quick.length / 10)
  })

  test('each file with tests for one kind of database runs on both', () => {
    const branches = all.filter(
      ({ path, databases }) =>
        databases === 'once' &&
        path !== 'test/runner/runner.test.ts' &&
        readFileSync(join(ROOT, path), 'utf8').includes("databaseKind === 'embedded'"),
    )
    expect(branches.map(({ path }) => path)).toEqual([])
  })

  test('tests wait for conditions instead of sleeping, except in a few places with a reason', () => {
    const elsewhere = /^(bench|load|faults|clients|deploy|upgrade|node_modules|support\/metered)\//
    const sleeps = [...new Bun.Glob('**/*.{ts,tsx}').scanSync({ cwd: join(ROOT, 'test') })]
      .filter((path) => !elsewhere.test(path) && !path.startsWith('runner/'))
      .flatMap((path) => sleepsOf(path))
    const unexplained = sleeps.filter(({ hasReason }) => !hasReason).map(({ place }) => place)
    expect(unexplained).toEqual([])
    expect(sleeps.length).toBeLessThanOrEqual(20)
  })
})

test('beside many other files, those that use a browser run in one separate process', () => {
  const files = [
    'test/console/secrets.test.ts',
    'test/cli/help.test.ts',
    'test/console/serve.test.ts',
  ]
  expect(groupFiles(files, 3)).toEqual([
    { group: 'browser', files: files.slice(0, 1), count: 1 },
    { group: 'others', files: files.slice(1), count: 2 },
  ])
  expect(groupFiles(files.slice(1), 3)).toMatchObject([{ group: 'others', count: 3 }])
})

test('if most files use a browser, their group gets all processes but one', () => {
  const files = ['audit', 'live', 'words'].map((name) => `test/console/${name}.test.ts`)
  expect(groupFiles(files, 3)).toMatchObject([
    { group: 'browser', count: 2 },
    { group: 'others', count: 1 },
  ])
  expect(groupFiles(files, 1)).toMatchObject([{ count: 1 }, { count: 1 }])
})

/** Each `Bun.sleep` of a test, and whether a comment in one of the three lines before it gives the reason. */
function sleepsOf(path: string): { place: string; hasReason: boolean }[] {
  const lines = readFileSync(join(ROOT, 'test', path), 'utf8').split('\n')
  return lines.flatMap((line, index) => {
    if (!line.includes('Bun.sleep(')) return []
    const before = lines.slice(Math.max(0, index - 3), index + 1).join('\n')
    return [{ place: `${path}:${index + 1}`, hasReason: /\/\/|\*/.test(before) }]
  })
}

test('a quick file over its budget is named with its time', () => {
  const times = {
    postgresql: { 'test/a.test.ts': 7_900, 'test/b.test.ts': 8_100, 'test/d.test.ts': 60_000 },
    embedded: { 'test/c.test.ts': 9_000 },
  }
  expect(overBudget(files, times)).toEqual(['test/b.test.ts: 8.1 s', 'test/c.test.ts: 9.0 s'])
})

test('the warning of a slow run lists the slowest files so far', () => {
  const watchdog = new Watchdog(Date.now(), () => {})
  for (const line of [
    'test/a.test.ts:',
    '(pass) one > test [1500.00ms]',
    'test/b.test.ts:',
    '(fail) another [9000.50ms]',
    'test/a.test.ts:',
    '(pass) a third [300.00ms]',
  ])
    watchdog.read(line)
  watchdog.end()
  expect(watchdog.warning()).toContain('9.0 s  test/b.test.ts\n     1.8 s  test/a.test.ts\n')
})

test('a run of more than 40 minutes warns immediately', async () => {
  const warned = Promise.withResolvers<string>()
  new Watchdog(Date.now() - 41 * 60_000, warned.resolve)
  expect(await warned.promise).toContain('Warning: the run has taken 40 minutes.')
})

describe('a test that requires Caddy', () => {
  const script = `
    import { expect } from 'bun:test'
    import { requires } from '${join(ROOT, 'test/support/requires.ts')}'
    const { test, beforeAll } = requires('caddy')
    beforeAll(() => { throw new Error('the hook ran') })
    test('needs it', () => expect(1).toBe(2))`

  /** With a PATH that has only the given programs. */
  async function runIn(programs: readonly string[]) {
    const place = mkdtempSync(join(tmpdir(), 'cr-skips-'))
    const skips = join(place, 'skips')
    mkdirSync(skips)
    for (const program of programs) writeFileSync(join(place, program), '', { mode: 0o755 })
    writeFileSync(join(place, 'needs.test.ts'), script)
    const report = join(place, 'report.xml')
    const options = ['./needs.test.ts', '--reporter=junit', `--reporter-outfile=${report}`]
    const env = { PATH: place, TEST_SKIPS: skips }
    const child = watched(
      Bun.spawn([process.execPath, 'test', ...options], { cwd: place, env, stderr: 'pipe' }),
    )
    const errors = await new Response(child.stderr).text()
    const outcome = readReport(report).get('needs.test.ts')
    const reasons = readdirSync(skips).map((name) => readFileSync(join(skips, name), 'utf8'))
    rmSync(place, { recursive: true })
    return { code: await child.exited, skipped: outcome?.skipped, errors, reasons }
  }

  test('a test that requires Caddy is skipped without it, with its hooks, and the install command is reported', async () => {
    expect(await runIn([])).toMatchObject({
      code: 0,
      skipped: 1,
      errors: expect.not.stringContaining('the hook ran'),
      reasons: ['caddy is not installed: apt-get install caddy\n'],
    })
  })

  test('a test that requires Caddy runs with it', async () => {
    expect(await runIn(['caddy'])).toMatchObject({
      code: 1,
      errors: expect.stringContaining('the hook ran'),
      reasons: [],
    })
  })
})
