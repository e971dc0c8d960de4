/**
 * How long each test file took. `recorded.json` is committed: it orders the first run on a machine, and
 * `bun run check` compares it with the budget. Later runs are ordered by what this machine measured.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DatabaseKind, ROOT, type TestFile } from './plan.ts'
import recorded from './recorded.json' with { type: 'json' }

/** Milliseconds that a file of the quick tier may take. */
export const QUICK_FILE_MS = 8_000

const PLACE = join(ROOT, 'node_modules', '.cache', 'cloakroom')
const RECORDED = join(import.meta.dir, 'recorded.json')

type Times = Record<string, number>
type Recorded = Record<DatabaseKind, Times>

/** Both groups run at the same time, and each rewrites its file. */
const groups = ['browser', 'others'] as const
export type TimedGroup = (typeof groups)[number]

/** The file that the runtime reads and updates. */
export function timingsPath(database: DatabaseKind, group: TimedGroup): string {
  return join(PLACE, `timings-${database}-${group}.json`)
}

/** The runtime treats a file without a time as an average one; the order matters only to several processes. */
export function prepareTimings(database: DatabaseKind, group: TimedGroup): void {
  const path = timingsPath(database, group)
  if (existsSync(path)) return
  mkdirSync(PLACE, { recursive: true })
  const files = group === 'others' ? (recorded as Recorded)[database] : {}
  writeFileSync(path, JSON.stringify({ version: 1, files }))
}

export function measuredTimes(database: DatabaseKind): Times {
  const paths = groups
    .map((group) => timingsPath(database, group))
    .filter((path) => existsSync(path))
  const measured = paths.map((path) => JSON.parse(readFileSync(path, 'utf8')).files ?? {})
  return Object.assign({}, ...measured.reverse())
}

/** Writes what this run measured of these files into the committed record. */
export function recordTimes(database: DatabaseKind, files: readonly string[]): void {
  const times: Recorded = JSON.parse(readFileSync(RECORDED, 'utf8'))
  const measured = measuredTimes(database)
  const known = Object.entries(times[database]).filter(([path]) => existsSync(join(ROOT, path)))
  const fresh = files.map((path) => [path, Math.round(measured[path] ?? 0)] as const)
  const sorted = Object.entries({
    ...Object.fromEntries(known),
    ...Object.fromEntries(fresh),
  }).sort()
  writeFileSync(
    RECORDED,
    `${JSON.stringify({ ...times, [database]: Object.fromEntries(sorted) }, null, 2)}\n`,
  )
}

/** Quick files over budget, as `path: 9.1 s`. */
export function overBudget(
  files: readonly TestFile[],
  times: Recorded = recorded as Recorded,
): string[] {
  const quick = files.filter(({ tier }) => tier === 'quick').map(({ path }) => path)
  const found = quick.flatMap((path) => {
    const slowest = Math.max(times.postgresql[path] ?? 0, times.embedded[path] ?? 0)
    return slowest > QUICK_FILE_MS ? [`${path}: ${(slowest / 1000).toFixed(1)} s`] : []
  })
  return found
}

export function slowest(times: Times, count: number): string[] {
  const sorted = Object.entries(times).sort(([, one], [, other]) => other - one)
  return sorted
    .slice(0, count)
    .map(([path, ms]) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${path}`)
}
