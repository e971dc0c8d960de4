// tier: quick, both databases in test:all
/** Lists that are read as one value are what their select would return, row by row. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { asc, gt, sql } from 'drizzle-orm'
import { onTheWire, prepareList } from '../../src/database/list.ts'
import type { Reading } from '../../src/database/open.ts'
import { workspaces } from '../../src/database/schema/index.ts'
import { startTestApp, type TestApp } from '../support/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.stop())

const bytes = sql<Uint8Array | null>`case when length("name") % 2 = 0 then convert_to("name", 'UTF8') end`
const select = (db: Reading) =>
  db
    .select({ name: workspaces.name, created_at: workspaces.createdAt, sealed: bytes.as('sealed') })
    .from(workspaces)
    .where(gt(workspaces.name, sql.placeholder('after')))
    .orderBy(asc(workspaces.name))
    .limit(sql.placeholder('count'))
const list = prepareList('test_workspaces', select, 'sealed')

test('a list without rows is empty, and a list with rows equals the select', async () => {
  const { db } = app.connection
  const page = { after: 'list-', count: 3 }
  expect(await list(db, page)).toEqual([])
  const names = ['list-1', 'list-22', 'list-3', 'list-4']
  await db.insert(workspaces).values(names.map((name) => ({ name, type: 'shared' as const })))
  const inBuffers = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes)
  const wanted = (await select(db).execute(page)).map(({ created_at, ...row }) => ({
    ...row,
    created_at: created_at.toISOString(),
  }))
  const read = (await list(db, page)).map((row) => ({ ...row, sealed: inBuffers(row.sealed) }))
  expect(read).toEqual(wanted.map((row) => ({ ...row, sealed: inBuffers(row.sealed) })))
  expect(read.map(({ name, sealed }) => [name, sealed?.toString()])).toEqual([
    ['list-1', 'list-1'],
    ['list-22', undefined],
    ['list-3', 'list-3'],
  ])
})

test("a list's statement is prepared once for each place that runs it", async () => {
  const { db } = app.connection
  const page = { after: 'list-', count: 9 }
  const [one, two] = await Promise.all([list(db, page), db.transaction((tx) => list(tx, page))])
  expect(one).toEqual(two)
})

test('times have the format of the wire, in any time zone and with any fraction', () => {
  const wire = '2026-11-22T10:00:00.120Z'
  expect(onTheWire('2026-11-22T10:00:00.12+00:00')).toBe(wire)
  expect(onTheWire('2026-11-22T10:00:00.120+00:00')).toBe(wire)
  expect(onTheWire('2026-11-22T15:30:00.12+05:30')).toBe(wire)
  expect(onTheWire('2026-11-22T10:00:00+00:00')).toBe('2026-11-22T10:00:00.000Z')
})
