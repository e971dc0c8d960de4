// tier: quick
/**
 * A browser sends cookies automatically, whatever page caused the request: a session in cookies counts only for the
 * console's own page. These tests send the headers that every browser sends.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Answer, startTestApp, type TestApp } from '../support/app.ts'
import { cookieHeader, cookiesOf, type InCookies, ofConsole } from '../support/console.ts'
import { logInAs, type Person, registerPerson } from '../support/people.ts'

const ME = '/api/users/me/'
const LOGIN = '/api/auth/console/login/'
const REFRESH = '/api/auth/console/refresh/'
const LOGOUT = '/api/auth/logout/'

let app: TestApp
let ada: Person
let eve: Person
let tokens: InCookies
beforeAll(async () => {
  app = await startTestApp({ RATE_LOGIN: '1000/1', ALLOWED_HOSTS: '*' })
  ada = await registerPerson(app, 'ada')
  eve = await registerPerson(app, 'eve')
  tokens = cookiesOf((await logIn(ada)).headers)
})
afterAll(() => app.stop())

const logIn = ({ email, password }: Person, headers = ofConsole()) =>
  app.call('POST', LOGIN, { headers, body: { email, password } })
const me = (headers: Record<string, string>) => app.call('GET', ME, { headers })
const emailOf = ({ body }: Answer) => (body as { data?: { email: string } }).data?.email
const cookie = () => cookieHeader(tokens)
const host = () => new URL(app.controlPlane).host

describe('a console login', () => {
  test('a console login keeps its tokens in cookies that only the browser and the server read, and returns none', async () => {
    const answer = await logIn(ada)
    expect(answer.status).toBe(200)
    const { data } = answer.body as { data: object }
    expect(Object.keys(data).sort()).toEqual([
      ...['encrypted_private_key', 'expires_at', 'kdf', 'key_salt', 'user', 'workspaces'],
    ])
    expect(JSON.stringify(answer.body)).not.toContain('svc_')
    const attributes = '; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=2592000'
    expect(answer.headers.getSetCookie().map((set) => set.replace(/=svc_\w+/, '='))).toEqual([
      `__Host-cloakroom-access=${attributes}`,
      `__Host-cloakroom-refresh=${attributes}`,
    ])
  })

  test('a console session calls with its cookies, renews them and ends with them', async () => {
    const first = cookiesOf((await logIn(ada)).headers)
    expect(emailOf(await me(ofConsole(first)))).toBe(ada.email)
    const renewed = await app.call('POST', REFRESH, { headers: ofConsole(first) })
    expect(renewed.body).toEqual({
      status: 'success',
      data: { expires_at: expect.any(String) },
    })
    const next = cookiesOf(renewed.headers)
    expect(next).not.toEqual(first)
    expect(emailOf(await me(ofConsole(next)))).toBe(ada.email)
    const ended = await app.call('POST', LOGOUT, { headers: ofConsole(next) })
    expect(ended.status).toBe(200)
    expect(ended.headers.getSetCookie()).toEqual([
      '__Host-cloakroom-access=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0',
      '__Host-cloakroom-refresh=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0',
    ])
    for (const old of [first, next]) expect((await me(ofConsole(old))).status).toBe(401)
  })

  test('a console session changes data by its cookies: the guard does not only cover reads', async () => {
    const headers = ofConsole(tokens)
    const body = { name: 'Mine', encrypted_workspace_key: Buffer.alloc(92, 1).toString('base64') }
    const refused = await app.call('POST', '/api/workspaces/', {
      headers: { cookie: cookie() },
      body,
    })
    expect(refused.status).toBe(401)
    const answer = await app.call('PATCH', `/api/workspaces/${ada.workspaceId}/`, {
      headers,
      body: { name: 'Renamed' },
    })
    expect(answer.status).toBe(200)
  })

  test("a console refresh token that is used again after ten seconds ends the session, like a bearer's", async () => {
    const first = cookiesOf((await logIn(ada)).headers)
    const renew = () => app.call('POST', REFRESH, { headers: ofConsole(first) })
    const next = cookiesOf((await renew()).headers)
    // Two windows at once, or a lost answer: within ten seconds both get the same successors.
    const again = await renew()
    expect([again.status, cookiesOf(again.headers)]).toEqual([200, next])
    await app.connection
      .sql`update session_tokens set rotated_at = rotated_at - interval '11 seconds'
      where rotated_at is not null`
    expect((await renew()).status).toBe(401)
    expect((await me(ofConsole(next))).status).toBe(401)
    expect((await app.call('POST', REFRESH, { headers: ofConsole(next) })).status).toBe(401)
  })
})

describe('cookies of a live session have no effect', () => {
  const guarded = () => ({ cookie: cookie(), 'x-cloakroom-console': '1' })
  const requests: [what: string, headers: () => Record<string, string>][] = [
    ['with a form of another site', () => ({ cookie: cookie(), 'sec-fetch-site': 'cross-site' })],
    ['without the header', () => ({ cookie: cookie(), 'sec-fetch-site': 'same-origin' })],
    [
      'with another value of the header',
      () => ({ ...ofConsole(tokens), 'x-cloakroom-console': 'true' }),
    ],
    ['with fetch of another site', () => ({ ...guarded(), 'sec-fetch-site': 'cross-site' })],
    ['with fetch of a sibling host', () => ({ ...guarded(), 'sec-fetch-site': 'same-site' })],
    ['with an address that was typed', () => ({ ...guarded(), 'sec-fetch-site': 'none' })],
    ['from no browser, or one that says nothing', guarded],
    ['with another Origin', () => ({ ...ofConsole(tokens), origin: 'https://evil.example' })],
    [
      'with the Origin of another port',
      () => ({
        ...guarded(),
        origin: app.controlPlane.replace(/\d+$/, (port) => `${Number(port) + 1}`),
      }),
    ],
    [
      'with a name that only begins like ours',
      () => ({ ...guarded(), origin: `https://${host()}.evil.example` }),
    ],
    ['with Origin null, as of a sandbox', () => ({ ...ofConsole(tokens), origin: 'null' })],
    ['with an empty Origin', () => ({ ...guarded(), origin: '' })],
    [
      'with plain HTTP of a host that is not this machine',
      () => ({ ...guarded(), host: 'vault.example', origin: 'http://vault.example' }),
    ],
    [
      'beside a bearer that is refused',
      () => ({ ...ofConsole(tokens), authorization: 'Bearer abc' }),
    ],
    ['beside Basic credentials', () => ({ ...ofConsole(tokens), authorization: 'Basic YTpi' })],
    ['in another case', () => ({ ...ofConsole(tokens), cookie: cookie().toUpperCase() })],
    [
      'without the prefix',
      () => ({ ...ofConsole(tokens), cookie: cookie().replaceAll('__Host-', '') }),
    ],
    [
      'in the place of one another',
      () => ofConsole({ access: tokens.refresh ?? '', refresh: tokens.access ?? '' }),
    ],
  ]
  test.each(requests)('%s', async (_, headers) => {
    const answer = await me(headers())
    expect(answer.status).toBe(401)
    expect(JSON.stringify(answer.body)).not.toContain(ada.email)
  })

  test('a bearer beside cookies authenticates the call', async () => {
    const answer = await me({ ...ofConsole(tokens), authorization: `Bearer ${eve.token}` })
    expect(emailOf(answer)).toBe(eve.email)
  })

  test('cookies authenticate a page of the own origin, whatever fetch metadata the browser sends', async () => {
    const origin = app.controlPlane
    const behindTls = { host: 'vault.example', origin: 'https://vault.example' }
    for (const headers of [
      ofConsole(tokens),
      { ...ofConsole(tokens), origin },
      { ...guarded(), origin },
      { ...guarded(), ...behindTls },
    ]) {
      const answer = await me(headers)
      expect(emailOf(answer)).toBe(ada.email)
    }
  })
})

describe('cookies from a sibling host', () => {
  test("a sibling host's cookies beside the session's make both invalid, so nobody uses a foreign account unknowingly", async () => {
    const evil = cookiesOf((await logIn(eve)).headers)
    for (const both of [
      `${cookieHeader(evil)}; ${cookie()}`,
      `${cookie()}; ${cookieHeader(evil)}`,
    ]) {
      const headers = { ...ofConsole(), cookie: both }
      expect((await me(headers)).status).toBe(401)
      expect((await app.call('POST', REFRESH, { headers })).status).toBe(401)
    }
    expect(emailOf(await me(ofConsole(tokens)))).toBe(ada.email)
  })

  test('cookies with other names from a sibling host change nothing', async () => {
    const others = `theme=dark; cloakroom-access=${eve.token}; x=__Host-cloakroom-access=${eve.token}`
    const headers = { ...ofConsole(), cookie: `${others}; ${cookie()}` }
    expect(emailOf(await me(headers))).toBe(ada.email)
  })
})

describe('a client that is not the console', () => {
  test.each([LOGIN, REFRESH])('another client gets no cookies from %s', async (path) => {
    const fresh = await logInAs(app, ada)
    const { email, password } = ada
    const body = path === LOGIN ? { email, password } : undefined
    for (const headers of [
      { cookie: cookieHeader({ refresh: fresh.refresh }) },
      { ...ofConsole({ refresh: fresh.refresh }), 'sec-fetch-site': 'cross-site' },
      { ...ofConsole({ refresh: fresh.refresh }), origin: 'https://evil.example' },
    ]) {
      const answer = await app.call('POST', path, { headers, body })
      expect(answer.body).toMatchObject({ error_code: 'forbidden' })
      expect(answer.headers.getSetCookie()).toEqual([])
    }
    // They rotated no token.
    const headers = ofConsole({ refresh: fresh.refresh })
    expect((await app.call('POST', REFRESH, { headers })).status).toBe(200)
  })

  test('another client gets tokens and no cookies, whatever headers it sends', async () => {
    const { email, password } = ada
    const answer = await app.call('POST', '/api/auth/login/', {
      headers: ofConsole(),
      body: { email, password },
    })
    expect(answer.body).toMatchObject({ data: { access: expect.stringMatching(/^svc_ses_/) } })
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  test("another client's preflight gets no answer", async () => {
    const response = await fetch(`${app.controlPlane}${ME}`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://evil.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-cloakroom-console',
      },
    })
    expect(response.status).toBe(405)
    expect(
      [...response.headers.keys()].filter((name) => name.startsWith('access-control')),
    ).toEqual([])
  })
})

test('the resolver accepts no cookies, and neither do endpoints for tokens', async () => {
  const headers = ofConsole(tokens)
  for (const [origin, method, path] of [
    [app.resolver, 'GET', '/v1/allowlist'],
    [app.resolver, 'POST', '/v1/resolve'],
    [app.resolver, 'GET', '/v1/credentials/'],
    [app.resolver, 'GET', '/v1/forward/api.example.com/x'],
    [app.controlPlane, 'POST', `/api/internal/audit/logs/?workspace_id=${ada.workspaceId}`],
    [app.controlPlane, 'POST', '/api/workloads/env/'],
  ] as const) {
    const { status } = await fetch(`${origin}${path}`, { method, headers })
    expect([path, status]).toEqual([path, 401])
  }
})
