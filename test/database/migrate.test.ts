// tier: all, both databases in test:all
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Config, readConfig } from '../../src/core/config/config.ts'
import { EX_CONFIG } from '../../src/core/exit_codes.ts'
import { type Migration, migrate, migrations } from '../../src/database/migrations/migrate.ts'
import { NewerSchema, SchemaInUse } from '../../src/database/migrations/schema_error.ts'
import { type Connection, openDatabase } from '../../src/database/open.ts'
import { scriptOf } from '../docs/blocks.ts'
import { preparedDatabase, type TestDatabase } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname
const keys = { SECRET_KEY: 'k'.repeat(36), ENCRYPTION_KEY: Buffer.alloc(32).toString('base64url') }
const ADDS: Migration = { name: '9998_adds', text: 'alter table users add column spare text' }
const BREAKS: Migration = { name: '9999_breaks', text: 'select 1', breaksOlder: true }

let database: TestDatabase
let config: Config
let connection: Connection

beforeEach(async () => {
  database = await preparedDatabase()
  config = readConfig({ ...keys, ...database.env }, () => keys)
  connection = await openDatabase(config, () => {})
})

afterEach(async () => {
  await connection.close()
  database.remove()
})

async function serve() {
  const child = watched(
    Bun.spawn([process.execPath, MAIN, 'serve'], {
      env: {
        PATH: process.env.PATH ?? '',
        ...keys,
        ...database.env,
        PORT: '0',
        RESOLVER_PORT: '0',
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  const [err, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  return { err, code }
}

test('a schema that is up to date is only read: a read-only role can start', async () => {
  await connection.sql.begin('read only', async (tx) => {
    // The result for a role without privileges, whatever the database contains.
    expect(await migrate(tx as unknown as typeof connection.sql)).toBe(0)
  })
})

test('an older version accepts a schema that later migrations only added to', async () => {
  expect(await migrate(connection.sql, [...migrations, ADDS])).toBe(1)
  expect(await migrate(connection.sql)).toBe(0)
})

test('an older version rejects a schema with an incompatible migration, whichever migrations follow it', async () => {
  const later = [...migrations, { ...BREAKS, name: '9997_breaks' }, ADDS]
  expect(await migrate(connection.sql, later)).toBe(2)
  await expect(migrate(connection.sql)).rejects.toThrow(NewerSchema)
  expect(await migrate(connection.sql, later)).toBe(0)
})

test('a downgrade to an incompatible version ends the start with newer_schema and 78, and changes nothing', async () => {
  await migrate(connection.sql, [...migrations, ADDS, BREAKS])
  const known = migrations.at(-1)?.name
  await connection.close()
  const { err, code } = await serve()
  expect(code).toBe(EX_CONFIG)
  expect(err).toStartWith('cloakroom: newer_schema: the database was migrated by a later version')
  expect(err).toContain(`(9999_breaks); this is 0.1.0, with the schema ${known}`)
  connection = await openDatabase(config, () => {})
  expect(await migrate(connection.sql, [...migrations, ADDS, BREAKS])).toBe(0)
})

test('rows without a compatibility flag count as incompatible with older versions', async () => {
  await migrate(connection.sql, [...migrations, ADDS])
  await connection.sql`alter table cloakroom_migrations drop column keeps_older`
  await expect(migrate(connection.sql)).rejects.toThrow('migrated by a later version (9998_adds)')
})

{
  const { test } = requires('postgresql')
  test('a migration that waits for a long transaction lets readers pass, and completes afterwards', async () => {
    const held = Promise.withResolvers<void>()
    const holding = Promise.withResolvers<void>()
    const reader = connection.sql.begin(async (tx) => {
      await tx`select count(*) from users`
      holding.resolve()
      await held.promise
    })
    await holding.promise
    let waits = 0
    const onWait = () => {
      waits += 1
    }
    const pause = async () => {
      expect(await connection.sql`select count(*)::int as count from users`).toHaveLength(1)
      held.resolve()
      await reader
    }
    const list = [...migrations, ADDS]
    expect(await migrate(connection.sql, list, { onWait, pause })).toBe(1)
    expect(waits).toBe(1)
  })

  test('a migration that never gets its lock fails with schema_in_use, and leaves the schema unchanged', async () => {
    const failed = connection.sql.begin(async (tx) => {
      await tx`lock table users`
      // As a minute later.
      const sessions = scriptOf('docs/guides/upgrade.md', 'sessions')
      const later = sessions.replace("now() - interval '1 minute'", 'now()')
      const holders = await connection.sql.unsafe<{ query: string }[]>(later)
      expect(holders.map(({ query }) => query)).toContain('lock table users')
      return await migrate(connection.sql, [...migrations, ADDS], { tries: 1 }).catch(
        (error: unknown) => error,
      )
    })
    expect(await failed).toBeInstanceOf(SchemaInUse)
    expect(await migrate(connection.sql)).toBe(0)
  })
}
