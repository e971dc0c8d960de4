// tier: quick, both databases always
/** No statement of a transaction takes effect before BEGIN, or after the end of the transaction. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type postgres from 'postgres'
import { readConfig } from '../../../src/core/config/config.ts'
import { type Connection, openDatabase } from '../../../src/database/open.ts'
import { preparedDatabase, type TestDatabase } from '../../support/database.ts'
import { requires } from '../../support/requires.ts'

const KEYS = {
  SECRET_KEY: 'k'.repeat(36),
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64url'),
}

const onServer = requires('postgresql')

describe('a transaction', () => {
  let database: TestDatabase
  let connection: Connection
  let sql: postgres.Sql

  beforeAll(async () => {
    database = await preparedDatabase()
    const config = readConfig({ ...KEYS, ...database.env }, () => KEYS)
    connection = await openDatabase(config, () => {}, { isServing: true })
    sql = connection.sql
    await sql`create table written (what text)`
  }, 60_000)
  afterAll(async () => {
    await connection.close()
    database.remove()
  })
  beforeEach(async () => {
    await sql`truncate written`
  })

  const written = async () => (await sql`select what from written`).map(({ what }) => what)

  test('a transaction with a failed BEGIN accepts no statement that writes', async () => {
    const begun = sql.begin('no such mode', (tx) =>
      tx.unsafe("insert into written values ('loose')"),
    )
    await expect(begun).rejects.toMatchObject({ code: '42601' })
    expect(await written()).toEqual([])
  })

  test('a transaction runs statements in the order in which they are made', async () => {
    const count = await sql.begin(async (tx) => {
      const prepare = { prepare: true }
      const first = tx.unsafe("insert into written values ('first')", [], prepare)
      const second = tx.unsafe('select count(*)::int as count from written', [], prepare)
      const [row] = await second
      await first
      return row?.count
    })
    expect(count).toBe(1)
  })

  test('a nested transaction is part of the outer one', async () => {
    const begun = sql.begin(async (tx) => {
      await tx.unsafe("insert into written values ('outer')")
      const inner = tx.savepoint((within) => within.unsafe('select 1 / 0'))
      await inner.catch(() => {})
    })
    await expect(begun).rejects.toMatchObject({ code: '22012' })
    expect(await written()).toEqual([])
  })

  test('a transaction is read by a cursor', async () => {
    const numbers: number[] = []
    await sql.begin(async (tx) => {
      for await (const rows of tx.unsafe('select generate_series(1, 5) as number').cursor(2))
        numbers.push(...rows.map(({ number }) => Number(number)))
    })
    expect(numbers).toEqual([1, 2, 3, 4, 5])
  })

  test('a transaction with a failed statement is rolled back, even if the failure was caught', async () => {
    const begun = sql.begin(async (tx) => {
      await tx.unsafe("insert into written values ('half')")
      await tx.unsafe('select 1 / 0').catch(() => {})
    })
    await expect(begun).rejects.toMatchObject({ code: '22012' })
    expect(await written()).toEqual([])
  })

  test('a transaction that fails before BEGIN is confirmed stores nothing afterwards', async () => {
    const begun = sql.begin((tx) => {
      void tx.unsafe("insert into written values ('afterwards')").catch(() => {})
      throw new Error('no')
    })
    await expect(begun).rejects.toThrow('no')
    expect(await written()).toEqual([])
  })

  test('an ended transaction accepts no statement', async () => {
    let kept: postgres.TransactionSql | undefined
    await sql.begin(async (tx) => {
      kept = tx
      await tx.unsafe("insert into written values ('in it')")
    })
    const late = kept?.unsafe("insert into written values ('late')")
    await expect(late).rejects.toMatchObject({ code: 'CONNECTION_TRANSACTION_OVER' })
    expect(await written()).toEqual(['in it'])
  })

  test('a failed transaction accepts no statement from work that is still running', async () => {
    const failed = Promise.withResolvers<void>()
    let late: Promise<unknown> | undefined
    const begun = sql.begin(async (tx) => {
      const write = async () => {
        await failed.promise
        await tx.unsafe("insert into written values ('late')")
      }
      late = write()
      late.catch(() => {})
      await tx.unsafe('select 1 / 0')
    })
    await expect(begun).rejects.toMatchObject({ code: '22012' })
    failed.resolve()
    await expect(late).rejects.toMatchObject({ code: 'CONNECTION_TRANSACTION_OVER' })
    expect(await written()).toEqual([])
  })

  onServer.test('a transaction of a request waits at most five seconds for a lock', async () => {
    const [row] = await sql.begin((tx) => tx`select current_setting('lock_timeout') as wait`)
    expect(row?.wait).toBe('5s')
  })

  test('a failed transaction reports the first error, even if a later statement is awaited', async () => {
    const prepare = { prepare: true }
    await sql.unsafe('select 1', [], prepare)
    const begun = sql.begin(async (tx) => {
      const first = tx.unsafe('select 1 / 0', [], prepare)
      first.catch(() => {})
      await tx.unsafe('select 1', [], prepare)
    })
    await expect(begun).rejects.toMatchObject({ code: '22012' })
  })
})
