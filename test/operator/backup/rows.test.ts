// tier: quick, both databases in test:all
/** A row is converted to text and back without a difference, whatever its contents. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readConfig } from '../../../src/core/config/config.ts'
import { type Connection, openDatabase } from '../../../src/database/open.ts'
import {
  insertRows,
  makeTextsExact,
  readTable,
  tablesOf,
} from '../../../src/operator/backup/rows.ts'
import { preparedDatabase, type TestDatabase } from '../../support/database.ts'
import { KEYS } from './support.ts'

let database: TestDatabase
let connection: Connection

beforeAll(async () => {
  database = await preparedDatabase()
  const config = readConfig({ ...KEYS, ...database.env }, () => KEYS)
  connection = await openDatabase(config, () => {})
}, 60_000)
afterAll(async () => {
  await connection.close()
  database.remove()
})

test("the tables of a migrated database are the product's, and foreign tables beside them are left alone", async () => {
  const { sql } = connection
  await sql`create table if not exists notes_of_the_operator (id int)`
  const [ours, all] = await sql.begin(async (tx) => [
    (await tablesOf(tx)).map(({ name }) => name),
    (
      await tx<{ name: string }[]>`
        select relname as name from pg_class where relkind in ('r', 'p') and relpersistence = 'p'
          and relnamespace = current_schema()::regnamespace`
    ).map(({ name }) => name),
  ])
  await sql`drop table notes_of_the_operator`
  expect(all.filter((name) => !ours.includes(name)).sort()).toEqual([
    'cloakroom_migrations',
    'notes_of_the_operator',
  ])
})

const text = fc.string({ unit: 'binary' }).map((some) => some.toWellFormed().replaceAll('\0', ''))
const moment = fc
  .tuple(
    fc.date({ min: new Date(0), max: new Date('2500-01-01'), noInvalidDate: true }),
    fc.nat(999),
  )
  .map(([date, micro]) => date.toISOString().replace('Z', `${`${micro}`.padStart(3, '0')}Z`))
const json = fc.json().filter((some) => !some.includes('\\u0000'))

/** In PostgreSQL's reading. */
const valuesOf: Record<string, fc.Arbitrary<string>> = {
  bigint: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  boolean: fc.boolean().map(String),
  bytea: fc.uint8Array().map((bytes) => `\\x${bytes.toHex()}`),
  date: moment.map((some) => some.slice(0, 10)),
  'double precision': fc.double().map((some) => (Object.is(some, -0) ? '-0' : `${some}`)),
  integer: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map(String),
  json: json.map((some) => ` ${some}  `),
  jsonb: json,
  smallint: fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }).map(String),
  text: text,
  'text[]': fc.array(fc.option(text)).map((list) => arrayOf(list)),
  'timestamp with time zone': moment,
  'timestamp(3) with time zone': moment,
  uuid: fc.uuid(),
}

function arrayOf(list: readonly (string | null)[]): string {
  const parts = list.map((some) =>
    some === null ? 'NULL' : `"${some.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`,
  )
  return `{${parts.join(',')}}`
}

test('every type of the schema is tested, and no sequence or generated column needs special handling', async () => {
  const types = await connection.sql<{ type: string }[]>`
    select distinct format_type(atttypid, atttypmod) as type from pg_attribute a
    join pg_class c on c.oid = attrelid
    where relkind = 'r' and relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped`
  expect(types.map(({ type }) => type).filter((type) => !Object.hasOwn(valuesOf, type))).toEqual([])
  const [odd] = await connection.sql`
    select (select count(*)::int from pg_class where relkind in ('S', 'p') and relnamespace = 'public'::regnamespace) as sequences,
      (select count(*)::int from pg_attribute where attgenerated <> '' or attidentity <> '') as generated`
  expect({ ...odd }).toEqual({ sequences: 0, generated: 0 })
})

test('random rows of every type are unchanged after conversion to text and back', async () => {
  const columns = Object.keys(valuesOf).map((type, index) => ({ name: `c${index}`, type }))
  const declared = columns.map(({ name, type }) => `${name} ${type}`).join(', ')
  const row = fc.tuple(...columns.map(({ type }) => fc.option(valuesOf[type] ?? fc.constant(''))))
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 10 }), async (rows) => {
      await connection.sql
        .begin(async (tx) => {
          await makeTextsExact(tx)
          await tx.unsafe(`create table one (${declared}); create table two (${declared})`)
          const casts = columns.map(({ type }, at) => `$${at + 1}::text::${type}`).join(', ')
          for (const values of rows) await tx.unsafe(`insert into one values (${casts})`, values)
          const tables = await tablesOf(tx, ['one', 'two'])
          const [one, two] = ['one', 'two'].map((name) =>
            tables.find((table) => table.name === name),
          )
          if (!one || !two) throw new Error('they are not listed')
          const read = await readTable(tx, one, (some) => insertRows(tx, two, some))
          expect(await readTable(tx, two)).toEqual(read)
          const different = await tx.unsafe(
            `select 1 from one full join two on one.*::text = two.*::text where one.* is null and two.* is null`,
          )
          expect(different.length).toBe(0)
          throw new Undone()
        })
        .catch((error: unknown) => {
          if (!(error instanceof Undone)) throw error
        })
    }),
    { numRuns: 40 },
  )
}, 60_000)

class Undone extends Error {}

test('a backup fails if the database counts rows that the reader does not see', async () => {
  async function* nothing() {}
  const unsafe = (query: string) =>
    query.startsWith('select count') ? Promise.resolve([{ rows: 3 }]) : { cursor: nothing }
  const reading = readTable({ unsafe } as never, { name: 'secrets', columns: '', order: 'id' })
  await expect(reading).rejects.toThrow('only 0 of 3 rows of the table secrets were read')
})
