// tier: quick, both databases in test:all
/** Active people: written once per day and person, however many requests there were. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openLog } from '../../../src/core/log.ts'
import { ActivityLog } from '../../../src/features/metrics/activity.ts'
import { computeMetrics } from '../../../src/features/metrics/contract.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { registerPerson } from '../../support/people.ts'

const CRON_SECRET = 'a secret of the scheduler'
let app: TestApp

beforeAll(async () => {
  app = await startTestApp({ CRON_SECRET })
}, 60_000)
afterAll(() => app.stop())

async function daysOf(userId: string): Promise<string[]> {
  const rows = await app.connection.sql<{ day: string }[]>`
    select day::text from user_activity where user_id = ${userId} order by day`
  return rows.map(({ day }) => day)
}

describe('the book', () => {
  const open = (start: string) => {
    const logs: string[] = []
    let time = Date.parse(start)
    const clock = {
      now: () => time,
      advance: (ms: number) => {
        time += ms
      },
    }
    const log = openLog('debug', (line) => logs.push(line))
    return { book: new ActivityLog({ db: app.connection.db, clock, log }), clock, logs }
  }

  test('writes a person once a day, and not again for further requests', async () => {
    const { book, clock } = open('2026-03-01T23:59:58.000Z')
    const person = Bun.randomUUIDv7()
    for (let request = 0; request < 1000; request += 1) book.stamp(person)
    await book.flush()
    expect(await daysOf(person)).toEqual(['2026-03-01'])
    await app.connection.sql`delete from user_activity where user_id = ${person}`
    book.stamp(person)
    await book.flush()
    expect(await daysOf(person)).toEqual([])
    clock.advance(1999)
    book.stamp(person)
    await book.flush()
    expect(await daysOf(person)).toEqual([])
    clock.advance(1)
    book.stamp(person)
    await book.close(1000)
    expect(await daysOf(person)).toEqual(['2026-03-02'])
  })

  test('two processes that saw the same person leave one row', async () => {
    const person = Bun.randomUUIDv7()
    const books = [open('2026-03-01T10:00:00.000Z'), open('2026-03-01T11:00:00.000Z')]
    for (const { book } of books) book.stamp(person)
    await Promise.all(books.map(({ book }) => book.close(5000)))
    expect(await daysOf(person)).toEqual(['2026-03-01'])
  })

  test('keeps what could not be written, and writes it later', async () => {
    const { book, logs } = open('2026-03-01T10:00:00.000Z')
    const people = Array.from({ length: 3 }, () => Bun.randomUUIDv7())
    await app.connection.sql`alter table user_activity rename to user_activity_away`
    for (const person of people) book.stamp(person)
    await book.flush()
    expect(logs.filter((line) => line.includes('user activity is delayed'))).toHaveLength(1)
    await app.connection.sql`alter table user_activity_away rename to user_activity`
    await book.close(5000)
    for (const person of people) expect(await daysOf(person)).toEqual(['2026-03-01'])
  })
})

describe('a request', () => {
  const flush = () => app.as(CRON_SECRET).call(computeMetrics, { body: { days: 1 } })

  test('with a session counts its person; a refused one, and one without a session, nobody', async () => {
    const person = await registerPerson(app, 'seen')
    await app.call('GET', '/api/users/me/', { token: `${person.token}x` })
    await app.call('GET', '/api/status/health/')
    await flush()
    expect(await daysOf(person.userId)).toEqual([])
    await app.call('GET', '/api/users/me/', { token: person.token })
    await flush()
    expect(await daysOf(person.userId)).toHaveLength(1)
  })

  test('also counts when it only reports to the audit', async () => {
    const person = await registerPerson(app, 'reporter')
    const { status } = await app.call('POST', '/api/internal/audit/logs/', {
      token: person.token,
      headers: { 'x-workspace-id': person.workspaceId },
      body: { timestamp: new Date().toISOString(), method: 'GET', target_domain: 'a.example' },
    })
    expect(status).toBe(201)
    await flush()
    expect(await daysOf(person.userId)).toHaveLength(1)
  })
})
