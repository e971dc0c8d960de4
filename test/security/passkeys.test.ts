// tier: quick
/**
 * Passkeys under attack: answers made for another page, purpose or time, authenticators that were cloned or verified
 * nobody, and rows that an attacker wrote into the database. Each is rejected like any other wrong login, and the
 * right one still succeeds.
 */
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { beginPasskeyLogin } from '../../src/features/passkeys/contract.ts'
import { refusal, refusedField, said, writesNothing } from '../features/accounts/support.ts'
import { addTo, begin, LOGIN, logInWith, OWN } from '../features/passkeys/support.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { ORIGIN, openPasskey, type Wrong } from '../support/authenticator.ts'
import { preparedDatabase, type TestDatabase } from '../support/database.ts'
import { logInAs, type Person, registerPerson } from '../support/people.ts'

const SECOND = 'http://localhost:8765'
const ENV = { RATE_LOGIN: '1000/1', PASSKEY_ORIGINS: `${ORIGIN},${SECOND}` }
const REFUSED = refusal('invalid_credentials', {
  message: 'This passkey is not registered on this server.',
})
const UNASKED = refusedField('credential', 'is not a response to a challenge of this session')
const FIVE_MINUTES = 300_000

let database: TestDatabase
let app: TestApp
let ada: Person
let eve: Person
beforeAll(async () => {
  database = await preparedDatabase()
  app = await startTestApp(ENV, { database })
  ada = await registerPerson(app, 'ada')
  eve = await registerPerson(app, 'eve')
})
afterAll(async () => {
  await app.stop()
  database.remove()
})

const challengeOf = async (origin = ORIGIN) =>
  (await app.as().call(beginPasskeyLogin, { body: { origin } })).challenge
const answer = (credential: object) => app.call('POST', LOGIN, { body: { credential } })

/** Everything that a page, a browser or an authenticator could get wrong. */
const wrongs: Record<string, Wrong> = {
  'for another origin': { origin: 'https://evil.example' },
  'for a subdomain': { origin: 'https://x.vault.example.com' },
  'for another port': { origin: `${ORIGIN}:444` },
  'for the other origin of the configuration': { origin: SECOND },
  'in a frame of another page': { crossOrigin: true },
  'for another host name': { rpId: 'evil.example' },
  'without verifying the person': { flags: 0x01 },
  'without the person': { flags: 0x00 },
}

describe('a passkey login', () => {
  test.each(Object.entries(wrongs))('%s is refused', async (_, wrong) => {
    const added = await addTo(app, ada)
    expect(said(await writesNothing(app, () => logInWith(app, added, wrong)))).toEqual(REFUSED)
    expect((await logInWith(app, added)).status).toBe(200)
  })

  test('a login with a registration answer, another key or another person is rejected', async () => {
    const [own, hers] = [await addTo(app, eve), await addTo(app, ada)]
    const others: Wrong[] = [{ type: 'webauthn.create' }, { userHandle: hers.userHandle }]
    for (const wrong of others) expect(said(await logInWith(app, own, wrong))).toEqual(REFUSED)
    const signed = await own.key.get(await challengeOf(), hers.userHandle)
    expect(said(await answer({ ...signed, id: hers.key.id }))).toEqual(REFUSED)
    for (const added of [own, hers]) expect((await logInWith(app, added)).status).toBe(200)
  })

  test('a challenge is answered once, also by many concurrent logins', async () => {
    const { key, userHandle } = await addTo(app, ada)
    const challenge = await challengeOf()
    const answers = []
    for (let index = 0; index < 6; index += 1) answers.push(await key.get(challenge, userHandle))
    const statuses = (await Promise.all(answers.map(answer))).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(said(await answer(await key.get(challenge, userHandle)))).toEqual(REFUSED)
  })

  test('a login accepts a challenge for five minutes, and only its own challenge', async () => {
    const added = await addTo(app, ada)
    const early = await challengeOf()
    const late = await challengeOf()
    app.clock.advance(FIVE_MINUTES - 2_000)
    expect((await logInWith(app, added, { challenge: early })).status).toBe(200)
    app.clock.advance(2_000)
    expect(said(await logInWith(app, added, { challenge: late }))).toEqual(REFUSED)
    const { challenge: forAdding } = await begin(ada)
    const bytes = Buffer.from(await challengeOf(), 'base64url')
    const altered = bytes.fill(0xff, 0, 4).toString('base64url')
    const made = Buffer.alloc(52, 0xff).toString('base64url')
    for (const challenge of [forAdding, altered, made, '', 'x', await challengeOf(SECOND)]) {
      expect(said(await logInWith(app, added, { challenge }))).toEqual(REFUSED)
      expect((await logInWith(app, added)).status).toBe(200)
    }
  })

  test('a login by a cloned passkey with a lower counter is rejected', async () => {
    const added = await addTo(app, ada)
    expect((await logInWith(app, added, { counter: 10 })).status).toBe(200)
    for (const counter of [10, 9, 0])
      expect(said(await logInWith(app, added, { counter }))).toEqual(REFUSED)
    expect((await logInWith(app, added, { counter: 11 })).status).toBe(200)
  })

  test('a passkey without a counter is accepted each time', async () => {
    const key = await openPasskey()
    const { challenge, user_handle: userHandle } = await begin(ada)
    const body = { label: 'Synced', credential: key.create(challenge, { counter: 0 }) }
    expect((await app.call('POST', OWN, { token: ada.token, body })).status).toBe(201)
    for (let index = 0; index < 2; index += 1)
      expect((await logInWith(app, { key, userHandle }, { counter: 0 })).status).toBe(200)
  })

  test('five wrong logins in a row cause a wait, and others do not wait', async () => {
    const [own, hers] = [await addTo(app, eve), await addTo(app, ada)]
    for (let index = 0; index < 5; index += 1) await logInWith(app, own, { signature: 'AAAA' })
    expect((await logInWith(app, own)).status).toBe(429)
    expect((await logInWith(app, hers)).status).toBe(200)
    app.clock.advance(2_000)
    expect((await logInWith(app, own)).status).toBe(200)
  })
})

describe('adding', () => {
  test.each(Object.entries(wrongs))('%s is refused', async (_, wrong) => {
    const { challenge } = await begin(eve)
    const key = await openPasskey()
    const add = (credential: object) =>
      app.call('POST', OWN, { token: eve.token, body: { label: 'x', credential } })
    expect(said(await writesNothing(app, () => add(key.create(challenge, wrong))))).toEqual(UNASKED)
    expect((await add(key.create(challenge))).status).toBe(201)
  })

  test('an addition by another session, person, or with a challenge of a login is rejected', async () => {
    const { challenge } = await begin(ada)
    const key = await openPasskey()
    const add = (token: string, of = challenge) =>
      app.call('POST', OWN, { token, body: { label: 'x', credential: key.create(of) } })
    const { token } = await logInAs(app, ada)
    for (const refused of [token, eve.token]) expect(said(await add(refused))).toEqual(UNASKED)
    expect(said(await add(ada.token, await challengeOf()))).toEqual(UNASKED)
    expect((await add(ada.token)).status).toBe(201)
    const other = (await openPasskey()).create(challenge)
    const again = { label: 'x', credential: other }
    expect(said(await app.call('POST', OWN, { token: ada.token, body: again }))).toEqual(UNASKED)
  })

  test('an addition with certificates, or another ID than the signed one, is rejected and fetches nothing', async () => {
    const fetched = spyOn(globalThis, 'fetch')
    const { challenge } = await begin(ada)
    const x5c = new Map<string, unknown>([
      ['alg', -7],
      ['sig', new Uint8Array(70)],
      ['x5c', [new Uint8Array(200)]],
    ])
    const key = await openPasskey()
    const attested = key.create(challenge, { fmt: 'packed', attStmt: x5c })
    const unknown = key.create(challenge, { fmt: 'unheard-of' })
    const renamed = { ...key.create(challenge), id: (await openPasskey()).id }
    const before = fetched.mock.calls.length
    for (const credential of [attested, unknown, renamed]) {
      const body = { label: 'x', credential }
      expect(said(await app.call('POST', OWN, { token: ada.token, body }))).toEqual(UNASKED)
    }
    // The requests of this test itself.
    expect(fetched.mock.calls.length - before).toBe(3)
    fetched.mockRestore()
  })
})

describe('a row of passkeys', () => {
  const sql = () => app.connection.sql

  test('a passkey row that is copied or moved to another person gives no login', async () => {
    const own = await addTo(app, eve)
    const userHandle = Buffer.from(ada.userId.replaceAll('-', ''), 'hex').toString('base64url')
    const move = (userId: string) =>
      sql()`update passkeys set user_id = ${userId} where id = ${own.shown.id}`
    await move(ada.userId)
    expect(said(await logInWith(app, { ...own, userHandle }))).toEqual(REFUSED)
    await move(eve.userId)
    expect((await logInWith(app, own)).status).toBe(200)
  })

  test('a passkey row with a key from the database gives no login', async () => {
    const [own, hers] = [await addTo(app, eve), await addTo(app, ada)]
    const columns = sql()`public_key, verifier`
    const [stored] = await sql()`select ${columns} from passkeys where id = ${hers.shown.id}`
    const [forged] = await sql()`select ${columns} from passkeys where id = ${own.shown.id}`
    const write = (key: Uint8Array, verifier: Uint8Array) =>
      sql()`update passkeys set public_key = ${key}, verifier = ${verifier} where id = ${hers.shown.id}`
    const madeUp = Buffer.concat([stored?.verifier.subarray(0, 4), Buffer.alloc(32)])
    const signed = async () => {
      const credential = await own.key.get(await challengeOf(), hers.userHandle)
      return answer({ ...credential, id: hers.key.id })
    }
    for (const verifier of [stored?.verifier, forged?.verifier, madeUp, Buffer.alloc(0)]) {
      await write(forged?.public_key, verifier)
      expect(said(await signed())).toEqual(REFUSED)
    }
    await write(stored?.public_key, stored?.verifier)
    expect((await logInWith(app, hers)).status).toBe(200)
  })

  test('a passkey row does not reveal the copy of the seed, and accepts it from no other row', async () => {
    const seed = Buffer.alloc(61, 0xab)
    const { shown } = await addTo(app, ada, { encrypted_seed: seed.toString('base64') })
    const [row] = await sql()`select * from passkeys where id = ${shown.id}`
    expect(Buffer.from(row?.encrypted_seed).includes(seed.subarray(0, 16))).toBe(false)
    const own = await addTo(app, eve)
    await sql()`update passkeys set encrypted_seed = ${row?.encrypted_seed} where id = ${own.shown.id}`
    const answer = await logInWith(app, own)
    expect(answer.body).toMatchObject({ data: { passkey: { encrypted_seed: null } } })
  })
})

test('a challenge survives a restart, and an answered one stays answered', async () => {
  const { key, userHandle } = await addTo(app, ada)
  const [open, spent] = [await challengeOf(), await challengeOf()]
  expect((await answer(await key.get(spent, userHandle))).status).toBe(200)
  await app.stop()
  app = await startTestApp(ENV, { database })
  expect(said(await answer(await key.get(spent, userHandle)))).toEqual(REFUSED)
  expect((await answer(await key.get(open, userHandle))).status).toBe(200)
})

test('a new SECRET_KEY takes over passkeys, and a start without the old one is rejected', async () => {
  // The client of the tests above still uses the previous process.
  const added = await addTo(app, await registerPerson(app))
  const { SECRET_KEY: old } = app.config
  const next = 'the next secret key that is as long as it must be'
  const keyIdOf = async () => {
    const [row] = await app.connection.sql`
      select encode(substring(verifier from 1 for 4), 'hex') as id
      from passkeys where id = ${added.shown.id}`
    return row?.id
  }
  const restart = async (SECRET_KEY: string) => {
    await app.stop()
    app = await startTestApp({ ...ENV, SECRET_KEY }, { database })
  }
  const before = await keyIdOf()
  const open = await challengeOf()
  await restart(`${next},${old}`)
  expect(await keyIdOf()).toBe(before)
  expect((await logInWith(app, added, { challenge: open })).status).toBe(200)
  expect(await keyIdOf()).toBe(app.pepper.keyIds[0])
  expect((await logInWith(app, added)).status).toBe(200)
  await app.stop()
  const without = startTestApp({ ...ENV, SECRET_KEY: next }, { database })
  await expect(without).rejects.toThrow(/ and \d+ passkeys would stop working/)
  app = await startTestApp({ ...ENV, SECRET_KEY: `${next},${old}` }, { database })
})
