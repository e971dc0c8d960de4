// tier: all, both databases in test:all
/**
 * Data of older versions still works with this one, from every released schema: people log in with their old
 * passwords, recovery keys recover, secrets open, tokens work as they did, and no row is lost.
 */
import { afterAll, describe, expect, test } from 'bun:test'
import { migrate, migrations } from '../../src/database/migrations/migrate.ts'
import { startTestApp } from '../support/app.ts'
import { databaseKind, type TestDatabase } from '../support/database.ts'
import { fixtureNames, readFixture } from './fixture.ts'
import { NEVER_LANDED } from './never_landed.ts'
import { countsIn, restored } from './restored.ts'
import { expectItWorks } from './works.ts'

/** Rows that a migration moves to another table or recreates. */
const REPLACED = new Set(['audit_statuses', 'audit_deltas', 'audit_rollups', 'audit_terms'])

/** Schemas of the first day: passwords and tokens were not stored under SECRET_KEY yet, and no longer open. */
const UNPEPPERED = new Set(['0001_policy_version', '0002_audit_indexes'])

test('each schema before the newest has a fixture: `bun run fixture` creates missing ones', () => {
  const before = migrations.slice(0, -1).map(({ name }) => name)
  const wanted = before.filter((name) => !NEVER_LANDED.includes(name))
  expect(wanted.filter((name) => !fixtureNames().includes(name))).toEqual([])
})

/** Every schema migrates on both databases. The rest is the same code on both, so the embedded one runs a third. */
const tried = fixtureNames().filter((_, at) => databaseKind === 'postgresql' || at % 3 === 0)

describe.each(fixtureNames())('a database of schema %s', (name) => {
  const fixture = readFixture(name)
  let database: TestDatabase

  afterAll(() => database.remove())

  test('an older schema is migrated without losing a row', async () => {
    database = await restored(fixture, async (connection) => {
      expect(await countsIn(connection)).toEqual(fixture.counts)
      const pending = migrations.length - fixture.migrations.length
      expect(await migrate(connection.sql)).toBe(pending)
      const counts = await countsIn(connection)
      for (const [table, count] of Object.entries(fixture.counts))
        if (!REPLACED.has(table)) expect([table, counts[table]]).toEqual([table, count])
    })
  })

  if (!tried.includes(name)) return
  if (UNPEPPERED.has(name)) {
    test('an older schema is rejected before any request is served, because SECRET_KEY made nothing in it', async () => {
      const start = startTestApp(fixture.keys, { database })
      await expect(start).rejects.toThrow('another key')
    })
    return
  }

  test('an older schema stays usable: login, recovery, secrets, tokens, revocations and the audit', async () => {
    await expectItWorks(fixture, database)
  })
})
