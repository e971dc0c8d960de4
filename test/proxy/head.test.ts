// tier: quick
/**
 * HEAD has the upstream's headers, including Content-Length, and no body (RFC 9110, section 9.3.2), by every route.
 * The exception is `Accept-Ranges`: no route has parts of this file.
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
/** Headers that are passed on with another value. */
const CHANGED = { 'accept-ranges': 'none', 'x-key': 'SVC_SECRET_KEY' }
const SANDBOXED = { 'content-security-policy': 'sandbox' }
const bearer = { authorization: 'Bearer SVC_SECRET_KEY' }

/** An answer to HEAD: a length without the content. */
upstream.on('/file', ({ method }, wire) => {
  expect(method).toBe('HEAD')
  const lines = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}\r\n`)
  wire.write(`HTTP/1.1 200 OK\r\n${lines.join('')}Content-Length: 123456\r\n\r\n`)
})

function expectHead(status: number, headers: Headers, more: Record<string, string> = {}): void {
  expect(status).toBe(200)
  expect(Object.fromEntries(headers)).toMatchObject({
    ...HEADERS,
    ...CHANGED,
    'cache-control': 'no-store',
    'content-length': '123456',
    ...more,
  })
  expect(upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${KEY}`)
}

test('forward mode answers HEAD with the headers of the upstream, sandboxed', async () => {
  const answer = await forwardAs(stage, agent, '/file', { method: 'HEAD', headers: bearer })
  expectHead(answer.status, answer.headers, SANDBOXED)
  expect(await answer.text()).toBe('')
})

test.each([
  ['local', local],
  ['remote', remote],
])(
  'the base URL of the %s proxy answers HEAD with the headers of the upstream, sandboxed, and the connection continues',
  async (_, proxy) => {
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
      expectHead(200, new Headers(lines), SANDBOXED)
    }
  },
)

requires('curl').test.each([
  ['local', local],
  ['remote', remote],
])(
  'HTTPS_PROXY of the %s proxy answers HEAD with the headers of the upstream',
  async (_, proxy: OpenProxy) => {
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
  },
)

test('/v1/resolve has the headers of the upstream in its own JSON', async () => {
  const { body } = await agent.resolve({
    target_url: stage.url('/file'),
    method: 'HEAD',
    headers: bearer,
  })
  expect(body).toMatchObject({
    status_code: 200,
    body: '',
    redacted: true,
    headers: { ...HEADERS, ...CHANGED },
  })
})

test('GET of the same address still has its body', async () => {
  upstream.on('/whole', answerOf(200, { etag: '"v1"', 'content-type': 'text/plain' }, 'the whole'))
  const answer = await fetch(`${local.baseUrl}/${stage.authorityOf()}/whole`, { headers: bearer })
  expect([answer.headers.get('etag'), await answer.text()]).toEqual(['"v1"', 'the whole'])
})
