/** What `cloakroom backup` of versions of before wrote is restored by this one, and migrated. */
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { operate } from '../server/backup/support.ts'
import { freshDatabase } from '../support/database.ts'
import { backupOf, fixtureNames, readFixture } from './fixture.ts'
import { expectItWorks } from './works.ts'

/** Activity is noted a few seconds later, so after this backup; what is unlogged is in no backup. */
const APART = new Set(['user_activity', 'live_processes', 'rate_limits', 'token_rates'])

const names = fixtureNames().filter((name) => existsSync(backupOf(name)))

test('there are backups of every version since there are backups', () => {
  expect(names).toEqual(fixtureNames().slice(fixtureNames().indexOf('0016_refused_by')))
})

test.each(names)('a backup of schema %s is restored and goes on working', async (name) => {
  const fixture = readFixture(name)
  const database = await freshDatabase()
  const settings = { ...fixture.keys, ...database.env }
  const { code, out } = await operate(settings, 'restore', backupOf(name), '--json')
  expect(code).toBe(0)
  const { tables } = JSON.parse(out) as { tables: Record<string, { rows: number }> }
  for (const [table, count] of Object.entries(fixture.counts))
    if (!APART.has(table)) expect([table, tables[table]?.rows]).toEqual([table, count])
  await expectItWorks(fixture, database)
  database.remove()
})
