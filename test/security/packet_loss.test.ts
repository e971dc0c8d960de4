// tier: all
/**
 * A network between server and PostgreSQL that drops packets: a request would wait for minutes, and all later ones
 * behind it. It is abandoned in time, and late arrivals overwrite no newer data.
 */
import { expect } from 'bun:test'
import { sql as text } from 'drizzle-orm'
import postgres from 'postgres'
import { readConfig } from '../../src/core/config/config.ts'
import { unavailableFault } from '../../src/database/errors.ts'
import { type Connection, openDatabase } from '../../src/database/open.ts'
import { startWire, type Wire } from '../faults/swallowing.ts'
import { preparedDatabase, type TestDatabase } from '../support/database.ts'
import { requires } from '../support/requires.ts'

const KEYS = {
  SECRET_KEY: 'k'.repeat(36),
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64url'),
}
const AT_ONCE = 20
/** Ten seconds in ticks of a timer, in the pool's count: a process that was suspended loses no connection. */
const TICK_MS = 250
const ANSWERED_TICKS = 40

let database: TestDatabase
/** Bypasses the wire. */
let besides: postgres.Sql
let wire: Wire
let connection: Connection

/** The pool's timers run in real time. */
const passTime = (ms: number) => Bun.sleep(ms)

const twentyAtOnce = () =>
  Promise.all(Array.from({ length: AT_ONCE }, () => connection.sql`select 1 as one`))

/** Whether the answer was 503 for an unavailable database, and how long it took. */
async function refusal(asked: PromiseLike<unknown>): Promise<{ is503: boolean; ticks: number }> {
  let ticks = 0
  const ticking = setInterval(() => (ticks += 1), TICK_MS)
  const is503 = await Promise.resolve(asked).then(
    () => false,
    (error: unknown) => unavailableFault(error) !== null,
  )
  clearInterval(ticking)
  return { is503, ticks }
}

const { test, beforeAll, afterAll, beforeEach, afterEach } = requires('postgresql')

beforeAll(async () => {
  database = await preparedDatabase()
  const { DB_HOST: host = '', DB_NAME = '', DB_USER = '' } = database.env
  besides = postgres({ host, user: DB_USER, database: DB_NAME, max: 2, onnotice: () => {} })
  await besides`create table written (id int primary key, what text)`
}, 60_000)
afterAll(async () => {
  await besides.end({ timeout: 1 })
  database.remove()
})

beforeEach(async () => {
  await besides`truncate written`
  await besides`insert into written values (1, 'as it was')`
  wire = await startWire({ path: `${database.env.DB_HOST}/.s.PGSQL.5432` })
  const place = { DB_HOST: '127.0.0.1', DB_PORT: String(wire.port), DB_SSLMODE: 'disable' }
  const config = readConfig({ ...KEYS, ...database.env, ...place }, () => KEYS)
  connection = await openDatabase(config, () => {}, { isServing: true })
  // Each has its own connection.
  await Promise.all(Array.from({ length: 10 }, () => connection.sql`select pg_sleep(0.3)`))
})
afterEach(async () => {
  await connection.close()
  wire.close()
}, 20_000)

test.each([
  ['requests', ['to']],
  ['answers', ['from']],
  ['packets in both directions', ['to', 'from']],
] as const)(
  'when %s are lost, all statements fail within ten seconds, and twenty concurrent ones succeed afterwards',
  async (_, ways) => {
    wire.swallow(...ways)
    const asked = Array.from({ length: AT_ONCE }, () => refusal(connection.sql`select 1`))
    // Later queries do not queue behind the silent ones.
    await passTime(2_000)
    asked.push(...Array.from({ length: AT_ONCE }, () => refusal(connection.sql`select 1`)))
    const refused = await Promise.all(asked)
    expect(refused.map(({ is503 }) => is503)).toEqual(refused.map(() => true))
    expect(Math.max(...refused.map(({ ticks }) => ticks))).toBeLessThanOrEqual(ANSWERED_TICKS)
    expect(wire.resets).toBeGreaterThanOrEqual(10)
    wire.mend()
    expect(await twentyAtOnce()).toHaveLength(AT_ONCE)
  },
  40_000,
)

test('after one connection hangs, idle connections that may be dead too are not used', async () => {
  wire.swallow('to', 'from')
  const hung = refusal(connection.sql`select 1`)
  await passTime(3_000)
  wire.mend()
  expect(await twentyAtOnce()).toHaveLength(AT_ONCE)
  expect((await hung).is503).toBe(true)
}, 40_000)

test.each([
  ['to a statement that waits for its parameters', () => connection.sql`select ${7}::int as n`],
  ['that is long', () => connection.sql`select repeat('x', 20000000) as long`],
] as const)(
  'a connection with a lost answer, %s, does not count as busy',
  async (_, ask) => {
    wire.swallow('from')
    const hung = refusal(ask())
    // New connections pass, so PostgreSQL can be queried.
    await passTime(1_000)
    wire.mend()
    expect((await hung).is503).toBe(true)
  },
  40_000,
)

test('a transaction that hangs halfway leaves no change, also from its later statements', async () => {
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<{ pid: number; wait: string }>()
  const ended = Promise.withResolvers<unknown>()
  const hung = refusal(
    connection.sql.begin(async (tx) => {
      const [session] = await tx<{ pid: number; wait: string }[]>`
        select pg_backend_pid() as pid, current_setting('idle_in_transaction_session_timeout') as wait`
      if (session) begun.resolve(session)
      await tx`update written set what = 'by half' where id = 1`
      wire.swallow('to', 'from')
      await tx`insert into written values (2, 'by half')`.catch(() => {})
      await goesOn
      await tx`insert into written values (3, 'by half')`.then(ended.resolve, ended.reject)
    }),
  )
  expect((await hung).is503).toBe(true)
  wire.mend()
  await twentyAtOnce()
  goOn()
  expect(await refusal(ended.promise)).toMatchObject({ is503: true })
  // PostgreSQL, which receives no more of its client, ends the session itself: immediately here.
  const { pid, wait } = await begun.promise
  expect(wait).toBe('30s')
  await besides`select pg_terminate_backend(${pid}, 5000)`
  expect([...(await besides`select * from written`)]).toEqual([{ id: 1, what: 'as it was' }])
}, 40_000)

test.each(['before it', 'after it'] as const)(
  'a change that is abandoned %s was to be committed, and delivered late, does not overwrite a later acknowledged one',
  async (when) => {
    if (when === 'before it') wire.hold()
    const older = connection.db.transaction(async (tx) => {
      await tx.execute(text`update written set what = 'older' where id = 1`)
      if (when === 'after it') wire.hold()
    })
    expect((await refusal(older)).is503).toBe(true)
    expect(wire.held).toBeGreaterThan(0)
    const newer = besides`update written set what = 'newer' where id = 1`.execute()
    if (when === 'before it') await newer
    wire.deliver()
    await newer
    await twentyAtOnce()
    expect([...(await besides`select what from written`)]).toEqual([{ what: 'newer' }])
  },
  40_000,
)

test('a statement that PostgreSQL executes is not abandoned, and neither is one that waits for a lock', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const holding = besides.begin(async (tx) => {
    await tx`select * from written where id = 1 for update`
    await held
  })
  const waiting = connection.sql`update written set what = 'waited' where id = 1`.execute()
  const [slept] = await connection.sql`select 'slept' as what from pg_sleep(9)`
  expect(slept).toEqual({ what: 'slept' })
  release()
  await holding
  await waiting
  expect([...(await besides`select what from written`)]).toEqual([{ what: 'waited' }])
}, 40_000)
