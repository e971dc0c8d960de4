/** Checks that the clock is plausible: tokens and sessions of all processes expire by it. */
import type { Sql } from 'postgres'
import { type Configured, Failed } from './check.ts'
import { withServerDatabase } from './database.ts'

/** This program was built later. A machine without a clock battery starts in 1970. */
const EARLIEST = Date.UTC(2026, 10, 1)
/** Allowed milliseconds between the clocks of a server and its database. */
const TOLERANCE_MS = 5_000

/** The embedded database has no clock to compare with. @throws Failed */
export async function checkClock({ config, now, connection }: Configured): Promise<string> {
  if (config.DB_HOST === undefined) return await compareClocks(now, null)
  if (connection) return await compareClocks(now, connection.sql)
  return await withServerDatabase(config, ({ sql }) => compareClocks(now, sql))
}

async function compareClocks(clock: () => number, sql: Sql | null): Promise<string> {
  const now = clock()
  const shown = new Date(now).toISOString()
  if (now < EARLIEST)
    throw new Failed(`it shows ${shown}, in the past: set it, for example with NTP`)
  if (sql === null) return shown
  const [row] = await sql<{ ms: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`
  const difference = (row?.ms ?? 0) - now
  if (Math.abs(difference) <= TOLERANCE_MS) return `${shown}, same as PostgreSQL`
  const seconds = Math.abs(Math.round(difference / 1000))
  throw new Failed(`it differs from PostgreSQL's by ${seconds} s: set both, for example with NTP`)
}
