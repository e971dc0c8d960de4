// tier: all
/** The errors that callers of the embedded database get after PostgreSQL aborted, as it does on a full disk. */
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { endsWithin } from '../../../src/core/async/timeout.ts'
import { readConfig } from '../../../src/core/config/config.ts'
import { openDatabase } from '../../../src/database/open.ts'
import { generateKeys } from '../../../src/operator/own_keys.ts'
import { databasePlace } from '../../support/places.ts'
import { until } from '../../support/until.ts'

test('after PostgreSQL aborts, running and later queries are rejected and close returns', async () => {
  const dataDir = mkdtempSync(join(databasePlace, 'embedded-failure-'))
  const reasons: string[] = []
  const config = readConfig({ DATA_DIR: dataDir }, generateKeys)
  const { sql, close } = await openDatabase(config, (reason) => reasons.push(reason))
  try {
    await sql`CREATE TABLE marks (id integer)`
    // A checkpoint cannot continue without it.
    rmSync(join(dataDir, 'postgres/global/pg_control'))
    const first = codeOf(sql`CHECKPOINT`)
    await until(() => reasons.length > 0)
    const later = Array.from({ length: 30 }, () => codeOf(sql`SELECT 1`))
    const all = Promise.all([first, ...later])
    expect(await endsWithin(10_000, all)).toBe(true)
    const [running, ...others] = await all
    expect(running).toMatch(/^CONNECTION_/)
    // The driver has ended: it does not reconnect for each query.
    expect(new Set(others)).toEqual(new Set(['CONNECTION_ENDED']))
    expect(reasons).toEqual([expect.stringContaining('PostgreSQL aborted')])
  } finally {
    expect(await endsWithin(10_000, close())).toBe(true)
    rmSync(dataDir, { recursive: true, force: true })
  }
}, 60_000)

/** The code of the query's error, or `null` for a result. */
function codeOf(query: PromiseLike<unknown>): Promise<string | null> {
  return Promise.resolve(query).then(
    () => null,
    (error) => error.code,
  )
}
