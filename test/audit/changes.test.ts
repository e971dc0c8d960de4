// tier: quick, both databases in test:all
/** Every change becomes exactly one audit record, whichever process moves it and whatever fails meanwhile. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { ChangeRecords } from '../../src/audit/changes.ts'
import { openLog } from '../../src/core/log.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import { until } from '../support/until.ts'

const WORKSPACE = Bun.randomUUIDv7()
const actor = { workspaceId: WORKSPACE, userId: Bun.randomUUIDv7(), email: 'person@example.com' }

let app: TestApp
let timers: FakeTimers
let logged: string[]

beforeAll(async () => {
  app = await startTestApp()
}, 60_000)
afterAll(() => app.stop())
beforeEach(async () => {
  timers = new FakeTimers()
  logged = []
  await app.connection.sql`delete from audit_logs where workspace_id = ${WORKSPACE}`
})

/** Opens records the way a separate process does. */
function openRecords(isMoving = true): ChangeRecords {
  const log = openLog('warning', (line) => logged.push(line))
  return new ChangeRecords({ ...app.connection, log, timers }, isMoving)
}

const change = (name: string) => ({
  action: 'secret.read' as const,
  resource: { type: 'secret', id: null, name },
})

const names = async () => {
  const rows = await app.connection.sql`select credential_ref as name from audit_logs
    where workspace_id = ${WORKSPACE} order by id`
  return rows.map((row) => String(row.name))
}

test('several thousand changes are moved once, in order, by two concurrent movers', async () => {
  const [one, other] = [openRecords(), openRecords()]
  const stored = Array.from({ length: 2_500 }, (_, index) => `KEY_${index}`)
  await one.store(app.connection.db, actor, stored.map(change))
  await Promise.all([one.settle(), other.settle(), one.settle()])
  expect(await names()).toEqual(stored)
  expect(logged).toEqual([])
})

test('changes of an ended process are moved by another one within five seconds', async () => {
  const gone = openRecords(false)
  await gone.store(app.connection.db, actor, [change('LEFT')])
  openRecords()
  await timers.advance(5_250)
  await until(async () => (await names()).length === 1)
})

test('a change that commits after the next move is moved by the following one', async () => {
  const records = openRecords()
  await records.settle()
  await app.connection.db.transaction(async (tx) => {
    await records.store(tx, actor, [change('LATE')])
    // A move that finds no row; the embedded database has one connection and would wait.
    if (app.connection.kind === 'postgresql') await records.settle()
  })
  await timers.advance(250)
  await until(async () => (await names()).join() === 'LATE')
})

test('a change that was rolled back leaves no record', async () => {
  const records = openRecords()
  const failing = app.connection.db.transaction(async (tx) => {
    await records.store(tx, actor, [change('NEVER')])
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  await records.settle()
  expect(await names()).toEqual([])
})

test('while the audit accepts no records the changes wait, and the log reports it', async () => {
  const { sql } = app.connection
  const records = openRecords()
  await sql.unsafe(`create function full_disk() returns trigger language plpgsql as
    $$ begin raise exception 'no' using errcode = '53100'; end $$`)
  await sql`create trigger full_disk before insert on audit_logs for each row execute function full_disk()`
  try {
    await records.store(app.connection.db, actor, [change('WAITS')])
    await records.settle()
    expect(await names()).toEqual([])
    expect(logged.join()).toContain('audit records of changes are delayed')
  } finally {
    await sql`drop trigger full_disk on audit_logs`
    await sql`drop function full_disk`
  }
  await timers.advance(250)
  await until(async () => (await names()).join() === 'WAITS')
})
