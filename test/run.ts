/**
 * Runs the tests. A file's first line states its tier; CONTRIBUTING.md lists the commands.
 *
 * bun test/run.ts [--all] [--changed] [--watch] [--rest] [--record] [words]
 *
 * The quick tier runs on PostgreSQL where its programs are installed, else on the embedded database; files
 * that say so run on both. `--all` runs everything; with `--rest` it leaves out what the quick tier has just
 * run in full. Words select files by path or, if no path matches, tests by name. `--record` writes the times of
 * this run into test/runner/recorded.json. Up to ten files with failures run once more, alone.
 *
 * The last line is `N passed, N failed, N skipped`. The exit code is 0 only if nothing failed; a marked secret
 * that the canary finds (test/support/canary.ts) is a failure like any other.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildExecutable } from '../src/dev/build.ts'
import { type Environment, execute, type Outcome } from './runner/execute.ts'
import { listTestFiles, type Pass, plan, ROOT, reaches, type TestFile } from './runner/plan.ts'
import { measuredTimes, QUICK_FILE_MS, recordTimes, slowest } from './runner/timings.ts'
import { Watchdog } from './runner/watchdog.ts'
import { blindSpots, searchFiles, takeLeaks } from './support/canary.ts'
import { isPresent } from './support/needs.ts'
import { otherPackages } from './support/other_programs.ts'
import { databasePlace, executablePlace, removePlaces } from './support/places.ts'
import { type Cluster, startCluster } from './support/postgres.ts'
import { findPostgres } from './support/postgres_programs.ts'
import { prepareCluster, prepareDirectory } from './support/prepared.ts'

const { values, positionals: words } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    changed: { type: 'boolean', default: false },
    watch: { type: 'boolean', default: false },
    rest: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    /** Fails when the canary could not search everything; the default without words. */
    whole: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

const EXECUTABLE = join(ROOT, 'test', 'binary', 'executable.ts')
/** One more than there are cores, because tests often wait. */
const PROCESSES = availableParallelism() + 1
/** Reduces the compiler's effort: an embedded database of a test ends before more of it would pay off. */
const LESS_COMPILING = { BUN_JSC_thresholdForOMGOptimizeAfterWarmUp: '500000' }

const started = Date.now()
/** The part of an exhaustive test that the quick tier runs. Set it to repeat a run. */
const seed = process.env.TEST_SEED ?? String(Math.floor(Math.random() * 1e9))

async function run(): Promise<number> {
  const hasPostgres = findPostgres() !== null
  const files = listTestFiles()
  const { passes, leftOut } = plan(files, {
    tier: values.all ? 'all' : 'quick',
    words,
    rest: values.rest,
    main: hasPostgres ? 'postgresql' : 'embedded',
    other: hasPostgres ? 'embedded' : null,
  })
  const chosen = passes.filter(({ files }) => files.length > 0)
  // Before a test process starts: the runtime remembers folders that were missing.
  if (values.all) await otherPackages()
  let cluster = hasPostgres && chosen.some(isOnPostgres) ? await startCluster() : null
  try {
    if (cluster) await prepareCluster(cluster)
    const outcomes = await runPasses(chosen, await environmentOf(files, chosen, cluster))
    await cluster?.stop()
    cluster = null
    return conclude(chosen, outcomes, leftOut)
  } finally {
    await cluster?.stop()
  }
}

const isOnPostgres = ({ database }: Pass) => database === 'postgresql'

async function environmentOf(
  files: readonly TestFile[],
  passes: readonly Pass[],
  cluster: Cluster | null,
): Promise<Environment> {
  const chosen = new Set(passes.flatMap((pass) => pass.files))
  const needsExecutable = files.some(
    ({ path, tier }) => tier === 'all' && chosen.has(path) && reaches(path, [EXECUTABLE]),
  )
  const isEmbedded = passes.some((pass) => !isOnPostgres(pass))
  return {
    TEST_DATABASE_PLACE: databasePlace,
    TEST_TIER: values.all ? 'all' : 'quick',
    TEST_SEED: seed,
    ...LESS_COMPILING,
    TEST_EXECUTABLE: await (needsExecutable ? prepareExecutable() : prepareLauncher()),
    ...(cluster ? { TEST_CLUSTER: cluster.socketDir } : {}),
    ...(isEmbedded ? { TEST_PREPARED: await prepareDirectory() } : {}),
  }
}

const MAIN = join(ROOT, 'src', 'main.ts')
const OUTFILE = join(executablePlace, 'cloakroom')

/** One executable for all processes. */
async function prepareExecutable(): Promise<string> {
  await buildExecutable({ entry: MAIN, outfile: OUTFILE })
  return OUTFILE
}

/** Quick tests start the program from source: a build takes longer than all of them. */
async function prepareLauncher(): Promise<string> {
  const command = [process.execPath, '--config=/dev/null', '--no-env-file', MAIN]
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  mkdirSync(executablePlace, { recursive: true })
  writeFileSync(OUTFILE, `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 })
  return OUTFILE
}

/** Both databases at once; the smaller pass gets one process. */
async function runPasses(passes: readonly Pass[], env: Environment): Promise<Outcome[]> {
  const watchdog = new Watchdog(Number(process.env.CI_STARTED_MS ?? started), (text) =>
    process.stdout.write(text),
  )
  const flags = [...(values.changed ? ['--changed'] : []), ...(values.watch ? ['--watch'] : [])]
  const runs = passes.map((pass, index) => {
    process.stdout.write(`\n=== ${pass.files.length} test files on ${nameOf(pass)} ===\n`)
    const processes = passes.length === 1 || index === 0 ? PROCESSES : 1
    const passEnv = { ...env, TEST_IS_OTHER_DATABASE: String(index > 0) }
    return execute(pass, { processes, env: passEnv, flags, onLine: (line) => watchdog.read(line) })
  })
  const outcomes = await Promise.all(runs)
  watchdog.end()
  return outcomes
}

const nameOf = ({ database }: Pass) =>
  database === 'embedded' ? 'the embedded database' : 'PostgreSQL'

function conclude(passes: readonly Pass[], outcomes: readonly Outcome[], leftOut: number): number {
  searchFiles('database', databasePlace)
  const searched = new Set(outcomes.flatMap((outcome) => outcome.searched))
  const leaks = takeLeaks().map((leak) => `canary: the marked secret was found (${leak})`)
  const isWhole = values.whole || (words.length === 0 && !values.changed && !values.rest)
  const blind = isWhole
    ? blindSpots(searched, {
        hasPostgres: passes.some(isOnPostgres),
        hasBrowser: isPresent('chromium'),
      })
    : []
  const failed = [
    ...outcomes.flatMap((outcome) => outcome.failed),
    ...blind.map((spot) => `canary: blind (${spot})`),
    ...leaks,
  ]
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0)
  const skipped = outcomes.reduce((sum, outcome) => sum + outcome.skipped, 0)
  list('Slowest files', slowestOf(passes))
  list(
    'Passed only alone',
    outcomes.flatMap((outcome) => outcome.onlyAlone),
  )
  list('Skipped, because', [...new Set(outcomes.flatMap((outcome) => outcome.needs))])
  list('Failed', failed)
  if (values.record) recordTier(passes)
  const minutes = ((Date.now() - started) / 60_000).toFixed(1)
  if (leftOut > 0)
    process.stdout.write(`\nLeft out: ${leftOut} files of the whole tier (bun run test:all).\n`)
  process.stdout.write(`\n${minutes} minutes; TEST_SEED=${seed}\n`)
  process.stdout.write(`${passed} passed, ${failed.length} failed, ${skipped} skipped\n`)
  return failed.length === 0 && (passed > 0 || values.changed) ? 0 : 1
}

/** A quick file does more in `test:all`, so its time there is not compared with the budget. */
function recordTier(passes: readonly Pass[]): void {
  const tier = values.all ? 'all' : 'quick'
  const ofTier = new Set(listTestFiles().flatMap((file) => (file.tier === tier ? [file.path] : [])))
  for (const { database, files } of passes)
    recordTimes(
      database,
      files.filter((path) => ofTier.has(path)),
    )
}

function slowestOf(passes: readonly Pass[]): string[] {
  const times = passes.flatMap(({ database, files }) => {
    const measured = measuredTimes(database)
    return files.map(
      (file) =>
        [`${file}${passes.length > 1 ? ` (${database})` : ''}`, measured[file] ?? 0] as const,
    )
  })
  return slowest(Object.fromEntries(times), 10).concat(
    values.all ? [] : [`(a quick file may take ${QUICK_FILE_MS / 1000} s)`],
  )
}

function list(title: string, lines: readonly string[]): void {
  if (lines.length > 0)
    process.stdout.write(`\n${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`)
}

try {
  process.exitCode = await run()
} finally {
  removePlaces()
}
