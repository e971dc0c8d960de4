// tier: quick, both databases in test:all
/** Leases of running calls, and counts that could not be stored. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { UNLIMITED } from '../../../src/core/token_limits.ts'
import { CallLimits } from '../../../src/resolver/limits/call_limits.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { FakeTimers } from '../../support/fake_timers.ts'
import { until } from '../../support/until.ts'

let app: TestApp
let timers: FakeTimers
let limits: CallLimits
let token: { id: string; limits: typeof UNLIMITED }

beforeAll(async () => {
  app = await sharedApp()
})
beforeEach(() => {
  timers = new FakeTimers()
  limits = open()
  token = {
    id: Bun.randomUUIDv7(),
    limits: { ...UNLIMITED, concurrent_calls: 1, bytes_per_day: 100 },
  }
})
afterAll(() => app.stop())

function open(db = app.connection.db): CallLimits {
  const { config, clock } = app
  const log = { ...console, info() {}, warning() {}, error() {}, debug() {} } as never
  return new CallLimits({ db, config, clock, timers, log })
}

const refusals: string[] = []
const begin = (bytes = 0) =>
  limits.begin(token, { bytes, onOver: ({ message }) => refusals.push(message) })
const leases = async () =>
  await app.connection.sql<{ seconds: number }[]>`select
    extract(epoch from until - clock_timestamp())::float8 as seconds from token_calls
    where token_id = ${token.id}`
const spent = async () => {
  const rows = await app.connection.sql<{ calls: number; bytes: number }[]>`
    select calls::int, bytes::int from token_days where token_id = ${token.id}`
  return rows[0] ?? { calls: 0, bytes: 0 }
}

test('a running call renews its lease every 10 seconds, and loses it at its end', async () => {
  const call = await begin()
  await app.connection.sql`update token_calls set until = clock_timestamp() + interval '1 second'
    where token_id = ${token.id}`
  await timers.advance(10_000)
  await until(async () => ((await leases())[0]?.seconds ?? 0) > 20)
  await call.end()
  expect(await leases()).toHaveLength(0)
})

test('bytes of a running call are stored while it runs, and end another call that reads them', async () => {
  token.limits.concurrent_calls = 2
  const [one, other] = [await begin(), await begin()]
  one.addBytes(90)
  other.addBytes(30)
  await timers.advance(10_000)
  await until(async () => (await spent()).bytes === 120)
  refusals.length = 0
  await until(() => {
    other.addBytes(1)
    return refusals.length > 0
  })
  expect(refusals[0]).toBe(
    'This token has used its daily limit of 100 bytes. Retry after 00:00 UTC.',
  )
  await Promise.all([one.end(), other.end()])
})

test('a count that could not be stored is stored with the next flush', async () => {
  let isDown = false
  const { db } = app.connection
  const failing = new Proxy(db, {
    get: (target, name) => {
      if (name === 'transaction' && isDown)
        return () => Promise.reject(new Error('the database is unavailable'))
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  limits = open(failing)
  const call = await begin(5)
  call.addBytes(20)
  isDown = true
  await call.end()
  expect(await spent()).toEqual({ calls: 1, bytes: 5 })
  expect(await leases()).toHaveLength(1)
  isDown = false
  await timers.advance(10_000)
  await until(async () => (await spent()).bytes === 25)
  expect(await leases()).toHaveLength(0)
})

test('a caller’s next call finds the last one ended, also while that is being stored', async () => {
  for (let turn = 0; turn < 5; turn++) {
    const call = await begin()
    void call.end()
  }
  expect((await spent()).calls).toBe(5)
})

test('closing stores the remaining counts', async () => {
  const call = await begin()
  call.addBytes(7)
  await limits.close()
  expect((await spent()).bytes).toBe(7)
})
