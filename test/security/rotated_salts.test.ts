// tier: all
/**
 * A stranger who calls prelogin before and after a rotation of SECRET_KEY must not learn which addresses have
 * accounts: the salt of an address without one stays the same, like an account's salt.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createHmac, hkdfSync } from 'node:crypto'
import { prelogin } from '../../src/features/accounts/contract.ts'
import { freshEmail, startTestApp, type TestApp } from '../support/app.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { registerPerson } from '../support/people.ts'

const OLD = 'the-old-secret-key-the-old-secret-key'
const NEW = 'the-new-secret-key-the-new-secret-key'

let database: TestDatabase
let running: TestApp | undefined

beforeEach(async () => {
  database = await freshDatabase()
}, 60_000)
afterEach(async () => {
  await stop()
  database.remove()
})

async function start(SECRET_KEY: string): Promise<TestApp> {
  await stop()
  running = await startTestApp({ SECRET_KEY }, { database })
  return running
}

async function stop(): Promise<void> {
  await running?.stop()
  running = undefined
}

const ask = (app: TestApp, email: string) => app.as().call(prelogin, { body: { email } })

test('prelogin answers the same before and after a rotation, with and without an account', async () => {
  const app = await start(OLD)
  const emails = [(await registerPerson(app, 'ada')).email, freshEmail('stranger')]
  const answers = async (of: TestApp) => await Promise.all(emails.map((email) => ask(of, email)))
  const before = await answers(app)
  for (const secretKey of [`${OLD},${NEW}`, `${NEW},${OLD}`])
    expect(await answers(await start(secretKey))).toEqual(before)
})

test('prelogin answers the same after the last process with the old key has stopped', async () => {
  const email = freshEmail('stranger')
  const before = await ask(await start(OLD), email)
  expect(await ask(await start(NEW), email)).toEqual(before)
})

test('the first start after an upgrade derives the key from the first SECRET_KEY, like earlier versions', async () => {
  const app = await start(OLD)
  await app.connection.sql`update instance set prelogin_key = null`
  const email = freshEmail('stranger')
  const key = hkdfSync('sha256', NEW, '', 'cloakroom/v1/prelogin', 32)
  const mac = createHmac('sha256', Buffer.from(key)).update(email).digest()
  const { key_salt } = await ask(await start(`${NEW},${OLD}`), email)
  expect(key_salt).toBe(mac.subarray(0, 16).toString('base64'))
})

test('servers that were installed with different keys return different salts', async () => {
  const email = freshEmail('stranger')
  const here = await ask(await start(OLD), email)
  const other = await startTestApp({ SECRET_KEY: NEW })
  expect(await ask(other, email)).not.toEqual(here)
  await other.stop()
})
