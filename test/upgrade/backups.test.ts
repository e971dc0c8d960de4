// tier: all
/** This version restores and migrates the backups that `cloakroom backup` of older versions wrote. */
import { afterAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { operate, scratch } from '../operator/backup/support.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { backupOf, type Fixture, fixtureNames, readFixture } from './fixture.ts'
import { change, configOf, restored } from './restored.ts'
import { expectItWorks } from './works.ts'

/** Activity is stored a few seconds later, so after this backup; unlogged tables are in no backup. */
const APART = new Set(['user_activity', 'live_processes', 'rate_limits', 'token_rates'])

const names = fixtureNames().filter((name) => existsSync(backupOf(name)))

test('a backup exists of every version that can make backups', () => {
  expect(names).toEqual(fixtureNames().slice(fixtureNames().indexOf('0016_refused_by')))
})

test.each(names)('a backup of schema %s is restored and usable', async (name) => {
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

const files = scratch()
afterAll(() => files.remove())

/** The schema's migrations after a command that must not change them, because other processes serve on the schema. */
const appliedIn = (fixture: Fixture, database: TestDatabase) =>
  change(configOf(fixture, database), async ({ sql }) => [
    ...(await sql`select name, sha256 from cloakroom_migrations order by name`),
  ])

/** The first whose original keys open it, the last without backups, and the last before this one. */
const chosen = ['0004_policy_notices', '0015_passkeys', ...names.slice(-1)]

test.each(chosen)(
  'this version backs up schema %s, which stays unchanged, and restores the backup',
  async (name) => {
    const fixture = readFixture(name)
    const source = await restored(fixture)
    const [file, target] = [files.at(name), await freshDatabase()]
    const before = await appliedIn(fixture, source)
    expect(await operate({ ...fixture.keys, ...source.env }, 'backup', file)).toMatchObject({
      code: 0,
    })
    expect(await appliedIn(fixture, source)).toEqual(before)
    const settings = { ...fixture.keys, ...target.env }
    expect(await operate(settings, 'restore', file)).toMatchObject({ code: 0 })
    await expectItWorks(fixture, target)
    source.remove()
    target.remove()
  },
  60_000,
)

test('neither rekey-outer migrates nor a backup creates tables: both name the command that does', async () => {
  const fixture = readFixture('0016_refused_by')
  const [source, empty] = [await restored(fixture), await freshDatabase()]
  const before = await appliedIn(fixture, source)
  expect(await operate({ ...fixture.keys, ...source.env }, 'rekey-outer')).toMatchObject({
    code: 1,
    err: expect.stringContaining('older_schema: the database needs '),
  })
  expect(await appliedIn(fixture, source)).toEqual(before)
  const settings = { ...fixture.keys, ...empty.env }
  await change(configOf(fixture, empty), async () => {})
  for (let again = 0; again < 2; again += 1)
    expect(await operate(settings, 'backup', files.at('never'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('older_schema: the database has no tables yet'),
    })
  source.remove()
  empty.remove()
}, 60_000)
