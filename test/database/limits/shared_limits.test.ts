// tier: quick, both databases in test:all
/** Limits that several processes on one PostgreSQL share, from the view of each. */
import { expect } from 'bun:test'
import { readConfig } from '../../../src/core/config/config.ts'
import { Fault } from '../../../src/core/fault.ts'
import { openBackoff, sweepAttempts } from '../../../src/database/limits/shared_backoff.ts'
import { MAX_ROWS, SharedBuckets } from '../../../src/database/limits/shared_buckets.ts'
import { openRate } from '../../../src/database/limits/shared_rate.ts'
import { migrate } from '../../../src/database/migrations/migrate.ts'
import { type Connection, openDatabase } from '../../../src/database/open.ts'
import { PasswordThrottle } from '../../../src/features/accounts/passwords/throttle.ts'
import { preparedDatabase } from '../../support/database.ts'
import { requires } from '../../support/requires.ts'

const KEYS = { SECRET_KEY: 'k'.repeat(36), ENCRYPTION_KEY: Buffer.alloc(32).toString('base64url') }

{
  const { afterAll, beforeAll, beforeEach, describe, test } = requires('postgresql')
  let moved = 0
  const clock = { now: () => Date.now() + moved }
  let processes: Connection[]
  let config: ReturnType<typeof readConfig>
  let sql: Connection['sql']

  beforeAll(async () => {
    const { env } = await preparedDatabase()
    config = readConfig({ ...KEYS, ...env }, () => KEYS)
    processes = await Promise.all([1, 2, 3].map(() => openDatabase(config, () => {})))
    sql = processes[0]?.sql as Connection['sql']
    await migrate(sql)
  })
  afterAll(() => Promise.all(processes.map(({ close }) => close())))
  beforeEach(async () => {
    moved = 0
    await sql`truncate rate_limits, failed_attempts`
  })

  /** Opens a separate service for each of three processes. */
  const each = <T>(
    open: (services: { db: Connection['db']; config: typeof config; clock: typeof clock }) => T,
  ) => processes.map(({ db }) => open({ db, config, clock }))
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      (error) => (error instanceof Fault ? error.code : error),
    )

  describe('a rate', () => {
    const rate = { count: 6, seconds: 60 }
    const limiters = () => each((services) => openRate(services, 'register', rate))

    test('a rate is one limit for three processes, in sequence and concurrently', async () => {
      const three = limiters()
      const asks = Array.from({ length: 30 }, (_, ask) => async () => three[ask % 3]?.take('net'))
      const codes = await Promise.all(asks.map((ask) => codeOf(ask())))
      expect(codes.filter((code) => code === 'done')).toHaveLength(rate.count)
      expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(30 - rate.count)
      for (const limiter of limiters())
        expect(await codeOf((async () => limiter.take('net'))())).toBe('rate_limited')
      // The other processes continue.
      for (const limiter of three)
        expect(await codeOf((async () => limiter.take('another'))())).toBe('done')
    })

    test("a rate's headers have the remainder over all processes, and a wait of Retry-After is enough", async () => {
      const [one, two] = limiters()
      expect([(await one?.take('a'))?.remaining, (await two?.take('a'))?.remaining]).toEqual([5, 4])
      for (let more = 0; more < 4; more += 1) await one?.take('a')
      const refusal = await (async () => two?.take('a'))().catch((error) => error)
      expect(refusal).toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '10' } })
      moved += 10_000
      expect(await codeOf((async () => two?.take('a'))())).toBe('done')
      expect(await codeOf((async () => one?.take('a'))())).toBe('rate_limited')
    })

    test('a rejected caller who keeps retrying causes no more database queries', async () => {
      const [one] = limiters()
      for (let more = 0; more < rate.count; more += 1) await one?.take('a')
      expect(await codeOf((async () => one?.take('a'))())).toBe('rate_limited')
      await sql`delete from rate_limits`
      expect(await codeOf((async () => one?.take('a'))())).toBe('rate_limited')
    })

    test('a clock that was temporarily ahead rejects nobody once it is correct, and the count continues', async () => {
      moved = 86_400_000
      const [ahead] = limiters()
      for (let more = 0; more < rate.count; more += 1) await ahead?.take('a')
      moved = 0
      const [one] = limiters()
      for (let more = 0; more < rate.count; more += 1) await one?.take('a')
      expect(await codeOf((async () => one?.take('a'))())).toBe('rate_limited')
    })

    test('a thousand unused keys leave no row', async () => {
      const [one] = limiters()
      await Promise.all(Array.from({ length: 200 }, async (_, key) => one?.take(`net ${key}`)))
      expect((await sql`select 1 from rate_limits`).length).toBe(200)
      moved += 61_000
      await new SharedBuckets(processes[0]?.db as Connection['db'], clock).sweep()
      expect((await sql`select 1 from rate_limits`).length).toBe(0)
    })

    test('hostile keys create a bounded number of rows: the ones closest to full go first, rejected ones stay', async () => {
      const [one] = limiters()
      for (let more = 0; more <= rate.count; more += 1)
        await codeOf((async () => one?.take('attacker'))())
      await sql.unsafe(`insert into rate_limits select decode(md5(n::text), 'hex'), extract(epoch from now()) + 10, 1
        from generate_series(1, ${MAX_ROWS + 500}) n`)
      await new SharedBuckets(processes[0]?.db as Connection['db'], clock).sweep()
      expect(Number((await sql`select count(*) from rate_limits`)[0]?.count)).toBe(MAX_ROWS)
      expect(await codeOf((async () => limiters()[2]?.take('attacker'))())).toBe('rate_limited')
    })

    test('a failover that empties the table forgives one window, and the count continues', async () => {
      const [one, two] = limiters()
      for (let more = 0; more < rate.count; more += 1) await one?.take('a')
      await sql`truncate rate_limits`
      const codes = await Promise.all(
        Array.from({ length: 12 }, () => codeOf((async () => two?.take('a'))())),
      )
      expect(codes.filter((code) => code === 'done')).toHaveLength(rate.count)
    })
  })

  describe('waits after wrong passwords', () => {
    const throttles = () => each((services) => new PasswordThrottle(openBackoff(services)))
    const attempt = { what: 'password', account: 'ada@example.com', network: '192.0.2.1' } as const
    const wrong = async () => null
    const right = async () => 'ada'

    test('an attacker who spreads guesses over three processes gets no more guesses than at one', async () => {
      const three = throttles()
      let judged = 0
      const guess = async (at: number) =>
        codeOf(
          (async () =>
            three[at % 3]?.judge(attempt, async () => {
              judged += 1
              return null
            }))(),
        )
      await Promise.all(Array.from({ length: 60 }, (_, at) => guess(at)))
      expect(judged).toBe(5)
      moved += 1_100
      await Promise.all(Array.from({ length: 60 }, (_, at) => guess(at)))
      expect(judged).toBe(6)
      // The owner, from another network, at any of the processes.
      for (const throttle of three)
        expect(await throttle.judge({ ...attempt, network: '198.51.100.1' }, right)).toBe('ada')
    })

    test('the right password is accepted at three processes concurrently, and resets the wait', async () => {
      const three = throttles()
      for (let round = 0; round < 4; round += 1) {
        await three[round % 3]?.judge(attempt, wrong)
        expect(await three[(round + 1) % 3]?.judge(attempt, right)).toBe('ada')
      }
      expect(await Promise.all(three.map((throttle) => throttle.judge(attempt, right)))).toEqual([
        'ada',
        'ada',
        'ada',
      ])
      expect(await sql`select 1 from failed_attempts`).toHaveLength(0)
    })

    test('work that ends in an error does not count as a wrong password', async () => {
      const [one] = throttles()
      for (let round = 0; round < 20; round += 1)
        await one?.judge(attempt, () => Promise.reject(new Fault('unavailable'))).catch(() => {})
      expect(await one?.judge(attempt, right)).toBe('ada')
    })

    test('waits outlast a restart and a crash, because their table is logged, and end after a day', async () => {
      const [one] = throttles()
      for (let round = 0; round < 5; round += 1) await one?.judge(attempt, wrong)
      expect(await codeOf((async () => throttles()[1]?.judge(attempt, right))())).toBe(
        'rate_limited',
      )
      const logged =
        await sql`select relpersistence from pg_class where relname = 'failed_attempts'`
      expect(logged[0]?.relpersistence).toBe('p')
      await sql`update failed_attempts set until = until - interval '1 day 1 minute'`
      await sweepAttempts(processes[0]?.db as Connection['db'])
      expect(await sql`select 1 from failed_attempts`).toHaveLength(0)
    })

    test('a clock that was temporarily ahead keeps nobody waiting once it is correct', async () => {
      const [one] = throttles()
      moved = 86_400_000
      for (let round = 0; round < 5; round += 1) await one?.judge(attempt, wrong)
      moved = 0
      expect(await one?.judge(attempt, right)).toBe('ada')
    })

    test('the table contains no account or network address', async () => {
      const [one] = throttles()
      await one?.judge(attempt, wrong)
      const [row] =
        await sql`select f::text as text, encode(key, 'escape') as key from failed_attempts f`
      expect(`${row?.text} ${row?.key}`).not.toMatch(/ada|192/)
    })
  })
}
