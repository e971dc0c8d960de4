// tier: all
/** The fake OAuth provider behaves as the tests that use it expect. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { loopbackFetch } from '../support/oauth/browser.ts'
import { cannedAnswers, type FakeProvider, startProvider } from '../support/oauth/provider.ts'

let provider: FakeProvider
let send: ReturnType<typeof loopbackFetch>

beforeAll(async () => {
  provider = await startProvider({ host: 'id.example.com' })
  send = loopbackFetch(provider.certificate)
})
afterAll(() => provider.stop())
afterEach(() => provider.clearFaults())

const percent = (text: string) => new URLSearchParams({ text }).toString().slice('text='.length)

const basic = () =>
  `Basic ${btoa(`${percent(provider.clientId)}:${percent(provider.clientSecret)}`)}`

async function ask(parameters: Record<string, string>) {
  const response = await send(provider.tokenUrl, {
    method: 'POST',
    headers: { authorization: basic() },
    body: new URLSearchParams(parameters),
  })
  return { response, token: JSON.parse(await response.text()) as Record<string, unknown> }
}

const refresh = (token: unknown) =>
  ask({ grant_type: 'refresh_token', refresh_token: String(token) })

test('client credentials get an access token that the provider recognises', async () => {
  const { response, token } = await ask({ grant_type: 'client_credentials' })
  expect(response.status).toBe(200)
  expect(await provider.isLive(String(token.access_token))).toBe(true)
  expect(await provider.isLive('made-up')).toBe(false)
})

test('a refresh rotates the token, and reusing the old one ends the family', async () => {
  const first = await provider.issueRefreshToken()
  const { token } = await refresh(first)
  expect(token.refresh_token).not.toBe(first)
  expect((await refresh(first)).token.error).toBe('invalid_grant')
  expect((await refresh(token.refresh_token)).token.error).toBe('invalid_grant')
  expect(await provider.isLive(String(token.access_token))).toBe(false)
})

test('a rotated token stays usable with grace, and never changes without rotation', async () => {
  provider.setFault({ rotation: 'grace' })
  const first = await provider.issueRefreshToken()
  await refresh(first)
  expect((await refresh(first)).response.status).toBe(200)
  provider.setFault({ rotation: 'off' })
  const fixed = await provider.issueRefreshToken()
  expect((await refresh(fixed)).token.refresh_token).toBe(fixed)
})

test("a token's lifetime is short or unstated on demand", async () => {
  provider.setFault({ expiresIn: 5 })
  expect((await ask({ grant_type: 'client_credentials' })).token.expires_in).toBe(5)
  provider.setFault({ expiresIn: null })
  expect((await ask({ grant_type: 'client_credentials' })).token).not.toHaveProperty('expires_in')
})

test("a canned answer replaces the token endpoint's answer", async () => {
  provider.setFault({ answer: cannedAnswers.tooMany })
  const { response } = await ask({ grant_type: 'client_credentials' })
  expect(response.status).toBe(429)
  expect(response.headers.get('retry-after')).toBe('7')
})

test('a lost answer closes the connection after the token was rotated', async () => {
  const first = await provider.issueRefreshToken()
  provider.setFault({ losesAnswer: true })
  const lost = send(provider.tokenUrl, {
    method: 'POST',
    headers: { authorization: basic() },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: first }),
  })
  await expect(lost).rejects.toThrow()
  provider.clearFaults()
  expect((await refresh(first)).token.error).toBe('invalid_grant')
})

test('a held request waits for its promise, and every request is logged', async () => {
  const hold = Promise.withResolvers<void>()
  provider.setFault({ holdRequest: hold.promise })
  const before = provider.requests.length
  const answer = ask({ grant_type: 'client_credentials' })
  while (provider.requests.length === before) await new Promise(setImmediate)
  expect(provider.requests.at(-1)?.status).toBeNull()
  hold.resolve()
  expect((await answer).response.status).toBe(200)
  expect(provider.requests.at(-1)?.parameters.get('grant_type')).toBe('client_credentials')
})
