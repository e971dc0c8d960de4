// tier: quick, both databases in test:all
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createConnection } from 'node:net'
import { desc, eq, type SQL, sql } from 'drizzle-orm'
import { Pepper } from '../../../src/core/crypto/pepper.ts'
import { formatToken, mintToken, parseToken } from '../../../src/core/crypto/token.ts'
import type { Database } from '../../../src/database/open.ts'
import { sessions, sessionTokens } from '../../../src/database/schema/index.ts'
import {
  listSessions,
  login,
  logout,
  refresh,
  revokeSession,
} from '../../../src/features/accounts/contract.ts'
import { rotateTokens } from '../../../src/features/accounts/sessions.ts'
import { openIdentity } from '../../../src/identity/authenticate.ts'
import { type Answer, startTestApp, type TestApp } from '../../support/app.ts'
import { logInAs, type Person, registerPerson } from '../../support/people.ts'
import { alike, refusal, refusedField, said, writesNothing } from './support.ts'

const ME = '/api/users/me/'
const REFRESH = '/api/auth/refresh/'
const LOGOUT = '/api/auth/logout/'
const SESSIONS = '/api/auth/sessions/'

const DAY_MS = 86_400_000

let app: TestApp
let ada: Person
beforeAll(async () => {
  app = await startTestApp()
  ada = await registerPerson(app, 'ada')
})
afterAll(() => app.stop())

const idOf = (token: string) => parseToken(token)?.id ?? ''
const statusOf = async (token: string) => (await app.call('GET', ME, { token })).status
const context = (token: string) => app.call('POST', REFRESH, { body: { refresh: token } })

/** Moves one column of a token's row back in time: the database's clock cannot be moved. */
async function age(token: string, column: 'expiresAt' | 'rotatedAt', by: string): Promise<void> {
  await app.connection.db
    .update(sessionTokens)
    .set({ [column]: sql`${sessionTokens[column]} - ${by}::interval` })
    .where(eq(sessionTokens.id, idOf(token)))
}

describe('a request', () => {
  const unauthenticated: [what: string, headers: Record<string, string>][] = [
    ['without Authorization', {}],
    ['with an empty Authorization', { authorization: '' }],
    ['with Basic credentials', { authorization: 'Basic YWRhOmFkYQ==' }],
    ['with a bare scheme', { authorization: 'Bearer' }],
    ['with what is no token', { authorization: 'Bearer abc' }],
    ['with a token nobody has', { authorization: `Bearer ${mintToken('ses').text}` }],
    ['with an agent token', { authorization: `Bearer ${mintToken('agt').text}` }],
    ['with a workload token', { authorization: `Bearer ${mintToken('wkl').text}` }],
  ]
  test.each(unauthenticated)('a request with %s is 401 and writes nothing', async (_, headers) => {
    const answer = await writesNothing(app, () => app.call('GET', ME, { headers }))
    expect(said(answer)).toEqual(refusal('invalid_token'))
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('a request with two Authorization headers is 401, even if both are good', async () => {
    const answer = await rawGet(app.controlPlane, ME, [
      `Authorization: Bearer ${ada.token}`,
      `Authorization: Bearer ${ada.token}`,
    ])
    expect(answer).toStartWith('HTTP/1.1 401 ')
    expect(answer).toContain('"error_code":"invalid_token"')
  })

  test('a request is rejected alike for unknown, wrong, refresh, expired and revoked tokens', async () => {
    const gone = await logInAs(app, ada)
    await app.as(gone.token).call(logout, {})
    const old = await logInAs(app, ada)
    await age(old.token, 'expiresAt', '16 minutes')
    const wrongSecret = formatToken('ses', idOf(ada.token), mintToken('ses').secret)
    const tokens = [mintToken('ses').text, wrongSecret, ada.refresh, gone.token, old.token]
    const answers = await Promise.all(tokens.map((token) => app.call('GET', ME, { token })))
    const [first] = answers as [Answer, ...Answer[]]
    expect(said(first)).toEqual(refusal('invalid_token'))
    for (const answer of answers) expect(alike(answer)).toEqual(alike(first))
  })

  test('a request with a token in the query string is 401, and the log does not contain it', async () => {
    const answer = await app.call('GET', `${ME}?access_token=${ada.token}&token=${ada.token}`)
    expect(said(answer)).toEqual(refusal('invalid_token'))
    expect(app.logs.join('\n')).not.toContain(ada.token)
  })

  test('a request without a valid token is 401 before its body is read', async () => {
    const answer = await app.call('POST', '/api/auth/change-password/', { body: { x: 1 } })
    expect(said(answer)).toEqual(refusal('invalid_token'))
  })
})

describe('a damaged token', () => {
  const damages: [what: string, damage: (token: string) => string][] = [
    ['a wrong checksum', (token) => token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')],
    ['a character less', (token) => token.slice(0, -1)],
    ['a character more', (token) => `${token}0`],
    ['a foreign character', (token) => `${token.slice(0, -1)}-`],
    ['another kind', (token) => token.replace(/^svc_.../, 'svc_agt')],
    ['nothing in it', () => ''],
  ]
  test.each(damages)('a damaged token with %s is rejected without a query', async (_, damage) => {
    const headers = new Headers({ authorization: `Bearer ${damage(ada.token)}` })
    const sessions = { db: untouchable(app.connection.db), pepper: app.pepper }
    await expect(openIdentity(sessions).authenticate(headers)).rejects.toMatchObject({
      code: 'invalid_token',
    })
    await expect(rotateTokens(sessions, damage(ada.refresh))).rejects.toMatchObject({
      code: 'invalid_token',
    })
  })
})

describe('refresh', () => {
  test('a refresh rotates: new tokens work, the old access token stays valid, and no other field is returned', async () => {
    const { token, refresh: first } = await logInAs(app, ada)
    const answer = await context(first)
    expect(said(answer)).toEqual({
      status: 200,
      body: {
        status: 'success',
        data: {
          access: expect.stringMatching(/^svc_ses_/),
          refresh: expect.stringMatching(/^svc_ref_/),
          expires_at: expect.stringMatching(/Z$/),
        },
      },
    })
    expect(await statusOf(token)).toBe(200)
    expect(JSON.stringify(answer.body)).not.toContain(first)
  })

  test('a refresh repeated within ten seconds returns the same tokens and changes nothing', async () => {
    const { refresh: first } = await logInAs(app, ada)
    const next = await context(first)
    await age(first, 'rotatedAt', '8 seconds')
    const again = await writesNothing(app, () => context(first))
    expect(said(again)).toEqual(said(next))
    const { access } = (next.body as { data: { access: string } }).data
    expect(await statusOf(access)).toBe(200)
  })

  test('a refresh repeated after the new refresh token was exchanged is a conflict that changes nothing', async () => {
    const { refresh: first } = await logInAs(app, ada)
    const next = await app.as().call(refresh, { body: { refresh: first } })
    const last = await app.as().call(refresh, { body: { refresh: next.refresh } })
    const again = await writesNothing(app, () => context(first))
    expect(said(again)).toEqual(
      refusal('conflict', { message: 'The refresh token was just exchanged.' }),
    )
    expect(await statusOf(last.access)).toBe(200)
    expect((await context(last.refresh)).status).toBe(200)
  })

  test('a refresh returns tokens that cannot be derived from the old one without the server', async () => {
    const { refresh: first } = await logInAs(app, ada)
    const next = await app.as().call(refresh, { body: { refresh: first } })
    const [old, made] = [parseToken(first), parseToken(next.refresh)]
    const other = Pepper.parse('another-secret-key-another-secret-key')
    const guess = other.deriveSuccessor(
      { kind: 'ref', id: made?.id ?? '' },
      old?.secret ?? new Uint8Array(),
    )
    expect(guess).not.toEqual(new Uint8Array(made?.secret ?? []))
  })

  test('a refresh repeated later ends the session with all its tokens', async () => {
    const { token, refresh: first } = await logInAs(app, ada)
    const next = await app.as().call(refresh, { body: { refresh: first } })
    await age(first, 'rotatedAt', '11 seconds')
    expect(said(await context(first))).toEqual(refusal('invalid_token'))
    expect(await statusOf(token)).toBe(401)
    expect(await statusOf(next.access)).toBe(401)
    expect(said(await context(next.refresh))).toEqual(refusal('invalid_token'))
    expect(await statusOf(ada.token)).toBe(200)
  })

  test('concurrent refreshes give one successor', async () => {
    const { token, refresh: first } = await logInAs(app, ada)
    const answers = await Promise.all(Array.from({ length: 6 }, () => context(first)))
    const [first200] = answers as [Answer, ...Answer[]]
    expect(first200.status).toBe(200)
    for (const answer of answers) expect(said(answer)).toEqual(said(first200))
    expect(await statusOf(token)).toBe(200)
  })

  test('a refresh with only a guessed token ID does not end the session', async () => {
    const { token, refresh: first } = await logInAs(app, ada)
    await context(first)
    await age(first, 'rotatedAt', '1 hour')
    const forged = formatToken('ref', idOf(first), mintToken('ref').secret)
    const answer = await writesNothing(app, () => context(forged))
    expect(said(answer)).toEqual(refusal('invalid_token'))
    expect(await statusOf(token)).toBe(200)
  })

  test('a refresh rejects an access token, an expired one and one of an ended session', async () => {
    const ended = await logInAs(app, ada)
    await app.as(ended.token).call(logout, {})
    const old = await logInAs(app, ada)
    await age(old.refresh, 'expiresAt', '31 days')
    for (const token of [ada.token, ended.refresh, old.refresh, mintToken('ref').text, 'x']) {
      const answer = await writesNothing(app, () => context(token))
      expect(said(answer)).toEqual(refusal('invalid_token'))
    }
  })

  test('a refresh deletes the dead tokens of the session', async () => {
    const person = await registerPerson(app)
    await age(person.token, 'expiresAt', '1 day')
    await app.as().call(refresh, { body: { refresh: person.refresh } })
    const rows = await app.connection.db
      .select({ id: sessionTokens.id })
      .from(sessionTokens)
      .innerJoin(sessions, eq(sessions.id, sessionTokens.sessionId))
      .where(eq(sessions.userId, person.userId))
    const ids = rows.map(({ id }) => id)
    expect(ids).toHaveLength(3)
    expect(ids).not.toContain(idOf(person.token))
  })

  test.each([
    [{}, 'refresh', 'is required'],
    [{ refresh: 7 }, 'refresh', 'must be of type string'],
    [{ refresh: 'x', device: 'y' }, 'device', 'is not a field of this request'],
  ])('a refresh rejects bad input %#', async (body, path, message) => {
    const answer = await writesNothing(app, () => app.call('POST', REFRESH, { body }))
    expect(said(answer)).toEqual(refusedField(path, message))
  })
})

describe('expiry', () => {
  test.each([DAY_MS, -DAY_MS])(
    'a session ignores that the process clock is off by %d',
    async (ms) => {
      app.clock.advance(ms)
      const person = await registerPerson(app)
      expect((await app.call('GET', ME, { token: person.token })).status).toBe(200)
      const { expires_at } = await app.as().call(login, {
        body: { email: person.email, password: person.password },
      })
      const minutes = (Date.parse(expires_at) - Date.now()) / 60_000
      expect(minutes).toBeGreaterThan(14)
      expect(minutes).toBeLessThan(15.1)
      const [newest] = await app.connection.db
        .select()
        .from(sessionTokens)
        .where(eq(sessionTokens.kind, 'refresh'))
        .orderBy(desc(sessionTokens.createdAt))
      const days = (Number(newest?.expiresAt) - Date.now()) / DAY_MS
      expect(days).toBeGreaterThan(29.9)
      expect(days).toBeLessThan(30.1)
      app.clock.advance(-ms)
    },
  )

  test('an access token expires at the exact moment', async () => {
    const { token } = await logInAs(app, ada)
    await age(token, 'expiresAt', '14 minutes')
    expect(await statusOf(token)).toBe(200)
    await age(token, 'expiresAt', '1 minute')
    expect(await statusOf(token)).toBe(401)
  })
})

describe('logout', () => {
  const end = (token: string, body?: object) => app.call('POST', LOGOUT, { token, body })

  test.each([
    ['no body', () => undefined],
    ['an empty object', () => ({})],
    ['the refresh token', (person: { refresh: string }) => ({ refresh_token: person.refresh })],
  ])('a logout with %s ends the session', async (_, bodyOf) => {
    const session = await logInAs(app, ada)
    const answer = await end(session.token, bodyOf(session))
    expect(said(answer)).toEqual({ status: 200, body: { status: 'success' } })
    expect(await statusOf(session.token)).toBe(401)
    expect((await context(session.refresh)).status).toBe(401)
    expect(said(await end(session.token))).toEqual(refusal('invalid_token'))
    expect(await statusOf(ada.token)).toBe(200)
  })

  test('a logout ends another session of the caller if its refresh token is given', async () => {
    const [one, other] = [await logInAs(app, ada), await logInAs(app, ada)]
    await end(one.token, { refresh_token: other.refresh })
    expect([await statusOf(one.token), await statusOf(other.token)]).toEqual([401, 401])
  })

  test("a logout does not end another person's session", async () => {
    const bea = await registerPerson(app, 'bea')
    const session = await logInAs(app, ada)
    const forged = formatToken('ref', idOf(ada.refresh), mintToken('ref').secret)
    await end((await logInAs(app, ada)).token, { refresh_token: forged })
    expect((await end(session.token, { refresh_token: bea.refresh })).status).toBe(200)
    expect(await statusOf(bea.token)).toBe(200)
    expect(await statusOf(ada.token)).toBe(200)
    expect(await statusOf(session.token)).toBe(401)
  })

  test('a logout rejects an invalid refresh token, and ends nothing', async () => {
    for (const refresh_token of ['x', ada.token]) {
      const answer = await writesNothing(app, () => end(ada.token, { refresh_token }))
      expect(said(answer)).toEqual(refusedField('refresh_token', 'must be a refresh token'))
    }
    const unknown = await writesNothing(app, () => end(ada.token, { all: true }))
    expect(said(unknown)).toEqual(refusedField('all', 'is not a field of this request'))
  })
})

describe('the list of sessions', () => {
  test("the list of sessions has the caller's live ones, newest first, page by page", async () => {
    const person = await registerPerson(app)
    const ended = await logInAs(app, person)
    await app.as(ended.token).call(logout, {})
    const old = await logInAs(app, person)
    for (const token of [old.token, old.refresh]) await age(token, 'expiresAt', '31 days')
    const body = { email: person.email, password: person.password }
    const headers = { 'user-agent': 'curl/8\u0080\u00ff' }
    await app.call('POST', '/api/auth/login/', { body, headers })
    const answer = await app.call('GET', `${SESSIONS}?limit=1`, { token: person.token })
    const entry = {
      id: expect.any(String),
      user_agent: 'curl/8??',
      current: false,
      last_used_at: expect.stringMatching(/Z$/),
      expires_at: expect.stringMatching(/Z$/),
      created_at: expect.stringMatching(/Z$/),
    }
    expect(said(answer)).toEqual({
      status: 200,
      body: {
        status: 'success',
        data: [entry],
        pagination: { next_cursor: expect.any(String) },
      },
    })
    const all = await person.api.list(listSessions, { query: { limit: 1 } })
    expect(all.map(({ current }) => current)).toEqual([false, true])
    expect(Date.parse(all[1]?.expires_at ?? '') - Date.now()).toBeGreaterThan(29 * DAY_MS)
  })

  test('the list has the last use to the minute, also of an active session, which is not written each time', async () => {
    const person = await registerPerson(app)
    const { db } = app.connection
    const useAt = async (at: SQL) => {
      const [before] = await db
        .update(sessions)
        .set({ lastUsedAt: at })
        .where(eq(sessions.userId, person.userId))
        .returning({ at: sessions.lastUsedAt })
      const [now] = await person.api.call(listSessions, {})
      return Date.parse(now?.last_used_at ?? '') - (before?.at.getTime() ?? 0)
    }
    expect(await useAt(sql`now() - interval '61 seconds'`)).toBeGreaterThanOrEqual(61_000)
    expect(await useAt(sql`now() + interval '1 hour'`)).toBe(0)
  })

  test("the list rejects another person's cursor", async () => {
    const answer = await app.call('GET', `${SESSIONS}?cursor=AAAA`, { token: ada.token })
    expect(said(answer)).toEqual(refusedField('cursor', 'is not a cursor of this list'))
  })

  test('the caller ends a listed session, once', async () => {
    const other = await logInAs(app, ada)
    const [newest] = await ada.api.call(listSessions, {})
    const path = `${SESSIONS}${newest?.id}/`
    const ended = await app.call('DELETE', path, { token: ada.token })
    expect(said(ended)).toEqual({ status: 200, body: { status: 'success' } })
    expect(await statusOf(other.token)).toBe(401)
    const again = await app.call('DELETE', path, { token: ada.token })
    expect(said(again)).toEqual(refusal('not_found'))
  })

  test("nobody can end another person's session", async () => {
    const bea = await registerPerson(app, 'bea')
    const [hers] = await bea.api.call(listSessions, {})
    for (const id of [hers?.id, Bun.randomUUIDv7(), 'none']) {
      const answer = await writesNothing(app, () =>
        app.call('DELETE', `${SESSIONS}${id}/`, { token: ada.token }),
      )
      expect(said(answer)).toEqual(refusal('not_found'))
    }
    expect(await statusOf(bea.token)).toBe(200)
  })

  test('the caller can end the calling session', async () => {
    const session = await logInAs(app, ada)
    const api = app.as(session.token)
    const mine = (await api.list(listSessions, {})).find(({ current }) => current)
    await api.call(revokeSession, { params: { session_id: mine?.id ?? '' } })
    expect(await statusOf(session.token)).toBe(401)
  })

  test('the next login deletes dead sessions', async () => {
    const person = await registerPerson(app)
    for (const token of [person.token, person.refresh]) await age(token, 'expiresAt', '31 days')
    await logInAs(app, person)
    const rows = await app.connection.db
      .select()
      .from(sessions)
      .where(eq(sessions.userId, person.userId))
    expect(rows).toHaveLength(1)
  })
})

/** A database that fails the test on any query. */
function untouchable(db: Database): Database {
  return new Proxy(db, {
    get: () => {
      throw new Error('the database was asked')
    },
  })
}

/** One request byte by byte, because clients merge repeated headers. */
function rawGet(origin: string, path: string, headers: readonly string[]): Promise<string> {
  const { hostname, port, host } = new URL(origin)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = createConnection({ host: hostname, port: Number(port) })
  const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers, '', '']
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.on('error', reject)
  socket.on('close', () => resolve(answer))
  socket.write(lines.join('\r\n'))
  return promise
}
