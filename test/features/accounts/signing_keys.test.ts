// tier: quick
/** Accounts with a signing key (protocol 3.1): created with a proof, and shown to others with it. */
import { beforeAll, expect, test } from 'bun:test'
import { createAccountKeys } from '../../../src/client/account/account_keys.ts'
import { logInByPassword, signUp } from '../../../src/client/account/log_in.ts'
import { recoverByKey } from '../../../src/client/account/recovery.ts'
import { changeOwnPassword, renewRecoveryKey } from '../../../src/client/actions/credentials.ts'
import { getMe, getPublicKey } from '../../../src/features/accounts/contract.ts'
import { listMembers } from '../../../src/features/workspaces/contract.ts'
import { identityFingerprint, identityOf, requireKeyProof } from '../../../src/sigchain/index.ts'
import { freshEmail, sharedApp, type TestApp } from '../../support/app.ts'
import { cheapArgon2id } from '../../support/cheap_argon2id.ts'
import { newApplicant, registerPerson, registrationOf } from '../../support/people.ts'
import { refusedField, said, writesNothing } from './support.ts'

const PASSWORD = 'a long passphrase that stays here'
const NO_PROOF = 'must be a signature by signing_key of address and keys'

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

/** The body of a person with a signing key, and the address that it was proven for. */
async function provenApplicant() {
  const email = freshEmail('grace')
  const { keys: _, kdf: __, ...account } = await createAccountKeys(email, PASSWORD, cheapArgon2id)
  return { email, ...account }
}

test("an account of this product's clients has a signing key, which every answer names", async () => {
  const email = freshEmail('ada')
  const { recoveryKey } = await signUp(app.controlPlane, email.replace('ada', 'Ada'), PASSWORD)
  expect(recoveryKey).toHaveLength(71)
  const { api, seed, workspaces } = await logInByPassword(app.controlPlane, email, PASSWORD)
  if (seed === null) throw new Error('there is no seed')
  const { signing_key, public_key } = await identityOf(seed)
  expect(await api.call(getMe, {})).toMatchObject({ signing_key, public_key })
  const shown = await api.call(getPublicKey, { params: { email: email.toUpperCase() } })
  const fingerprint = await identityFingerprint({ signing_key, public_key })
  expect(shown).toMatchObject({ email, signing_key, public_key, fingerprint })
  await requireKeyProof({ signing_key, public_key }, email, shown.key_proof ?? '')
  const params = { workspace_id: workspaces[0]?.id ?? '' }
  expect(await api.list(listMembers, { params })).toMatchObject([{ signing_key, public_key }])
})

test('an account keeps its keys through a new password, a new recovery key and a recovery', async () => {
  const email = freshEmail('bea')
  const server = app.controlPlane
  await signUp(server, email, PASSWORD, true, undefined, cheapArgon2id)
  const first = await logInByPassword(server, email, PASSWORD, cheapArgon2id)
  await changeOwnPassword(
    { ...first, server, argon2id: cheapArgon2id },
    PASSWORD,
    'a second passphrase, as long',
  )
  const recoveryKey = await renewRecoveryKey(
    { ...first, server, argon2id: cheapArgon2id },
    'a second passphrase, as long',
  )
  const second = await logInByPassword(server, email, 'a second passphrase, as long', cheapArgon2id)
  await recoverByKey(server, email, recoveryKey, 'a third passphrase, as long', cheapArgon2id)
  const third = await logInByPassword(server, email, 'a third passphrase, as long', cheapArgon2id)
  for (const { seed, workspaces } of [second, third]) {
    expect(seed).toEqual(first.seed)
    expect(workspaces).toEqual(first.workspaces)
  }
})

test('a proof for another address, of other keys or missing is rejected, and the right one accepted', async () => {
  const grace = await provenApplicant()
  const { signing_key, key_proof, ...without } = grace
  const eve = await createAccountKeys(grace.email, PASSWORD, cheapArgon2id)
  const bodies = [
    { ...grace, email: 'eve@people.example' },
    { ...grace, public_key: eve.public_key },
    { ...grace, signing_key: eve.signing_key },
    { ...grace, key_proof: eve.key_proof },
    { ...without, signing_key },
    { ...without, key_proof },
  ]
  for (const body of bodies) {
    const answer = await writesNothing(app, () => app.call('POST', '/api/auth/register/', { body }))
    expect(said(answer)).toEqual(refusedField('key_proof', NO_PROOF))
  }
  expect((await app.call('POST', '/api/auth/register/', { body: grace })).status).toBe(201)
})

test('a signing key of low order, or in a second spelling, is rejected', async () => {
  const grace = await provenApplicant()
  const odd = [new Uint8Array(32), new Uint8Array(32).with(0, 1), new Uint8Array(32).fill(255)]
  for (const signing_key of odd.map((bytes) => bytes.toBase64())) {
    const body = { ...grace, email: 'low@people.example', signing_key }
    const answer = await app.call('POST', '/api/auth/register/', { body })
    expect(said(answer)).toEqual(
      refusedField('signing_key', 'must be canonical and not of low order'),
    )
  }
})

test('an account without a signing key stays usable, and so does one from before signing keys', async () => {
  const former = await registerPerson(app, 'former')
  expect(await former.api.call(getMe, {})).toMatchObject({ signing_key: null })
  const { workspace: _, ...body } = await registrationOf(newApplicant())
  expect((await app.call('POST', '/api/auth/register/', { body })).status).toBe(201)
})

test('a client does not open an account when the server names another signing key, or none', async () => {
  const email = freshEmail('carl')
  await signUp(app.controlPlane, email, PASSWORD, true, undefined, cheapArgon2id)
  const { sql } = app.connection
  const [row] = await sql`select signing_key from users where email = ${email}`
  const other = (await provenApplicant()).signing_key
  for (const named of [Buffer.from(other, 'base64'), null]) {
    await sql`update users set signing_key = ${named} where email = ${email}`
    await expect(logInByPassword(app.controlPlane, email, PASSWORD, cheapArgon2id)).rejects.toThrow(
      'cannot be decrypted',
    )
  }
  await sql`update users set signing_key = ${row?.signing_key} where email = ${email}`
  expect(
    (await logInByPassword(app.controlPlane, email, PASSWORD, cheapArgon2id)).seed,
  ).not.toBeNull()
})
