/** That the canary of every run (test/support/canary.ts) sees a leak of each kind, and says when it was blind. */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPostgres } from '../support/postgres.ts'
import { watched } from '../support/watched.ts'

const ROOT = join(import.meta.dir, '..', '..')
const CHILD = './test/security/canary/child.ts'

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
    text.replace('the marked secret was found ', '').replace(/data\/[\w./]+/, 'data/…'),
  )
  return { code, said: [...new Set(said)].sort(), lastLine: out.trimEnd().split('\n').at(-1) }
}

const HERE = 'in test/security/canary/child.ts'
const everywhere = [
  `(answer, ${HERE}: 200 of /header, as base64 at 2)`,
  `(answer, ${HERE}: 200 of /v1/resolve, as base64 at 1)`,
  `(answer, ${HERE}: 400 of /error, as base64 at 0)`,
  `(answer, ${HERE}: of a request by hand, as percent-encoded)`,
  `(database, ${HERE}: the file data/…, as it is)`,
  `(log, ${HERE}: a line, as it is)`,
  `(output, ${HERE}: stderr of a program, as a list of bytes)`,
  `(output, ${HERE}: stdout of a program, as hex)`,
  `(output, ${HERE}: stdout, as hex in capitals)`,
  '(output, in test/run.ts: what the tests printed, as it is)',
  `(state, ${HERE}: the file .config/session, as percent-encoded in capitals)`,
]

test('a leak of each kind fails the run, and is named', async () => {
  const postgresql = findPostgres() !== null
  const dump = `(dump, ${HERE}: pg_dumpall, as it is)`
  const said = [...everywhere, ...(postgresql ? [dump] : [])].sort()
  expect(await run(['test/run.ts', CHILD])).toEqual({
    code: 1,
    said,
    // The verdict of each half, and what was printed.
    lastLine: postgresql ? '16 passed, 3 failed' : '8 passed, 2 failed',
  })
}, 120_000)

test('a whole run in which there was nothing to search fails too', async () => {
  const alone = ['test', CHILD, '-t', '^nothing$']
  const env = { CANARY_WHOLE: 'yes', TEST_DATABASE: 'embedded' }
  const { code, said } = await run(alone, env)
  const sinks = [
    'answer',
    'database',
    'log',
    'no marked secret arrived at an API',
    'output',
    'state',
  ]
  expect({ code, said }).toEqual({ code: 1, said: sinks.map((sink) => `blind (${sink})`) })
  expect(await run(alone, { TEST_DATABASE: 'embedded' })).toMatchObject({ code: 0, said: [] })
}, 60_000)

test('every program that a test starts is watched', () => {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  const unwatched = files
    .filter((name) => /\.tsx?$/.test(name))
    .filter((name) => {
      const text = readFileSync(join(ROOT, 'test', name), 'utf8')
      return /(?<!watched\(\s*)\bBun\.spawn(Sync)?\(|\bchild[_]process\b/.test(text)
    })
  // PostgreSQL's own programs: the cluster's log is searched as a file, and so is its dump.
  expect(unwatched).toEqual(['support/postgres.ts'])
})
