// tier: quick
/** The effect of account changes on passkeys (protocol 3.1). */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { wrapKeys } from '../../../src/client/account/account_keys.ts'
import { authKey, recoveryVerifier, userKey } from '../../../src/client/account/keys.ts'
import {
  changePassword,
  deleteAccount,
  recover,
  replaceKeys,
} from '../../../src/features/accounts/contract.ts'
import { listPasskeys, setPasskeySeed } from '../../../src/features/passkeys/contract.ts'
import { identityOf, proveKeys } from '../../../src/sigchain/index.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { ORIGIN, openPasskey } from '../../support/authenticator.ts'
import {
  envelopeFor,
  logInAs,
  type Person,
  passwordFields,
  recoveryFields,
  registerPerson,
} from '../../support/people.ts'
import { refusedField, said } from '../accounts/support.ts'
import { addTo, begin, logInWith, OWN, sealedSeed } from './support.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ RATE_LOGIN: '1000/1', PASSKEY_ORIGINS: ORIGIN })
  // The owner of the installation cannot delete the account.
  await registerPerson(app, 'owner')
})
afterAll(() => app.stop())

const statusOf = async (added: Awaited<ReturnType<typeof addTo>>) =>
  (await logInWith(app, added)).status
const seedsOf = async (person: Person) =>
  (await app.as((await logInAs(app, person)).token).list(listPasskeys, {})).map(
    ({ can_unlock }) => can_unlock,
  )

function newPasswordFor(person: Person) {
  const masterKey = new Uint8Array(randomBytes(32))
  const fields = { new_password: authKey(masterKey), ...passwordFields({ ...person, masterKey }) }
  return { fields, changed: { ...person, masterKey, password: authKey(masterKey) } }
}

async function newKeysFor(person: Person) {
  const seed = new Uint8Array(randomBytes(32))
  const identity = await identityOf(seed)
  const publicKey = new Uint8Array(Buffer.from(identity.public_key, 'base64'))
  const keys = { seed, privateKey: identity.privateKey, publicKey }
  const { workspaceId: workspace_id, workspaceKey, email } = person
  const place = { workspaceId: workspace_id, workspaceKey }
  const encrypted_workspace_key = await envelopeFor({ publicKey }, place)
  return {
    current_password: person.password,
    signing_key: identity.signing_key,
    public_key: identity.public_key,
    key_proof: await proveKeys(identity, email),
    encrypted_private_key: await wrapKeys('account', userKey(person.masterKey), keys),
    workspaces: [{ workspace_id, encrypted_workspace_key }],
  }
}

test('a new password keeps passkeys: the seed is the same', async () => {
  const ada = await registerPerson(app, 'ada')
  const added = await addTo(app, ada, { encrypted_seed: sealedSeed() })
  const { fields, changed } = newPasswordFor(ada)
  await ada.api.call(changePassword, { body: { current_password: ada.password, ...fields } })
  expect(await statusOf(added)).toBe(200)
  expect(await seedsOf(changed)).toEqual([true])
})

test('a new password ends a passkey addition that was started with the previous one', async () => {
  const ada = await registerPerson(app, 'ada')
  const { challenge } = await begin(ada)
  const { fields } = newPasswordFor(ada)
  await ada.api.call(changePassword, { body: { current_password: ada.password, ...fields } })
  const body = { label: 'Late', credential: (await openPasskey()).create(challenge) }
  const message = 'is not a response to a challenge of this session'
  expect(said(await app.call('POST', OWN, { token: ada.token, body }))).toEqual(
    refusedField('credential', message),
  )
})

test('a recovery removes passkeys, because another person may have added one', async () => {
  const bob = await registerPerson(app, 'bob')
  const added = await addTo(app, bob, { encrypted_seed: sealedSeed() })
  const { fields, changed } = newPasswordFor(bob)
  const next = { ...bob, recoveryKey: new Uint8Array(randomBytes(32)) }
  await app.as().call(recover, {
    body: {
      email: bob.email,
      recovery_verifier: recoveryVerifier(bob.recoveryKey),
      ...fields,
      recovery: recoveryFields(next),
    },
  })
  expect(await statusOf(added)).toBe(401)
  expect(await seedsOf(changed)).toEqual([])
  const { token } = await logInAs(app, changed)
  const again = { ...changed, token, api: app.as(token) }
  expect(await statusOf(await addTo(app, again))).toBe(200)
})

test("new keys delete the passkeys' copies of the seed, and passkeys sign in until they get the new one", async () => {
  const cleo = await registerPerson(app, 'cleo')
  const added = await addTo(app, cleo, { encrypted_seed: sealedSeed() })
  const begun = await begin(cleo)
  await cleo.api.call(replaceKeys, { body: await newKeysFor(cleo) })
  expect(await seedsOf(cleo)).toEqual([false])
  const late = (await openPasskey()).create(begun.challenge)
  const body = { label: 'Late', credential: late, encrypted_seed: sealedSeed() }
  expect((await app.call('POST', OWN, { token: cleo.token, body })).status).toBe(422)
  expect(await statusOf(added)).toBe(200)
  await cleo.api.call(setPasskeySeed, {
    params: { passkey_id: added.shown.id },
    body: { current_password: cleo.password, encrypted_seed: sealedSeed() },
  })
  expect(await seedsOf(cleo)).toEqual([true])
})

test('a deleted account loses its passkeys', async () => {
  const dora = await registerPerson(app, 'dora')
  const added = await addTo(app, dora)
  await dora.api.call(deleteAccount, { body: { current_password: dora.password } })
  expect(await statusOf(added)).toBe(401)
  const { sql } = app.connection
  const rows = await sql`select id from passkeys where user_id = ${dora.userId}`
  expect([...rows]).toEqual([])
})
