/** `cloakroom console`: the page from this machine, for a server elsewhere. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { signUp } from '../../src/client/vault.ts'
import { type LocalConsole, openLocalConsole } from '../../src/console/local.ts'
import { ensureConsole } from '../../src/dev/console.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { ofConsole } from '../support/console.ts'
import { PASSWORD } from './browser.ts'

let app: TestApp
let local: LocalConsole
let origin: string

beforeAll(async () => {
  await ensureConsole()
  app = await startTestApp()
  local = await openLocalConsole(app.controlPlane, 0)
  origin = new URL(local.url).origin
})
afterAll(async () => {
  await local.close()
  await app.stop()
})

const health = () => `${origin}/api/users/me/`

test('serves the files that the server serves, and says the same hash', async () => {
  for (const path of ['/console/', '/console/SHA256SUMS', '/console/w/any/secrets']) {
    const [here, there] = await Promise.all([
      fetch(`${origin}${path}`),
      fetch(`${app.controlPlane}${path}`),
    ])
    expect(await here.text()).toBe(await there.text())
    expect(here.headers.get('content-security-policy')).toContain("default-src 'none'")
  }
  const sums = await (await fetch(`${origin}/console/SHA256SUMS`)).bytes()
  expect(new Bun.CryptoHasher('sha256').update(sums).digest('hex')).toBe(local.hash)
  expect((await fetch(`${origin}/console/`, { method: 'POST' })).status).toBe(405)
})

test('hands on calls of its own page, with cookies of its own port only', async () => {
  const answer = await fetch(health(), { headers: ofConsole() })
  expect([answer.status, (await answer.json()).error_code]).toEqual([401, 'invalid_token'])
  const { port } = new URL(origin)
  const email = 'local@example.com'
  const { workspaceId } = await signUp(app.controlPlane, email, PASSWORD)
  const token = (await app.call('POST', '/api/auth/login/', { body: await credentials(email) }))
    .body
  const { access } = (token as { data: { access: string } }).data
  const named = (name: string) => ({ ...ofConsole(), cookie: `${name}=${access}; other=1` })
  const own = await fetch(`${origin}/api/workspaces/`, {
    headers: named(`__Host-cloakroom-access-${port}`),
  })
  expect(await own.text()).toContain(workspaceId)
  for (const name of ['__Host-cloakroom-access', `__Host-cloakroom-access-${port}0`]) {
    expect((await fetch(health(), { headers: named(name) })).status).toBe(401)
  }
})

async function credentials(email: string) {
  const { authKey, deriveMasterKey } = await import('../../src/client/account/keys.ts')
  const { prelogin } = await import('../../src/features/accounts/contract.ts')
  const { key_salt, kdf } = await app.as().call(prelogin, { body: { email } })
  const masterKey = await deriveMasterKey(PASSWORD, Uint8Array.fromBase64(key_salt), kdf)
  return { email, password: authKey(masterKey) }
}

test('a log-in sets cookies that carry the port', async () => {
  const email = 'cookies@example.com'
  await signUp(app.controlPlane, email, PASSWORD)
  const answer = await fetch(`${origin}/api/auth/console/login/`, {
    method: 'POST',
    headers: { ...ofConsole(), 'content-type': 'application/json' },
    body: JSON.stringify(await credentials(email)),
  })
  expect(answer.status).toBe(200)
  const names = answer.headers.getSetCookie().map((cookie) => cookie.split('=')[0])
  const { port } = new URL(origin)
  expect(names).toEqual([`__Host-cloakroom-access-${port}`, `__Host-cloakroom-refresh-${port}`])
})

test('refuses other pages, other names that lead to it, and what is not of the API', async () => {
  const other = { ...ofConsole(), origin: 'https://elsewhere.example' }
  const bare = { 'sec-fetch-site': 'same-origin' }
  for (const headers of [other, bare, { ...ofConsole(), 'sec-fetch-site': 'cross-site' }]) {
    expect((await fetch(health(), { headers })).status).toBe(403)
  }
  for (const host of ['rebound.example', '127.0.0.1:1', `127.0.0.1:${new URL(origin).port}`]) {
    expect((await fetch(health(), { headers: { ...ofConsole(), host } })).status).toBe(421)
    expect((await fetch(`${origin}/console/`, { headers: { host } })).status).toBe(421)
  }
  expect((await fetch(`${origin}/metrics`, { headers: ofConsole() })).status).toBe(404)
})

test('hands back data and its own two cookies, whatever the server sends', async () => {
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
  const ask = (type: string) =>
    fetch(`${here}/api/x/?type=${encodeURIComponent(type)}`, { headers: ofConsole() })
  const answer = await ask('application/json')
  const kept = 'Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=60'
  expect(answer.status).toBe(200)
  expect(answer.headers.getSetCookie()).toEqual([`__Host-cloakroom-access-${port}=good; ${kept}`])
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  for (const type of ['text/html', 'text/javascript', 'application/json-seq', 'image/svg+xml']) {
    expect((await ask(type)).status).toBe(502)
  }
  expect((await ask('text/event-stream')).status).toBe(200)
  await console_.close()
  await lying.stop(true)
})

test('says that the server cannot be reached', async () => {
  const away = await openLocalConsole('http://127.0.0.1:1', 0)
  const answer = await fetch(`${new URL(away.url).origin}/api/users/me/`, { headers: ofConsole() })
  expect([answer.status, (await answer.json()).error_code]).toEqual([503, 'unavailable'])
  await away.close()
})
