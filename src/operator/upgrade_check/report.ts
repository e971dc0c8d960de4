/**
 * The report of `cloakroom upgrade --check`. It is not a selection of ../checks: programs read its facts, and each
 * warning combines several of them.
 */
import type { Announced } from '../../database/announced.ts'
import { DAY_MS } from '../checks/measure.ts'

export type Pending = {
  name: string
  does: string[]
  /** Sessions that wait during the migration. */
  blocks: 'nobody' | 'writers' | 'everybody'
  /** Tables with all rows worked through, so that the duration grows with their size. */
  works_through: { table: string; bytes: number }[]
  /** Whether older versions can no longer use the schema. */
  breaks_older: boolean
}

export type UpgradeReport = {
  /** 0: no objection; 1: read the warnings first; 2: the upgrade would fail. */
  verdict: 0 | 1 | 2
  /** Names of the newest migrations; `null` for a database without tables. */
  schema: { database: string | null; program: string }
  pending: Pending[]
  space: { needed_bytes: number; free_bytes: number | null }
  backup: { newest: string | null }
  /** Versions that serve on this database now. */
  processes: Announced[]
  warnings: string[]
  problems: string[]
}

export type UpgradeFacts = Omit<UpgradeReport, 'verdict' | 'warnings'>

/** A larger table takes more than a moment to work through. */
const LARGE_BYTES = 64 * 1024 * 1024

export function conclude(facts: UpgradeFacts, now: number): UpgradeReport {
  const { pending, problems } = facts
  const warnings = pending.length === 0 ? [] : warningsOf(facts, now)
  const verdict = problems.length > 0 ? 2 : warnings.length > 0 ? 1 : 0
  return { verdict, ...facts, warnings }
}

function warningsOf({ pending, space, backup, processes }: UpgradeFacts, now: number): string[] {
  const large = pending.flatMap(({ name, works_through }) =>
    works_through
      .filter(({ bytes }) => bytes > LARGE_BYTES)
      .map(
        ({ table, bytes }) =>
          `${name} works through ${table} (${inMib(bytes)}), and who writes to it waits`,
      ),
  )
  const breaking = pending.filter(({ breaks_older }) => breaks_older).map(({ name }) => name)
  const isLow = space.free_bytes !== null && space.free_bytes < space.needed_bytes
  const isOld = backup.newest === null || now - Date.parse(backup.newest) > DAY_MS
  return [
    ...(large.length > 0 ? [`choose a quiet hour: ${large.join('; ')}`] : []),
    ...(breaking.length > 0 && processes.length > 0
      ? [`stop the other processes first: older versions cannot use ${breaking.join(', ')}`]
      : []),
    ...(isLow
      ? [`${inMib(space.free_bytes ?? 0)} are free, and ${inMib(space.needed_bytes)} may be needed`]
      : []),
    ...(isOld ? [`make a backup first: ${ageOf(backup.newest, now)}`] : []),
  ]
}

/** Returns lines for people. Unavailable facts are not reported as absent. */
export function reportLines(report: UpgradeReport, now: number): string {
  const { schema, warnings, problems } = report
  const isUnseen = schema.database === null && problems.length > 0
  return [
    ...(isUnseen ? [] : found(report, now)),
    ...warnings.map((text) => ['WARNING', text]),
    ...problems.map((text) => ['FAILED', text]),
  ]
    .map(([label = '', text]) => `${label.padEnd(10)}  ${text?.replaceAll('\n', '?')}\n`)
    .join('')
}

function found(
  { schema, pending, space, backup, processes }: UpgradeReport,
  now: number,
): string[][] {
  const free =
    space.free_bytes === null
      ? 'what is free there is not seen from here'
      : `${inMib(space.free_bytes)} are free`
  return [
    ['schema', `${schema.database ?? 'none'}; this program has ${schema.program}`],
    ['migrations', pending.length === 0 ? 'none pending' : `${pending.length} pending`],
    ...pending.map(({ name, does, blocks }) => [
      '',
      `${name}: ${[...new Set(does)].join(', ')} (${WAITS[blocks]})`,
    ]),
    ['space', `about ${inMib(space.needed_bytes)} needed, ${free}`],
    ['backup', ageOf(backup.newest, now)],
    ['processes', processes.map(inWords).join(', ') || 'none that says its version'],
  ]
}

const WAITS = {
  nobody: 'nobody waits',
  writers: 'who writes to these tables waits',
  everybody: 'who uses these tables waits',
}

function inWords({ version, processes }: Announced): string {
  return `${processes} of ${version ?? 'a version that does not say which'}`
}

function ageOf(newest: string | null, now: number): string {
  if (newest === null) return 'none by the clock is known'
  return `the newest by the clock is ${Math.floor((now - Date.parse(newest)) / 3_600_000)} hours old`
}

function inMib(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`
}
