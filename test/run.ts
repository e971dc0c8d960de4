/**
 * Runs the suite: its tests on the embedded database, then, where PostgreSQL's programs are installed,
 * once more those that reach a database, on a private cluster. Files run in several processes at once.
 * Of a few files with failures each runs once more, alone: three processes share two cores, and what only
 * fails beside others is listed by its name instead of refusing the whole (`passed only alone`).
 * What was not run is said loudly. What failed is listed at the end; the last line is `N passed, N failed`,
 * and the exit code is 0 only if nothing failed; a marked secret that came to light (test/support/canary.ts)
 * is a failure like any other.
 *
 * bun test/run.ts [--long] [--whole] [words]
 *
 * With words, only files that have one of them in their path; if there is none, tests that have one in
 * their name. `--long` runs the files that then do more (test/support/effort.ts), and those only; `--whole`,
 * the default without words, fails when the canary did not get to search everything that it should.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildExecutable } from '../src/dev/build.ts'
import slow from './slow.json' with { type: 'json' }
import { blindSpots, searcher, takeLeaks } from './support/canary.ts'
import { databasePlace, executablePlace, removePlaces } from './support/places.ts'
import { startCluster } from './support/postgres.ts'
import { findPostgres } from './support/postgres_programs.ts'
import { prepareCluster, prepareDirectory } from './support/prepared.ts'
import { doubtful, readReport } from './support/report.ts'

type Environment = Record<string, string>
/** Files to run, whole or only the tests whose names match. */
type Selection = { files: string[]; names?: string }
type Half = { database: string; selection: Selection; env: Environment; isWhole: boolean }
type Count = { passed: number; failed: string[]; onlyAlone: string[] }

const NOTHING: Count = { passed: 0, failed: [], onlyAlone: [] }

const ROOT = join(import.meta.dir, '..')
/** What imports it, directly or not, depends on the kind of database. */
const DATABASE = join(ROOT, 'test', 'support', 'database.ts')
/** What imports it does more in a long run. */
const EFFORT = join(ROOT, 'test', 'support', 'effort.ts')
const EXECUTABLE = join(ROOT, 'test', 'binary', 'executable.ts')
/** How long each file took the last time, so that the slow ones go first; `slow.json` is for the first time. */
const TIMINGS = join(ROOT, 'node_modules', '.cache', 'cloakroom')
/** One more than there are cores, since tests often wait. */
const PROCESSES = availableParallelism() + 1
/** Milliseconds for one test that names no limit of its own; machines of CI are slow. */
const TIMEOUT_MS = 180_000
/** The embedded database lives too short for the compiler's last effort to pay. */
const LESS_COMPILING = { BUN_JSC_thresholdForOMGOptimizeAfterWarmUp: '500000' }

async function runSuite(words: string[], isLong: boolean, isWhole: boolean): Promise<number> {
  const selection = select(words, isLong)
  const env = {
    TEST_DATABASE_PLACE: databasePlace,
    ...LESS_COMPILING,
    ...(isLong ? { TEST_EFFORT: 'long' } : {}),
    ...(await prepareExecutable(selection)),
    TEST_PREPARED: await prepareDirectory(),
  }
  const embedded = await runHalf({ database: 'embedded', selection, env, isWhole })
  const files = selection.files.filter((file) => reaches(file, DATABASE))
  const ofDatabase = { ...selection, files }
  const postgresql = await runPostgresql({
    database: 'postgresql',
    selection: ofDatabase,
    env,
    isWhole,
  })
  const leaks = takeLeaks().map((leak) => `canary: the marked secret was found (${leak})`)
  const halves = [embedded, postgresql ?? NOTHING]
  const passed = halves.reduce((sum, half) => sum + half.passed, 0)
  const failed = [...halves.flatMap((half) => half.failed), ...leaks]
  list(
    'passed only alone',
    halves.flatMap((half) => half.onlyAlone),
  )
  list('failed', failed)
  if (postgresql === null) shoutThatHalfIsMissing()
  process.stdout.write(`\n${passed} passed, ${failed.length} failed\n`)
  return failed.length === 0 && passed > 0 ? 0 : 1
}

function list(title: string, lines: string[]): void {
  if (lines.length > 0)
    process.stdout.write(`\n${title}:\n${lines.map((line) => `${line}\n`).join('')}`)
}

/** One cluster for all processes. */
async function runPostgresql(half: Half): Promise<Count | null> {
  if (half.selection.files.length === 0) return NOTHING
  if (findPostgres() === null) return null
  const cluster = await startCluster()
  try {
    await prepareCluster(cluster)
    return await runHalf({ ...half, env: { ...half.env, TEST_CLUSTER: cluster.socketDir } })
  } finally {
    await cluster.stop()
  }
}

/** One executable for all processes, if any test starts it. */
async function prepareExecutable({ files }: Selection): Promise<Environment> {
  if (!files.some((file) => reaches(file, EXECUTABLE))) return {}
  const outfile = join(executablePlace, 'cloakroom')
  await buildExecutable({ entry: join(ROOT, 'src', 'main.ts'), outfile })
  return { TEST_EXECUTABLE: outfile }
}

function select(words: string[], isLong: boolean): Selection {
  const files = [...new Bun.Glob('test/**/*.test.{ts,tsx}').scanSync({ cwd: ROOT })]
    .filter((file) => !isLong || reaches(file, EFFORT))
    .sort()
  if (words.length === 0) return { files }
  const given = words.map((word) => word.replace(/^\.\//, ''))
  const exact = given.filter((path) => /\.tsx?$/.test(path) && existsSync(join(ROOT, path)))
  const byPath = files.filter((file) => given.some((word) => file.includes(word)))
  if (byPath.length + exact.length > 0) return { files: [...new Set([...byPath, ...exact])] }
  const names = given.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')
  const byText = files.filter((file) =>
    new RegExp(names).test(readFileSync(join(ROOT, file), 'utf8')),
  )
  return { files: byText, names }
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

async function runHalf({ database, selection, env, isWhole }: Half): Promise<Count> {
  if (selection.files.length === 0) return NOTHING
  const { files } = selection
  process.stdout.write(`\n=== ${files.length} test files on the ${database} database ===\n\n`)
  const place = mkdtempSync(join(tmpdir(), 'cloakroom-test-'))
  const searched = join(place, 'searched')
  mkdirSync(searched)
  prepareTimings(database, files)
  const run = async (files: string[], processes: number) => {
    const path = join(place, `${processes}.xml`)
    rmSync(path, { force: true })
    const options = optionsOf(database, { ...selection, files }, processes)
    const names = { TEST_DATABASE: database, CANARY_SEARCHED: searched }
    const code = await runFiles([...options, `--reporter-outfile=${path}`], { ...env, ...names })
    return { code, report: readReport(path) }
  }
  const first = await run(files, PROCESSES)
  const outcome = new Map(first.report)
  for (const file of first.code === 0 ? [] : doubtful(first.report, files)) {
    process.stdout.write(`\n=== once more, alone: ${file} ===\n\n`)
    const { code, report } = await run([file], 1)
    // A file that does not load is in no report, as one that has no tests for this database.
    const unread = { passed: 0, failed: code === 0 ? [] : [`${file} > (did not load)`] }
    outcome.set(file, report.get(file) ?? unread)
  }
  const blind = isWhole ? blindSpots(searched, database) : []
  rmSync(place, { recursive: true, force: true })
  const ended = [...outcome.values()]
  const failed = ended.flatMap((file) => file.failed)
  return {
    passed: ended.reduce((sum, file) => sum + file.passed, 0),
    failed: [...failed, ...blind.map((spot) => `canary: blind (${spot})`)],
    onlyAlone: [...first.report.values()]
      .flatMap((file) => file.failed)
      .filter((test) => !failed.includes(test)),
  }
}

/** The runtime takes a file of which it knows no time for one of the middle. */
function prepareTimings(database: string, files: string[]): void {
  const path = timingsOf(database)
  if (existsSync(path)) return
  const seconds: Record<string, number> = slow
  const times = files.map((file) => [file, 1000 * (seconds[file] ?? 1)])
  mkdirSync(TIMINGS, { recursive: true })
  writeFileSync(path, JSON.stringify({ version: 1, files: Object.fromEntries(times) }))
}

const timingsOf = (database: string) => join(TIMINGS, `${database}.json`)

function optionsOf(database: string, { files, names }: Selection, processes: number): string[] {
  return [
    // A limit that a preload sets holds for the first file of a process only.
    `--timeout=${TIMEOUT_MS}`,
    `--parallel=${processes}`,
    '--no-isolate',
    '--reporter=junit',
    `--timings=${timingsOf(database)}`,
    // Some tests of a file say nothing of the time that it takes.
    ...(names === undefined ? ['--update-timings'] : ['--pass-with-no-tests', '-t', names]),
    ...files.map((file) => `./${file}`),
  ]
}

async function runFiles(options: string[], env: Environment): Promise<number> {
  const child = Bun.spawn([process.execPath, 'test', ...options], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const end = () => child.kill('SIGTERM')
  process.once('SIGINT', end).once('SIGTERM', end)
  const shown = Promise.all([
    show(child.stdout, process.stdout),
    show(child.stderr, process.stderr),
  ])
  const code = await child.exited
  process.off('SIGINT', end).off('SIGTERM', end)
  // A program that a test left behind may hold the other end.
  await Promise.race([shown, Bun.sleep(2000)])
  return code
}

/** What the tests print, and the runtime for them, is searched as well. */
async function show(from: ReadableStream<Uint8Array>, to: NodeJS.WriteStream): Promise<void> {
  const look = searcher('output', 'what the tests printed')
  for await (const piece of from) {
    look(piece)
    to.write(piece)
  }
}

function shoutThatHalfIsMissing(): void {
  const bar = '!'.repeat(88)
  process.stdout.write(
    `\n${bar}\n!! PostgreSQL is not installed (no initdb in /usr/lib/postgresql or PATH).\n` +
      `!! ITS HALF OF THE TESTS WAS NOT RUN. Install it (such as: apt-get install postgresql).\n${bar}\n`,
  )
}

const { values, positionals } = parseArgs({
  options: {
    long: { type: 'boolean', default: false },
    whole: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const isWhole = values.whole || (positionals.length === 0 && !values.long)
try {
  process.exitCode = await runSuite(positionals, values.long, isWhole)
} finally {
  removePlaces()
}
