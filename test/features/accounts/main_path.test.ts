// tier: quick
/** The main path of an account: register, log in, refresh, ask who one is, log out. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { unwrapPrivateKey, userKey } from '../../../src/client/account/keys.ts'
import {
  getMe,
  login,
  logout,
  prelogin,
  refresh,
  register,
} from '../../../src/features/accounts/contract.ts'
import { fromBase64, toBase64 } from '../../../src/platform/crypto/encoding.ts'
import { openMemberEnvelope } from '../../../src/platform/crypto/envelope.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { newApplicant, registerPerson, registrationOf } from '../../support/people.ts'

let app: TestApp

beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.stop())

test('a person registers, logs in with what prelogin says, and opens their keys', async () => {
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
