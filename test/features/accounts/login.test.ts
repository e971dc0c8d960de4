// tier: quick
import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { sessionTokens, users } from '../../../src/database/schema/index.ts'
import { prelogin, register } from '../../../src/features/accounts/contract.ts'
import {
  type Answer,
  freshEmail,
  sharedApp,
  startTestApp,
  type TestApp,
} from '../../support/app.ts'
import { newApplicant, type Person, registerPerson, registrationOf } from '../../support/people.ts'
import { alike, refusal, refusedField, said, writesNothing } from './support.ts'

const LOGIN = '/api/auth/login/'
const PRELOGIN = '/api/auth/prelogin/'

describe('log-in', () => {
  let app: TestApp
  let ada: Person
  beforeAll(async () => {
    app = await startTestApp()
    ada = await registerPerson(app, 'ada')
  })
  afterAll(() => app.stop())

  test('a login returns exactly the fields of the protocol, and tokens that the database cannot use', async () => {
    const body = { email: ada.email, password: ada.password }
    const answer = await app.call('POST', LOGIN, { body, headers: { 'user-agent': 'cli\u00e9/1' } })
    const tokens = {
      access: expect.stringMatching(/^svc_ses_[0-9A-Za-z]{71}$/),
      refresh: expect.stringMatching(/^svc_ref_[0-9A-Za-z]{71}$/),
    }
    expect(said(answer)).toEqual({
      status: 200,
      body: {
        status: 'success',
        data: {
          ...tokens,
          expires_at: expect.stringMatching(/Z$/),
          key_salt: expect.any(String),
          kdf: { algorithm: 'argon2id', memory_kib: 65_536, iterations: 3, parallelism: 4 },
          encrypted_private_key: expect.any(String),
          user: {
            id: ada.userId,
            email: ada.email,
            first_name: 'Test',
            last_name: 'Person',
            public_key: Buffer.from(ada.publicKey).toString('base64'),
            signing_key: null,
            is_instance_owner: true,
            created_at: expect.any(String),
            updated_at: expect.any(String),
          },
          workspaces: [expect.objectContaining({ id: ada.workspaceId, role: 'owner' })],
        },
      },
    })
    const rows = await app.connection.db.select().from(sessionTokens)
    expect(JSON.stringify(rows)).not.toContain('svc_')
    expect(app.logs.join('\n')).not.toMatch(/svc_(ses|ref)_/)
  })

  test('a login rejects a wrong password and an unknown address alike, and writes nothing', async () => {
    const attempt = (email: string) =>
      app.call('POST', LOGIN, { body: { email, password: 'not the password' } })
    const wrong = await writesNothing(app, () => attempt(ada.email))
    const unknown = await writesNothing(app, () => attempt('nobody@people.example'))
    expect(said(wrong)).toEqual(refusal('invalid_credentials'))
    expect(alike(unknown)).toEqual(alike(wrong))
    expect(wrong.headers.get('www-authenticate')).toBe('Bearer')
    expect(unknown.headers.get('www-authenticate')).toBe('Bearer')
  })

  test.each([
    [{ email: 'ada', password: 'p' }, 'email', 'must be a valid email'],
    [{ email: 'a@b.example' }, 'password', 'is required'],
    [{ email: 'a@b.example', password: '' }, 'password', 'must have a length of at least 1'],
    [
      { email: 'a@b.example', password: 'x'.repeat(1025) },
      'password',
      'must have a length of at most 1024',
    ],
    [
      { email: 'a@b.example', password: 'p', role: 'owner' },
      'role',
      'is not a field of this request',
    ],
  ])('prelogin rejects bad input %#', async (body, path, message) => {
    const answer = await writesNothing(app, () => app.call('POST', LOGIN, { body }))
    expect(said(answer)).toEqual(refusedField(path, message))
  })

  test('a login fails without details if a wrapped key was moved to another row', async () => {
    const [mallory, victim] = [await registerPerson(app), await registerPerson(app)]
    const { db } = app.connection
    const [row] = await db.select().from(users).where(eq(users.id, victim.userId))
    await db
      .update(users)
      .set({ encryptedPrivateKey: row?.encryptedPrivateKey ?? new Uint8Array() })
      .where(eq(users.id, mallory.userId))
    const body = { email: mallory.email, password: mallory.password }
    const answer = await writesNothing(app, () => app.call('POST', LOGIN, { body }))
    expect(said(answer)).toEqual(refusal('internal_error'))
  })
})

describe('prelogin', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await sharedApp()
  })

  const ask = (email: string) => app.as().call(prelogin, { body: { email } })

  test('prelogin gives an unknown address a stable salt, in the form of a real one', async () => {
    const person = newApplicant()
    const before = await ask(person.email)
    expect(await ask(person.email.toUpperCase())).toEqual(before)
    expect(await ask(newApplicant().email)).not.toEqual(before)
    const registration = await registrationOf(person)
    await app.as().call(register, { body: registration })
    const real = await ask(person.email)
    expect(real).toEqual({ key_salt: registration.key_salt, kdf: registration.kdf })
    expect(Object.keys(before)).toEqual(Object.keys(real))
    expect(before.kdf).toEqual(real.kdf)
    expect(before.key_salt).toHaveLength(real.key_salt.length)
    expect(Buffer.from(before.key_salt, 'base64')).toHaveLength(16)
  })

  test('prelogin answers a known and an unknown address with the same status and headers', async () => {
    const person = await registerPerson(app)
    const [known, unknown] = await Promise.all(
      [person.email, newApplicant().email].map((email) =>
        app.call('POST', PRELOGIN, { body: { email } }),
      ),
    )
    const names = (answer: Answer | undefined) => [...(answer?.headers.keys() ?? [])].sort()
    expect(known?.status).toBe(200)
    expect(unknown?.status).toBe(200)
    expect(names(unknown)).toEqual(names(known))
  })

  test('prelogin rejects an invalid address', async () => {
    const answer = await app.call('POST', PRELOGIN, { body: { email: 'ada' } })
    expect(said(answer)).toEqual(refusedField('email', 'must be a valid email'))
  })
})

describe('guessing', () => {
  let app: TestApp
  let ada: Person
  beforeAll(async () => {
    app = await startTestApp({ TRUSTED_PROXIES: '127.0.0.0/8,::1/128' })
    ada = await registerPerson(app, 'ada')
  })
  afterEach(() => app.clock.advance(600_000))
  afterAll(() => app.stop())

  const attempt = (email: string, password: string, network = '203.0.113.7') =>
    app.call('POST', LOGIN, {
      body: { email, password },
      headers: { 'x-forwarded-for': network },
    })

  /** The waits in seconds that wrong passwords cause after the first five. */
  async function waitsOf(email: string, count: number): Promise<number[]> {
    for (let guess = 0; guess < 5; guess += 1) {
      expect((await attempt(email, 'wrong')).status).toBe(401)
    }
    const waits: number[] = []
    for (let guess = 0; guess < count; guess += 1) {
      const refused = await attempt(email, 'wrong')
      expect(said(refused)).toEqual(refusal('rate_limited'))
      const wait = Number(refused.headers.get('retry-after'))
      waits.push(wait)
      app.clock.advance(wait * 1000)
      expect((await attempt(email, 'wrong')).status).toBe(401)
    }
    return waits
  }

  test('wrong passwords cause waits of 1, 2, 4 … 300 seconds, the same for an unknown address', async () => {
    const expected = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    expect(await waitsOf(ada.email, expected.length)).toEqual(expected)
    expect(await waitsOf('nobody@people.example', expected.length)).toEqual(expected)
  })

  test('a wait does not lock the owner out of another network', async () => {
    expect((await attempt(ada.email, 'wrong')).status).toBe(401)
    expect((await attempt(ada.email, ada.password)).status).toBe(429)
    expect((await attempt(ada.email, ada.password, '198.51.100.4')).status).toBe(200)
    // An IPv6 host controls a whole /64, and no more.
    expect((await attempt(ada.email, ada.password, '2001:db8:1:2::3')).status).toBe(200)
  })

  test('a password is not verified during a wait', async () => {
    expect((await attempt(ada.email, 'wrong')).status).toBe(401)
    const verify = spyOn(Bun.password, 'verify')
    expect((await attempt(ada.email, ada.password)).status).toBe(429)
    expect(verify).not.toHaveBeenCalled()
    verify.mockRestore()
  })

  test('the right password resets the wait', async () => {
    expect((await attempt(ada.email, ada.password)).status).toBe(200)
    for (let guess = 0; guess < 5; guess += 1) {
      expect((await attempt(ada.email, 'wrong')).status).toBe(401)
    }
    expect((await attempt(ada.email, 'wrong')).status).toBe(429)
  })

  test('concurrent attempts get no more tries than sequential ones', async () => {
    const bea = await registerPerson(app, 'bea')
    const guesses = Array.from({ length: 20 }, () => attempt(bea.email, 'wrong', '192.0.2.9'))
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(15)
  })

  test('many concurrent right logins are not delayed', async () => {
    const bea = await registerPerson(app, 'bea')
    const tries = Array.from({ length: 8 }, () => attempt(bea.email, bea.password, '192.0.2.10'))
    expect((await Promise.all(tries)).map(({ status }) => status)).toEqual(Array(8).fill(200))
  })

  test('guesses with client addresses that an untrusted peer claims count for one network', async () => {
    const strict = await sharedApp()
    const email = freshEmail('unknown')
    const statuses: number[] = []
    for (let guess = 0; guess < 6; guess += 1) {
      const body = { email, password: 'wrong' }
      const headers = { 'x-forwarded-for': `203.0.113.${guess}` }
      statuses.push((await strict.call('POST', LOGIN, { body, headers })).status)
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
  })
})

test('RATE_LOGIN limits a network over login, prelogin, refresh and recovery together', async () => {
  const app = await startTestApp({ RATE_LOGIN: '4/60' })
  const paths = [LOGIN, PRELOGIN, '/api/auth/refresh/', '/api/auth/recover/']
  for (const path of paths) {
    expect((await app.call('POST', path, { body: {} })).status).toBe(422)
  }
  for (const path of [...paths, '/api/auth/recover/begin/']) {
    const answer = await app.call('POST', path, { body: {} })
    expect(said(answer)).toEqual(refusal('rate_limited'))
    expect(answer.headers.get('retry-after')).toBe('15')
  }
  await app.stop()
})
