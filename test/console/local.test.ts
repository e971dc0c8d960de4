// tier: all
/** `cloakroom console`: this machine serves the page of another server. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type LocalConsole, openLocalConsole } from '../../src/console/local.ts'
import { ensureConsole } from '../../src/dev/console.ts'
import { freshEmail, sharedApp, type TestApp } from '../support/app.ts'
import { ofConsole } from '../support/console.ts'
import { requires } from '../support/requires.ts'
import { PASSWORD, signUp } from './accounts.ts'
import { logIn, openStage } from './browser.ts'

const inBrowser = requires('chromium')

let app: TestApp
let local: LocalConsole
let origin: string

beforeAll(async () => {
  await ensureConsole()
  app = await sharedApp()
  local = await openLocalConsole(app.controlPlane, 0)
  origin = new URL(local.url).origin
})
afterAll(async () => {
  await local.close()
})

/** Resolves names like a browser, independent of this machine's resolver. */
function ask(
  url: string,
  { headers = {}, ...init }: RequestInit & { headers?: Record<string, string> } = {},
) {
  const { host, port, pathname, search } = new URL(url)
  return fetch(`http://127.0.0.1:${port}${pathname}${search}`, {
    ...init,
    headers: { host, ...headers },
  })
}

const health = () => `${origin}/api/users/me/`

test('the local console has one name per server, and browsers treat each name as another site', async () => {
  const [same, other] = await Promise.all([
    openLocalConsole(app.controlPlane, 0),
    openLocalConsole('https://vault.example.com', 0),
  ])
  expect(new URL(local.url).hostname).toMatch(/^cloakroom-[0-9a-f]{32}\.localhost$/)
  expect(new URL(same.url).hostname).toBe(new URL(local.url).hostname)
  // SHA-256 of the server's origin, so that the server's operator can compute it.
  expect(new URL(other.url).hostname).toBe('cloakroom-740fb1a54f2c48896751269cd2e2d140.localhost')
  await Promise.all([same.close(), other.close()])
})

test('the local console listens on both loopback addresses, or on none', async () => {
  const { host, port } = new URL(local.url)
  for (const address of ['127.0.0.1', '[::1]']) {
    const answer = await fetch(`http://${address}:${port}/console/`, { headers: { host } })
    expect(answer.status).toBe(200)
  }
  const squatter = Bun.serve({ hostname: '::1', port: 0, fetch: () => new Response('mine') })
  const taken = squatter.port ?? 0
  await expect(openLocalConsole(app.controlPlane, taken)).rejects.toMatchObject({
    code: 'EADDRINUSE',
  })
  await squatter.stop(true)
  // The failed console does not keep listening on the other address.
  const opened = await openLocalConsole(app.controlPlane, taken)
  await opened.close()
})

inBrowser.test(
  'a browser stores the session, the keys and passkeys under the host name of the local console',
  async () => {
    const stage = await openStage()
    const server = stage.app.controlPlane
    const console_ = await openLocalConsole(server, 0)
    const { origin: here, hostname, port: own } = new URL(console_.url)
    const email = freshEmail('named')
    await signUp(server, email)
    const { page, tools, close } = await stage.visitor('', here)
    await logIn(page, email)
    await page.getByRole('link', { name: 'Secrets', exact: true }).click()
    await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor()
    const cookies = await page.context().cookies(here)
    expect(cookies.map(({ name, domain }) => [name, domain]).sort()).toEqual([
      [`__Host-cloakroom-access-${own}`, hostname],
      [`__Host-cloakroom-refresh-${own}`, hostname],
    ])
    expect(await page.context().cookies(`http://localhost:${own}`)).toEqual([])
    // The page reaches its machine within its content security policy.
    const connecting = await page.evaluate(async () => {
      const headers = { 'x-cloakroom-console': '1' }
      return (await fetch('/local/connections/', { method: 'POST', headers, body: '{}' })).status
    })
    expect(connecting).toBe(422)
    await tools.send('WebAuthn.enable')
    await tools.send('WebAuthn.addVirtualAuthenticator', {
      options: { protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true },
    })
    const madeFor = (id: string) =>
      page.evaluate(async (rp) => {
        const challenge = new Uint8Array(32)
        const user = { id: challenge, name: 'ada', displayName: 'Ada' }
        const pubKeyCredParams = [-7, -257].map((alg) => ({ type: 'public-key' as const, alg }))
        const publicKey = { challenge, rp: { id: rp, name: rp }, user, pubKeyCredParams }
        return await navigator.credentials.create({ publicKey }).then(
          (made) => made?.type,
          (error: Error) => error.name,
        )
      }, id)
    expect(await madeFor(hostname)).toBe('public-key')
    expect(await madeFor(`cloakroom-${'0'.repeat(32)}.localhost`)).toBe('SecurityError')
    await close()
    await console_.close()
    await stage.close()
  },
)

test('the local console serves the same files, headers and hash as the server', async () => {
  const sums = await (await ask(`${origin}/console/SHA256SUMS`)).text()
  const names = sums
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(66))
  for (const name of ['', 'SHA256SUMS', 'w/any/secrets', 'assets/gone.js', ...names]) {
    const [here, there] = await Promise.all([
      ask(`${origin}/console/${name}`),
      fetch(`${app.controlPlane}/console/${name}`),
    ])
    expect(await here?.text()).toBe((await there?.text()) ?? '')
    expect([here?.status, headersOf(here)]).toEqual([there?.status, headersOf(there)])
  }
  expect(new Bun.CryptoHasher('sha256').update(sums).digest('hex')).toBe(local.hash)
  expect((await ask(`${origin}/console/`, { method: 'POST' })).status).toBe(405)
})

/** Except headers that belong to one answer. */
function headersOf(answer: Response | undefined) {
  const own = ['date', 'x-request-id', 'content-length', 'transfer-encoding', 'connection']
  return Object.fromEntries([...(answer?.headers ?? [])].filter(([name]) => !own.includes(name)))
}

test('the local console forwards only calls from its page, with only the cookies of its port', async () => {
  const answer = await ask(health(), { headers: ofConsole() })
  expect([answer.status, (await answer.json()).error_code]).toEqual([401, 'invalid_token'])
  const { port } = new URL(origin)
  const email = freshEmail('local')
  const { workspaceId } = await signUp(app.controlPlane, email)
  const token = (await app.call('POST', '/api/auth/login/', { body: await credentials(email) }))
    .body
  const { access } = (token as { data: { access: string } }).data
  const named = (name: string) => ({ ...ofConsole(), cookie: `${name}=${access}; other=1` })
  const own = await ask(`${origin}/api/workspaces/`, {
    headers: named(`__Host-cloakroom-access-${port}`),
  })
  expect(await own.text()).toContain(workspaceId)
  const neighbour = String(Number(port) ^ 1)
  for (const end of ['', `-${port}0`, `-${neighbour}`]) {
    const name = `__Host-cloakroom-access${end}`
    expect((await ask(health(), { headers: named(name) })).status).toBe(401)
  }
})

async function credentials(email: string) {
  const { authKey, deriveMasterKey } = await import('../../src/client/account/keys.ts')
  const { prelogin } = await import('../../src/features/accounts/contract.ts')
  const { key_salt, kdf } = await app.as().call(prelogin, { body: { email } })
  const masterKey = await deriveMasterKey(PASSWORD, Uint8Array.fromBase64(key_salt), kdf)
  return { email, password: authKey(masterKey) }
}

test('signing in sets cookies with the port in their names', async () => {
  const email = freshEmail('cookies')
  await signUp(app.controlPlane, email)
  const answer = await ask(`${origin}/api/auth/console/login/`, {
    method: 'POST',
    headers: { ...ofConsole(), 'content-type': 'application/json' },
    body: JSON.stringify(await credentials(email)),
  })
  expect(answer.status).toBe(200)
  const names = answer.headers.getSetCookie().map((cookie) => cookie.split('=')[0])
  const { port } = new URL(origin)
  expect(names).toEqual([`__Host-cloakroom-access-${port}`, `__Host-cloakroom-refresh-${port}`])
})

test('the local console refuses other pages, other host names, and paths outside the API', async () => {
  const other = { ...ofConsole(), origin: 'https://elsewhere.example' }
  const bare = { 'sec-fetch-site': 'same-origin' }
  for (const headers of [other, bare, { ...ofConsole(), 'sec-fetch-site': 'cross-site' }]) {
    expect((await ask(health(), { headers })).status).toBe(403)
  }
  const { port } = new URL(origin)
  for (const host of ['rebound.example', `127.0.0.1:${port}`, `localhost:${port}`]) {
    expect((await ask(health(), { headers: { ...ofConsole(), host } })).status).toBe(421)
    expect((await ask(`${origin}/console/`, { headers: { host } })).status).toBe(421)
  }
  expect((await ask(`${origin}/metrics`, { headers: ofConsole() })).status).toBe(404)
})

test('the local console connects secrets for its page only, and never asks the server to', async () => {
  const asked: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => {
      asked.push(url)
      return Response.json({ status: 'success', data: {} })
    },
  })
  const console_ = await openLocalConsole(server.url.origin, 0)
  const { origin: here, port } = new URL(console_.url)
  const url = `${here}/local/connections/`
  const start = (body: string, headers: Record<string, string> = ofConsole()) =>
    ask(url, { method: 'POST', headers, body })
  const choice = { provider: 'google', clientId: 'x' }
  const order = JSON.stringify({ key: 'DRIVE', flow: { choice } })
  for (const headers of [
    { 'sec-fetch-site': 'same-origin' },
    { ...ofConsole(), origin: 'https://elsewhere.example' },
    { ...ofConsole(), 'sec-fetch-site': 'same-site' },
  ]) {
    expect((await start(order, headers)).status).toBe(403)
  }
  const rebound = { ...ofConsole(), host: `127.0.0.1:${port}` }
  expect((await start(order, rebound)).status).toBe(421)
  expect((await start('{')).status).toBe(400)
  expect((await start(' '.repeat(262_145))).status).toBe(413)
  expect((await start(JSON.stringify({ key: 'DRIVE', flow: {} }))).status).toBe(422)
  const started = await start(order)
  const { data } = (await started.json()) as { data: { id: string; url: string } }
  expect([started.status, started.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(new URL(data.url).origin).toBe('https://accounts.google.com')
  expect(new URL(data.url).searchParams.get('redirect_uri')).toStartWith('http://127.0.0.1:')
  const own = `${url}${data.id}/`
  const send = (method: string) => ask(own, { method, headers: ofConsole() })
  expect((await send('GET')).status).toBe(200)
  expect((await send('PUT')).status).toBe(405)
  expect((await send('DELETE')).status).toBe(200)
  expect((await send('GET')).status).toBe(404)
  expect((await ask(`${here}/local/x/`, { headers: ofConsole() })).status).toBe(404)
  expect(asked).toEqual([])
  await Promise.all([console_.close(), server.stop(true)])
})

test('the local console returns only data and its own two cookies, whatever the server sends', async () => {
  const lying = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => {
      const headers = new Headers({ 'content-type': new URL(url).searchParams.get('type') ?? '' })
      const ours = 'Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=60'
      for (const cookie of [
        `__Host-cloakroom-access=good; ${ours}`,
        `__Host-cloakroom-refresh=a; Domain=localhost; Max-Age=60; Secure; Path=/api`,
        `__Host-cloakroom-access-9999=another; ${ours}`,
        'sid=other; Domain=localhost',
      ]) {
        headers.append('set-cookie', cookie)
      }
      return new Response('{}', { headers })
    },
  })
  const console_ = await openLocalConsole(`http://127.0.0.1:${lying.port}`, 0)
  const { origin: here, port } = new URL(console_.url)
  const askFor = (type: string) =>
    ask(`${here}/api/x/?type=${encodeURIComponent(type)}`, { headers: ofConsole() })
  const answer = await askFor('application/json')
  const kept = 'Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=60'
  expect(answer.status).toBe(200)
  expect(answer.headers.getSetCookie()).toEqual([`__Host-cloakroom-access-${port}=good; ${kept}`])
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  for (const type of ['text/html', 'text/javascript', 'application/json-seq', 'image/svg+xml']) {
    expect((await askFor(type)).status).toBe(502)
  }
  expect((await askFor('text/event-stream')).status).toBe(200)
  await console_.close()
  await lying.stop(true)
})

test('the local console forwards only requests of its page, and follows no redirect', async () => {
  const asked: Headers[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ headers }) => {
      asked.push(headers)
      return new Response(null, { status: 302, headers: { location: `${app.controlPlane}/api/` } })
    },
  })
  const other = await openLocalConsole(server.url.origin, 0)
  const own = { authorization: 'Bearer x', 'x-forwarded-for': '10.0.0.1', referer: 'http://a/' }
  const answer = await ask(`${new URL(other.url).origin}/api/users/me/`, {
    headers: { ...ofConsole(), ...own, cookie: 'other=1' },
    redirect: 'manual',
  })
  expect([answer.status, answer.headers.get('location')]).toEqual([302, null])
  expect(asked).toHaveLength(1)
  for (const name of Object.keys(own)) expect(asked[0]?.has(name)).toBe(false)
  expect(asked[0]?.get('cookie') ?? '').toBe('')
  await Promise.all([other.close(), server.stop(true)])
})

test('the local console does not listen on other loopback addresses', async () => {
  const { port } = new URL(origin)
  await expect(fetch(`http://127.0.0.2:${port}/console/`)).rejects.toThrow()
})

test('the local console distinguishes a change that was sent from one that was not', async () => {
  const silent = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: (socket) => void socket.terminate() },
  })
  const cut = await openLocalConsole(`http://127.0.0.1:${silent.port}`, 0)
  const codeOf = async (origin: string, method: string) => {
    const answer = await ask(`${new URL(origin).origin}/api/users/me/keys/`, {
      method,
      headers: ofConsole(),
    })
    return (await answer.json()).error_code
  }
  expect(await codeOf(cut.url, 'POST')).toBe('lost_answer')
  expect(await codeOf(cut.url, 'GET')).toBe('unavailable')
  await cut.close()
  silent.stop(true)
  const absent = await openLocalConsole('http://127.0.0.1:1', 0)
  expect(await codeOf(absent.url, 'POST')).toBe('unavailable')
  await absent.close()
})

test('the local console reports that the server is unreachable', async () => {
  const unreachable = await openLocalConsole('http://127.0.0.1:1', 0)
  const address = `${new URL(unreachable.url).origin}/api/users/me/`
  const answer = await ask(address, { headers: ofConsole() })
  expect([answer.status, (await answer.json()).error_code]).toEqual([503, 'unavailable'])
  await unreachable.close()
})
