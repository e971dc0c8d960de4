/** Backups by the clock: of several processes on one database one makes it, and the oldest files go. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Cron } from 'croner'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Connection } from '../../platform/db/open.ts'
import { describeError, type Log } from '../../platform/log.ts'
import { dump } from './dump.ts'
import { encrypterFor, writeLines, writeWhole } from './file.ts'

type Surroundings = {
  connection: Connection
  config: Config
  log: Log
  clock: Clock
  /** Told of each that this process made, or could not. */
  observe?: ((outcome: 'made' | 'failed') => void) | undefined
}

const MINUTE_MS = 60_000
/** What is ours to remove in BACKUP_DIR; a part was left by a process that was killed. */
const OURS = /^cloakroom-\d{8}T\d{6}Z\.backup$/
const OUR_PART = /^cloakroom-\d{8}T\d{6}Z\.backup\.part$/

/** `null` without BACKUP_DIR. @throws BackupProblem for a recipient that is none */
export function scheduleBackups(surroundings: Surroundings): { stop(): void } | null {
  const { BACKUP_DIR, BACKUP_SCHEDULE, BACKUP_RECIPIENTS, ROLE } = surroundings.config
  if (BACKUP_DIR === undefined || ROLE === 'resolver') return null
  encrypterFor(BACKUP_RECIPIENTS)
  const options = { protect: true, unref: true, timezone: 'UTC' }
  return new Cron(BACKUP_SCHEDULE, options, async () => {
    await backUpByClock(surroundings, BACKUP_DIR)
  })
}

/** Returns whether it was this process that made one. Never throws. */
export async function backUpByClock(
  { connection, config, log, clock, observe }: Surroundings,
  folder: string,
): Promise<boolean> {
  const { sql } = connection
  const now = clock.now()
  const at = new Date(now).toISOString()
  try {
    if (!(await claim(sql, Math.floor(now / MINUTE_MS)))) return false
    const file = join(folder, `cloakroom-${nameOf(now)}.backup`)
    prepareFolder(folder)
    const source = { sql, encryptionKey: config.ENCRYPTION_KEY, now: clock.now }
    const encrypter = encrypterFor(config.BACKUP_RECIPIENTS)
    await writeWhole(file, (part) => writeLines(part, encrypter, (take) => dump(source, take)))
    await sql`update instance set backed_up_at = ${at}, backup_failed_at = null`
    log.info('backed up', { file, bytes: Bun.file(file).size })
    removeOldest(folder, config.BACKUP_KEEP)
    observe?.('made')
    return true
  } catch (error) {
    log.error('backup failed', describeError(error))
    observe?.('failed')
    await sql`update instance set backup_failed_at = ${at}`.catch(() => {})
    return false
  }
}

/** One process has each minute, also where their clocks differ. */
async function claim(sql: Connection['sql'], minute: number): Promise<boolean> {
  const mine = await sql`update instance set backup_minute = ${minute}
    where coalesce(backup_minute, 0) < ${minute} returning 1 as mine`
  return mine.length > 0
}

function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder)) if (OUR_PART.test(name)) rmSync(join(folder, name))
}

function removeOldest(folder: string, keep: number): void {
  const ours = readdirSync(folder).filter((name) => OURS.test(name))
  for (const name of ours.sort().slice(0, -keep)) rmSync(join(folder, name))
}

function nameOf(now: number): string {
  return new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')
}
