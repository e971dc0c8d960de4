/** Scheduled backups: one process per database makes each. Missed ones are made later; the oldest are removed. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Cron } from 'croner'
import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../core/config/config.ts'
import { describeError, type Log } from '../../core/log.ts'
import type { Connection } from '../../database/open.ts'
import { encrypterFor, writeWhole } from './file.ts'
import { backUpServer } from './source.ts'

type Surroundings = {
  connection: Connection
  config: Config
  log: Log
  clock: Clock
  /** Called for each backup that this process made, or failed to make. */
  observe?: ((outcome: 'made' | 'failed') => void) | undefined
}

const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS
/** Names of files in BACKUP_DIR that the schedule may remove. */
const OURS = /^cloakroom-\d{8}T\d{6}Z\.backup$/
/** Left by a killed process, or still being written by another one. */
const OUR_PART = /^cloakroom-\d{8}T\d{6}Z\.backup(\.[0-9a-f]{8})?\.part$/
/** Interval of checks for missed backups, in addition to the start. */
const HOURLY = '47 * * * *'

/** Starts the schedule; `null` without BACKUP_DIR. @throws BackupProblem for an invalid recipient */
export function scheduleBackups(surroundings: Surroundings): { stop(): void } | null {
  const { BACKUP_DIR, BACKUP_SCHEDULE, BACKUP_RECIPIENTS, ROLE } = surroundings.config
  if (BACKUP_DIR === undefined || ROLE === 'resolver') return null
  encrypterFor(BACKUP_RECIPIENTS)
  const options = { protect: true, unref: true, timezone: 'UTC' }
  const jobs = [
    new Cron(BACKUP_SCHEDULE, options, async () => {
      await backUpOnSchedule(surroundings, BACKUP_DIR)
    }),
    new Cron(HOURLY, options, async () => {
      await makeUpForMissed(surroundings, BACKUP_DIR)
    }),
  ]
  void makeUpForMissed(surroundings, BACKUP_DIR)
  return {
    stop: () => {
      for (const job of jobs) job.stop()
    },
  }
}

/** Makes a backup now if the last one is missing: no process ran, it was killed, or it failed. Never throws. */
export async function makeUpForMissed(
  surroundings: Surroundings,
  folder: string,
): Promise<boolean> {
  const { connection, config, clock } = surroundings
  const pattern = new Cron(config.BACKUP_SCHEDULE, { paused: true, timezone: 'UTC' })
  const [due] = pattern.previousRuns(1, new Date(clock.now()))
  if (!due) return false
  const missed = await connection.sql`
    select 1 from instance
    where coalesce(backed_up_at, '-infinity') < ${due.toISOString()}`.catch(() => [])
  return missed.length > 0 && (await backUpOnSchedule(surroundings, folder))
}

/** Returns whether it was this process that made one. Never throws. */
export async function backUpOnSchedule(
  { connection, config, log, clock, observe }: Surroundings,
  folder: string,
): Promise<boolean> {
  const { sql } = connection
  const now = clock.now()
  const at = new Date(now).toISOString()
  try {
    if (!(await claim(sql, Math.floor(now / MINUTE_MS)))) return false
    const file = join(folder, nameOf(now))
    prepareFolder(folder, now)
    const server = { connection, config, log, now: clock.now }
    await writeWhole(file, (part) => backUpServer(server, part, config.BACKUP_RECIPIENTS))
    await sql.begin((tx) => tx`update instance set backed_up_at = ${at}, backup_failed_at = null`)
    log.info('backed up', { file, bytes: Bun.file(file).size })
    removeOldest(file, config.BACKUP_KEEP)
    observe?.('made')
    return true
  } catch (error) {
    log.error('backup failed', describeError(error))
    observe?.('failed')
    await sql.begin((tx) => tx`update instance set backup_failed_at = ${at}`).catch(() => {})
    return false
  }
}

/** Claims a minute for one process, even if clocks differ. Ignores claims a day ahead, from a wrong clock. */
async function claim(sql: Connection['sql'], minute: number): Promise<boolean> {
  const mine = await sql`update instance set backup_minute = ${minute}
    where coalesce(backup_minute, 0) < ${minute} or backup_minute > ${minute + DAY_MS / MINUTE_MS}
    returning 1 as mine`
  return mine.length > 0
}

function prepareFolder(folder: string, now: number): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const old = nameOf(now - DAY_MS / 2)
  for (const name of filesIn(folder, OUR_PART)) if (name < old) rmSync(join(folder, name))
}

/** Excludes folders and links, with any names: other programs created them. */
function filesIn(folder: string, pattern: RegExp): string[] {
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isFile() && pattern.test(entry.name) ? entry.name : []))
}

/** Never removes the new backup, even if clocks differed. */
function removeOldest(made: string, keep: number): void {
  const folder = dirname(made)
  const others = filesIn(folder, OURS).filter((name) => name !== basename(made))
  const surplus = Math.max(0, others.length + 1 - keep)
  for (const name of others.sort().slice(0, surplus)) rmSync(join(folder, name))
}

function nameOf(now: number): string {
  return `cloakroom-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')}.backup`
}
