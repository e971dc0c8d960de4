// tier: quick
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import {
  authKey,
  generateRecoveryKey,
  recoveryVerifier,
  unwrapForRecovery,
  unwrapPrivateKey,
  userKey,
} from '../../../src/client/account/keys.ts'
import { sessions, users } from '../../../src/database/schema/index.ts'
import {
  beginRecovery,
  changePassword,
  login,
  prelogin,
  recover,
  replaceRecovery,
} from '../../../src/features/accounts/contract.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import {
  logInAs,
  newApplicant,
  type Person,
  passwordFields,
  recoveryFields,
  registerPerson,
  registrationOf,
} from '../../support/people.ts'
import { alike, refusal, refusedField, said, writesNothing } from './support.ts'

const CHANGE = '/api/auth/change-password/'
const RECOVER = '/api/auth/recover/'
const BEGIN = '/api/auth/recover/begin/'
const RECOVERY = '/api/auth/recovery/'
const WRONG_KEY = { message: 'The email address or recovery key is wrong.' }

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.stop())

const statusOf = async (token: string) =>
  (await app.call('GET', '/api/users/me/', { token })).status

const logInStatus = async (email: string, password: string) =>
  (await app.call('POST', '/api/auth/login/', { body: { email, password } })).status

/** A new password for somebody: the master key behind it, and what the server is sent. */
function newPasswordFor(person: Pick<Person, 'privateKey' | 'publicKey'>) {
  const masterKey = new Uint8Array(randomBytes(32))
  const fields = { new_password: authKey(masterKey), ...passwordFields({ ...person, masterKey }) }
  return { masterKey, fields }
}

/** A recovery of somebody by their recovery key, and the keys that it sets. */
function recoveryOf(person: Person) {
  const { masterKey, fields } = newPasswordFor(person)
  const recoveryKey = generateRecoveryKey()
  const body = {
    email: person.email,
    recovery_verifier: recoveryVerifier(person.recoveryKey),
    ...fields,
    recovery: recoveryFields({ ...person, recoveryKey }),
  }
  return { body, masterKey, recoveryKey }
}

describe('change-password', () => {
  test.each(['POST', 'PATCH'])('by %s replaces what unlocks the account', async (method) => {
    const ada = await registerPerson(app)
    const { masterKey, fields } = newPasswordFor(ada)
    const body = { current_password: ada.password, ...fields }
    const answer = await app.call(method, CHANGE, { token: ada.token, body })
    expect(said(answer)).toEqual({ status: 200, body: { status: 'success' } })
    expect(await logInStatus(ada.email, ada.password)).toBe(401)
    const session = await app.as().call(login, {
      body: { email: ada.email, password: fields.new_password },
    })
    expect(session.key_salt).toBe(fields.key_salt)
    const unlocked = unwrapPrivateKey(
      userKey(masterKey),
      session.encrypted_private_key,
      ada.publicKey,
    )
    expect(unlocked).toEqual(ada.privateKey)
    const told = await app.as().call(prelogin, { body: { email: ada.email } })
    expect(told.key_salt).toBe(fields.key_salt)
  })

  test('ends the other sessions and keeps this one', async () => {
    const ada = await registerPerson(app)
    const other = await logInAs(app, ada)
    const { fields } = newPasswordFor(ada)
    await ada.api.call(changePassword, { body: { current_password: ada.password, ...fields } })
    expect(await statusOf(ada.token)).toBe(200)
    expect(await statusOf(other.token)).toBe(401)
    const refreshed = await app.call('POST', '/api/auth/refresh/', {
      body: { refresh: other.refresh },
    })
    expect(refreshed.status).toBe(401)
  })

  test('leaves the recovery key as it is', async () => {
    const ada = await registerPerson(app)
    const { fields } = newPasswordFor(ada)
    await ada.api.call(changePassword, { body: { current_password: ada.password, ...fields } })
    const { encrypted_private_key } = await app.as().call(beginRecovery, {
      body: { email: ada.email, recovery_verifier: recoveryVerifier(ada.recoveryKey) },
    })
    const opened = unwrapForRecovery(ada.recoveryKey, encrypted_private_key, ada.publicKey)
    expect(opened).toEqual(ada.privateKey)
  })

  test('refuses a wrong current password on that field, and in the end makes it wait', async () => {
    const ada = await registerPerson(app)
    const body = { current_password: 'wrong', ...newPasswordFor(ada).fields }
    const attempt = () => app.call('POST', CHANGE, { token: ada.token, body })
    for (let guess = 0; guess < 5; guess += 1) {
      const answer = await writesNothing(app, attempt)
      expect(said(answer)).toEqual(refusedField('current_password', 'is wrong'))
    }
    const sixth = await attempt()
    expect(said(sixth)).toEqual(refusal('rate_limited'))
    expect(sixth.headers.get('retry-after')).toBe('1')
    // A stolen session throttle the same password that a log-in would: the count is one.
    expect(await logInStatus(ada.email, ada.password)).toBe(429)
    app.clock.advance(1000)
    expect(await logInStatus(ada.email, ada.password)).toBe(200)
  })

  test('two password changes that race let one win', async () => {
    const ada = await registerPerson(app)
    const changes = [newPasswordFor(ada), newPasswordFor(ada)].map(({ fields }) => fields)
    const answers = await Promise.all(
      changes.map((fields) =>
        app.call('POST', CHANGE, {
          token: ada.token,
          body: { current_password: ada.password, ...fields },
        }),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    const winner = changes[statuses.indexOf(200)]?.new_password ?? ''
    expect(await logInStatus(ada.email, winner)).toBe(200)
  })

  const salt = Buffer.alloc(16).toString('base64')
  const refused: [what: string, fields: object, path: string, message: string][] = [
    [
      'a short password',
      { new_password: 'short' },
      'new_password',
      'must have a length of at least 8',
    ],
    ['no salt', { key_salt: undefined }, 'key_salt', 'is required'],
    ['a short salt', { key_salt: 'AAAA' }, 'key_salt', 'must encode exactly 16 bytes'],
    [
      'an unpadded salt',
      { key_salt: salt.slice(0, -2) },
      'key_salt',
      'must be canonical base64 with padding',
    ],
    [
      'no wrapped key',
      { encrypted_private_key: undefined },
      'encrypted_private_key',
      'is required',
    ],
    [
      'weaker derivation',
      { kdf: { algorithm: 'argon2id', memory_kib: 1024, iterations: 3, parallelism: 4 } },
      'kdf.memory_kib',
      'must be at least 65536',
    ],
    ['no current password', { current_password: undefined }, 'current_password', 'is required'],
    [
      'a new public key',
      { public_key: Buffer.alloc(32).toString('base64') },
      'public_key',
      'is not a field of this request',
    ],
  ]
  test.each(refused)('refuses %s', async (_, fields, path, message) => {
    const ada = await registerPerson(app)
    const body = { current_password: ada.password, ...newPasswordFor(ada).fields, ...fields }
    const answer = await writesNothing(app, () =>
      app.call('POST', CHANGE, { token: ada.token, body }),
    )
    expect(said(answer)).toEqual(refusedField(path, message))
  })
})

describe('recovery', () => {
  test('gives back the private key, sets a new password, and ends every session', async () => {
    const ada = await registerPerson(app)
    const { body, masterKey } = recoveryOf(ada)
    const { email, recovery_verifier } = body
    const begun = await app.call('POST', BEGIN, { body: { email, recovery_verifier } })
    expect(said(begun)).toEqual({
      status: 200,
      body: {
        status: 'success',
        data: {
          public_key: Buffer.from(ada.publicKey).toString('base64'),
          signing_key: null,
          encrypted_private_key: expect.any(String),
        },
      },
    })
    expect(await statusOf(ada.token)).toBe(200)
    const done = await app.call('POST', RECOVER, { body })
    expect(said(done)).toEqual({ status: 200, body: { status: 'success' } })
    expect(await statusOf(ada.token)).toBe(401)
    expect(await logInStatus(email, ada.password)).toBe(401)
    const session = await app.as().call(login, { body: { email, password: body.new_password } })
    const unlocked = unwrapPrivateKey(
      userKey(masterKey),
      session.encrypted_private_key,
      ada.publicKey,
    )
    expect(unlocked).toEqual(ada.privateKey)
  })

  test('works once: the old key is spent, the new one works', async () => {
    const ada = await registerPerson(app)
    const { body, recoveryKey } = recoveryOf(ada)
    await app.as().call(recover, { body })
    const again = await writesNothing(app, () => app.call('POST', RECOVER, { body }))
    expect(said(again)).toEqual(refusal('invalid_credentials', WRONG_KEY))
    await app.as().call(recover, { body: recoveryOf({ ...ada, recoveryKey }).body })
  })

  test('two recoveries that race with one key let one win', async () => {
    const ada = await registerPerson(app)
    const answers = await Promise.all(
      [recoveryOf(ada), recoveryOf(ada)].map(({ body }) => app.call('POST', RECOVER, { body })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  test('refuses the recovery key that it replaces', async () => {
    const ada = await registerPerson(app)
    const { body } = recoveryOf(ada)
    const same = { ...body, recovery: recoveryFields(ada) }
    const answer = await writesNothing(app, () => app.call('POST', RECOVER, { body: same }))
    expect(said(answer)).toEqual(refusedField('recovery.verifier', 'must be different'))
  })

  test('answers alike for a wrong key, no key and nobody, and makes guessing wait', async () => {
    const ada = await registerPerson(app)
    const { recovery: _, ...registration } = await registrationOf(newApplicant())
    await app.call('POST', '/api/auth/register/', { body: registration })
    for (const email of [ada.email, registration.email, 'nobody@people.example']) {
      const { body } = recoveryOf({ ...ada, recoveryKey: generateRecoveryKey() })
      const { recovery_verifier } = body
      const begin = () => app.call('POST', BEGIN, { body: { email, recovery_verifier } })
      const finish = () => app.call('POST', RECOVER, { body: { ...body, email } })
      const first = await writesNothing(app, begin)
      expect(said(first)).toEqual(refusal('invalid_credentials', WRONG_KEY))
      expect(alike(await writesNothing(app, finish))).toEqual(alike(first))
      for (const attempt of [begin, finish, begin]) expect((await attempt()).status).toBe(401)
      const sixth = await finish()
      expect(said(sixth)).toEqual(refusal('rate_limited'))
      expect(sixth.headers.get('retry-after')).toBe('1')
    }
    // Guessing at the recovery key is not guessing at the password.
    expect(await logInStatus(ada.email, ada.password)).toBe(200)
  })

  test.each([
    [BEGIN, { email: 'ada', recovery_verifier: 'x' }, 'email', 'must be a valid email'],
    [BEGIN, { email: 'a@b.example' }, 'recovery_verifier', 'is required'],
    [
      BEGIN,
      { email: 'a@b.example', recovery_verifier: 'x', new_password: 'y' },
      'new_password',
      'is not a field of this request',
    ],
  ])('refuses bad input %#', async (path, body, field, message) => {
    const answer = await writesNothing(app, () => app.call('POST', path, { body }))
    expect(said(answer)).toEqual(refusedField(field, message))
  })

  test('cannot leave the account without a recovery key', async () => {
    const ada = await registerPerson(app)
    const { recovery: _, ...body } = recoveryOf(ada).body
    const answer = await writesNothing(app, () => app.call('POST', RECOVER, { body }))
    expect(said(answer)).toEqual(refusedField('recovery', 'is required'))
  })
})

describe('a recovery key', () => {
  test('is replaced by somebody who knows the password', async () => {
    const ada = await registerPerson(app)
    const recoveryKey = generateRecoveryKey()
    const recovery = recoveryFields({ ...ada, recoveryKey })
    await ada.api.call(replaceRecovery, { body: { current_password: ada.password, recovery } })
    const begin = (key: Uint8Array) =>
      app.call('POST', BEGIN, {
        body: { email: ada.email, recovery_verifier: recoveryVerifier(key) },
      })
    expect((await begin(ada.recoveryKey)).status).toBe(401)
    expect((await begin(recoveryKey)).body).toMatchObject({
      data: { encrypted_private_key: recovery.encrypted_private_key },
    })
    expect(await statusOf(ada.token)).toBe(200)
  })

  test('is not replaced by a session alone', async () => {
    const ada = await registerPerson(app)
    const body = { current_password: 'wrong', recovery: recoveryFields(ada) }
    const answer = await writesNothing(app, () =>
      app.call('PUT', RECOVERY, { token: ada.token, body }),
    )
    expect(said(answer)).toEqual(refusedField('current_password', 'is wrong'))
  })

  test.each([
    [{ recovery: undefined }, 'recovery', 'is required'],
    [{ recovery: { verifier: 'long enough' } }, 'recovery.encrypted_private_key', 'is required'],
    [
      { recovery: { verifier: 'short', encrypted_private_key: 'AAAA' } },
      'recovery.verifier',
      'must have a length of at least 8',
    ],
    [{ user_id: 'x' }, 'user_id', 'is not a field of this request'],
  ])('is not replaced by bad input %#', async (fields, path, message) => {
    const ada = await registerPerson(app)
    const body = { current_password: ada.password, recovery: recoveryFields(ada), ...fields }
    const answer = await writesNothing(app, () =>
      app.call('PUT', RECOVERY, { token: ada.token, body }),
    )
    expect(said(answer)).toEqual(refusedField(path, message))
  })

  test('cannot be swapped with the copy that the password opens', async () => {
    const ada = await registerPerson(app)
    const { db } = app.connection
    const [row] = await db.select().from(users).where(eq(users.id, ada.userId))
    await db
      .update(users)
      .set({ recoveryPrivateKey: row?.encryptedPrivateKey ?? null })
      .where(eq(users.id, ada.userId))
    const body = { email: ada.email, recovery_verifier: recoveryVerifier(ada.recoveryKey) }
    expect(said(await app.call('POST', BEGIN, { body }))).toEqual(refusal('internal_error'))
  })
})

describe('a password that was changed while it was being checked', () => {
  const OVERTAKEN = { message: 'The password has changed. Retry.' }

  /** Runs `act` with a rival who changes the password when hashing, which is slow, has just ended. */
  async function overtake<T>(person: Person, act: () => Promise<T>): Promise<T> {
    const { hash, verify } = Bun.password
    const rivals = await hash('a password of the rival')
    const change = () =>
      app.connection.db
        .update(users)
        .set({ passwordHash: rivals })
        .where(eq(users.id, person.userId))
    const spies = [
      spyOn(Bun.password, 'hash').mockImplementation(async (password, cost) => {
        const hashed = await hash(password, cost)
        await change()
        return hashed
      }),
      spyOn(Bun.password, 'verify').mockImplementation(async (password, stored) => {
        const right = await verify(password, stored)
        await change()
        return right
      }),
    ]
    const result = await act()
    for (const spy of spies) spy.mockRestore()
    const [row] = await app.connection.db.select().from(users).where(eq(users.id, person.userId))
    expect(row?.passwordHash).toBe(rivals)
    return result
  }

  test('is not changed by the one who comes late', async () => {
    const ada = await registerPerson(app)
    const body = { current_password: ada.password, ...newPasswordFor(ada).fields }
    const answer = await overtake(ada, () => app.call('POST', CHANGE, { token: ada.token, body }))
    expect(said(answer)).toEqual(refusal('conflict', OVERTAKEN))
  })

  test('does not change the recovery key any more', async () => {
    const ada = await registerPerson(app)
    const body = { current_password: ada.password, recovery: recoveryFields(ada) }
    const answer = await overtake(ada, () => app.call('PUT', RECOVERY, { token: ada.token, body }))
    expect(said(answer)).toEqual(refusal('conflict', OVERTAKEN))
  })

  test('does not open a session any more', async () => {
    const ada = await registerPerson(app)
    const body = { email: ada.email, password: ada.password }
    const answer = await overtake(ada, () => app.call('POST', '/api/auth/login/', { body }))
    expect(said(answer)).toEqual(refusal('invalid_credentials'))
    const open = await app.connection.db
      .select()
      .from(sessions)
      .where(eq(sessions.userId, ada.userId))
    expect(open).toHaveLength(1)
  })
})

test('every operation on an account needs a session', async () => {
  const calls = [
    ['POST', CHANGE],
    ['PATCH', CHANGE],
    ['PUT', RECOVERY],
    ['POST', '/api/auth/logout/'],
    ['GET', '/api/auth/sessions/'],
    ['DELETE', `/api/auth/sessions/${Bun.randomUUIDv7()}/`],
    ['GET', '/api/users/me/'],
    ['GET', '/api/users/a@b.example/public-key/'],
  ] as const
  for (const [method, path] of calls) {
    const answer = await writesNothing(app, () => app.call(method, path, {}))
    expect(said(answer)).toEqual(refusal('invalid_token'))
  }
})
