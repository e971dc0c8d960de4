// tier: quick
/** The server's address without a path leads a browser to the console, and programs to an error that names the pages. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestApp, type TestApp } from '../support/app.ts'

/** As Chromium, Firefox and Safari send it for a page. */
const PAGE = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

let app: TestApp

beforeAll(async () => {
  app = await startTestApp({ ALLOWED_HOSTS: '127.0.0.1,vault.example' })
})
afterAll(() => app.stop())

const open = (headers: Record<string, string>, method = 'GET', origin = app.controlPlane) =>
  fetch(`${origin}/`, { method, headers, redirect: 'manual' })

test('a browser that opens the address of the server is redirected to the console', async () => {
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await open({ accept: PAGE }, method)
    expect(Object.fromEntries(headers)).toMatchObject({
      location: '/console/',
      vary: 'accept',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    })
    expect(status).toBe(302)
  }
})

test('a program gets JSON that names the console and the documentation', async () => {
  for (const accept of ['*/*', 'application/json', 'application/json, text/plain, */*', '']) {
    const answer = await open({ accept })
    expect([answer.status, await answer.json()]).toEqual([
      404,
      expect.objectContaining({
        error_code: 'not_found',
        message: 'Not found. The console is at /console/, and the documentation at /docs/.',
      }),
    ])
  }
})

test('a host that is not allowed is refused before any redirect', async () => {
  const wrong = await open({ accept: PAGE, host: 'elsewhere.example' })
  expect([wrong.status, wrong.headers.get('location')]).toEqual([400, null])
  const right = await open({ accept: PAGE, host: 'vault.example' })
  expect([right.status, right.headers.get('location')]).toEqual([302, '/console/'])
})

test('a browser is redirected neither from another method nor from the resolver', async () => {
  const posted = await open({ accept: PAGE }, 'POST')
  expect([posted.status, posted.headers.get('allow')]).toEqual([
    405,
    expect.stringContaining('GET'),
  ])
  expect((await open({ accept: PAGE }, 'GET', app.resolver)).status).toBe(404)
})
