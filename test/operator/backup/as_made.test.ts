// tier: all
/**
 * A backup is rejected if tables were altered so that it would be incomplete, or a restore would fail
 * (docs/guides/backup.md).
 */
import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { readConfig } from '../../../src/core/config/config.ts'
import { openLog } from '../../../src/core/log.ts'
import { type Connection, openDatabase } from '../../../src/database/open.ts'
import { prepareDatabase } from '../../../src/database/prepare.ts'
import { demandNoRules } from '../../../src/operator/backup/expected.ts'
import { MAX_ROW_BYTES, tablesOf, withoutTriggers } from '../../../src/operator/backup/rows.ts'
import { freshDatabase, type TestDatabase } from '../../support/database.ts'
import { KEYS, operate, scratch } from './support.ts'

const files = scratch()
let database: TestDatabase
beforeEach(async () => {
  database = await freshDatabase()
}, 60_000)
afterEach(() => database.remove())
afterAll(() => files.remove())

async function on(
  { env }: TestDatabase,
  work: (connection: Connection) => Promise<unknown>,
): Promise<void> {
  const config = readConfig({ ...KEYS, ...env }, () => KEYS)
  const connection = await openDatabase(config, () => {})
  try {
    await prepareDatabase(connection, config, openLog('error'))
    await work(connection)
  } finally {
    await connection.close()
  }
}

const changes: [name: string, sql: string, said: string][] = [
  [
    'that is unlogged',
    'alter table manifests set unlogged',
    'the table manifests was changed: it is unlogged or temporary',
  ],
  [
    'with a column more',
    'alter table users add column "note" text',
    'the table users was changed: note text was added',
  ],
  [
    'with a column of another type',
    'alter table daily_metrics alter column total_users type numeric',
    'total_users numeric was added',
  ],
  [
    'whose rows may be hidden',
    'alter table audit_logs enable row level security',
    'the table audit_logs was changed: row-level security may hide rows',
  ],
  [
    'that is gone',
    'drop table daily_metrics',
    'the table daily_metrics was changed: it is missing',
  ],
]

test.each(changes)(
  'a table %s: no backup is made, and doctor reports why',
  async (name, change, said) => {
    await on(database, ({ sql }) => sql.unsafe(change))
    const file = files.at(name)
    const made = await operate(database.env, 'backup', file)
    expect(made).toMatchObject({ code: 1, out: '' })
    expect(made.err).toContain(said)
    expect(made.err).not.toContain('    at ')
    expect(existsSync(file)).toBe(false)
    const { out, code } = await operate(database.env, 'doctor')
    expect(out).toMatch(/^fail +schema /m)
    expect(out).toContain(said)
    expect(code).toBe(1)
  },
  60_000,
)

test('a row longer than any regular row gives no backup, and the longest accepted row is restored', async () => {
  // JSON writes a control character as six characters; braces, code and ID of the row are the rest.
  const insert = (length: number) =>
    on(
      database,
      ({ sql }) =>
        sql`insert into audit_refused (id, code, intent) values (${Bun.randomUUIDv7()}, '1', repeat(E'\\x01', ${length}::int))`,
    )
  await insert(MAX_ROW_BYTES - 1_000)
  const file = files.at('longest')
  expect(await operate(database.env, 'backup', file)).toMatchObject({ code: 0 })
  const other = await freshDatabase()
  expect(await operate(other.env, 'restore', file)).toMatchObject({ code: 0 })
  other.remove()
  await insert(MAX_ROW_BYTES)
  const made = await operate(database.env, 'backup', files.at('longer'))
  expect(made).toMatchObject({ code: 1, out: '' })
  expect(made.err).toMatch(/the table audit_refused has a row of 104\d{5} bytes/)
  expect(existsSync(files.at('longer'))).toBe(false)
}, 60_000)

test("a schema with the user's name hides no table, and a product's table in it is read or rejected", async () => {
  const change = (statement: string) =>
    on(database, async ({ sql }) => {
      const [{ name = '' } = {}] = await sql<{ name: string }[]>`select current_user as name`
      await sql.unsafe(statement.replaceAll('HERE', `"${name}"`))
    })
  await change('create schema HERE')
  const { out } = await operate(database.env, 'backup', files.at('named'))
  expect(Number(/of (\d+) tables/.exec(out)?.[1])).toBeGreaterThan(25)
  await change('create table HERE.daily_metrics (like public.daily_metrics)')
  const made = await operate(database.env, 'backup', files.at('hidden'))
  // The embedded database does not search such a schema.
  const isLookedInto = database.env.DB_HOST !== undefined
  expect(made.code).toBe(isLookedInto ? 1 : 0)
  expect(made.err.includes('it is in ')).toBe(isLookedInto)
}, 60_000)

test('foreign triggers fire after a restore the way they did before, and a rule is rejected', async () => {
  await on(database, async ({ sql }) => {
    await sql`create function spy() returns trigger language plpgsql as 'begin return new; end'`
    const states = { a: 'disable', b: 'enable always', c: 'enable replica', d: 'enable' }
    for (const [name, how] of Object.entries(states)) {
      await sql.unsafe(`create trigger spy_${name} before insert on users execute function spy()`)
      await sql.unsafe(`alter table users ${how} trigger spy_${name}`)
    }
    await sql`create rule copied as on insert to secrets do also select 1`
    await sql.begin(async (tx) => {
      const fires = async () => {
        const rows = await tx<{ is: string }[]>`
          select tgenabled::text as is from pg_trigger where tgname like 'spy%' order by tgname`
        return rows.map((row) => row.is).join('')
      }
      const tables = await tablesOf(tx)
      expect(await fires()).toBe('DARO')
      await withoutTriggers(tx, tables, async () => expect(await fires()).toBe('DDDD'))
      expect(await fires()).toBe('DARO')
      await expect(demandNoRules(tx, tables)).rejects.toThrow(
        'the table secrets has the rule copied',
      )
    })
  })
}, 60_000)
