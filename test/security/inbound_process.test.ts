// tier: all
/** Endless bodies and slow clients against a server process, by its memory and the real clock. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { CALLER, openTiny, WORKSPACE } from '../http/tiny_listener.ts'
import { createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { databasePlace } from '../support/places.ts'
import { rawRequest, sendRaw } from '../support/raw_http.ts'
import { startServer } from '../support/server_process.ts'

const MIB = 1024 * 1024
const HOST = 'Host: localhost'
const JSON_TYPE = 'Content-Type: application/json'
const CHUNKED = 'Transfer-Encoding: chunked'
const LOGIN = 'POST /api/auth/login/ HTTP/1.1'
const RESOLVE = 'POST /v1/resolve HTTP/1.1'

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
}, 30_000)
afterAll(() => stage.stop())

/** Closes by itself, or stays open; contains the bytes received meanwhile. */
function open(origin: string, bytes: string) {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  let text = ''
  socket.on('data', (data) => {
    text += data.toString('latin1')
  })
  socket.write(bytes)
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()))
  return { socket, closed, text: () => text }
}

async function pour({ socket, closed }: ReturnType<typeof open>): Promise<void> {
  const piece = `100000\r\n${' '.repeat(MIB)}\r\n`
  for (let sent = 0; sent < 256 && !socket.destroyed; sent += 1) {
    await Promise.race([new Promise((resolve) => void socket.write(piece, resolve)), closed])
  }
  socket.destroy()
}

test('a server bounds memory for endless bodies and disconnects slow clients (46, 49)', async () => {
  const directory = mkdtempSync(join(databasePlace, 'cr-inbound-'))
  const env = { DATA_DIR: join(directory, 'data'), LOG_LEVEL: 'error' }
  const server = await startServer({ ...env, RESOLVER_CA_FILE: stage.caFile })
  const known = await createAgentWithToken({ app: server.app, authorityOf: stage.authorityOf })
  const peak = () => {
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
  }
  const listeners: [string, string, string[]][] = [
    [server.controlPlane, LOGIN, [HOST, JSON_TYPE]],
    [server.resolver, RESOLVE, [HOST, JSON_TYPE, `Authorization: Bearer ${known.token}`]],
  ]
  const slow = listeners.flatMap(([origin, line, headers]) => [
    open(origin, `${line}\r\nHost: lo`),
    open(origin, rawRequest(line, [...headers, 'Content-Length: 10'], '{"')),
  ])
  // The resolver gives more time to bodies of unknown length of an authenticated caller.
  slow.push(open(server.controlPlane, rawRequest(LOGIN, [HOST, JSON_TYPE, CHUNKED], '5\r\n{"')))
  const before = peak()
  for (const [origin, line, headers] of listeners) {
    const endless = open(origin, rawRequest(line, [...headers, CHUNKED]))
    await pour(endless)
    expect(endless.text()).toStartWith('HTTP/1.1 413 ')
  }
  expect(peak() - before).toBeLessThan(96 * MIB)
  for (const path of ['/healthz', '/v1/allowlist']) {
    const headers = { authorization: `Bearer ${known.token}` }
    expect((await fetch(`${server.resolver}${path}`, { headers })).status).toBe(200)
  }
  expect((await fetch(`${server.controlPlane}/api/status/health/`)).status).toBe(200)
  await Promise.all(slow.map(({ closed }) => closed))
  expect(slow.map(({ text }) => text()).filter((text) => /HTTP\/1\.1 2/.test(text))).toEqual([])
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  rmSync(directory, { recursive: true, force: true })
}, 90_000)

test('a large body from an authenticated caller may take longer than the idle timeout to arrive', async () => {
  const tiny = openTiny({ idleSeconds: 2 })
  // Four seconds and more, where the listener closes after two: the runtime counts in steps of four.
  const size = 1_000_000
  const parts = Array.from({ length: 9 }, () => ' '.repeat(100_000))
  const body = '{"text":"slow"}'
  const headers = [HOST, JSON_TYPE, `Authorization: Bearer ${CALLER}`, `Content-Length: ${size}`]
  const head = rawRequest(`PUT /items/${WORKSPACE}/a/ HTTP/1.1`, headers)
  const { statuses } = await sendRaw(
    tiny.origin,
    [head, ...parts, ' '.repeat(100_000 - body.length) + body],
    { pauseMs: 700, timeoutMs: 3000 },
  )
  await tiny.listener.close(100)
  expect(statuses).toEqual([200])
}, 20_000)
