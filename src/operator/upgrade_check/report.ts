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
  /** Tables that are scanned completely, so that the duration grows with their size. */
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
  /** Versions that currently use this database. */
  processes: Announced[]
  warnings: string[]
  problems: string[]
}

export type UpgradeFacts = Omit<UpgradeReport, 'verdict' | 'warnings'>

/** Tables above this size take noticeable time. */
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
          `${name} scans ${table} (${formatMebibytes(bytes)}) and blocks writes to it`,
      ),
  )
  const breaking = pending.filter(({ breaks_older }) => breaks_older).map(({ name }) => name)
  const isLow = space.free_bytes !== null && space.free_bytes < space.needed_bytes
  const isOld = backup.newest === null || now - Date.parse(backup.newest) > DAY_MS
  return [
    ...(large.length > 0 ? [`choose a time with little traffic: ${large.join('; ')}`] : []),
    ...(breaking.length > 0 && processes.length > 0
      ? [
          `stop the other processes first: older versions are incompatible with ${breaking.join(', ')}`,
        ]
      : []),
    ...(isLow
      ? [
          `the upgrade may need ${formatMebibytes(space.needed_bytes)}, but only ${formatMebibytes(space.free_bytes ?? 0)} are free`,
        ]
      : []),
    ...(isOld ? [`back up first: ${ageOf(backup.newest, now)}`] : []),
  ]
}

/** Returns lines for people. Unavailable facts are not reported as absent. */
export function reportLines(report: UpgradeReport, now: number): string {
  const { schema, warnings, problems } = report
  const isUnseen = schema.database === null && problems.length > 0
  return [
    ...(isUnseen ? [] : describeFindings(report, now)),
    ...warnings.map((text) => ['WARNING', text]),
    ...problems.map((text) => ['FAILED', text]),
  ]
    .map(([label = '', text]) => `${label.padEnd(10)}  ${text?.replaceAll('\n', '?')}\n`)
    .join('')
}

function describeFindings(
  { schema, pending, space, backup, processes }: UpgradeReport,
  now: number,
): string[][] {
  const free =
    space.free_bytes === null
      ? 'free space unknown'
      : `${formatMebibytes(space.free_bytes)} are free`
  return [
    ['schema', `${schema.database ?? 'none'}; this program has ${schema.program}`],
    ['migrations', pending.length === 0 ? 'none pending' : `${pending.length} pending`],
    ...pending.map(({ name, does, blocks }) => [
      '',
      `${name}: ${[...new Set(does)].join(', ')} (${WAITS[blocks]})`,
    ]),
    ['space', `about ${formatMebibytes(space.needed_bytes)} needed, ${free}`],
    ['backup', ageOf(backup.newest, now)],
    ['processes', processes.map(formatAnnounced).join(', ') || 'none that reports its version'],
  ]
}

const WAITS = {
  nobody: 'blocks nothing',
  writers: 'blocks writes to these tables',
  everybody: 'blocks these tables',
}

function formatAnnounced({ version, processes }: Announced): string {
  return `${processes} of ${version ?? 'an unknown version'}`
}

function ageOf(newest: string | null, now: number): string {
  if (newest === null) return 'no scheduled backup is recorded'
  return `the newest scheduled backup is ${Math.floor((now - Date.parse(newest)) / 3_600_000)} hours old`
}

function formatMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`
}
