// tier: all, both databases in test:all
/** `cloakroom calculate_metrics` on the database under test. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readApplied } from '../../src/database/migrations/migrate.ts'
import type { DailyRow } from '../../src/features/metrics/contract.ts'
import { dayOf, daysUntil } from '../../src/features/metrics/days.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { databaseKind, freshDatabase, type TestDatabase } from '../support/database.ts'
import { registerPerson } from '../support/people.ts'
import { watched } from '../support/watched.ts'
import { readFixture } from '../upgrade/fixture.ts'
import { change, configOf, restored } from '../upgrade/restored.ts'

const MAIN = join(import.meta.dir, '../../src/main.ts')
const KEYS = {
  SECRET_KEY: 'test-secret-key-test-secret-key-test',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64url'),
}

let database: TestDatabase
let app: TestApp

beforeAll(async () => {
  database = await freshDatabase()
  app = await startTestApp(database.env)
  const person = await registerPerson(app)
  await app.call('GET', '/api/users/me/', { token: person.token })
}, 60_000)
afterAll(() => database.remove())

const calculate = (...args: string[]) => run(database.env, args)

async function run(place: Record<string, string>, args: readonly string[]) {
  const child = watched(
    Bun.spawn([process.execPath, MAIN, 'calculate_metrics', ...args], {
      env: { PATH: process.env.PATH ?? '', ...KEYS, ...place },
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, err }
}

function freshDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'cr-none-'))
  return {
    env: { DATA_DIR: join(directory, 'data') },
    remove: () => rmSync(directory, { recursive: true }),
  }
}

test('the command runs on PostgreSQL beside a running server; the embedded database belongs to the server alone', async () => {
  const { code, out, err } = await calculate('--days', '1')
  if (databaseKind === 'postgresql') {
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toMatchObject({ date: dayOf(Date.now()), total_users: 1 })
  } else {
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toStartWith('cloakroom: ')
    expect(err.trim().split('\n')).toHaveLength(1)
  }
}, 30_000)

test('the command prints one line per day, newest first, and stores the days', async () => {
  await app.stop()
  const { code, out, err } = await calculate('--days', '3')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const rows = out
    .trimEnd()
    .split('\n')
    .map((line): DailyRow => JSON.parse(line))
  expect(rows.map(({ date }) => date)).toEqual(daysUntil(dayOf(Date.now()), 3))
  // The server stored the active people when it stopped.
  expect(rows[0]).toMatchObject({ total_users: 1, total_workspaces: 1, dau: 1, mau: 1 })
  const again = await calculate('--days', '3')
  expect(again.out).toBe(out)
}, 60_000)

test('the command creates no database if it is missing: 78, one line, no files', async () => {
  const { env, remove } = freshDirectory()
  const { code, out, err } = await run(env, [])
  expect({ code, out, err }).toEqual({
    code: 78,
    out: '',
    err: 'cloakroom: DATA_DIR: contains no database (set it, or DB_HOST, as for the server)\n',
  })
  expect(existsSync(env.DATA_DIR)).toBe(false)
  remove()
}, 30_000)

test('the command never migrates: only a server start migrates an older database', async () => {
  const fixture = readFixture('0020_shared_limits')
  const older = await restored(fixture)
  const { code, out, err } = await run({ ...older.env, ...fixture.keys }, [])
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(/^cloakroom: older_schema: the database needs \d+ migrations, [^\n]+\n$/)
  const applied = await change(configOf(fixture, older), ({ sql }) => readApplied(sql))
  expect(applied?.at(-1)?.name).toBe('0020_shared_limits')
  older.remove()
}, 60_000)

test('the command refuses an invalid number, with code 2 and one line', async () => {
  for (const days of ['0', '367', 'three', '1.5', '0x10', '1e2', '+5', '']) {
    const { code, out, err } = await calculate('--days', days)
    expect({ days, code, out, err }).toEqual({
      days,
      code: 2,
      out: '',
      err: 'cloakroom: --days must be a number from 1 to 366\n',
    })
  }
}, 60_000)
