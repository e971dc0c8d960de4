// tier: all
/**
 * The canary of every run (test/support/canary.ts) finds a leak of each kind, and reports the places that it did not
 * search.
 */
import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blindSpots } from '../support/canary.ts'
import { isPresent } from '../support/needs.ts'
import { findPostgres } from '../support/postgres_programs.ts'
import { watched } from '../support/watched.ts'

const ROOT = join(import.meta.dir, '..', '..')
const CHILD = './test/security/canary/child.ts'

const nameless = (line: string) =>
  line
    .replace(/file [\w./-]*?(data\/[\w./]+|\d+)(?=,)/, 'file …')
    .replace(/row of test_\d+_\d+/, 'row of …')

/** Starts the runner with another mark. Returns its canary's findings, and its last line. */
async function run(args: string[], env: Record<string, string> = {}) {
  const child = watched(
    Bun.spawn([process.execPath, ...args], {
      cwd: ROOT,
      env: { ...process.env, CANARY_SEED: 'of planted leaks', ...env },
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  const reported = [...`${out}${err}`.matchAll(/^ *canary: (.*)$/gm)].map(([, text = '']) =>
    nameless(text).replace('the marked secret was found ', ''),
  )
  const [, failed = '', last = ''] = /\nFailed:\n([\s\S]*?)\n\n[\s\S]*?([^\n]*)\n$/.exec(out) ?? []
  const lines = failed.split('\n').map((line) => line.trim())
  // Each leak is a failure: the cluster may have one in several files of its log.
  const lastLine = last.replace(`, ${lines.length} failed`, ', all of these failed')
  return {
    code,
    reported: [...new Set(reported)].sort(),
    failed: [...new Set(lines.map(nameless))].sort(),
    lastLine,
  }
}

const HERE = 'in test/security/canary/child.ts'
const everywhere = [
  `(answer, ${HERE}: 200 of /header, as base64 at 2)`,
  `(answer, ${HERE}: 200 of /v1/resolve, as base64 at 1)`,
  `(answer, ${HERE}: 400 of /error, as base64 at 0)`,
  `(answer, ${HERE}: of a request by hand, as percent-encoded)`,
  `(database, ${HERE}: the file …, as it is)`,
  `(log, ${HERE}: a line, as it is)`,
  `(output, ${HERE}: stderr of a program, as a list of bytes)`,
  `(output, ${HERE}: stdout of a program, as hex)`,
  `(output, ${HERE}: stdout, as hex in capitals)`,
  '(output, in test/run.ts: what the tests printed, as it is)',
  `(state, ${HERE}: the file .config/session, as percent-encoded in capitals)`,
]

const hasPostgres = findPostgres() !== null

/** The run's own findings, and the file with the leaks. */
const failures = [
  'canary: the marked secret was found (database, in test/run.ts: the file …, as it is)',
  'canary: the marked secret was found (output, in test/run.ts: what the tests printed, as it is)',
  'test/security/canary/child.ts > (unnamed)',
]

test('a leak of each kind fails the run and is named', async () => {
  const ofDatabase = ['(database, in test/run.ts: the file …, as it is)']
  const dump = hasPostgres ? [`(dump, ${HERE}: a row of …, as it is)`] : []
  expect(await run(['test/run.ts', CHILD], { TEST_TIER: 'all' })).toEqual({
    code: 1,
    reported: [...everywhere, ...ofDatabase, ...dump].sort(),
    failed: failures,
    lastLine: '8 passed, all of these failed, 0 skipped',
  })
}, 120_000)

test('a whole run in which no marked secret reached an API fails', async () => {
  const blind = 'blind (no marked secret arrived at an API)'
  const { code, reported, failed, lastLine } = await run(['test/run.ts', '--whole', CHILD])
  const browser = isPresent('chromium') ? ['canary: blind (browser)'] : []
  expect({ code, failed, lastLine }).toEqual({
    code: 1,
    failed: [...failures, ...browser, `canary: ${blind}`].sort(),
    lastLine: '8 passed, all of these failed, 0 skipped',
  })
  expect(reported).toContain(blind)
}, 120_000)

test('a run that searched nothing names each unsearched place', async () => {
  const place = mkdtempSync(join(tmpdir(), 'cr-searched-'))
  const env = { CANARY_SEARCHED: place, TEST_DATABASE: 'embedded' }
  expect(await run(['test', CHILD, '-t', '^nothing$'], env)).toMatchObject({
    code: 0,
    reported: [],
  })
  const searched = new Set(readdirSync(place))
  const everything = ['log', 'output', 'answer', 'database', 'dump', 'state', 'browser']
  const unseen = 'no marked secret arrived at an API'
  const blind = (hasPostgres: boolean, hasBrowser: boolean) =>
    blindSpots(searched, { hasPostgres, hasBrowser })
  expect(blind(true, true)).toEqual([...everything, unseen])
  expect(blind(false, false)).toEqual(['log', 'output', 'answer', 'database', 'state', unseen])
  rmSync(place, { recursive: true })
}, 60_000)

test('every program that a test starts is watched', () => {
  // Unlike `readdirSync`, Glob does not enter the link test/node_modules.
  const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync({ cwd: join(ROOT, 'test') })]
  const unwatched = files
    .filter((name) => !/^(?:bench|upgrade\/making)\//.test(name))
    .filter((name) => {
      const text = readFileSync(join(ROOT, 'test', name), 'utf8')
      return /(?<!watched\(\s*)\bBun\.spawn(Sync)?\(|\bchild[_]process\b/.test(text)
    })
  // The runner searches the output of the tests, and of PostgreSQL's own programs the log and the dump.
  expect(unwatched.sort()).toEqual(['runner/execute.ts', 'support/needs.ts', 'support/postgres.ts'])
})
