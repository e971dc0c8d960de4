// tier: quick, both databases in test:all
/** While a backup of a large embedded database is made, other requests continue; a small one is read directly. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import type { Sql } from 'postgres'
import { type Config, readConfig } from '../../../src/core/config/config.ts'
import { openLog } from '../../../src/core/log.ts'
import { type Connection, openDatabase } from '../../../src/database/open.ts'
import { withSource } from '../../../src/operator/backup/source.ts'
import { generateKeys } from '../../../src/operator/own_keys.ts'
import { databaseKind, preparedDatabase, type TestDatabase } from '../../support/database.ts'

if (databaseKind === 'embedded') {
  let database: TestDatabase
  let config: Config
  let connection: Connection
  const lines: string[] = []
  const log = openLog('info', (line) => lines.push(line))
  const names = () => readdirSync(config.DATA_DIR).sort()

  beforeAll(async () => {
    database = await preparedDatabase()
    config = readConfig(database.env, generateKeys)
    connection = await openDatabase(config, () => {})
  }, 60_000)
  afterAll(async () => {
    await connection.close()
    database.remove()
  })

  const refuse = async (rows: number) => {
    await connection.sql`insert into audit_refused (id, code, intent)
      select gen_random_uuid(), '22P05', (select string_agg(md5(random()::text), '') from generate_series(1, 100 + 0 * g))
      from generate_series(1, ${rows}::int) g`
  }
  const countIn = async (sql: Sql) => {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from audit_refused`
    return row?.count
  }
  const readItself = async () => {
    const before = names()
    await withSource({ connection, config, log }, async (sql) => {
      expect(sql).toBe(connection.sql)
      expect(names()).toEqual(before)
    })
  }

  test('a small database is read directly', readItself)

  test('a large database is read from a copy while it answers statements, and the copy is deleted afterwards', async () => {
    await refuse(6_000)
    const before = names()
    const counted = await withSource({ connection, config, log }, (sql) =>
      sql.begin('isolation level repeatable read read only', async (tx) => {
        const first = await countIn(tx as unknown as Sql)
        // The embedded database has one session. If the backup read it directly, this would wait forever.
        await refuse(1)
        return [first, await countIn(connection.sql)]
      }),
    )
    expect(counted).toEqual([6_000, 6_001])
    expect(names()).toEqual(before)
    const failing = withSource({ connection, config, log }, () => Promise.reject(new Error('no')))
    await expect(failing).rejects.toThrow('no')
    expect(names()).toEqual(before)
  }, 60_000)

  test('two concurrent backups are made one after the other', async () => {
    const at: string[] = []
    const work = (name: string) => async () => {
      at.push(`${name} begins`)
      await connection.sql`select 1`
      at.push(`${name} ends`)
    }
    await Promise.all(
      ['first', 'second'].map((name) => withSource({ connection, config, log }, work(name))),
    )
    expect(at).toEqual(['first begins', 'first ends', 'second begins', 'second ends'])
  }, 60_000)

  test('without room for a copy the database is read directly, and the log reports it', async () => {
    const freeBytes = () => 100 * 1024 * 1024
    await withSource({ connection, config, log, freeBytes }, async (sql) => {
      expect(sql).toBe(connection.sql)
    })
    expect(lines.filter((line) => line.includes('no space for a copy'))).toHaveLength(1)
  })
}
