// tier: quick
/**
 * HEAD has the headers of the upstream, its Content-Length too, and no body (RFC 9110, section 9.3.2),
 * whichever way it goes.
 */
import { afterAll, expect, test } from 'bun:test'
import { forwardAs } from '../support/forward.ts'
import { sendRaw } from '../support/raw_http.ts'
import { requires } from '../support/requires.ts'
import { answerOf } from '../support/upstream.ts'
import { KEY, type OpenProxy, openProxyStage, runWith } from './stage.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const { agent, upstream } = stage
const local = await stage.open('local')
const remote = await stage.open('remote')

const HEADERS = {
  'content-type': 'application/pdf',
  etag: '"v1"',
  'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT',
  'accept-ranges': 'bytes',
  'cache-control': 'max-age=60',
  'x-key': KEY,
}
const bearer = { authorization: 'Bearer SVC_SECRET_KEY' }

/** An answer to HEAD: a length, and nothing of what it is the length of. */
upstream.on('/file', ({ method }, wire) => {
  expect(method).toBe('HEAD')
  const lines = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}\r\n`)
  wire.write(`HTTP/1.1 200 OK\r\n${lines.join('')}Content-Length: 123456\r\n\r\n`)
})

function expectHead(status: number, headers: Headers): void {
  expect(status).toBe(200)
  expect(Object.fromEntries(headers)).toMatchObject({
    ...HEADERS,
    'cache-control': 'no-store',
    'content-length': '123456',
    'x-key': 'SVC_SECRET_KEY',
  })
  expect(upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${KEY}`)
}

test('in forward mode', async () => {
  const answer = await forwardAs(stage, agent, '/file', { method: 'HEAD', headers: bearer })
  expectHead(answer.status, answer.headers)
  expect(await answer.text()).toBe('')
})

test.each([
  ['local', local],
  ['remote', remote],
])('through the base URL of the %s proxy, and the connection goes on', async (_, proxy) => {
  const { pathname } = new URL(`${proxy.baseUrl}/${stage.authorityOf()}/file`)
  const fields = `Host: 127.0.0.1:${proxy.port}\r\nAuthorization: ${bearer.authorization}\r\n`
  const asked = `HEAD ${pathname} HTTP/1.1\r\n${fields}\r\n`
  const waiting = { waitsForAnswers: true }
  const { text, statuses } = await sendRaw(proxy.baseUrl, [asked, asked], waiting)
  expect(statuses).toEqual([200, 200])
  for (const head of text.split('\r\n\r\n').slice(0, 2)) {
    const lines = head
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(/: /, 2) as [string, string])
    expectHead(200, new Headers(lines))
  }
})

requires('curl').test.each([
  ['local', local],
  ['remote', remote],
])('through HTTPS_PROXY of the %s proxy', async (_, proxy: OpenProxy) => {
  const headers = ['-H', `Authorization: ${bearer.authorization}`]
  const { out, code } = await runWith(proxy, [
    'curl',
    '-sSI',
    '--suppress-connect-headers',
    ...headers,
    stage.url('/file'),
  ])
  expect(code).toBe(0)
  const [status = '', ...lines] = out.trimEnd().split('\r\n')
  expect(status).toStartWith('HTTP/1.1 200')
  expectHead(200, new Headers(lines.map((line) => line.split(/: /, 2) as [string, string])))
})

test('as the call of /v1/resolve, whose answer is JSON of its own', async () => {
  const { body } = await agent.resolve({
    target_url: stage.url('/file'),
    method: 'HEAD',
    headers: bearer,
  })
  expect(body).toMatchObject({
    status_code: 200,
    body: '',
    redacted: true,
    headers: { ...HEADERS, 'x-key': 'SVC_SECRET_KEY' },
  })
})

test('GET of the same goes on to have its body', async () => {
  upstream.on('/whole', answerOf(200, { etag: '"v1"' }, 'the whole'))
  const answer = await fetch(`${local.baseUrl}/${stage.authorityOf()}/whole`, { headers: bearer })
  expect([answer.headers.get('etag'), await answer.text()]).toEqual(['"v1"', 'the whole'])
})
