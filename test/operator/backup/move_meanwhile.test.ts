// tier: all
/** A server that starts to use either side while rows are moved: it does not start, or the move fails without effect. */
import { expect } from 'bun:test'
import { existsSync } from 'node:fs'
import postgres from 'postgres'
import { preparedDatabase, sharedCluster } from '../../support/database.ts'
import { databaseVariables } from '../../support/prepared.ts'
import { requires } from '../../support/requires.ts'
import { until } from '../../support/until.ts'
import { operate, scratch } from './support.ts'

type Waiting<T> = {
  move: () => Promise<T>
  meanwhile: () => Promise<void>
  waitedMs?: number
}

{
  const { afterAll, test } = requires('postgresql')
  const files = scratch()
  const opened: postgres.Sql[] = []
  afterAll(async () => {
    for (const sql of opened) await sql.end({ timeout: 0 })
    files.remove()
  })

  /** A database with the product's schema and no row, and another user's session in it. */
  async function prepared(application_name: string) {
    const { env } = await preparedDatabase()
    return { env, sql: sessionIn(env, application_name) }
  }

  function sessionIn({ DB_HOST = '', DB_NAME = '' }: Record<string, string>, name: string) {
    const place = { host: DB_HOST, database: DB_NAME, user: 'cloakroom' }
    const sql = postgres({ ...place, max: 1, connection: { application_name: name } })
    opened.push(sql)
    return sql
  }

  const urlOf = ({ DB_HOST = '', DB_NAME = '' }: Record<string, string>) =>
    `postgres://cloakroom@localhost/${DB_NAME}?host=${encodeURIComponent(DB_HOST)}&sslmode=disable`

  /** Locks a table until `meanwhile` is over, which begins when a move has waited for it for the given time. */
  async function held<T>(
    sql: postgres.Sql,
    table: string,
    { move, meanwhile, waitedMs = 0 }: Waiting<T>,
  ): Promise<T> {
    let moving: Promise<T> | undefined
    await sql.begin(async (tx) => {
      await tx.unsafe(`lock table ${table} in access exclusive mode`)
      let hasEnded = false
      moving = move().finally(() => {
        hasEnded = true
      })
      await until(async () => {
        if (hasEnded) throw new Error(`it did not wait: ${JSON.stringify(await moving)}`)
        const waiting = await tx`select 1 from pg_locks where not granted
          and waitstart <= clock_timestamp() - make_interval(secs => ${waitedMs / 1000})
          and database = (select oid from pg_database where datname = current_database())`
        return waiting.length > 0
      })
      await meanwhile()
    })
    if (moving === undefined) throw new Error('nothing was moved')
    return await moving
  }

  const USED = {
    code: 1,
    out: '',
    err: 'cloakroom: A server uses the database. Stop the server first. Its writes during the restore would be lost.\n',
  }
  /** Longer than a migration waits for a table. */
  const LONGER_MS = 2_500
  const ports = { PORT: '0', RESOLVER_PORT: '0', DB_WAIT_SECONDS: '0' }
  const NOT_STARTED = {
    code: 1,
    out: '',
    err: expect.stringMatching(
      /^cloakroom: this database is being moved or restored \(backend \d+ of cloakroom\): start the server afterwards\n$/,
    ),
  }

  test('a server that starts at the source ends the move', async () => {
    const { env, sql } = await prepared('somebody')
    const to = files.at('from-server')
    const meanwhile = async () => {
      for (const ROLE of ['all', 'resolver'])
        expect(await operate({ ...env, ...ports, ROLE }, 'serve')).toEqual(NOT_STARTED)
      await sessionIn(env, 'cloakroom 1a2b3c4d')`select 1`
    }
    const move = () => operate(env, 'move', '--to', to)
    expect(await held(sql, 'projects', { move, meanwhile })).toEqual(USED)
    expect(existsSync(`${to}/postgres`)).toBeFalse()
  }, 180_000)

  test('a server that starts at the target ends a move and a restore', async () => {
    const source = await prepared('somebody')
    const file = files.at('whole.backup')
    expect(await operate(source.env, 'backup', file)).toMatchObject({ code: 0 })
    const ways = [
      (env: Record<string, string>) => operate(source.env, 'move', '--to', urlOf(env)),
      (env: Record<string, string>) => operate(env, 'restore', file),
    ]
    for (const way of ways) {
      const { env, sql } = await prepared('somebody')
      const meanwhile = async () => {
        expect(await operate({ ...env, ...ports }, 'serve')).toEqual(NOT_STARTED)
        await sessionIn(env, 'cloakroom 1a2b3c4d')`select 1`
      }
      expect(
        await held(sql, 'projects', { move: () => way(env), meanwhile, waitedMs: LONGER_MS }),
      ).toEqual(USED)
      expect(await sql`select 1 from instance`).toHaveLength(0)
    }
  }, 180_000)

  test('a server that already uses the target is detected before any change, also by a dry run', async () => {
    const { env } = await prepared('somebody')
    const { socketDir, createDatabase } = await sharedCluster()
    const target = databaseVariables(socketDir, await createDatabase())
    await sessionIn(target, 'cloakroom 1a2b3c4d')`select 1`
    for (const more of [[], ['--dry-run']])
      expect(await operate(env, 'move', '--to', urlOf(target), ...more)).toEqual(USED)
  }, 180_000)
}
