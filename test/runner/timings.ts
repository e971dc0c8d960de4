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

/** The file that the runtime reads and updates. */
export function timingsPath(database: DatabaseKind): string {
  return join(PLACE, `timings-${database}.json`)
}

/** The runtime takes a file without a time for an average one. */
export function prepareTimings(database: DatabaseKind): void {
  if (existsSync(timingsPath(database))) return
  mkdirSync(PLACE, { recursive: true })
  const files = (recorded as Recorded)[database]
  writeFileSync(timingsPath(database), JSON.stringify({ version: 1, files }))
}

export function measuredTimes(database: DatabaseKind): Times {
  if (!existsSync(timingsPath(database))) return {}
  return JSON.parse(readFileSync(timingsPath(database), 'utf8')).files ?? {}
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
