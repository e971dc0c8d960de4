// tier: quick
/** Credentials in WebSocket messages: in the places that the policy lists, decided and recorded one by one. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { newestRecord } from '../support/forward.ts'
import { rawRequest } from '../support/raw_http.ts'
import { type Caller, socketThrough } from '../support/socket_caller.ts'
import { type Accepted, accepting, closing, frame } from '../support/socket_upstream.ts'

const BOT = marked('bot.token-0123456789')
const QUOTED = 'a"b\\c-0123456789'
const SHORT = 'x7Kq'
const [TEXT, BINARY] = [1, 2]
const LISTED = { policy: { allowed_locations: ['websocket' as const] } }

let stage: Stage
let agent: Agent
let count = 0

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY: 'in-headers-only-0123' } })
  await agent.store('BOT', BOT, LISTED)
  await agent.store('QUOTED', QUOTED, LISTED)
  await agent.store('SHORT', SHORT, LISTED)
})
afterAll(() => stage.stop())

async function join(): Promise<{ caller: Caller; upstream: Accepted }> {
  count += 1
  const accepted = Promise.withResolvers<Accepted>()
  stage.upstream.on(`/messages/${count}`, accepting(accepted.resolve))
  const caller = socketThrough(stage, agent, `/messages/${count}`)
  const upstream = await accepted.promise
  expect(await caller.opened).toBe('open')
  return { caller, upstream }
}

const said = async ({ next }: Accepted) => (await next()).payload.toString()

test('a placeholder in a JSON message is replaced, and the message has its own record', async () => {
  const { caller, upstream } = await join()
  caller.socket.send('{"op":2,"d":{"token":"SVC_SECRET_BOT"}}')
  expect(await said(upstream)).toBe(`{"op":2,"d":{"token":"${BOT}"}}`)
  expect(await newestRecord(stage)).toMatchObject({
    decision: 'allowed',
    method: 'GET',
    target_path: `/messages/${count}`,
    credential_ref: 'BOT',
    injection_style: 'websocket',
    status_code: 101,
  })
  caller.socket.close()
  await upstream.closed
})

test('a value is escaped in JSON, at every level, and unchanged in other text', async () => {
  const { caller, upstream } = await join()
  const nested = JSON.stringify({ inner: JSON.stringify({ token: 'SVC_SECRET_QUOTED' }) })
  caller.socket.send(nested)
  const { inner } = JSON.parse(await said(upstream))
  expect(JSON.parse(inner)).toEqual({ token: QUOTED })
  caller.socket.send('PASS SVC_SECRET_BOT')
  expect(await said(upstream)).toBe(`PASS ${BOT}`)
  caller.socket.close()
  await upstream.closed
})

test('messages keep their order, and text without a placeholder is unchanged', async () => {
  const { caller, upstream } = await join()
  for (const text of ['one', 'SVC_SECRET_BOT', 'two', 'SVC_SECRET_KEY', 'SVC_SECRET_NOBODY'])
    caller.socket.send(text)
  caller.socket.send(Buffer.from('SVC_SECRET_BOT'))
  for (const text of ['one', BOT, 'two', 'SVC_SECRET_KEY', 'SVC_SECRET_NOBODY'])
    expect(await said(upstream)).toBe(text)
  expect(await upstream.next()).toEqual({ opcode: BINARY, payload: Buffer.from('SVC_SECRET_BOT') })
  caller.socket.close()
  await upstream.closed
})

test('a value that a message used is replaced in the answers, a short value too', async () => {
  const { caller, upstream } = await join()
  upstream.wire.write(frame(TEXT, SHORT))
  expect(await caller.next()).toBe(SHORT)
  caller.socket.send('SVC_SECRET_SHORT')
  expect(await said(upstream)).toBe(SHORT)
  upstream.wire.write(frame(TEXT, `you are ${SHORT}`))
  expect(await caller.next()).toBe('you are SVC_SECRET_SHORT')
  caller.socket.close()
  await upstream.closed
})

test('a rejected message is not sent, and ends the connection with the code', async () => {
  await agent.store('ELSEWHERE', 'value-0123456789', {
    policy: { allowed_locations: ['websocket'], allowed_domains: ['other.example'] },
  })
  const refused: [message: string, code: string][] = [
    ['SVC_SECRET_ELSEWHERE', 'policy_blocked'],
    ['("SVC_SECRET_QUOTED")', 'unusable_secret'],
    ['SVC_SECRET_BOT '.repeat(65), 'validation_error'],
    [`SVC_SECRET_BOT${' '.repeat(131_072)}`, 'validation_error'],
    ['SVC_SECRET_x '.repeat(1025), 'validation_error'],
  ]
  for (const [message, code] of refused) {
    const { caller, upstream } = await join()
    caller.socket.send('before')
    caller.socket.send(message)
    caller.socket.send('after')
    expect(await caller.closed).toEqual({ code: 1008, reason: code })
    await upstream.closed
    const texts = upstream.frames.filter(({ opcode }) => opcode === TEXT)
    expect(texts.map(({ payload }) => payload.toString())).toEqual(['before'])
    expect(await newestRecord(stage)).toMatchObject({ reason: code })
  }
})

test('a value that was stored after the handshake is not sent, because it could not be redacted in an answer', async () => {
  await agent.store('ROTATED', 'first-value-0123456', LISTED)
  for (const value of ['other-value-9876543', 'x7Kq', 'grown-value-0123456789']) {
    const { caller, upstream } = await join()
    await agent.store('ROTATED', value, LISTED)
    caller.socket.send('SVC_SECRET_ROTATED')
    if (value.length < 8) {
      expect(await said(upstream)).toBe(value)
      upstream.wire.write(frame(TEXT, `it is ${value}`))
      expect(await caller.next()).toBe('it is SVC_SECRET_ROTATED')
      caller.socket.close()
    } else expect(await caller.closed).toEqual({ code: 1008, reason: 'conflict' })
    await upstream.closed
    const record =
      value.length < 8 ? { status_code: 101 } : { decision: 'error', reason: 'conflict' }
    expect(await newestRecord(stage)).toMatchObject(record)
  }
  const { caller, upstream } = await join()
  caller.socket.send('SVC_SECRET_ROTATED')
  expect(await said(upstream)).toBe('grown-value-0123456789')
  upstream.wire.write(closing(4000, 'grown-value-0123456789'))
  expect(await caller.closed).toEqual({ code: 4000, reason: 'SVC_SECRET_ROTATED' })
})

const kinds: Record<string, string> = {
  JSON: '{"type":"service_account","token":"abcdef0123456789"}',
  'a list': '["abcdef0123456789"]',
  'a number': '1234567890123',
  lines: 'first line 0123456789\nsecond line 9876543210\n',
  'few characters of many bytes': 'ééééé',
  'spaces at its ends': '  padded-value-01  ',
  'mostly spaces': '    ab4C    ',
  'a URL': 'https://user:pass-0123@host.example/path',
  'one character': 'aaaaaaaaaaaa',
  'too short to be guarded': 'x7',
  words: 'correct horse battery staple',
}
test.each(Object.entries(kinds))('a value is sent: %s', async (_, value) => {
  await agent.store('KIND', value, LISTED)
  const { caller, upstream } = await join()
  caller.socket.send(JSON.stringify({ token: 'SVC_SECRET_KIND' }))
  expect(JSON.parse(await said(upstream))).toEqual({ token: value })
  caller.socket.close()
  await upstream.closed
})

test('a short value that was replaced is still redacted', async () => {
  const { caller, upstream } = await join()
  for (const value of ['x7Kq', 'y8Lr']) {
    await agent.store('SHORT', value, LISTED)
    caller.socket.send('SVC_SECRET_SHORT')
    expect(await said(upstream)).toBe(value)
  }
  upstream.wire.write(frame(TEXT, 'old x7Kq new y8Lr'))
  expect(await caller.next()).toBe('old SVC_SECRET_SHORT new SVC_SECRET_SHORT')
  caller.socket.close()
  await upstream.closed
})

test('no message is sent after a rejected one, also if the caller has closed meanwhile', async () => {
  count += 1
  const accepted = Promise.withResolvers<Accepted>()
  stage.upstream.on(`/messages/${count}`, accepting(accepted.resolve))
  const { hostname, port } = new URL(stage.app.resolver)
  const wire = connect(Number(port), hostname)
  wire.write(
    rawRequest(`GET /v1/forward/${stage.authorityOf()}/messages/${count} HTTP/1.1`, [
      ...['Host: localhost', `X-Service-Token: ${agent.token}`, 'Connection: Upgrade'],
      ...['Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ]),
  )
  await once(wire, 'data')
  const upstream = await accepted.promise
  const masked = (opcode: number, text: string | Buffer) => {
    const bytes = Buffer.from(text as string)
    return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | bytes.length, 0, 0, 0, 0]), bytes])
  }
  const texts = ['before', 'SVC_SECRET_ELSEWHERE', 'after', 'SVC_SECRET_BOT']
  const frames = [...texts.map((text) => masked(TEXT, text)), masked(8, Buffer.from([3, 232]))]
  wire.write(Buffer.concat(frames))
  await upstream.closed
  wire.destroy()
  const sent = upstream.frames.filter(({ opcode }) => opcode === TEXT)
  expect(sent.map(({ payload }) => payload.toString())).toEqual(['before'])
})

test('one connection accepts 64 messages with secrets', async () => {
  const { caller, upstream } = await join()
  for (let sent = 0; sent < 65; sent += 1) caller.socket.send(`${sent} SVC_SECRET_BOT`)
  expect(await caller.closed).toEqual({ code: 1008, reason: 'validation_error' })
  await upstream.closed
  expect(upstream.frames.filter(({ opcode }) => opcode === TEXT).length).toBe(64)
})

test('a connection ends when a secret of one of its messages is no longer permitted', async () => {
  await agent.store('WITHDRAWN', 'value-of-withdrawn', LISTED)
  const { caller, upstream } = await join()
  caller.socket.send('SVC_SECRET_WITHDRAWN')
  await said(upstream)
  await agent.store('WITHDRAWN', 'value-of-withdrawn', {
    policy: { allowed_locations: ['header'] },
  })
  expect(await caller.closed).toEqual({ code: 1008, reason: 'policy_blocked' })
})
