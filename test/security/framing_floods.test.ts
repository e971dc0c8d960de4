// tier: all
/**
 * Case 97: endless interim answers, chunk extensions and trailers, of upstreams and of clients. The runtime does not
 * count them, and stores none of them: memory stays bounded, the deadline ends the call, and others are served
 * (protocol 6.2).
 */
import { afterAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { openProxyStage } from '../proxy/stage.ts'
import { createAgentWithToken, recordOf } from '../support/agent.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
/** The size of a flood. The limit for this process's memory covers both sides. */
const SENT = 128 * MIB
const HELD = 64 * MIB
const TIMEOUT_MS = 30_000

const timers = new FakeTimers()
const stage = await openProxyStage([], timers)
afterAll(stage.stop)
const { agent: attacker, upstream } = stage
const other = await createAgentWithToken(stage, { secrets: { KEY: 'value-of-another-1' } })
const proxy = await stage.open('local')

const LINE = `x-a: ${'b'.repeat(1000)}\r\n`
const CHUNKED = 'content-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n'
/** The start of each, and its endless continuation. */
type Flood = readonly [begin: string, more: string]
const AFTER_HEAD: Record<string, Flood> = {
  'a chunk extension': ['5', `;a=${'b'.repeat(60_000)}`],
  'chunk extensions': ['', `1;a=${'b'.repeat(1000)}\r\nx\r\n`.repeat(60)],
  trailers: ['1\r\nx\r\n0\r\n', LINE.repeat(60)],
}
const ANSWERS: Record<string, Flood> = {
  'interim answers': ['', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2000)],
  'interim answers with headers': ['', `HTTP/1.1 103 Early Hints\r\n${LINE}\r\n`.repeat(50)],
  ...Object.fromEntries(
    Object.entries(AFTER_HEAD).map(([what, [begin, more]]): [string, Flood] => [
      what,
      [`HTTP/1.1 200 OK\r\n${CHUNKED}${begin}`, more],
    ]),
  ),
}
/** The runtime cuts these itself. */
const CUT: Record<string, Flood> = {
  'an interim answer without end': ['HTTP/1.1 103 Early Hints\r\n', LINE.repeat(60)],
  'headers without end': ['HTTP/1.1 200 OK\r\n', LINE.repeat(60)],
  'a chunk size without end': [`HTTP/1.1 200 OK\r\n${CHUNKED}`, '0'.repeat(60_000)],
}

/** Sends as fast as the other side reads. */
function flood(wire: Socket, [begin, more]: Flood) {
  const bytes = Buffer.from(more)
  const state = { sent: 0, closed: false }
  const go = () => {
    if (wire.destroyed) return
    state.sent += bytes.length
    if (wire.write(bytes)) setImmediate(go)
  }
  wire.on('drain', go).once('close', () => {
    state.closed = true
  })
  wire.on('error', () => {})
  wire.write(begin)
  go()
  return state
}

function memoryNow(): number {
  Bun.gc(true)
  return process.memoryUsage.rss()
}

/** Memory is bounded while the flood continues. The system reclaims freed memory later, but before any deadline. */
async function expectBounded(before: number): Promise<void> {
  await until(() => memoryNow() - before < HELD, { stepMs: 100, limitMs: 5_000 })
}

const serveOthers = async () => {
  expect((await other.resolve({ target_url: stage.url('/') })).status).toBe(200)
}

function floodedBy(given: Flood) {
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof flood>>()
  upstream.on('/flood', (_, wire) => resolve(flood(wire, given)))
  const call = attacker.resolve({ target_url: stage.url('/flood'), timeout_ms: TIMEOUT_MS })
  return { begun: promise, call }
}

describe('an upstream that sends endlessly', () => {
  test.each(Object.entries(ANSWERS))(
    'the memory for %s is bounded, and the deadline ends the call',
    async (_, given) => {
      await serveOthers()
      const before = memoryNow()
      const { begun, call } = floodedBy(given)
      const state = await begun
      await until(() => state.sent > SENT, { limitMs: 120_000 })
      await expectBounded(before)
      await serveOthers()
      await timers.advance(TIMEOUT_MS)
      const answer = await call
      expect([answer.status, answer.body]).toMatchObject([504, { error_code: 'upstream_timeout' }])
      expect(await recordOf(stage.app, answer)).toMatchObject({ reason: 'upstream_timeout' })
      await until(() => state.closed)
    },
    180_000,
  )

  test.each(Object.entries(CUT))('the runtime ends the connection for %s', async (_, given) => {
    const { begun, call } = floodedBy(given)
    const state = await begun
    const answer = await call
    expect([answer.status, answer.body]).toMatchObject([
      502,
      { error_code: 'upstream_protocol_error' },
    ])
    await until(() => state.closed)
    expect(state.sent).toBeLessThan(SENT)
    await serveOthers()
  })
})

const host = (origin: string) => `host: ${new URL(origin).host}\r\n`
const POST = (origin: string, path: string, headers = '') =>
  `POST ${path} HTTP/1.1\r\n${host(origin)}${headers}`
/** Each listener that reads bodies of clients. */
const LISTENERS: Record<string, readonly [origin: string, head: string]> = {
  'the control plane': [
    stage.app.controlPlane,
    POST(stage.app.controlPlane, '/api/auth/prelogin/', 'content-type: application/json\r\n'),
  ],
  'the resolver': [
    stage.app.resolver,
    POST(stage.app.resolver, `/v1/forward/${stage.authorityOf()}/`, token(attacker.token)),
  ],
  'the local proxy': [
    proxy.baseUrl,
    POST(proxy.baseUrl, `${new URL(proxy.baseUrl).pathname}/${stage.authorityOf()}/`),
  ],
}
function token(text: string): string {
  return `x-service-token: ${text}\r\n`
}

describe.each(Object.entries(LISTENERS))('a client of %s that sends endlessly', (_, at) => {
  const [origin, head] = at
  test.each(Object.entries(AFTER_HEAD))(
    'the memory for %s is bounded, and others are served',
    async (__, [begin, more]) => {
      await serveOthers()
      const before = memoryNow()
      const socket = connect(Number(new URL(origin).port), '127.0.0.1')
      const state = flood(socket, [`${head}transfer-encoding: chunked\r\n\r\n${begin}`, more])
      socket.resume()
      try {
        await until(() => state.closed || state.sent > SENT, { limitMs: 120_000 })
        await expectBounded(before)
        await serveOthers()
      } finally {
        socket.destroy()
      }
    },
    180_000,
  )
})
