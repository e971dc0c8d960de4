// tier: all
/** Restoring rows that were made under several keys: with one of them missing, nothing is changed. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import postgres from 'postgres'
import { upsertSecrets } from '../../../src/features/secrets/contract.ts'
import { startTestApp } from '../../support/app.ts'
import { marked } from '../../support/canary.ts'
import { freshDatabase, preparedDatabase, type TestDatabase } from '../../support/database.ts'
import { registerPerson } from '../../support/people.ts'
import { openProject } from '../../support/project.ts'
import { KEYS, operate, scratch } from './support.ts'

const files = scratch()
const whole = files.at('whole.backup')
const others: TestDatabase[] = []
const NEWER = {
  SECRET_KEY: 'a-newer-secret-key-a-newer-secret-key',
  ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64url'),
}
const MIXED = {
  SECRET_KEY: `${NEWER.SECRET_KEY},${KEYS.SECRET_KEY}`,
  ENCRYPTION_KEY: `${NEWER.ENCRYPTION_KEY},${KEYS.ENCRYPTION_KEY}`,
}

beforeAll(async () => {
  const source = await preparedDatabase()
  others.push(source)
  for (const [name, keys] of Object.entries({ OLD_ONE: KEYS, NEW_ONE: MIXED })) {
    const app = await startTestApp(keys, { database: source })
    const { owner, projectId, seal } = await openProject(app)
    await registerPerson(app)
    const value = seal(name, marked('sk_live_keys_1'))
    const secrets = [{ key: name, value, policy: null }]
    await owner.api.call(upsertSecrets, { body: { project_id: projectId, secrets } })
    await app.stop()
  }
  expect(await operate({ ...source.env, ...MIXED }, 'backup', whole)).toMatchObject({ code: 0 })
}, 60_000)

afterAll(() => {
  for (const database of others) database.remove()
  files.remove()
})

/** Checks that the database has no table of the product. */
async function isUntouched({ env }: TestDatabase): Promise<boolean> {
  if (env.DATA_DIR !== undefined) return !existsSync(`${env.DATA_DIR}/postgres`)
  const sql = postgres({ host: env.DB_HOST ?? '', database: env.DB_NAME ?? '', user: 'cloakroom' })
  const [row] = await sql`
    select count(*)::int as count from pg_class where relnamespace = 'public'::regnamespace`
  await sql.end()
  return row?.count === 0
}

test('without one of the keys a restore is refused, and the same place takes it with all', async () => {
  const place = await freshDatabase()
  others.push(place)
  const cases = [
    [
      { SECRET_KEY: NEWER.SECRET_KEY },
      78,
      'SECRET_KEY: the data in this database needs another key (id ',
    ],
    [
      { SECRET_KEY: KEYS.SECRET_KEY },
      78,
      'SECRET_KEY: the data in this database needs another key (id ',
    ],
    [{ ENCRYPTION_KEY: NEWER.ENCRYPTION_KEY }, 2, 'ENCRYPTION_KEY cannot decrypt this backup'],
    [{ ENCRYPTION_KEY: KEYS.ENCRYPTION_KEY }, 2, 'ENCRYPTION_KEY cannot decrypt this backup'],
  ] as const
  for (const [keys, code, words] of cases) {
    const refused = await operate({ ...place.env, ...MIXED, ...keys }, 'restore', whole)
    expect(refused).toMatchObject({ code, err: expect.stringContaining(words) })
    expect(await isUntouched(place)).toBeTrue()
  }
  expect(await operate({ ...place.env, ...MIXED }, 'restore', whole)).toMatchObject({ code: 0 })
  expect(await isUntouched(place)).toBeFalse()
}, 60_000)
