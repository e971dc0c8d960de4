/** Runs the test files of one database in several processes, and those with failures once more, alone. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { searcher } from '../support/canary.ts'
import { type Pass, ROOT, reaches } from './plan.ts'
import { filesToRepeat, type Report, readReport } from './report.ts'
import { prepareTimings, type TimedGroup, timingsPath } from './timings.ts'

export type Environment = Record<string, string>

export type Outcome = {
  passed: number
  skipped: number
  failed: string[]
  /** Tests that failed beside others and passed alone. */
  onlyAlone: string[]
  /** Tools that were not installed, with the command that installs them. */
  needs: string[]
  /** The places that this pass searched for leaked secrets. */
  searched: string[]
}

export type Options = {
  processes: number
  env: Environment
  /** Flags for the runtime, such as `--changed`. */
  flags: readonly string[]
  onLine: (line: string) => void
}

/** Milliseconds for one test that sets no limit; CI machines are slow. */
const TIMEOUT_MS = 180_000

export async function execute(
  pass: Pass,
  { processes, env, flags, onLine }: Options,
): Promise<Outcome> {
  const place = mkdtempSync(join(tmpdir(), 'cloakroom-test-'))
  const places = { searched: join(place, 'searched'), skips: join(place, 'skips') }
  for (const path of Object.values(places)) mkdirSync(path)
  const childEnv = {
    ...env,
    TEST_DATABASE: pass.database,
    CANARY_SEARCHED: places.searched,
    TEST_SKIPS: places.skips,
  }
  const run = async (group: TimedGroup, files: string[], count: number) => {
    prepareTimings(pass.database, group)
    const path = join(place, `${group}-${files.length}-${count}.xml`)
    rmSync(path, { force: true })
    const options = optionsOf({ ...pass, files }, group, count, flags)
    const code = await runFiles([...options, `--reporter-outfile=${path}`], childEnv, onLine)
    return { code, report: readReport(path) }
  }
  const groups = groupFiles(pass.files, processes)
  const runs = await Promise.all(groups.map(({ group, files, count }) => run(group, files, count)))
  const first: Report = new Map(runs.flatMap(({ report }) => [...report]))
  const final = new Map(first)
  const isGood = runs.every(({ code }) => code === 0)
  for (const file of isGood ? [] : filesToRepeat(first, pass.files)) {
    process.stdout.write(`\n=== once more, alone: ${file} ===\n\n`)
    const { code, report } = await run(usesBrowser(file) ? 'browser' : 'others', [file], 1)
    // A file that fails to load is in no report, and neither is a file without tests for this database.
    const failed = code === 0 ? [] : [`${file} > (did not load)`]
    final.set(file, report.get(file) ?? { passed: 0, skipped: 0, failed })
  }
  const outcome = summarise(first, final)
  const needs = [...new Set(readLines(places.skips))].sort()
  const searched = readdirSync(places.searched)
  rmSync(place, { recursive: true, force: true })
  return { ...outcome, needs, searched }
}

const BROWSER = join(ROOT, 'test', 'console', 'browser.ts')
const usesBrowser = (file: string) => reaches(file, [BROWSER])

type Group = { group: TimedGroup; files: string[]; count: number }

/**
 * Each process of files that use a browser has one Chromium and one server, which keep a core busy for half of the time.
 * One process is enough beside many other files; where most files use a browser, the others need only one.
 */
export function groupFiles(files: readonly string[], processes: number): Group[] {
  const browser = files.filter(usesBrowser)
  const others = files.filter((file) => !usesBrowser(file))
  const most = browser.length === 0 ? processes : Math.max(1, processes - 1)
  const counts =
    browser.length > others.length ? { browser: most, others: 1 } : { browser: 1, others: most }
  const groups: Group[] = [
    { group: 'browser', files: browser, count: counts.browser },
    { group: 'others', files: others, count: counts.others },
  ]
  return groups.filter((each) => each.files.length > 0)
}

function summarise(first: Report, final: Report): Omit<Outcome, 'needs' | 'searched'> {
  const files = [...final.values()]
  const failed = files.flatMap((file) => file.failed)
  return {
    passed: files.reduce((sum, file) => sum + file.passed, 0),
    skipped: files.reduce((sum, file) => sum + file.skipped, 0),
    failed,
    onlyAlone: [...first.values()]
      .flatMap((file) => file.failed)
      .filter((test) => !failed.includes(test)),
  }
}

function readLines(directory: string): string[] {
  return readdirSync(directory).flatMap((name) =>
    readFileSync(join(directory, name), 'utf8').split('\n').filter(Boolean),
  )
}

function optionsOf(
  pass: Pass,
  group: TimedGroup,
  processes: number,
  flags: readonly string[],
): string[] {
  return [
    // A limit that a preload sets applies to the first file of a process only.
    `--timeout=${TIMEOUT_MS}`,
    `--parallel=${processes}`,
    '--no-isolate',
    '--reporter=junit',
    `--timings=${timingsPath(pass.database, group)}`,
    // Some of a file's tests do not measure the file.
    ...(pass.names === undefined ? ['--update-timings'] : ['-t', pass.names]),
    '--pass-with-no-tests',
    ...flags,
    ...pass.files.map((file) => `./${file}`),
  ]
}

async function runFiles(
  options: string[],
  env: Environment,
  onLine: (line: string) => void,
): Promise<number> {
  const child = Bun.spawn([process.execPath, 'test', ...options], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const end = () => child.kill('SIGTERM')
  process.once('SIGINT', end).once('SIGTERM', end)
  const shown = Promise.all([
    show(child.stdout, process.stdout, onLine),
    show(child.stderr, process.stderr, onLine),
  ])
  const code = await child.exited
  process.off('SIGINT', end).off('SIGTERM', end)
  // A program that a test left running may hold the other end.
  await Promise.race([shown, Bun.sleep(2000)])
  return code
}

/** Prints what the tests print, and searches it for secrets. */
async function show(
  from: ReadableStream<Uint8Array>,
  to: NodeJS.WriteStream,
  onLine: (line: string) => void,
): Promise<void> {
  const look = searcher('output', 'what the tests printed')
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of from) {
    look(piece)
    to.write(piece)
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
}
