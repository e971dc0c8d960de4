/** Whether the clock can be right: tokens and sessions expire by it, on every process the same. */
import type { Sql } from 'postgres'
import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../core/config/config.ts'
import { Failed } from './check.ts'
import { withServerDatabase } from './database.ts'

/** This program is not older; a machine without a battery for its clock begins in 1970. */
const EARLIEST = Date.UTC(2026, 10, 1)
/** Milliseconds that the clocks of a server and its database may differ. */
const TOLERANCE_MS = 5_000

/** @throws Failed */
export async function checkClock(config: Config, clock: Clock): Promise<string> {
  if (config.DB_HOST === undefined) return await compareClocks(null, clock.now)
  return await withServerDatabase(config, ({ sql }) => compareClocks(sql, clock.now))
}

/** `null` for the embedded database, which has no clock of its own. @throws Failed */
export async function compareClocks(sql: Sql | null, clock: () => number): Promise<string> {
  const now = clock()
  const shown = new Date(now).toISOString()
  if (now < EARLIEST) throw new Failed(`it says ${shown}, which has been: set it, such as by NTP`)
  if (sql === null) return shown
  const [row] = await sql<{ ms: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`
  const theirs = row?.ms ?? 0
  const difference = Math.round((theirs - now) / 1000)
  if (Math.abs(theirs - now) <= TOLERANCE_MS) return `${shown}, as PostgreSQL's`
  throw new Failed(
    `it differs from PostgreSQL's by ${Math.abs(difference)} s: set both, such as by NTP`,
  )
}
