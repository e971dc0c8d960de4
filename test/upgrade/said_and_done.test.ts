// tier: all
/**
 * The report of `cloakroom upgrade --check` for each older schema matches the upgrade: on PostgreSQL, which
 * shows the locks that a migration took and the tables that it rewrote.
 */
import { expect } from 'bun:test'
import type postgres from 'postgres'
import { migrateIn, migrations, readApplied } from '../../src/database/migrations/migrate.ts'
import { checkUpgrade } from '../../src/operator/upgrade_check/index.ts'
import { requires } from '../support/requires.ts'
import { fixtureNames, readFixture } from './fixture.ts'
import { change, configOf, restored } from './restored.ts'

const { describe, test } = requires('postgresql')

type Tables = Map<string, { oid: number; file: number }>

/** The tables with rows of the product, and their files. */
async function tablesIn(sql: postgres.Sql): Promise<Tables> {
  const rows = await sql<{ name: string; oid: number; file: number }[]>`
    select relname as name, oid::int, relfilenode::int as file from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'cloakroom_migrations'`
  return new Map(rows.map(({ name, ...rest }) => [name, rest]))
}

/** The kinds of statements that a transaction's locks block on existing tables. */
async function blockedBy(tx: postgres.TransactionSql, before: Tables) {
  const locks = await tx<{ oid: number; mode: string }[]>`
    select relation::int as oid, mode from pg_locks where locktype = 'relation' and pid = pg_backend_pid()`
  const oids = new Set([...before.values()].map(({ oid }) => oid))
  const modes = new Set(locks.filter(({ oid }) => oids.has(oid)).map(({ mode }) => mode))
  if (modes.has('AccessExclusiveLock')) return 'everybody'
  const ofWriters = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock']
  return ofWriters.some((mode) => modes.has(mode)) ? 'writers' : 'nobody'
}

describe.each(fixtureNames())('the check of a database of schema %s', (name) => {
  test('upgrade --check lists what is applied, which sessions wait, and which tables are rewritten', async () => {
    const fixture = readFixture(name)
    const database = await restored(fixture)
    const config = configOf(fixture, database)
    const said = await checkUpgrade(config, Date.now())
    expect(said.schema.database).toBe(name)
    expect(said.problems).toEqual([])
    const done = await change(config, async ({ sql }) => {
      const applied = []
      for (let count = fixture.migrations.length; count < migrations.length; count += 1) {
        const before = await tablesIn(sql)
        const blocks = await sql.begin(async (tx) => {
          await migrateIn(tx, migrations.slice(0, count + 1))
          return await blockedBy(tx, before)
        })
        const after = await tablesIn(sql)
        const rewritten = [...before].filter(([table, { file }]) => {
          const now = after.get(table)
          return now !== undefined && now.file !== file
        })
        const newest = (await readApplied(sql))?.at(-1)?.name
        applied.push({ name: newest, blocks, rewritten: rewritten.map(([table]) => table) })
      }
      return applied
    })
    expect(done.map((one) => [one.name, one.blocks])).toEqual(
      said.pending.map((one) => [one.name, one.blocks]),
    )
    for (const [index, { rewritten }] of done.entries()) {
      const listed = said.pending[index]?.works_through.map(({ table }) => table) ?? []
      expect(rewritten.filter((table) => !listed.includes(table))).toEqual([])
    }
    const afterwards = await checkUpgrade(config, Date.now())
    expect(afterwards.pending).toEqual([])
    database.remove()
  })
})
