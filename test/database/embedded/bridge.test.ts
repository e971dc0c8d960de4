// tier: all
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { type EmbeddedDatabase, openEmbedded } from '../../../src/database/embedded/open.ts'
import { databasePlace } from '../../support/places.ts'

let directory = ''
let database: EmbeddedDatabase
let sql: postgres.Sql

beforeAll(async () => {
  directory = mkdtempSync(join(databasePlace, 'embedded-bridge-'))
  database = await openEmbedded({ dataDir: directory, onFailure: fail })
  sql = connect()
  await sql`CREATE TABLE entries (id integer PRIMARY KEY, body text NOT NULL)`
})

afterAll(async () => {
  await sql.end()
  await database.close()
  rmSync(directory, { recursive: true, force: true })
})

describe('the connection stays usable', () => {
  test('a connection stays usable after a syntax error', async () => {
    expect(await codeOf(sql.unsafe('SELEC 1'))).toBe('42601')
    expect(await one()).toBe(1)
  })

  test('a connection stays usable after a violated constraint', async () => {
    await sql`INSERT INTO entries VALUES (1, 'first')`
    expect(await codeOf(sql`INSERT INTO entries VALUES (1, 'again')`)).toBe('23505')
    expect(await codeOf(sql`INSERT INTO entries VALUES (2, ${null})`)).toBe('23502')
    expect(await sql`SELECT body FROM entries WHERE id = 1`).toEqual([{ body: 'first' }] as never)
  })

  test('a connection stays usable after a failing statement in a transaction, which stores nothing', async () => {
    const failing = sql.begin(async (tx) => {
      await tx`INSERT INTO entries VALUES (10, 'lost')`
      await tx`SELECT 1 / 0`
    })
    expect(await codeOf(failing)).toBe('22012')
    expect(await sql`SELECT id FROM entries WHERE id = 10`).toHaveLength(0)
  })

  test('a connection stays usable after statements in an aborted transaction', async () => {
    const stubborn = sql.begin(async (tx) => {
      await tx`SELECT 1 / 0`.catch(() => undefined)
      await tx`INSERT INTO entries VALUES (11, 'lost')`
    })
    // postgres.js rejects with the first error of the transaction, although it was caught.
    expect(await codeOf(stubborn)).toBe('22012')
    expect(await sql`SELECT id FROM entries WHERE id = 11`).toHaveLength(0)
  })

  test('a connection stays usable when a savepoint is rolled back and the transaction commits', async () => {
    await sql.begin(async (tx) => {
      await tx`INSERT INTO entries VALUES (12, 'kept')`
      await tx
        .savepoint((inner) => inner`INSERT INTO entries VALUES (12, 'twice')`)
        .catch(() => null)
    })
    expect(await sql`SELECT body FROM entries WHERE id = 12`).toEqual([{ body: 'kept' }] as never)
  })

  test('good and failing queries that arrive together each get their own answer', async () => {
    const queries = Array.from({ length: 200 }, (_, index) => {
      if (index % 5 === 1) return codeOf(sql`SELECT 1 / ${0}::int`)
      if (index % 5 === 3) return codeOf(sql.unsafe(`SELECT missing_${index}`))
      return sql<{ n: number }[]>`SELECT ${index}::int AS n`.then(([row]) => row?.n)
    })
    const expected = Array.from({ length: 200 }, (_, index) => {
      if (index % 5 === 1) return '22012'
      return index % 5 === 3 ? '42703' : index
    })
    expect(await Promise.all(queries)).toEqual(expected)
  })

  test('transactions that begin together run in turn', async () => {
    await sql`INSERT INTO entries VALUES (20, '0')`
    const increments = Array.from({ length: 30 }, () =>
      sql.begin(async (tx) => {
        const [row] = await tx<{ body: string }[]>`SELECT body FROM entries WHERE id = 20`
        await tx`UPDATE entries SET body = ${String(Number(row?.body) + 1)} WHERE id = 20`
      }),
    )
    await Promise.all(increments)
    expect(await sql`SELECT body FROM entries WHERE id = 20`).toEqual([{ body: '30' }] as never)
  })

  test('a connection stays usable after the maintenance statements', async () => {
    await sql.unsafe('CHECKPOINT')
    await sql.unsafe('VACUUM (ANALYZE)')
    expect(await one()).toBe(1)
  })
})

describe('size', () => {
  test('a result of 20 MB arrives unchanged', async () => {
    const [row] = await sql<{ big: string }[]>`SELECT repeat('0123456789', 2000000) AS big`
    expect(row?.big.length).toBe(20_000_000)
    expect(Bun.hash(row?.big ?? '')).toBe(Bun.hash('0123456789'.repeat(2_000_000)))
  }, 30_000)

  test('a result of 100,000 rows arrives in order', async () => {
    const rows = await sql<{ n: number }[]>`SELECT n FROM generate_series(1, 100000) AS n`
    expect(rows.length).toBe(100_000)
    expect(rows.every((row, index) => row.n === index + 1)).toBe(true)
  }, 30_000)

  test('a parameter of 8 MB is stored unchanged', async () => {
    const big = Buffer.alloc(8 << 20, 'parameter').toString('latin1')
    await sql`INSERT INTO entries VALUES (30, ${big})`
    const [row] = await sql<{ body: string }[]>`SELECT body FROM entries WHERE id = 30`
    expect(Bun.hash(row?.body ?? '')).toBe(Bun.hash(big))
  }, 30_000)
})

describe('between connections', () => {
  test('a second connection waits until the first one closes', async () => {
    const first = connect()
    await sql.end()
    await first`SELECT 1`
    const second = connect()
    const order: string[] = []
    const waiting = second`SELECT 1`.then(() => order.push('second'))
    await first`SELECT pg_sleep(0.1)`.then(() => order.push('first'))
    await first.end()
    await waiting
    expect(order).toEqual(['first', 'second'])
    await second.end()
    sql = connect()
  })

  test('a connection leaves no transaction, setting or temporary table to the next one', async () => {
    const left = await sql.reserve()
    await left`SET search_path = pg_catalog`
    await left`CREATE TEMPORARY TABLE leftover (id integer)`
    await left`BEGIN`
    await left`INSERT INTO public.entries VALUES (40, 'half done')`
    await sql.end({ timeout: 0 })
    sql = connect()
    expect(await sql`SELECT id FROM entries WHERE id = 40`).toHaveLength(0)
    expect(await sql`SHOW search_path`).toEqual([{ search_path: 'public' }] as never)
    expect(await codeOf(sql`SELECT * FROM leftover`)).toBe('42P01')
  })

  test('a client that breaks the protocol is disconnected, and other clients are unaffected', async () => {
    for (const nonsense of ['GET / HTTP/1.1\r\n\r\n', '\0\0\0\x04\0\0\0\0', '\0\0\0\x08zzzz']) {
      const gone = Promise.withResolvers<string>()
      await Bun.connect({
        unix: database.settings.path,
        socket: {
          open: (socket) => void socket.write(Buffer.from(nonsense, 'latin1')),
          data: () => gone.resolve('answered'),
          close: () => gone.resolve('closed'),
        },
      })
      expect(await gone.promise).toBe('closed')
      expect(await one()).toBe(1)
    }
  })
})

test('a PostgreSQL that leaves its main loop is reported, and no query hangs', async () => {
  const own = join(directory, 'fatal')
  const reported = Promise.withResolvers<string>()
  const fatal = await openEmbedded({ dataDir: own, onFailure: reported.resolve })
  const client = postgres({ ...fatal.settings, max: 1, ssl: false })
  await client`CREATE TABLE kept (id integer)`
  await client`INSERT INTO kept VALUES (1)`
  // PGlite cannot wait for the rows of COPY … FROM STDIN, so the session ends.
  const lost = codeOf(client.unsafe('COPY kept FROM STDIN').writable())
  expect(await reported.promise).toContain('FATAL: terminating connection')
  expect(await lost).toContain('CONNECTION_CLOSED')
  await client.end({ timeout: 0 })
  await fatal.close()

  const again = await openEmbedded({ dataDir: own, onFailure: fail })
  const survivor = postgres({ ...again.settings, max: 1, ssl: false })
  expect(await survivor`SELECT id FROM kept`).toEqual([{ id: 1 }] as never)
  await survivor.end()
  await again.close()
}, 30_000)

function connect(): postgres.Sql {
  return postgres({ ...database.settings, max: 1, ssl: false, onnotice: () => undefined })
}

async function one(): Promise<number | undefined> {
  const [row] = await sql<{ n: number }[]>`SELECT 1 AS n`
  return row?.n
}

/** The SQLSTATE that the query fails with. */
async function codeOf(query: Promise<unknown>): Promise<string> {
  try {
    await query
    return 'no error'
  } catch (error) {
    return error instanceof postgres.PostgresError ? error.code : String(error)
  }
}

function fail(reason: string): void {
  throw new Error(reason)
}
