/** That the canary of every run (test/support/canary.ts) sees a leak of each kind, and says when it was blind. */
import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blindSpots } from '../support/canary.ts'
import { findPostgres } from '../support/postgres.ts'
import { watched } from '../support/watched.ts'

const ROOT = join(import.meta.dir, '..', '..')
const CHILD = './test/security/canary/child.ts'

const nameless = (line: string) => line.replace(/file (data\/[\w./]+|\d+)/, 'file …')

/** What a run with a mark of its own says about its canary, and its last line. */
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
  const said = [...`${out}${err}`.matchAll(/^canary: (.*)$/gm)].map(([, text = '']) =>
    nameless(text).replace('the marked secret was found ', ''),
  )
  const [, failed = '', last = ''] = /\nfailed:\n([\s\S]*?)\n\n(.*)\n$/.exec(out) ?? []
  const count = failed.split('\n').length
  // Each leak is a failure of its own: the cluster may keep one in several files of its log.
  const lastLine = last.replace(`, ${count} failed`, ', all of these failed')
  const names = new Set(failed.split('\n').map(nameless))
  return { code, said: [...new Set(said)].sort(), failed: [...names].sort(), lastLine }
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

/** The verdict of each half, what was printed, and the log that the cluster kept. */
const failures = (postgresql: boolean) => [
  ...(postgresql
    ? ['canary: the marked secret was found (database, in test/run.ts: the file …, as it is)']
    : []),
  'canary: the marked secret was found (output, in test/run.ts: what the tests printed, as it is)',
  'test/security/canary/child.ts > (unnamed)',
]

test('a leak of each kind fails the run, and is named', async () => {
  const postgresql = findPostgres() !== null
  // The rows by the process that stored them, the write-ahead log by the one that stops the cluster.
  const ofCluster = [
    `(dump, ${HERE}: pg_dump, as it is)`,
    '(database, in test/run.ts: the file …, as it is)',
  ]
  const said = [...everywhere, ...(postgresql ? ofCluster : [])].sort()
  expect(await run(['test/run.ts', CHILD])).toEqual({
    code: 1,
    said,
    failed: failures(postgresql),
    lastLine: `${postgresql ? 16 : 8} passed, all of these failed`,
  })
}, 120_000)

test('a whole run in which no marked secret was on its way fails', async () => {
  const postgresql = findPostgres() !== null
  const blind = 'blind (no marked secret arrived at an API)'
  const { code, said, failed, lastLine } = await run(['test/run.ts', '--whole', CHILD])
  expect({ code, failed, lastLine }).toEqual({
    code: 1,
    failed: [...failures(postgresql), 'canary: blind (browser)', `canary: ${blind}`].sort(),
    lastLine: `${postgresql ? 16 : 8} passed, all of these failed`,
  })
  expect(said).toContain(blind)
}, 120_000)

test('of a run in which there was nothing to search, each place is named', async () => {
  const place = mkdtempSync(join(tmpdir(), 'cr-searched-'))
  const env = { CANARY_SEARCHED: place, TEST_DATABASE: 'embedded' }
  expect(await run(['test', CHILD, '-t', '^nothing$'], env)).toMatchObject({ code: 0, said: [] })
  const nothing = ['log', 'output', 'answer', 'database', 'state', 'browser']
  const unseen = 'no marked secret arrived at an API'
  expect(blindSpots(place, 'embedded')).toEqual([...nothing, unseen])
  expect(blindSpots(place, 'postgresql').sort()).toEqual([...nothing, 'dump', unseen].sort())
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
  // The runner searches what the tests print, and of PostgreSQL's own programs the log and the dump.
  expect(unwatched.sort()).toEqual(['run.ts', 'support/postgres.ts'])
})
