/** Whether the clock can be right: tokens and sessions expire by it, on every process the same. */
import type { Sql } from 'postgres'
import { type Configured, Failed } from './check.ts'
import { withServerDatabase } from './database.ts'

/** This program is not older; a machine without a battery for its clock begins in 1970. */
const EARLIEST = Date.UTC(2026, 10, 1)
/** Milliseconds that the clocks of a server and its database may differ. */
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
  if (now < EARLIEST) throw new Failed(`it says ${shown}, which has been: set it, such as by NTP`)
  if (sql === null) return shown
  const [row] = await sql<{ ms: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`
  const difference = (row?.ms ?? 0) - now
  if (Math.abs(difference) <= TOLERANCE_MS) return `${shown}, as PostgreSQL's`
  const seconds = Math.abs(Math.round(difference / 1000))
  throw new Failed(`it differs from PostgreSQL's by ${seconds} s: set both, such as by NTP`)
}
