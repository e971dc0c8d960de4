// tier: quick
/** A workspace with slow upstreams takes no capacity from other workspaces. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { adviceFor } from '../../src/http/advice.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import { forwardAs, streamAs } from '../support/forward.ts'

const WIDTH = 3
/** Milliseconds that a call waits for a place. */
const WAIT_MS = 1_000
const timers = new FakeTimers()
const BUSY = {
  status: 429,
  body: {
    error_code: 'rate_limited',
    message: 'Too many calls of this workspace are running. Wait and retry.',
    ...adviceFor('rate_limited', { setting: 'RESOLVER_CONCURRENCY' }),
  },
}
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nslow'

let stage: Stage
let slow: Agent
let other: Agent
/** Connections on which the upstream holds an answer open. */
let held: TLSSocket[] = []
/** Whether it answers immediately instead. */
let isReleased = false
let arrivals: { count: number; reached: () => void }[] = []

beforeAll(async () => {
  stage = await openStage({ env: { RESOLVER_CONCURRENCY: String(WIDTH) }, timers })
  slow = await createAgentWithToken(stage)
  other = await createAgentWithToken(stage)
  stage.upstream.on('/held', (_, wire) => {
    held.push(wire)
    if (isReleased) wire.write(ANSWER)
    for (const { count, reached } of arrivals) if (held.length >= count) reached()
  })
})
afterAll(() => stage.stop())
afterEach(() => {
  held = []
  arrivals = []
  isReleased = false
})

/** Resolves when the upstream holds this number of calls. */
function holding(count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  arrivals.push({ count, reached: resolve })
  if (held.length >= count) resolve()
  return promise
}

const call = (agent: Agent, path = '/held') => agent.resolve({ target_url: stage.url(path) })

async function outcome(answer: ReturnType<typeof call>) {
  const { status, body } = await answer
  return { status, body }
}

/** A call that waits for a place and times out. */
async function callInVain() {
  const answer = call(slow)
  await timers.expire(WAIT_MS)
  return answer
}

/** The first given number of them, in the order of arrival. */
function firstOf<Value>(promises: Promise<Value>[], count: number): Promise<Value[]> {
  const { promise, resolve } = Promise.withResolvers<Value[]>()
  const values: Value[] = []
  for (const each of promises)
    void each.then((value) => values.push(value) === count && resolve(values))
  return promise
}

/** As many calls as may run, each held open by the upstream. */
async function fill(): Promise<ReturnType<typeof call>[]> {
  const running = Array.from({ length: WIDTH }, () => call(slow))
  await holding(WIDTH)
  return running
}

async function expectFree(): Promise<void> {
  const running = await fill()
  for (const wire of held) wire.write(ANSWER)
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200])
}

describe('a workspace at its limit', () => {
  test('a workspace at its limit gets 429 with Retry-After, leaves no record, and delays no other workspace', async () => {
    const { sql } = stage.app.connection
    const running = await fill()
    const refused = await callInVain()
    expect({ status: refused.status, body: refused.body }).toEqual(BUSY)
    expect(refused.headers.get('retry-after')).toBe('1')
    const id = refused.headers.get('x-request-id') ?? ''
    await stage.app.flushAudit()
    expect(await sql`select from audit_logs where id = ${id}`).toHaveLength(0)
    expect((await call(other, '/quick')).status).toBe(200)
    for (const wire of held) wire.write(ANSWER)
    for (const { status } of await Promise.all(running)) expect(status).toBe(200)
  })

  test('a workspace at its limit gets the next free place', async () => {
    const running = await fill()
    const waiting = call(slow)
    held[0]?.write(ANSWER)
    await holding(WIDTH + 1)
    for (const wire of held.slice(1)) wire.write(ANSWER)
    for (const { status } of await Promise.all([...running, waiting])) expect(status).toBe(200)
  })

  test('a workspace at its limit rejects further calls immediately when as many wait as run', async () => {
    expect(await crowd()).toEqual([200, 200, 200, 429, 429, 429])
  })

  /** The statuses of twice as many calls as may run; half of them may wait. */
  async function crowd(): Promise<number[]> {
    const running = await fill()
    const more = Array.from({ length: 2 * WIDTH }, () => outcome(call(slow)))
    expect(await firstOf(more, WIDTH)).toEqual([BUSY, BUSY, BUSY])
    isReleased = true
    for (const wire of held) wire.write(ANSWER)
    const answers = await Promise.all([...more, ...running])
    isReleased = false
    held = []
    return answers
      .slice(0, more.length)
      .map(({ status }) => status)
      .sort()
  }
})

describe('a place is free again after', () => {
  test('a place is free again after an upstream breaks off', async () => {
    stage.upstream.on('/broken', (_, wire) => void wire.destroy())
    const broken = await Promise.all(Array.from({ length: WIDTH }, () => call(slow, '/broken')))
    expect(broken.map(({ status }) => status)).toEqual([502, 502, 502])
    await expectFree()
  })

  test('a place is free again after a call takes too long', async () => {
    const body = { target_url: stage.url('/held'), timeout_ms: 50_000 }
    const calls = Array.from({ length: WIDTH }, () => slow.resolve(body))
    await holding(WIDTH)
    await timers.expire(50_000, WIDTH)
    const late = await Promise.all(calls)
    expect(late.map(({ status }) => status)).toEqual([504, 504, 504])
    held = []
    await expectFree()
  })

  test('a place is free again after rejected calls', async () => {
    const targets = ['https://elsewhere.example/', 'http://plain.example/', stage.url('/held')]
    for (const target_url of targets) {
      const headers = { authorization: 'Bearer SVC_SECRET_MISSING' }
      expect((await slow.resolve({ target_url, headers })).status).toBeGreaterThanOrEqual(400)
    }
    await expectFree()
  })

  test('a place is free again after a streamed answer, which counts until its end', async () => {
    stage.upstream.on('/endless', (_, wire) => {
      // An event whose end keeps no text waiting (protocol 6.1).
      const head =
        'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked'
      wire.write(`${head}\r\n\r\nc\r\ndata: part\n\n\r\n`)
      held.push(wire)
    })
    const body = { target_url: stage.url('/endless') }
    const streams = await Promise.all(
      Array.from({ length: WIDTH }, () => streamAs(stage, slow, body)),
    )
    expect(await outcome(callInVain())).toEqual(BUSY)
    for (const wire of held) wire.write('0\r\n\r\n')
    for (const stream of streams) expect(await stream.text()).toBe('data: part\n\n')
    held = []
    await expectFree()
  })

  test('a place is free again after a caller disconnects from a streamed answer', async () => {
    const callers = Array.from({ length: WIDTH }, () => new AbortController())
    const streams = callers.map(({ signal }) => forwardAs(stage, slow, '/held', { signal }))
    await holding(WIDTH)
    expect(await outcome(callInVain())).toEqual(BUSY)
    const gone = held.map((wire) => new Promise((resolve) => wire.once('close', resolve)))
    for (const caller of callers) caller.abort()
    await Promise.allSettled(streams)
    await Promise.all(gone)
    held = []
    await expectFree()
  })

  test('a place is free again after a WebSocket, which counts while it is open', async () => {
    const sockets = await Promise.all(Array.from({ length: WIDTH }, openSocket))
    expect(await outcome(callInVain())).toEqual(BUSY)
    expect((await call(other, '/quick')).status).toBe(200)
    const gone = held.map((wire) => new Promise((resolve) => wire.once('close', resolve)))
    for (const socket of sockets) socket.destroy()
    await Promise.all(gone)
    held = []
    await expectFree()
  })
})

const HANDSHAKE = [
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
]

/** Performs the handshake, with an upstream that accepts it and then is silent. */
async function openSocket() {
  stage.upstream.on('/socket', (request, wire) => {
    const key = `${request.header('sec-websocket-key')}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const proof = new Bun.CryptoHasher('sha1').update(key).digest('base64')
    const agreed = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${proof}`]
    wire.write(`HTTP/1.1 101 X\r\n${agreed.join('\r\n')}\r\n\r\n`)
    held.push(wire)
  })
  const { hostname, port } = new URL(stage.app.resolver)
  const socket = connect({ host: hostname, port: Number(port) })
  const lines = [...HANDSHAKE, `X-Service-Token: ${slow.token}`]
  socket.write(
    `GET /v1/forward/${stage.authorityOf()}/socket HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`,
  )
  const [head] = await new Promise<[Buffer]>((resolve) =>
    socket.once('data', (data: Buffer) => resolve([data])),
  )
  expect(head.toString()).toStartWith('HTTP/1.1 101')
  return socket
}
