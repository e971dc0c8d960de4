// tier: quick, both databases in test:all
/**
 * What the patch in .patches/ mends in postgres.js 3.4.9; these tests fail where it was not applied. The
 * driver wrote ROLLBACK to a connection that was gone, which ended the whole process. And it went round its
 * connections: after a rest each statement met one that had not prepared it, with a server process that
 * had slept for as long. And a transaction that began where a connection took no more for the moment did not
 * have it for itself: it failed, and others wrote into what it had left open. And one that was opened to be
 * kept for somebody was given to nobody.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { readConfig } from '../../src/core/config/config.ts'
import { type Connection, openDatabase, serverOptions } from '../../src/database/open.ts'
import { preparedDatabase, sharedCluster, type TestDatabase } from '../support/database.ts'
import {
  AUTHENTICATED,
  answerAll,
  errorMessage,
  falsePostgres,
  READY,
  type Wire,
} from '../support/false_postgres.ts'
import { requires } from '../support/requires.ts'

test('the driver knows that a connection may be gone when it writes', async () => {
  const text = await sourceOf('connection.js')
  expect(text).toMatch(/function nextWrite\(fn\) \{\s+if \(!socket\)/)
})

test('of idle connections it takes the one that was used last', async () => {
  expect(await sourceOf('index.js')).toContain('return go(open.pop(), query)')
})

describe('a connection that is opened to be kept', () => {
  async function poolOf(serve: (wire: Wire) => Promise<void>) {
    const { port, close } = await falsePostgres(serve)
    const options = { host: '127.0.0.1', port, user: 'us', database: 'any', fetch_types: false }
    const sql = postgres({ ...options, max: 1, backoff: false })
    return { sql, end: () => sql.end({ timeout: 0 }).then(close) }
  }

  test('is, and given back it is used by others', async () => {
    const { sql, end } = await poolOf(async (wire) => {
      wire.write(AUTHENTICATED, READY)
      await answerAll(wire)
    })
    const kept = await sql.reserve()
    expect([...(await kept`select 1`)]).toEqual([])
    const waiting = sql`select 1`.execute()
    kept.release()
    expect([...(await waiting)]).toEqual([])
    await end()
  })

  test('and was refused is not kept by the next one', async () => {
    let count = 0
    const { sql, end } = await poolOf(async (wire) => {
      count += 1
      if (count === 1)
        wire.write(errorMessage({ S: 'FATAL', C: '53300', M: 'too many connections' }))
      else wire.write(AUTHENTICATED, READY)
      if (count === 1) wire.socket.end()
      else await answerAll(wire)
    })
    await expect(sql.reserve()).rejects.toMatchObject({ code: '53300' })
    expect([...(await sql`select 1`)]).toEqual([])
    await end()
  })
})

describe('a transaction has its connection for itself', () => {
  const KEYS = {
    SECRET_KEY: 'k'.repeat(36),
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64url'),
  }
  let database: TestDatabase
  let connection: Connection
  let sql: postgres.Sql

  beforeAll(async () => {
    database = await preparedDatabase()
    const config = readConfig({ ...KEYS, ...database.env }, () => KEYS)
    connection = await openDatabase(config, () => {})
    // The embedded database has one anyway.
    const { DB_HOST: host } = config
    sql = host === undefined ? connection.sql : postgres({ ...serverOptions(config, host), max: 1 })
    await sql`create table written (what text)`
  }, 60_000)
  afterAll(async () => {
    if (sql !== connection.sql) await sql.end()
    await connection.close()
    database.remove()
  })

  /** With these asked in the same moment before it, while another one runs. */
  async function transactionBehind(before: () => Promise<unknown>[]): Promise<void> {
    await sql`truncate written`
    const gate = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const running = sql.begin(async (tx) => {
      await tx`select 1`
      begun.resolve()
      await gate.promise
    })
    await begun.promise
    const asked = before()
    const transaction = sql.begin((tx) => tx`insert into written values ('in it')`)
    const beside = sql`insert into written values ('beside it')`
    gate.resolve()
    await Promise.all([running, ...asked, transaction, beside])
    // What was not committed goes with the transaction.
    await sql`rollback`
    expect((await sql`select what from written order by what`).map(({ what }) => what)).toEqual([
      'beside it',
      'in it',
    ])
  }

  test.each([98, 99, 100, 101, 200])('behind %d statements', async (count) => {
    await transactionBehind(() => Array.from({ length: count }, () => sql`select 1`.execute()))
  })
})

{
  const { test } = requires('postgresql')
  test('one statement after the other goes to one connection, many at once to many', async () => {
    const { socketDir, createDatabase } = await sharedCluster()
    const database = await createDatabase()
    const sql = postgres({ host: socketDir, user: 'cloakroom', database, max: 4 })
    const pidOf = async (seconds: number) => {
      const [row] = await sql<
        { pid: number }[]
      >`select pg_backend_pid() as pid, pg_sleep(${seconds})`
      return row?.pid
    }
    expect(new Set(await Promise.all([0.1, 0.1, 0.1, 0.1].map(pidOf))).size).toBe(4)
    const first = await pidOf(0)
    for (let call = 0; call < 8; call += 1) expect(await pidOf(0)).toBe(first)
    await sql.end()
  })
}

function sourceOf(file: string): Promise<string> {
  const driver = fileURLToPath(import.meta.resolve('postgres'))
  return Bun.file(driver.replace(/index\.js$/, file)).text()
}
