// tier: quick, both databases in test:all
/** The queue that several processes share. */
import { beforeAll, expect, test } from 'bun:test'
import {
  claimDue,
  delayAfter,
  markDelivered,
  markRetry,
  readRetryAfter,
} from '../../src/notices/queue.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { preparedDatabase } from '../support/database.ts'
import { openTeam } from '../support/teams.ts'

let app: TestApp
let workspaceId: string

beforeAll(async () => {
  // Without a sender, so that only the test claims.
  app = await startTestApp(
    { ROLE: 'control-plane' },
    { database: await preparedDatabase({ isKept: true }) },
  )
  workspaceId = (await openTeam(app)).workspaceId
})

async function addTarget(): Promise<string> {
  const id = Bun.randomUUIDv7()
  await app.connection.sql`
    insert into notice_targets (id, workspace_id, type, host, events, secret)
    values (${id}, ${workspaceId}, 'webhook', 'a.example', '[]', ${new Uint8Array(1)})`
  return id
}

async function queue(targetId: string, age = 0): Promise<string> {
  const id = Bun.randomUUIDv7()
  await app.connection.sql`
    insert into notices (id, workspace_id, target_id, event, cause, body, next_at, created_at)
    values (${id}, ${workspaceId}, ${targetId}, 'rekey.due', ${id}, '{}', now() - interval '1 second', now() - make_interval(secs => ${age}))`
  return id
}

const claim = (most = 100, busy: string[] = []) => claimDue(app.connection.db, { most, busy })
const clear = () => app.connection.sql`delete from notices`

test('no two processes claim one notice', async () => {
  await clear()
  const ids: string[] = []
  for (let at = 0; at < 30; at += 1) ids.push(await queue(await addTarget()))
  const claims = await Promise.all(Array.from({ length: 10 }, () => claim(7)))
  const claimed = claims.flat().map(({ id }) => id)
  expect(new Set(claimed).size).toBe(claimed.length)
  const rest = (await claim()).map(({ id }) => id)
  expect([...claimed, ...rest].sort()).toEqual(ids.sort())
  expect(await claim()).toHaveLength(0)
})

test('a claim takes the oldest notice of a target, one at a time, and none of a busy target', async () => {
  await clear()
  const target = await addTarget()
  const [newest, oldest] = [await queue(target, 10), await queue(target, 20)]
  expect(await claim(100, [target])).toHaveLength(0)
  expect((await claim()).map(({ id }) => id)).toEqual([oldest])
  expect((await claim()).map(({ id }) => id)).toEqual([newest])
})

test('a notice of a process that was killed while it sent is due again, and a delivered one is not', async () => {
  await clear()
  const [id, other] = [await queue(await addTarget()), await queue(await addTarget())]
  expect(await claim()).toHaveLength(2)
  await markDelivered(app.connection.db, other)
  const { sql } = app.connection
  const [row] =
    await sql`select next_at > now() + interval '50 seconds' as waits from notices where id = ${id}`
  expect(row?.waits).toBe(true)
  await sql`update notices set next_at = now()`
  expect(await claim()).toMatchObject([{ id, attempts: 2 }])
})

test('a retry postpones the other notices of its target and those of no other', async () => {
  await clear()
  const [target, elsewhere] = [await addTarget(), await addTarget()]
  const [first] = [await queue(target, 10), await queue(target)]
  await claim(1)
  const other = await queue(elsewhere)
  await markRetry(app.connection.db, {
    id: first ?? '',
    targetId: target,
    error: 'http_500',
    delayS: 10,
  })
  expect((await claim()).map(({ id }) => id)).toEqual([other])
})

test('Retry-After is a number or a date, and bounded', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  for (const [header, seconds] of [
    [null, null],
    ['120', 120],
    ['Thu, 01 Jan 2026 00:02:00 GMT', 120],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['-5', null],
    ['soon', null],
    ['9'.repeat(400), null],
  ] as const)
    expect([header, readRetryAfter(header, now)]).toEqual([header, seconds])
  expect([delayAfter(1, null), delayAfter(1, 5), delayAfter(1, 60), delayAfter(1, 1e9)]).toEqual([
    10, 10, 60, 3_600,
  ])
  expect(delayAfter(1_000, null)).toBe(3_600)
})
