// tier: all
/**
 * Two processes of the next version start at the same time on an old schema, on PostgreSQL, beside an older one that
 * serves: the schema is changed once, whichever of them is killed meanwhile.
 */
import { expect } from 'bun:test'
import { join } from 'node:path'
import type postgres from 'postgres'
import { readApplied } from '../../../src/database/migrations/migrate.ts'
import { freshDatabase } from '../../support/database.ts'
import { requires } from '../../support/requires.ts'
import { until } from '../../support/until.ts'
import { change, configOf } from '../restored.ts'
import { KEYS, underLoad } from './restart.ts'

const { test } = requires('postgresql')

const NEXT = [process.execPath, join(import.meta.dir, 'child.ts')]

/** Waits until one of them is in the middle of the migration, and the given number of others wait for it. */
async function untilMigrating(sql: postgres.Sql, others: number): Promise<void> {
  await until(async () => {
    const [row] = await sql<{ inside: number; outside: number }[]>`
      select count(*) filter (where locktype = 'relation')::int as inside,
        count(*) filter (where locktype = 'advisory')::int as outside
      from pg_locks where not granted and pid in (
        select pid from pg_stat_activity where datname = current_database()
          and (query like '%pg_advisory_xact_lock%' or query like '%add column later%'))`
    return row && row.inside > 0 && row.outside >= others
  })
}

/** The migration waits for a transaction that reads. */
async function holdLock(sql: postgres.Sql): Promise<() => Promise<void>> {
  const [locked, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const held = sql.begin(async (tx) => {
    await tx`lock table audit_logs in access share mode`
    locked.resolve()
    await over.promise
  })
  await locked.promise
  return async () => {
    over.resolve()
    await held
  }
}

test.each([
  ['neither', null, 3],
  ['the one that migrates', 0, 2],
  ['the one that waits', 1, 2],
])(
  'of two concurrent starts, when %s is killed, the schema is changed once and nothing is lost',
  async (_, killed, healthy) => {
    const database = await freshDatabase()
    const config = configOf({ keys: KEYS }, database)
    const found = await underLoad({ env: database.env }, 1, ({ start, proceed, untilHealthy }) =>
      change(config, async ({ sql }) => {
        const release = await holdLock(sql)
        const first = start(NEXT)
        await untilMigrating(sql, 0)
        const second = start(NEXT)
        await untilMigrating(sql, 1)
        const both = [first, second]
        const victim = both[killed ?? 2]
        victim?.kill('SIGKILL')
        await victim?.exited
        await release()
        await Promise.all(both.filter((one) => one !== victim).map(({ ready }) => ready))
        await untilHealthy(healthy)
        await proceed()
        const names = (await readApplied(sql))?.map(({ name }) => name) ?? []
        return { later: names.filter((name) => name === '9999_later') }
      }),
    )
    expect(found).toMatchObject({ lost: [], torn: [], later: ['9999_later'] })
    expect(found.calls).toBeGreaterThan(200)
  },
  240_000,
)
