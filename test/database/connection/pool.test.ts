// tier: quick, both databases in test:all
/**
 * Guarantees of the pool that the driver lacks: a transaction has its own connection, the idle connection that
 * was used last is used next, and no statement of a transaction with a lost connection runs on another one.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type postgres from 'postgres'
import { readConfig } from '../../../src/core/config/config.ts'
import { openPool } from '../../../src/database/connection/pool.ts'
import { type Connection, openDatabase, serverOptions } from '../../../src/database/open.ts'
import { preparedDatabase, type TestDatabase } from '../../support/database.ts'
import { requires } from '../../support/requires.ts'

const KEYS = {
  SECRET_KEY: 'k'.repeat(36),
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64url'),
}

describe('a transaction has its connection for itself', () => {
  let database: TestDatabase
  let connection: Connection
  let sql: postgres.Sql

  beforeAll(async () => {
    database = await preparedDatabase()
    const config = readConfig({ ...KEYS, ...database.env }, () => KEYS)
    connection = await openDatabase(config, () => {})
    // The embedded database has only one anyway.
    const { DB_HOST: host } = config
    const one = { size: 1, isServing: false }
    sql = host === undefined ? connection.sql : openPool(serverOptions(config, host), one)
    await sql`create table written (what text)`
  }, 60_000)
  afterAll(async () => {
    if (sql !== connection.sql) await sql.end()
    await connection.close()
    database.remove()
  })

  /** Sends these statements at the same moment before it, while another one runs. */
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
    // Changes without a commit end with the transaction.
    await sql`rollback`
    expect((await sql`select what from written order by what`).map(({ what }) => what)).toEqual([
      'beside it',
      'in it',
    ])
  }

  test.each([98, 99, 100, 101, 200])(
    'a transaction has its connection to itself behind %d statements',
    async (count) => {
      await transactionBehind(() => Array.from({ length: count }, () => sql`select 1`.execute()))
    },
  )
})

{
  const { test } = requires('postgresql')
  test('sequential statements use one connection, concurrent ones use many', async () => {
    const { env, remove } = await preparedDatabase()
    const config = readConfig({ ...KEYS, ...env }, () => KEYS)
    const options = serverOptions(config, config.DB_HOST ?? '')
    const sql = openPool(options, { size: 4, isServing: false })
    const pidOf = async (seconds: number) => {
      const [row] = await sql<
        { pid: number }[]
      >`select pg_backend_pid() as pid, pg_sleep(${seconds})`
      return row?.pid
    }
    expect(new Set(await Promise.all([0.5, 0.5, 0.5, 0.5].map(pidOf))).size).toBe(4)
    const first = await pidOf(0)
    for (let call = 0; call < 8; call += 1) expect(await pidOf(0)).toBe(first)
    await sql.end()
    remove()
  })
}
