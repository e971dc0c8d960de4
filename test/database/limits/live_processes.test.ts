// tier: quick, both databases in test:all
/** Limits that several processes on one PostgreSQL divide, as each of them counts; on the embedded database one has all. */
import { expect, test } from 'bun:test'
import { readConfig } from '../../../src/core/config/config.ts'
import { Fault } from '../../../src/core/fault.ts'
import { RateLimiter } from '../../../src/database/limits/rate.ts'
import {
  type LiveProcesses,
  openLiveProcesses,
  sweepProcesses,
} from '../../../src/database/limits/sharers.ts'
import { migrate } from '../../../src/database/migrations/migrate.ts'
import { type Connection, openDatabase } from '../../../src/database/open.ts'
import { Bulkheads } from '../../../src/resolver/bulkhead.ts'
import { databaseKind, preparedDatabase } from '../../support/database.ts'
import { FakeTimers } from '../../support/fake_timers.ts'
import { requires } from '../../support/requires.ts'

const KEYS = { SECRET_KEY: 'k'.repeat(36), ENCRYPTION_KEY: Buffer.alloc(32).toString('base64url') }
const LIMIT = 10
const never = new AbortController().signal

/** How many of many requests each process lets through, all in all. */
function passed(processes: readonly LiveProcesses[]): number {
  const clock = { now: () => 0 }
  const limiters = processes.map(
    ({ resolvers }) => new RateLimiter({ count: LIMIT, seconds: 60 }, clock, resolvers),
  )
  return limiters.reduce((sum, limiter) => sum + passedBy(limiter), 0)
}

function passedBy(limiter: RateLimiter, key = 'a token'): number {
  for (let count = 0; ; count += 1) {
    try {
      limiter.take(key)
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limited' })
      return count
    }
  }
}

test('while a beat waits for the database no other one begins', async () => {
  let answer = Promise.resolve([{ others: 1 }])
  let statements = 0
  const execute = () => {
    statements += 1
    return answer
  }
  const live = await openLiveProcesses({
    db: { execute } as unknown as Connection['db'],
    config: { DB_HOST: 'unused', ROLE: 'resolver', WORKERS: 1 },
  })
  const opened = Promise.withResolvers<{ others: number }[]>()
  answer = opened.promise
  const before = statements
  const beats = [live.beat(), live.beat()]
  expect(statements).toBe(before + 1)
  opened.resolve([{ others: 3 }])
  await Promise.all(beats)
  await live.beat()
  expect([statements, live.resolvers.count]).toEqual([before + 2, 4])
})

test('a beat that fails in one role has ended in the other, too', async () => {
  const answers: (() => Promise<unknown>)[] = []
  const execute = () => answers.shift()?.() ?? Promise.resolve([{ others: 0 }])
  const live = await openLiveProcesses({
    db: { execute } as unknown as Connection['db'],
    config: { DB_HOST: 'unused', ROLE: 'all', WORKERS: 1 },
  })
  const opened = Promise.withResolvers<unknown>()
  answers.push(
    () => Promise.reject(new Error('refused')),
    () => opened.promise,
  )
  let hasEnded = false
  const beat = live.beat().catch((error: Error) => {
    hasEnded = true
    return error.message
  })
  await new Promise(setImmediate)
  expect(hasEnded).toBe(false)
  opened.resolve([{ others: 1 }])
  expect(await beat).toBe('refused')
  expect(live.resolvers.count).toBe(2)
})

test('a part that becomes smaller or larger counts for the next request: of a rate and of what runs at once', async () => {
  const sharers = { count: 1 }
  let now = 0
  const limiter = new RateLimiter({ count: 9, seconds: 90 }, { now: () => now }, sharers)
  expect(limiter.take('a')).toMatchObject({ limit: 9, remaining: 8 })
  sharers.count = 3
  expect(limiter.take('a')).toMatchObject({ limit: 3, remaining: 2 })
  expect(passedBy(limiter, 'a')).toBe(2)
  expect(() => limiter.take('a')).toThrow(
    expect.objectContaining({ headers: expect.objectContaining({ 'retry-after': '30' }) }),
  )
  now += 90_000
  sharers.count = 1
  expect(limiter.take('a')).toMatchObject({ limit: 9 })

  const timers = new FakeTimers()
  const bulkheads = new Bulkheads({ width: 4, sharers, timers })
  const leaves = [1, 2, 3, 4].map(() => bulkheads.enter('a', never) as () => void)
  sharers.count = 2
  const waits = async () => {
    const outcome = Promise.resolve(bulkheads.enter('a', never)).then(
      () => 'entered',
      (error) => error.code,
    )
    await timers.advance(1_000)
    return outcome
  }
  const [first, second, third] = leaves
  first?.()
  second?.()
  expect(await waits()).toBe('rate_limited')
  third?.()
  expect(await waits()).toBe('entered')
  sharers.count = 1
  expect([await waits(), await waits(), await waits()]).toEqual([
    'entered',
    'entered',
    'rate_limited',
  ])
})

test('a part that grows lets in as many of those who wait', async () => {
  const sharers = { count: 3 }
  const bulkheads = new Bulkheads({ width: 6, sharers, timers: new FakeTimers() })
  const leave = (await bulkheads.enter('a', never)) as () => void
  await bulkheads.enter('a', never)
  const waiting = [bulkheads.enter('a', never), bulkheads.enter('a', never)]
  sharers.count = 1
  leave()
  expect(await Promise.all(waiting)).toHaveLength(2)
})

if (databaseKind === 'embedded') {
  test('the embedded database has one process, which has all of each limit', async () => {
    const config = { DB_HOST: undefined, ROLE: 'all' as const, WORKERS: 1 }
    const db = { execute: () => Promise.reject(new Fault('unavailable')) } as never
    const live = await openLiveProcesses({ db, config })
    await live.beat()
    expect([live.controlPlanes.count, live.resolvers.count, passed([live])]).toEqual([1, 1, LIMIT])
    await live.end()
  })
}

{
  const { afterAll, beforeAll, beforeEach, describe, test } = requires('postgresql')
  let connection: Connection
  let open: LiveProcesses[] = []
  const config = (ROLE: 'all' | 'control-plane' | 'resolver' = 'all', WORKERS = 1) => ({
    DB_HOST: 'shared',
    ROLE,
    WORKERS,
  })

  beforeAll(async () => {
    const { env } = await preparedDatabase()
    connection = await openDatabase(
      readConfig({ ...KEYS, ...env }, () => KEYS),
      () => {},
    )
    await migrate(connection.sql)
  })
  afterAll(() => connection.close())
  beforeEach(async () => {
    await Promise.all(open.map((live) => live.end()))
    open = []
    await connection.sql`truncate live_processes`
  })

  async function start(...how: Parameters<typeof config>): Promise<LiveProcesses> {
    const live = await openLiveProcesses({ db: connection.db, config: config(...how) })
    open.push(live)
    return live
  }
  async function beatTwice(...some: LiveProcesses[]): Promise<void> {
    for (const live of [...some, ...some]) await live.beat()
  }

  describe('processes of one PostgreSQL', () => {
    test.each([2, 3])(
      '%d of them let through no more than the limit, but for what is rounded up',
      async (count) => {
        for (let more = 0; more < count; more += 1) await start()
        for (const live of open) await live.beat()
        expect(open.map(({ resolvers }) => resolvers.count)).toEqual(Array(count).fill(count))
        expect(passed(open)).toBeGreaterThanOrEqual(LIMIT)
        expect(passed(open)).toBeLessThan(LIMIT + count)
      },
    )

    test('while one joins those that are there have their former part until their next beat: less than twice the limit', async () => {
      const one = await start()
      expect(passed([one])).toBe(LIMIT)
      const two = await start()
      expect([one, two].map(({ resolvers }) => resolvers.count)).toEqual([1, 2])
      expect(passed([one, two])).toBe(1.5 * LIMIT)
      await one.beat()
      expect(passed([one, two])).toBe(LIMIT)
    })

    test('each that starts at the same moment finds those that announced themselves before', async () => {
      await Promise.all([start(), start(), start(), start()])
      const counts = open.map(({ resolvers }) => resolvers.count).sort()
      for (const [place, count] of counts.entries()) expect(count).toBeGreaterThan(place)
    })

    test('workers of one machine know how many they are before they have met', async () => {
      const worker = await start('all', 4)
      expect([worker.resolvers.count, worker.controlPlanes.count]).toEqual([4, 4])
    })

    test('one that was killed gives its part back, and one that ended too', async () => {
      const [one, killed, ended] = [await start(), await start(), await start()]
      await beatTwice(one)
      expect(one.resolvers.count).toBe(3)
      // Both rows of the second, as 15 seconds of silence leave them: what the others say is newer.
      await connection.sql`update live_processes set seen_at = seen_at - interval '16 seconds'`
      await beatTwice(one, ended)
      expect(one.resolvers.count).toBe(2)
      await ended.end()
      await beatTwice(one)
      expect([one.resolvers.count, one.controlPlanes.count, passed([one])]).toEqual([1, 1, LIMIT])
      // One that was only slow is back.
      await killed.beat()
      await one.beat()
      expect(one.resolvers.count).toBe(2)
    })

    test('each role divides its own limits', async () => {
      const controls = [await start('control-plane'), await start('control-plane')]
      const resolvers = [await start('resolver'), await start('resolver'), await start('resolver')]
      for (const live of open) await live.beat()
      expect(controls.map((live) => [live.controlPlanes.count, live.resolvers.count])).toEqual(
        Array(2).fill([2, 2]),
      )
      expect(resolvers.map((live) => live.resolvers.count)).toEqual([3, 3, 3])
      const both = await start()
      expect([both.controlPlanes.count, both.resolvers.count]).toEqual([3, 4])
    })

    test('the last count stays while the database cannot be asked, and a table that a crash emptied opens nothing', async () => {
      const three = [await start(), await start(), await start()]
      for (const live of three) await live.beat()
      await connection.sql`alter table live_processes rename to hidden_processes`
      for (const live of three) await expect(live.beat()).rejects.toThrow()
      expect(three.map(({ resolvers }) => resolvers.count)).toEqual([3, 3, 3])
      await connection.sql`alter table hidden_processes rename to live_processes`
      await connection.sql`truncate live_processes`
      for (const round of [1, 2]) {
        for (const live of three) await live.beat()
        expect([round, ...three.map(({ resolvers }) => resolvers.count)]).toEqual([round, 3, 3, 3])
      }
    })

    test('rows of those that ended, and such as nobody can have said, are swept; who lives stays', async () => {
      const [one, two] = [await start(), await start()]
      await two.end()
      await connection.sql`insert into live_processes values (gen_random_uuid(), true, 'infinity'),
        (gen_random_uuid(), true, now() - interval '2 minutes')`
      await sweepProcesses(connection.db)
      expect(await connection.sql`select 1 from live_processes`).toHaveLength(2)
      await beatTwice(one)
      expect(one.resolvers.count).toBe(1)
    })
  })
}
