// tier: quick
/** Passkeys of an account (protocol 5.1): who may add one, which data is stored, and when it is removed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { getMe } from '../../../src/features/accounts/contract.ts'
import {
  beginPasskey,
  getPasskeySeed,
  listPasskeys,
  removePasskey,
  renamePasskey,
  setPasskeySeed,
} from '../../../src/features/passkeys/contract.ts'
import { sharedApp, startTestApp, type TestApp } from '../../support/app.ts'
import { ORIGIN, openPasskey } from '../../support/authenticator.ts'
import { cookiesOf, ofConsole } from '../../support/console.ts'
import { EventReader } from '../../support/events.ts'
import { type Person, registerPerson } from '../../support/people.ts'
import { openTeam } from '../../support/teams.ts'
import { alike, refusal, refusedField, said } from '../accounts/support.ts'
import { addTo, begin, LOGIN, logInWith, OWN, sealedSeed } from './support.ts'

let app: TestApp
let ada: Person
let eve: Person
beforeAll(async () => {
  app = await startTestApp({ RATE_LOGIN: '1000/1', PASSKEY_ORIGINS: ORIGIN })
  ada = await registerPerson(app, 'ada')
  eve = await registerPerson(app, 'eve')
})
afterAll(() => app.stop())

const REFUSED = refusal('invalid_credentials', {
  message: 'This passkey is not registered on this server.',
})
const dataOf = ({ body }: { body: unknown }) => (body as { data: Record<string, unknown> }).data

describe('a passkey login', () => {
  test('a passkey login opens a session and returns the fields of a password login, and the copy of the seed', async () => {
    const encrypted_seed = sealedSeed()
    const added = await addTo(app, ada, { encrypted_seed })
    const answer = await logInWith(app, added)
    expect(answer.status).toBe(200)
    const byPassword = await app.call('POST', '/api/auth/login/', {
      body: { email: ada.email, password: ada.password },
    })
    const { passkey, access, ...rest } = dataOf(answer)
    expect(passkey).toEqual({ id: added.shown.id, encrypted_seed })
    const fresh = { refresh: expect.any(String), expires_at: expect.any(String) }
    const { access: _, ...expected } = dataOf(byPassword)
    expect(rest).toEqual({ ...expected, ...fresh })
    expect(await app.as(String(access)).call(getMe, {})).toMatchObject({ id: ada.userId })
    const [listed] = await ada.api.list(listPasskeys, {})
    expect(listed).toMatchObject({ can_unlock: true, last_used_at: expect.any(String) })
  })

  test('a passkey login in the console keeps its tokens in cookies', async () => {
    const { key, userHandle } = await addTo(app, ada)
    const begun = await app.call('POST', `${LOGIN}begin/`, { body: { origin: ORIGIN } })
    const credential = await key.get(String(dataOf(begun).challenge), userHandle)
    const path = '/api/auth/console/login/passkey/'
    const call = (headers: Record<string, string>) =>
      app.call('POST', path, { headers, body: { credential } })
    expect(said(await call({}))).toMatchObject({ status: 403 })
    const answer = await call(ofConsole())
    expect(answer.status).toBe(200)
    expect(JSON.stringify(answer.body)).not.toContain('svc_')
    const headers = ofConsole(cookiesOf(answer.headers))
    expect((await app.call('GET', '/api/users/me/', { headers })).status).toBe(200)
  })

  test('a passkey login without a copy of the seed reports it, and returns the copy that the password opens', async () => {
    const answer = await logInWith(app, await addTo(app, ada))
    expect(dataOf(answer)).toMatchObject({
      passkey: { encrypted_seed: null },
      encrypted_private_key: expect.any(String),
    })
  })

  test('a passkey login is the same request for everyone, with one kind of error', async () => {
    const first = await app.call('POST', `${LOGIN}begin/`, { body: { origin: ORIGIN } })
    expect(dataOf(first)).toEqual({ challenge: expect.any(String), rp_id: 'vault.example.com' })
    const unknown = { key: await openPasskey(), userHandle: Buffer.alloc(16).toString('base64url') }
    const refused = await logInWith(app, unknown)
    expect(said(refused)).toEqual(REFUSED)
    const wrong = await logInWith(app, await addTo(app, ada), { signature: 'AAAA' })
    expect(alike(wrong)).toEqual(alike(refused))
  })
})

describe('adding a passkey', () => {
  test('adding a passkey requires the password before the authenticator', async () => {
    const body = { current_password: 'not the password', origin: ORIGIN }
    const answer = await app.call('POST', `${OWN}begin/`, { token: eve.token, body })
    expect(said(answer)).toEqual(refusedField('current_password', 'is wrong'))
    expect(await begin(eve)).toMatchObject({ rp_id: 'vault.example.com', exclude: [] })
  })

  test('adding a passkey names the existing ones of the authenticator', async () => {
    const person = await registerPerson(app)
    const { key } = await addTo(app, person)
    const { exclude } = await begin(person)
    expect(exclude).toEqual([{ credential_id: key.id, transports: ['internal'] }])
  })

  test('adding an existing passkey is rejected, for the same person and another', async () => {
    const { key } = await addTo(app, ada)
    for (const person of [ada, eve]) {
      const { challenge } = await begin(person)
      const body = { label: 'Again', credential: key.create(challenge) }
      const answer = await app.call('POST', OWN, { token: person.token, body })
      expect(said(answer)).toMatchObject({ status: 409, body: { error_code: 'already_exists' } })
    }
  })

  test('adding a passkey stops at the quota before the authenticator is used, until one is removed', async () => {
    const person = await registerPerson(app)
    for (let index = 0; index < 20; index += 1) await addTo(app, person)
    const body = { current_password: person.password, origin: ORIGIN }
    const answer = await app.call('POST', `${OWN}begin/`, { token: person.token, body })
    expect(answer).toMatchObject({ status: 409, body: { error_code: 'quota_exceeded' } })
    const [first] = await person.api.list(listPasskeys, {})
    await person.api.call(removePasskey, { params: { passkey_id: first?.id ?? '' } })
    await addTo(app, person)
    expect(await person.api.list(listPasskeys, {})).toHaveLength(20)
  })

  test('adding a passkey rejects results of extensions, so that no output of a PRF reaches the server', async () => {
    const key = await openPasskey()
    const { challenge } = await begin(eve)
    const credential = { ...key.create(challenge), client_extension_results: { prf: {} } }
    const answer = await app.call('POST', OWN, {
      token: eve.token,
      body: { label: 'x', credential },
    })
    expect(answer.status).toBe(422)
  })
})

describe("a passkey's owner", () => {
  test('the owner lists, renames and removes a passkey, and nobody else can', async () => {
    const person = await registerPerson(app)
    const { key, shown } = await addTo(app, person)
    const params = { passkey_id: shown.id }
    const expected = {
      id: shown.id,
      credential_id: key.id,
      rp_id: 'vault.example.com',
      label: 'Laptop',
      transports: ['internal'],
      can_unlock: false,
      last_used_at: null,
      created_at: expect.any(String),
    }
    expect(await person.api.list(listPasskeys, {})).toEqual([expected])
    for (const [method, path, body] of [
      ['PATCH', '', { label: 'Mine' }],
      ['DELETE', '', undefined],
      ['GET', 'seed/', undefined],
      ['PUT', 'seed/', { current_password: eve.password, encrypted_seed: sealedSeed() }],
    ] as const) {
      const at = `${OWN}${shown.id}/${path}`
      expect(said(await app.call(method, at, { token: eve.token, body }))).toEqual(
        refusal('not_found'),
      )
    }
    const renamed = await person.api.call(renamePasskey, { params, body: { label: 'Phone' } })
    expect(renamed).toEqual({ ...expected, label: 'Phone' })
    await person.api.call(removePasskey, { params })
    expect(await person.api.list(listPasskeys, {})).toEqual([])
  })

  test('the owner lets a passkey unlock later, with the password', async () => {
    const { shown } = await addTo(app, ada)
    const params = { passkey_id: shown.id }
    expect(await ada.api.call(getPasskeySeed, { params })).toEqual({ encrypted_seed: null })
    const encrypted_seed = sealedSeed()
    const body = { current_password: 'not the password', encrypted_seed }
    const refused = await app.call('PUT', `${OWN}${shown.id}/seed/`, { token: ada.token, body })
    expect(said(refused)).toEqual(refusedField('current_password', 'is wrong'))
    const right = { ...body, current_password: ada.password }
    await ada.api.call(setPasskeySeed, { params, body: right })
    expect(await ada.api.call(getPasskeySeed, { params })).toEqual({ encrypted_seed })
  })

  test('the owner removes a passkey, which then opens nothing', async () => {
    const added = await addTo(app, ada)
    expect((await logInWith(app, added)).status).toBe(200)
    await ada.api.call(removePasskey, { params: { passkey_id: added.shown.id } })
    expect(said(await logInWith(app, added))).toEqual(REFUSED)
  })

  test('removing a passkey ends the sessions that it opened with their open calls, and other sessions continue', async () => {
    const { workspaceId, owner } = await openTeam(app)
    const [lost, kept] = [await addTo(app, owner), await addTo(app, owner)]
    const opened = async (added: typeof lost) =>
      dataOf(await logInWith(app, added)) as { access: string; refresh: string }
    const [ending, other] = [await opened(lost), await opened(kept)]
    const get = (token: string) => app.call('GET', '/api/users/me/', { token })
    expect((await get(ending.access)).status).toBe(200)
    const live = await fetch(`${app.controlPlane}/api/workspaces/${workspaceId}/live/`, {
      headers: { authorization: `Bearer ${ending.access}` },
    })
    await owner.api.call(removePasskey, { params: { passkey_id: lost.shown.id } })
    const end = await new EventReader(live).find(({ event }) => event === 'end')
    expect(end).toMatchObject({ data: { error_code: 'invalid_token' } })
    expect(said(await get(ending.access))).toEqual(refusal('invalid_token'))
    const refresh = (token: string) =>
      app.call('POST', '/api/auth/refresh/', { body: { refresh: token } })
    expect(said(await refresh(ending.refresh))).toEqual(refusal('invalid_token'))
    for (const token of [owner.token, other.access]) expect((await get(token)).status).toBe(200)
    expect((await refresh(other.refresh)).status).toBe(200)
  })

  test('removing the passkey of the calling session also ends that session', async () => {
    const added = await addTo(app, ada)
    const token = String(dataOf(await logInWith(app, added)).access)
    const removed = await app.call('DELETE', `${OWN}${added.shown.id}/`, { token })
    expect(removed.status).toBe(200)
    const answer = await app.call('GET', '/api/users/me/', { token })
    expect(said(answer)).toEqual(refusal('invalid_token'))
  })
})

describe('a server without a configured origin', () => {
  test('passkeys are rejected with the name of the setting, and other endpoints are unaffected', async () => {
    const other = await sharedApp()
    const person = await registerPerson(other)
    const message = 'is not an accepted passkey origin: see PASSKEY_ORIGINS'
    for (const origin of [ORIGIN, other.controlPlane]) {
      const log = await other.call('POST', `${LOGIN}begin/`, { body: { origin } })
      expect(said(log)).toEqual(refusedField('origin', message))
      const body = { current_password: person.password, origin }
      const add = await other.call('POST', `${OWN}begin/`, { token: person.token, body })
      expect(said(add)).toEqual(refusedField('origin', message))
    }
    expect(await person.api.list(listPasskeys, {})).toEqual([])
  })
})

test("the host of a request does not determine the page's origin", async () => {
  const body = { current_password: ada.password, origin: 'https://evil.example' }
  const host = { host: 'evil.example', origin: 'https://evil.example' }
  const named = { token: ada.token, body, headers: host }
  expect((await app.call('POST', `${OWN}begin/`, named)).status).toBeGreaterThanOrEqual(400)
  const headers = {
    origin: 'https://evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example;proto=https',
  }
  const message = 'is not an accepted passkey origin: see PASSKEY_ORIGINS'
  const ask = (path: string, asked: object) =>
    app.call('POST', path, { token: ada.token, headers, body: asked })
  expect(said(await ask(`${LOGIN}begin/`, { origin: body.origin }))).toEqual(
    refusedField('origin', message),
  )
  expect(said(await ask(`${OWN}begin/`, body))).toEqual(refusedField('origin', message))
  const rightOrigin = { ...body, origin: ORIGIN }
  for (const [path, asked] of [
    [`${LOGIN}begin/`, { origin: ORIGIN }],
    [`${OWN}begin/`, rightOrigin],
  ] as const) {
    expect(dataOf(await ask(path, asked))).toMatchObject({ rp_id: 'vault.example.com' })
  }
  await ada.api.call(beginPasskey, { body: rightOrigin })
})
