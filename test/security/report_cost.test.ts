// tier: quick, both databases in test:all
/**
 * A token that may only use credentials reports the maximum size of a report to the audit. The stored and counted
 * data stays in proportion to the sent bytes, and no transaction folds more than a bounded number of names.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { registerAgent } from '../../src/features/agents/contract.ts'
import { recordAuditLogs } from '../../src/features/audit/contract.ts'
import { MAX_JOINED } from '../../src/features/audit/reported_record.ts'
import { foldDeltas } from '../../src/features/audit/upkeep.ts'
import { startTestApp, type TestApp, UNLIMITED } from '../support/app.ts'
import { openTeam } from '../support/teams.ts'
import { until } from '../support/until.ts'

/** Bytes of tables and indexes for a byte of a report, which is JSON and may be short. */
const BYTES_PER_BYTE = 30
/** Rows for a record: itself, its 9 fields and 16 searchable names, and its counts by hour and day. */
const ROWS_PER_RECORD = 1 + 9 + MAX_JOINED + 8
/** Rows and bytes (one page of each table and index) that the first record adds. */
const ROWS_AT_FIRST = 3 * MAX_JOINED
const BYTES_AT_FIRST = 400_000

const RECORDS = 1000
const HOUR_MS = 3_600_000

let app: TestApp
let token: string

beforeAll(async () => {
  app = await startTestApp(UNLIMITED)
  const { owner, workspaceId } = await openTeam(app)
  const params = { workspace_id: workspaceId }
  const made = await owner.api.call(registerAgent, { params, body: { name: 'reporter' } })
  token = made.token ?? ''
  return () => app.stop()
})

const namesOf = (from: number) =>
  Array.from({ length: MAX_JOINED }, (_, n) => (from + n).toString(36)).join()

/** Shapes that once turned few bytes into many rows: record `n` of a report, `hours` apart. */
const shapes: Record<string, { hours: number; names: (n: number) => string }> = {
  'names that are all different': { hours: 0, names: (n) => namesOf(n * MAX_JOINED) },
  'the same names in different hours': { hours: 25, names: () => namesOf(0) },
  'one new name each': { hours: 0, names: (n) => n.toString(36) },
  'the same name in different hours': { hours: 25, names: () => 'A' },
}

function reportOf(
  { hours, names }: { hours: number; names: (n: number) => string },
  length: number,
) {
  const now = Date.now() - HOUR_MS
  return Array.from({ length }, (_, n) => ({
    timestamp: new Date(now - n * (hours * HOUR_MS + 1000)),
    method: 'GET',
    target_domain: `${n.toString(36)}.co`,
    credential_ref: names(n),
  }))
}

const send = (body: unknown) => app.call('POST', recordAuditLogs.path, { token, body })

const TABLES = ['audit_logs', 'audit_terms', 'audit_deltas', 'audit_rollups']

async function stored(): Promise<{ rows: number; bytes: number }> {
  let [rows, bytes] = [0, 0]
  for (const table of TABLES) {
    const [found] = await app.connection.sql.unsafe(
      `select count(*)::int as rows, pg_total_relation_size('${table}')::int as bytes from ${table}`,
    )
    rows += found?.rows
    bytes += found?.bytes
  }
  return { rows, bytes }
}

/** Halves a rejected report, like a client. Returns the number of requests. */
async function sendHalving(report: unknown[]): Promise<number> {
  const { status } = await send(report)
  if (status === 201) return 1
  expect([status, report.length > 1]).toEqual([422, true])
  const middle = report.length >> 1
  return (await sendHalving(report.slice(0, middle))) + (await sendHalving(report.slice(middle)))
}

describe.each(Object.entries(shapes))('a report with %s', (_, shape) => {
  test('a report is rejected, or stored in proportion to its bytes, also when it is counted', async () => {
    const report = reportOf(shape, RECORDS)
    const before = await stored()
    const { status } = await send(report)
    expect([201, 422]).toContain(status)
    await foldDeltas(app.connection.db)
    const after = await stored()
    const sent = Buffer.byteLength(JSON.stringify(report))
    expect(after.rows - before.rows).toBeLessThanOrEqual(RECORDS * ROWS_PER_RECORD + ROWS_AT_FIRST)
    expect(after.bytes - before.bytes).toBeLessThanOrEqual(sent * BYTES_PER_BYTE + BYTES_AT_FIRST)
  })

  test('a report is stored whole by a client that halves rejected ones', async () => {
    const requests = await sendHalving(reportOf(shape, 32))
    expect(requests).toBeLessThanOrEqual(32)
  })
})

test('a rejected report names both numbers and stores nothing', async () => {
  const before = await stored()
  const { body } = await send(reportOf({ hours: 0, names: (n) => namesOf(n * MAX_JOINED) }, 2))
  expect(body).toMatchObject({
    error_code: 'validation_error',
    message: expect.stringContaining(
      'has 32 names in credential_ref, which are counted once per hour; 2 records may have 18',
    ),
  })
  expect((await stored()).rows).toBe(before.rows)
})

test('one transaction folds at most 1,000 names and one record more, whatever waits', async () => {
  const { sql, db } = app.connection
  await foldDeltas(db)
  const [before] =
    await sql`select sum(requests)::int as requests from audit_rollups where dimension = 'total' and grain = 'day'`
  await sql`insert into audit_deltas (workspace_id, hour, agent_id, credential_ref, requests, allowed, blocked, errors, redacted)
    select gen_random_uuid(), date_trunc('hour', now()), 'a', ${namesOf(0)}, 1, 1, 0, 0, 0 from generate_series(1, 300)`
  await sql`create table folds (names integer)`
  await sql.unsafe(`create function note_fold() returns trigger language plpgsql as $$ begin
    insert into folds select sum(1 + length(credential_ref) - length(replace(credential_ref, ',', ''))) from gone where agent_id = 'a'; return null; end $$`)
  await sql`create trigger folds after delete on audit_deltas referencing old table as gone for each statement execute function note_fold()`
  // The app's own upkeep may fold some of them.
  await foldDeltas(db)
  await until(async () => (await sql`select from audit_deltas limit 1`).length === 0)
  const folds = await sql`select names from folds where names is not null`
  await sql`drop trigger folds on audit_deltas`
  await sql`drop function note_fold`
  await sql`drop table folds`
  expect(folds.reduce((sum, { names }) => sum + names, 0)).toBe(300 * MAX_JOINED)
  expect(Math.max(...folds.map(({ names }) => names))).toBeLessThanOrEqual(1000 + MAX_JOINED)
  const [after] =
    await sql`select sum(requests)::int as requests from audit_rollups where dimension = 'total' and grain = 'day'`
  expect(after?.requests - before?.requests).toBe(300)
})
