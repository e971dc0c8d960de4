// tier: all
/** An operator rotates ENCRYPTION_KEY with doctor and rekey-outer: each step names the next, and none the previous. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Finding } from '../../../src/operator/checks/check.ts'
import { startTestApp } from '../../support/app.ts'
import { freshDatabase, type TestDatabase } from '../../support/database.ts'
import { operate } from '../backup/support.ts'
import { BOTH, environmentOf, idOf, NEW, OLD, OTHER } from './support.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
}, 60_000)
afterAll(() => database.remove())

type Env = Record<string, string>

async function doctor(env: Env): Promise<Finding | undefined> {
  const { out } = await operate(env, 'doctor', '--json')
  return (JSON.parse(out) as Finding[]).find(({ check }) => check === 'encryption_key')
}

/** The output of both commands, while a server runs with these keys. */
async function during<Told>(ENCRYPTION_KEY: string, ask: (env: Env) => Promise<Told>) {
  const app = await startTestApp({ ENCRYPTION_KEY }, { database })
  try {
    return await ask(environmentOf(app))
  } finally {
    await app.stop()
  }
}

test('the words of a rekey from one key to another, on an empty database', async () => {
  await during(OLD, async (env) => {
    expect(await doctor(env)).toMatchObject({ level: 'ok', said: `${idOf(OLD)} seals 1 row` })
  })
  // The new key is in the second place, so the only remaining step is to put it first.
  await during(`${OLD},${NEW}`, async (env) => {
    expect(await doctor(env)).toMatchObject({
      level: 'warn',
      todo: 'put a new key first, everywhere; cloakroom rekey-outer reports whether an old key can be removed',
    })
    const { out } = await operate(env, 'rekey-outer', '--dry-run')
    expect(out).toContain(`${idOf(NEW)} is not used: put a new key first`)
  })
  await during(BOTH, async (env) => {
    expect(await doctor(env)).toMatchObject({
      said: `${idOf(NEW)} seals 0 rows, ${idOf(OLD)} seals 1 row`,
      todo: 'run cloakroom rekey-outer; it reports when the old key can be removed',
    })
    const dry = await operate(env, 'rekey-outer', '--dry-run')
    expect(dry.out).toBe(`would reseal 1 with the key ${idOf(NEW)}\n`)
    const { out, err } = await operate(env, 'rekey-outer')
    expect(out).toBe(
      `resealed 1 with the key ${idOf(NEW)}\n${idOf(OLD)} is no longer used: remove it from ENCRYPTION_KEY everywhere, and keep it as long as older backups\n`,
    )
    expect(err).not.toMatch(/null|NaN/)
  })
  await during(NEW, async (env) => {
    expect(await doctor(env)).toMatchObject({ level: 'ok', said: `${idOf(NEW)} seals 1 row` })
  })
  const missing = { ...(await during(NEW, async (env) => env)), ENCRYPTION_KEY: OTHER }
  expect(await doctor(missing)).toMatchObject({
    level: 'fail',
    todo: 'restore the missing key: the server and rekey-outer cannot start without it',
  })
  expect(await operate(missing, 'rekey-outer', '--dry-run')).toMatchObject({ code: 78 })
}, 60_000)
