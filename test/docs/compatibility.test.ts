// tier: quick
/** The runtime behaves as docs/reference/compatibility.md, "HTTP listeners" describes. */
import { beforeAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listProjects } from '../../src/features/projects/contract.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { registerPerson } from '../support/people.ts'
import { rawRequest, sendRaw } from '../support/raw_http.ts'

const BODY = '{"email":"ada@example.com"}'

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

const HEALTH = 'GET /api/status/health/ HTTP/1.1'
const PRELOGIN = 'POST /api/auth/prelogin/ HTTP/1.1'

async function send(line: string, headers: string[], body = '') {
  const request = rawRequest(line, ['Host: localhost', ...headers], body)
  return await sendRaw(app.controlPlane, request, { timeoutMs: 1500 })
}

const json = ['Content-Type: application/json', 'Connection: close']

test('the listener answers 431 to a head that is too long or has too many headers', async () => {
  const long = await send(HEALTH, [`X-Long: ${'a'.repeat(17_000)}`, 'Connection: close'])
  expect(long.statuses).toEqual([431])
  const many = Array.from({ length: 201 }, (_, index) => `X-${index}: 1`)
  expect((await send(HEALTH, [...many, 'Connection: close'])).statuses).toEqual([431])
  const fewer = many.slice(0, 190)
  expect((await send(HEALTH, [...fewer, 'Connection: close'])).statuses).toEqual([200])
})

test('the listener reads a chunked body, and answers 400 to trailers', async () => {
  const chunked = [...json, 'Transfer-Encoding: chunked']
  const chunk = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n`
  expect((await send(PRELOGIN, chunked, `${chunk}\r\n`)).statuses).toEqual([200])
  expect((await send(PRELOGIN, chunked, `${chunk}X-T: 1\r\n\r\n`)).statuses).toEqual([400])
})

test('a request that is refused for its trailers has no effect', async () => {
  const { api, token, workspaceId } = await registerPerson(app, 'ada')
  const headers = [...json, `Authorization: Bearer ${token}`, 'Transfer-Encoding: chunked']
  const create = (name: string, end: string) => {
    const body = JSON.stringify({ name, workspace_id: workspaceId })
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n${end}\r\n`
    return send('POST /api/projects/ HTTP/1.1', headers, chunks)
  }
  expect((await create('with-trailers', 'X-T: 1\r\n')).statuses).toEqual([400])
  expect((await create('without', '')).statuses).toEqual([201])
  const made = await api.list(listProjects, { query: {} })
  expect(made.map(({ name }) => name)).toEqual(['without'])
})

test('the listener sends 100 Continue for 100-continue only', async () => {
  const length = `Content-Length: ${BODY.length}`
  const said = await send(PRELOGIN, [...json, length, 'Expect: 100-continue'], BODY)
  expect(said.statuses).toEqual([100, 200])
  const unsaid = await send(PRELOGIN, [...json, length, 'Expect: 100-Continue'], BODY)
  expect(unsaid.statuses).toEqual([200])
})

test('a pipelined request and an unknown method close the connection', async () => {
  const first = rawRequest(HEALTH, ['Host: localhost'])
  const both = Buffer.concat([Buffer.from(first), Buffer.from(first)])
  expect((await sendRaw(app.controlPlane, both, { timeoutMs: 1500 })).statuses).toEqual([])
  expect((await send('FOO /api/status/health/ HTTP/1.1', [])).statuses).toEqual([])
})

test('Host decides for an absolute target, whose path counts', async () => {
  const absolute = (host: string) => `GET http://${host}/api/status/health/ HTTP/1.1`
  const other = await send(absolute('other.example'), ['Connection: close'])
  expect(other.statuses).toEqual([200])
  const evil = rawRequest(absolute('localhost'), ['Host: evil.example', 'Connection: close'])
  const refused = await sendRaw(app.controlPlane, evil, { timeoutMs: 1500 })
  expect(refused.statuses).toEqual([400])
})

test('the listener and fetch resolve dot segments, also escaped ones, and change nothing else in a path', async () => {
  const seen = await sendersOf(['/b/./k', '/b/../k', '/b/%2e/k', '/b//k', '/b/x%2Fk', '/b/.k'])
  expect(seen.listener).toEqual(['/b/k', '/k', '/b/k', '/b//k', '/b/x%2Fk', '/b/.k'])
  expect(seen.fetch).toEqual(seen.listener)
})

/** Returns the paths that the runtime's server receives, and those that its client sends. */
async function sendersOf(paths: readonly string[]) {
  const server = Bun.serve({
    port: 0,
    fetch: ({ url }) => new Response(url.slice('http://localhost'.length)),
  })
  const upstream = createServer(({ url }, answer) => answer.end(url))
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  const { port } = upstream.address() as AddressInfo
  const byHand = async (path: string) => {
    const request = rawRequest(`GET ${path} HTTP/1.1`, ['Host: localhost', 'Connection: close'])
    return (await sendRaw(server.url.href, request)).text.split('\r\n\r\n')[1] ?? ''
  }
  const byFetch = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
  const seen = {
    listener: await Promise.all(paths.map(byHand)),
    fetch: await Promise.all(paths.map(byFetch)),
  }
  upstream.close()
  await server.stop()
  return seen
}
