// tier: quick
/**
 * The main path of an account: register, log in, refresh, read one's own account, log out. Password hashes
 * have the cost of production here; other tests use a cheaper one.
 */
import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { unwrapPrivateKey, userKey } from '../../../src/client/account/keys.ts'
import { fromBase64, toBase64 } from '../../../src/core/crypto/encoding.ts'
import { openMemberEnvelope } from '../../../src/core/crypto/envelope.ts'
import { users } from '../../../src/database/schema/index.ts'
import {
  getMe,
  login,
  logout,
  prelogin,
  refresh,
  register,
} from '../../../src/features/accounts/contract.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { newApplicant, registerPerson, registrationOf } from '../../support/people.ts'

let app: TestApp

beforeAll(async () => {
  app = await startTestApp({}, { passwordCost: 'default' })
})
afterAll(() => app.stop())

test('a person registers, logs in with the data of prelogin, and opens their keys', async () => {
  const ada = newApplicant('ada')
  const registration = await registrationOf(ada)
  const { user, workspace } = await app.as().call(register, { body: registration })
  expect(user).toMatchObject({ email: ada.email, first_name: 'Test', is_instance_owner: true })
  expect(workspace).toMatchObject({
    id: ada.workspaceId,
    name: 'Personal',
    type: 'personal',
    role: 'owner',
    status: 'active',
    epoch: 1,
    rekey_required: false,
    encrypted_workspace_key: registration.workspace.encrypted_workspace_key,
  })

  const { key_salt, kdf } = await app.as().call(prelogin, { body: { email: ada.email } })
  expect({ key_salt, kdf }).toEqual({ key_salt: registration.key_salt, kdf: registration.kdf })

  const session = await app.as().call(login, {
    body: { email: ada.email.toUpperCase(), password: ada.password },
  })
  expect(session.user).toEqual(user)
  expect(session.workspaces).toEqual(workspace ? [workspace] : [])
  const privateKey = unwrapPrivateKey(
    userKey(ada.masterKey),
    session.encrypted_private_key,
    ada.publicKey,
  )
  expect(privateKey).toEqual(ada.privateKey)
  const place = { workspaceId: ada.workspaceId, recipientPublicKey: ada.publicKey, epoch: 1 }
  const envelope = session.workspaces[0]?.encrypted_workspace_key ?? ''
  expect(await openMemberEnvelope(place, ada.privateKey, envelope)).toEqual(ada.workspaceKey)
})

test('a session is refreshed, answers who calls, and ends', async () => {
  const person = await registerPerson(app)
  const next = await app.as().call(refresh, { body: { refresh: person.refresh } })
  const me = await app.as(next.access).call(getMe, {})
  expect(me).toMatchObject({ id: person.userId, public_key: toBase64(person.publicKey) })
  expect(fromBase64(me.public_key)).toHaveLength(32)
  expect(await app.as(next.access).call(logout, {})).toBeUndefined()
  const after = await app.call('GET', '/api/users/me/', { token: next.access })
  expect(after.status).toBe(401)
})

test('the password and the recovery verifier are stored as Argon2id of at least 19 MiB', async () => {
  const ada = newApplicant()
  const body = await registrationOf(ada)
  await app.as().call(register, { body })
  const [row] = await app.connection.db.select().from(users).where(eq(users.email, ada.email))
  for (const hash of [row?.passwordHash, row?.recoveryVerifierHash]) {
    const [, memory, passes] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),/.exec(hash ?? '') ?? []
    expect(Number(memory)).toBeGreaterThanOrEqual(19 * 1024)
    expect(Number(passes)).toBeGreaterThanOrEqual(2)
  }
  const { id = '', passwordHash = '' } = row ?? {}
  const slow = passwordHash.slice(0, passwordHash.lastIndexOf('$'))
  const peppered = app.pepper.pepperPassword(id, ada.password)
  expect(await Bun.password.verify(peppered, slow)).toBe(true)
  expect(await Bun.password.verify(ada.password, slow)).toBe(false)
})

test('a login with an unknown address does the same hashing work as one with a wrong password', async () => {
  const ada = await registerPerson(app)
  const verify = spyOn(Bun.password, 'verify')
  const costOf = (hash: unknown) => /^\$argon2id\$v=\d+\$[^$]+\$/.exec(String(hash))?.[0]
  for (const email of [ada.email, 'nobody@people.example']) {
    await app.call('POST', '/api/auth/login/', { body: { email, password: 'not the password' } })
  }
  const costs = verify.mock.calls.map(([, hash]) => costOf(hash))
  expect(costs).toEqual(['$argon2id$v=19$m=19456,t=2,p=1$', '$argon2id$v=19$m=19456,t=2,p=1$'])
  verify.mockRestore()
})
