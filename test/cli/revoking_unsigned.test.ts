// tier: quick
/** Revoking still succeeds if the server accepts no more links, and the command explains the missing signature. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { openAccount, type Terminal } from './person.ts'

let app: TestApp
let between: ReturnType<typeof withoutLinks>
let ada: Terminal
let refusing = false

/** A proxy in front of the server: while it is `refusing`, requests with a link are rejected like for a full chain. */
function withoutLinks(origin: string) {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = method === 'GET' ? null : await request.text()
      if (refusing && body?.includes('"link":{')) {
        const refusal = { status: 'failure', error_code: 'link_refused', message: 'It is full.' }
        return Response.json(refusal, { status: 422 })
      }
      return fetch(`${origin}${pathname}${search}`, { method, headers, body })
    },
  })
}

beforeAll(async () => {
  app = await startTestApp()
  between = withoutLinks(app.controlPlane)
  const controlPlane = `http://127.0.0.1:${between.port}`
  ada = await openAccount({ controlPlane, resolver: app.resolver }, 'ada@example.com')
  await ada.must('init', 'api')
  await ada.must('agent', 'create', 'bot', '--quiet')
})
afterAll(async () => {
  ada.remove()
  await between.stop(true)
  await app.stop()
})

test.each([
  [
    'token revoke',
    ['token', 'issue', 'bot', '--label', 'left'],
    ['token', 'revoke', 'bot', 'left'],
  ],
  ['workload-token revoke', ['workload-token', 'issue', 'ci'], ['workload-token', 'revoke', 'ci']],
  ['agent delete', ['agent', 'create', 'gone'], ['agent', 'delete', 'gone', '--yes']],
])('%s revokes a token even if the server rejects its link', async (_, make, stop) => {
  refusing = false
  await ada.must(...make, '--quiet')
  const working = await app.connection.sql`select id from tokens where revoked_at is null`
  refusing = true
  const { code, err } = await ada.run(stop)
  expect([code, err]).toEqual([0, expect.stringContaining('the revocation is not signed')])
  const left = await app.connection.sql`select id from tokens where revoked_at is null`
  expect(left).toHaveLength(working.length - 1)
})

test('a command that revokes nothing is still rejected', async () => {
  refusing = true
  const { code, err } = await ada.run(['allowlist', 'add', 'api.example.com'])
  expect([code, err]).toEqual([2, expect.stringContaining('link_refused')])
})
