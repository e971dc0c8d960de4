// tier: quick, both databases in test:all
/** The self-check of the database and of the clock, on both databases: its results, and each way to fail. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Config, readConfig } from '../../../src/core/config/config.ts'
import { OuterLayer } from '../../../src/core/crypto/outer_layer.ts'
import { checkEncryptionKey } from '../../../src/database/keys/key_check.ts'
import type { Connection } from '../../../src/database/open.ts'
import { checkClock } from '../../../src/operator/checks/clock.ts'
import { checkDatabase, withServerDatabase } from '../../../src/operator/checks/database.ts'
import {
  databaseKind,
  freshDatabase,
  preparedDatabase,
  type TestDatabase,
} from '../../support/database.ts'
import { requires } from '../../support/requires.ts'

const KEYS = {
  SECRET_KEY: 'k'.repeat(36),
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64url'),
}

const databases: TestDatabase[] = []
let config: Config

beforeAll(async () => {
  config = configOf(await keep(preparedDatabase()))
})

afterAll(() => {
  for (const database of databases) database.remove()
})

async function keep(made: Promise<TestDatabase>): Promise<TestDatabase> {
  const database = await made
  databases.push(database)
  return database
}

function configOf({ env }: TestDatabase): Config {
  return readConfig({ ...KEYS, ...env }, () => KEYS)
}

const change = (work: (connection: Connection) => Promise<unknown>) =>
  withServerDatabase(config, work)

test('an empty directory passes: the first start fills it', async () => {
  const empty = configOf(await keep(freshDatabase()))
  expect(await checkDatabase(empty)).toMatch(/the first start (creates it|creates them)$/)
})

test('empty tables of this version pass, and the check writes no key into them', async () => {
  expect(await checkDatabase(config)).toContain('ENCRYPTION_KEY and SECRET_KEY fit')
  await change(async ({ sql }) => expect(await sql`select * from instance`).toHaveLength(0))
})

test('an ENCRYPTION_KEY other than the one of the data fails', async () => {
  await change(({ db }) => checkEncryptionKey(db, OuterLayer.parse(config.ENCRYPTION_KEY)))
  expect(await checkDatabase(config)).toContain('ENCRYPTION_KEY and SECRET_KEY fit')
  const other = { ...config, ENCRYPTION_KEY: Buffer.alloc(32, 2).toString('base64url') }
  await expect(checkDatabase(other)).rejects.toThrow('ENCRYPTION_KEY: cannot decrypt the data')
})

test('a SECRET_KEY other than the one of the data fails', async () => {
  await change(
    ({ sql }) => sql`insert into workspaces (id, type, name, policy_version)
      values ('0190a000-0000-7000-8000-000000000001', 'shared', 'acme', 1)`,
  )
  await change(
    ({
      sql,
    }) => sql`insert into tokens (id, workspace_id, kind, label, capabilities, verifier, public_key)
      values ('0190a000-0000-7000-8000-000000000002', '0190a000-0000-7000-8000-000000000001', 'workload', 'ci',
        '["read"]', decode('01020304' || repeat('00', 32), 'hex'), '')`,
  )
  await expect(checkDatabase(config)).rejects.toThrow('needs another key (id 01020304)')
  await change(({ sql }) => sql`delete from workspaces`)
})

test('a database of a later version fails, and one of an earlier version reports what a start will do', async () => {
  await change(
    ({ sql }) => sql`insert into cloakroom_migrations (name, sha256) values ('9999_later', '')`,
  )
  await expect(checkDatabase(config)).rejects.toThrow('migrated by a later version (9999_later)')
  await change(
    ({ sql }) =>
      sql`delete from cloakroom_migrations where name in
        (select name from cloakroom_migrations order by name desc limit 2)`,
  )
  expect(await checkDatabase(config)).toContain('the next start applies 1 migrations')
})

{
  const { test } = requires('postgresql')
  test('an unreachable PostgreSQL fails immediately', async () => {
    const unreachable = { ...config, DB_HOST: '/nowhere' }
    await expect(checkDatabase(unreachable)).rejects.toThrow('the socket does not exist')
  })

  test("a clock that differs from PostgreSQL's fails", async () => {
    expect(await checkClock({ config, now: Date.now })).toEndWith('same as PostgreSQL')
    const fast = checkClock({ config, now: () => Date.now() + 3_600_000 })
    await expect(fast).rejects.toThrow("differs from PostgreSQL's by 3600 s")
  })
}

if (databaseKind === 'embedded') {
  test('a running server that uses the directory is not disturbed', async () => {
    await change(async () => {
      expect(await checkDatabase(config)).toContain('in use by a server')
    })
  })

  test('a clock that begins in 1970 fails', async () => {
    expect(await checkClock({ config, now: Date.now })).toStartWith('20')
    await expect(checkClock({ config, now: () => 86_400_000 })).rejects.toThrow(
      'it shows 1970-01-02T00:00:00.000Z, in the past',
    )
  })
}
