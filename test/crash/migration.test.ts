// tier: all, both databases in test:all
/** Migrations at start: several concurrent processes, and one that is killed halfway. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { migrations } from '../../src/database/migrations/migrate.ts'
import { executable, spawnProgram, startProgram } from '../binary/executable.ts'
import { enrol } from '../binary/independent_client.ts'
import { KEYS } from '../binary/scene.ts'
import { databaseKind, freshDatabase, type TestDatabase } from '../support/database.ts'
import { effort } from '../support/effort.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'

let database: TestDatabase
let env: Record<string, string> = {}

beforeAll(async () => {
  await executable()
}, 60_000)

async function renew(): Promise<void> {
  database = await freshDatabase()
  env = { ...KEYS, ...database.env }
}
afterAll(() => database.remove())

/** Starts once more, does some work, and stops normally. */
async function proveHealthy(): Promise<void> {
  const program = await startProgram({ env })
  const customer = await enrol(program.controlPlane)
  await customer.upload({ KEY: 'value' })
  expect(await customer.download('KEY')).toBe('value')
  program.signal('SIGTERM')
  expect((await program.ended).code).toBe(0)
}

{
  const { test } = requires('postgresql')
  const connect = () =>
    postgres({ host: env.DB_HOST ?? '', database: env.DB_NAME ?? '', user: 'cloakroom', max: 2 })

  /** Every column, index and constraint, and the applied migrations. */
  const readSchema = async () => {
    const sql = connect()
    const columns = await sql`select table_name, column_name, data_type, is_nullable, column_default
      from information_schema.columns where table_schema = 'public' order by 1, 2`
    const indexes =
      await sql`select indexdef from pg_indexes where schemaname = 'public' order by 1`
    const constraints = await sql`select conrelid::regclass::text as table, conname,
      pg_get_constraintdef(oid) as definition from pg_constraint
      where connamespace = 'public'::regnamespace order by 1, 2`
    const applied = await sql`select name from cloakroom_migrations order by name`
    await sql.end()
    return {
      columns: [...columns],
      indexes: [...indexes],
      constraints: [...constraints],
      applied: [...applied],
    }
  }

  let reference: Awaited<ReturnType<typeof readSchema>>

  test('one process creates the schema', async () => {
    await renew()
    await proveHealthy()
    reference = await readSchema()
    expect(reference.applied).toEqual(migrations.map(({ name }) => ({ name })))
  }, 60_000)

  test('three processes that start simultaneously on a fresh database create one schema, and all serve', async () => {
    await renew()
    const programs = await Promise.all([1, 2, 3].map(() => startProgram({ env })))
    expect(await readSchema()).toEqual(reference)
    for (const program of programs) {
      expect((await fetch(`${program.controlPlane}/api/status/health/`)).status).toBe(200)
      program.signal('SIGTERM')
    }
    const codes = await Promise.all(programs.map(async ({ ended }) => (await ended).code))
    expect(codes).toEqual([0, 0, 0])
  }, 60_000)

  test('a process killed during the migration leaves nothing half done', async () => {
    await renew()
    const sql = connect()
    // An uncommitted table of the same name blocks the migration where it creates its own.
    const blocker = await sql.reserve()
    await blocker`begin`
    await blocker`create table secrets (x integer)`
    const victim = await spawnProgram({ env: { ...env, PORT: '0', RESOLVER_PORT: '0' } })
    const stuck = () => sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query ilike '%create table%secrets%'`
    await until(async () => (await stuck()).length > 0)
    victim.signal('SIGKILL')
    expect(await victim.ended).toMatchObject({ stdout: '' })
    await blocker`rollback`
    blocker.release()
    await sql.end()
    await proveHealthy()
    expect(await readSchema()).toEqual(reference)
  }, 60_000)
}

if (databaseKind === 'embedded') {
  test('a first start that is killed at any moment is completed by the next start', async () => {
    for (const delayMs of effort([180, 540], [60, 300, 540])) {
      await renew()
      const victim = await spawnProgram({ env: { ...env, PORT: '0', RESOLVER_PORT: '0' } })
      // The moment of the kill is the subject.
      await Bun.sleep(delayMs)
      victim.signal('SIGKILL')
      await victim.ended
      await proveHealthy()
      database.remove()
    }
  }, 120_000)

  test('one of two concurrent first starts serves, and the other reports why it does not', async () => {
    await renew()
    const ports = { PORT: '0', RESOLVER_PORT: '0' }
    const one = await spawnProgram({ env: { ...env, ...ports } })
    const other = await spawnProgram({ env: { ...env, ...ports } })
    const refused = await Promise.race([one.ended, other.ended])
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: `cloakroom: in_use: The data directory ${env.DATA_DIR} is in use by another process.\n`,
    })
    const winner = await Promise.race([
      one.stdout.until('Stop: Ctrl-C').then(() => one),
      other.stdout.until('Stop: Ctrl-C').then(() => other),
    ])
    winner.signal('SIGTERM')
    expect((await winner.ended).code).toBe(0)
  }, 60_000)
}
