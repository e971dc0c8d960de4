/**
 * Runs the whole suite: every test on the embedded database, then, where PostgreSQL's programs are
 * installed, once more those that reach a database, on a private cluster. What was not run is said
 * loudly. The last line is `N passed, N failed`, and the exit code is 0 only if nothing failed; a marked
 * secret that came to light (test/support/canary.ts) is a failure like any other.
 *
 * bun test/run.ts [files and folders, as for bun test]
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { leaksFound, searcher } from './support/canary.ts'
import { findPostgres } from './support/postgres.ts'

type Environment = Record<string, string>
type Count = { passed: number; failed: number }

const ROOT = join(import.meta.dir, '..')
/** Whatever imports it, directly or not, depends on the kind of database. */
const DATABASE = join(ROOT, 'test', 'support', 'database.ts')
/** Where all tests are run, the canary must have had everything to search. */
const WHOLE: Environment = { CANARY_WHOLE: 'yes' }
/** Milliseconds for one test that names no limit of its own; machines of CI are slow. */
const TIMEOUT_MS = 60_000

export async function runSuite(only: string[]): Promise<number> {
  const files = listTests(only)
  const canary = only.length === 0 ? WHOLE : {}
  const embedded = await runHalf('embedded', files, canary)
  const ofDatabase = files.filter((file) => reaches(file, DATABASE))
  const postgresql = await runPostgresql(ofDatabase, canary)
  const shown = leaksFound()
  for (const leak of shown) process.stdout.write(`canary: the marked secret was found (${leak})\n`)
  const passed = embedded.passed + (postgresql?.passed ?? 0)
  const failed = embedded.failed + (postgresql?.failed ?? 0) + shown.length
  if (postgresql === null) shoutThatHalfIsMissing()
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
  return failed === 0 && passed > 0 ? 0 : 1
}

async function runPostgresql(files: string[], env: Environment): Promise<Count | null> {
  if (files.length === 0) return { passed: 0, failed: 0 }
  return findPostgres() === null ? null : runHalf('postgresql', files, env)
}

function listTests(only: string[]): string[] {
  const wanted = only.map((path) => relative(ROOT, join(process.cwd(), path)))
  const named = wanted.filter((path) => /\.tsx?$/.test(path))
  const all = new Bun.Glob('test/**/*.test.{ts,tsx}').scanSync({ cwd: ROOT })
  return [...new Set([...all, ...named])]
    .filter(
      (file) =>
        wanted.length === 0 || wanted.some((path) => file === path || file.startsWith(`${path}/`)),
    )
    .sort()
}

/** Whether a file imports another through files of the tests. */
function reaches(file: string, target: string): boolean {
  const seen = new Set<string>()
  const walk = (path: string): boolean => {
    if (path === target) return true
    if (seen.has(path) || !path.startsWith(join(ROOT, 'test')) || !existsSync(path)) return false
    seen.add(path)
    return importsOf(path).some((name) => walk(join(dirname(path), name)))
  }
  return walk(join(ROOT, file))
}

function importsOf(path: string): string[] {
  const found = readFileSync(path, 'utf8').matchAll(/\bfrom\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/g)
  return [...found].map(([, still = '', dynamic = '']) => still || dynamic)
}

async function runHalf(database: string, files: string[], env: Environment): Promise<Count> {
  const place = mkdtempSync(join(tmpdir(), 'cloakroom-test-'))
  const report = join(place, 'junit.xml')
  process.stdout.write(`\n=== ${files.length} test files on the ${database} database ===\n\n`)
  const options = [`--timeout=${TIMEOUT_MS}`, '--reporter=junit', `--reporter-outfile=${report}`]
  const child = Bun.spawn(
    [process.execPath, 'test', ...options, ...files.map((file) => `./${file}`)],
    {
      cwd: ROOT,
      env: { ...process.env, ...env, TEST_DATABASE: database },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const shown = Promise.all([
    show(child.stdout, process.stdout),
    show(child.stderr, process.stderr),
  ])
  const code = await child.exited
  // Somebody whom a test left behind may hold the other end.
  await Promise.race([shown, Bun.sleep(2000)])
  const count = readReport(report)
  rmSync(place, { recursive: true, force: true })
  // A file that does not load, or a runner that dies, is in no report.
  return code !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count
}

/** What the tests print, and the runtime for them, is searched as well. */
async function show(from: ReadableStream<Uint8Array>, to: NodeJS.WriteStream): Promise<void> {
  const look = searcher('output', 'what the tests printed')
  for await (const piece of from) {
    look(piece)
    to.write(piece)
  }
}

function readReport(path: string): Count {
  if (!existsSync(path)) return { passed: 0, failed: 0 }
  const [head = ''] = /<testsuites[^>]*>/.exec(readFileSync(path, 'utf8')) ?? []
  const read = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(head)?.[1] ?? 0)
  const failed = read('failures') + read('errors')
  return { passed: read('tests') - failed - read('skipped'), failed }
}

function shoutThatHalfIsMissing(): void {
  const bar = '!'.repeat(88)
  process.stdout.write(
    `\n${bar}\n!! PostgreSQL is not installed (no initdb in /usr/lib/postgresql or PATH).\n` +
      `!! ITS HALF OF THE TESTS WAS NOT RUN. Install it (such as: apt-get install postgresql).\n${bar}\n`,
  )
}

if (import.meta.main) process.exitCode = await runSuite(process.argv.slice(2))
