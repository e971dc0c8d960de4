/**
 * `cloakroom calculate_metrics`: computes the rows of the last days, for an operator's scheduler. The embedded database
 * belongs to the running server, which is asked over HTTP instead (POST /telemetry/internal/compute-metrics/).
 */
import { enterCleanEnvironment } from '../core/clean_environment.ts'
import { systemClock } from '../core/clock.ts'
import { ConfigError, readConfig } from '../core/config/config.ts'
import { EX_CONFIG, EX_USAGE } from '../core/exit_codes.ts'
import { complaints } from '../core/printable.ts'
import { requireCluster } from '../database/embedded/data_directory.ts'
import { DataDirectoryError } from '../database/embedded/open.ts'
import { countPendingMigrations } from '../database/migrations/migrate.ts'
import { OlderSchema, SchemaError } from '../database/migrations/schema_error.ts'
import { ServerUnreachable } from '../database/reach.ts'
import { computeLastDays } from '../features/metrics/compute.ts'
import { MAX_DAYS } from '../features/metrics/contract.ts'
import { showDay } from '../features/metrics/index.ts'
import { withConnection } from './connection.ts'

/** Counting needs no decryption. */
const NO_KEYS = { SECRET_KEY: '', ENCRYPTION_KEY: '' }

/** Prints one JSON line per day, newest first; `days` as typed on the command line. */
export async function runCalculateMetrics(days: unknown): Promise<number> {
  const count = /^\d{1,9}$/.test(String(days)) ? Number(days) : 0
  if (count < 1 || count > MAX_DAYS) {
    process.stderr.write(`cloakroom: --days must be a number from 1 to ${MAX_DAYS}\n`)
    return EX_USAGE
  }
  enterCleanEnvironment()
  try {
    await calculate(count)
    return 0
  } catch (error) {
    process.stderr.write(complaints(problemsOf(error)))
    return error instanceof ConfigError ? EX_CONFIG : 1
  }
}

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems
  if (error instanceof ServerUnreachable) return [error.message]
  if (error instanceof SchemaError) return [`${error.code}: ${error.message}`]
  if (!(error instanceof DataDirectoryError)) throw error
  return [
    `${error.message} A running server computes them itself, or on POST /telemetry/internal/compute-metrics/`,
  ]
}

async function calculate(count: number): Promise<void> {
  const config = readConfig(process.env, () => NO_KEYS)
  requireCluster(config)
  await withConnection({ ...config, DB_WAIT_SECONDS: 0 }, async ({ sql, db }) => {
    const pending = await countPendingMigrations(sql)
    if (pending !== 0) throw new OlderSchema(pending)
    const rows = await computeLastDays({ db, clock: systemClock }, count)
    for (const row of rows) process.stdout.write(`${JSON.stringify(showDay(row))}\n`)
  })
}
