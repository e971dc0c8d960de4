/** `account rotate-keys`: what was sealed to the old keys opens with the new ones, and the old ones are worth nothing. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { underPassword } from '../../src/client/account/account_keys.ts'
import { openApi } from '../../src/client/api.ts'
import { newWorkspace } from '../../src/client/signed/new_workspace.ts'
import { register } from '../../src/features/accounts/contract.ts'
import { toBase64 } from '../../src/platform/crypto/encoding.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { generateKeyPair } from '../support/key_pair.ts'
import { PASSWORD, type Terminal } from './person.ts'
import { loggedIn, signedAccount, signedWorkspace } from './signed_person.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ RATE_API: '100000/1' })
})
afterAll(() => app.stop())

const rotate = (person: Terminal, password = PASSWORD) =>
  person.run(['account', 'rotate-keys', '--yes', '--password-stdin', '--json'], {
    stdin: `${password}\n`,
  })
const fingerprintOf = async (person: Terminal) =>
  ((await person.json('whoami')) as { fingerprint: string }).fingerprint

test('new keys sign and open everything, and the other machine must log in again', async () => {
  const ada = await signedAccount(app, 'ada@example.com')
  await signedWorkspace(app, 'ada@example.com', 'team')
  const other = await loggedIn(app, 'ada@example.com')
  await ada.must('allowlist', 'add', 'old.example.com', '-w', 'team')
  await ada.must('init', 'api')
  await ada.must('secrets', 'set', 'MINE=of-this-machine', '--mine')
  const before = await fingerprintOf(ada)

  expect(await rotate(ada, 'not the password')).toMatchObject({ code: 3 })
  expect(await fingerprintOf(ada)).toBe(before)
  const done = await rotate(ada)
  expect(done).toMatchObject({ code: 0 })
  expect(JSON.parse(done.out)).toMatchObject({
    rotated: 'ada@example.com',
    rekey_required: ['Personal', 'team'],
    recovery_key: expect.any(String),
  })

  expect(await fingerprintOf(ada)).not.toBe(before)
  await ada.must('allowlist', 'add', 'new.example.com', '-w', 'team')
  await ada.must('workspace', 'verify', '-w', 'team')
  expect(await ada.reveal('secrets', 'get', 'MINE')).toContain('of-this-machine')
  expect(await other.run(['whoami'])).toMatchObject({ code: 3 })
  const again = await loggedIn(app, 'ada@example.com')
  expect(await fingerprintOf(again)).toBe(await fingerprintOf(ada))
  for (const person of [ada, other, again]) person.remove()
})

test('an account without a signing key gets its first', async () => {
  const keys = { ...generateKeyPair(), seed: null }
  const email = 'bob@example.com'
  const { order } = await newWorkspace(keys.publicKey, null)
  await openApi(app.controlPlane).call(register, {
    body: {
      email,
      public_key: toBase64(keys.publicKey),
      ...(await underPassword(PASSWORD, keys)),
      workspace: order,
    },
  })
  const bob = await loggedIn(app, email)
  await bob.must('init', 'api')
  await bob.must('secrets', 'set', 'KEY=kept')
  expect(await rotate(bob)).toMatchObject({ code: 0 })
  const [user] = await app.connection.sql`select signing_key from users where email = ${email}`
  expect(user?.signing_key).toBeTruthy()
  expect(await bob.reveal('secrets', 'get', 'KEY')).toContain('kept')
  bob.remove()
})
