// tier: quick
/** Credentials in messages of WebSockets: where the policy lists them, decided and recorded one by one. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Agent, employAgent, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { newestRecord } from '../support/forward.ts'
import { type Caller, socketThrough } from '../support/socket_caller.ts'
import { type Accepted, accepting, frame } from '../support/socket_upstream.ts'

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
  agent = await employAgent(stage, { secrets: { KEY: 'in-headers-only-0123' } })
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

test('a placeholder in a JSON message is replaced, and the message has a record of its own', async () => {
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

test('a value is escaped in JSON, at every level, and stands as it is in other text', async () => {
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

test('messages keep their order, and what is no placeholder there stays text', async () => {
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

test('what a message used is replaced in what comes back, a short value too', async () => {
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

test('a message that is refused is not sent, and ends the connection with the code', async () => {
  await agent.store('ELSEWHERE', 'value-0123456789', {
    policy: { allowed_locations: ['websocket'], allowed_domains: ['other.example'] },
  })
  const refused: [message: string, code: string][] = [
    ['SVC_SECRET_ELSEWHERE', 'policy_blocked'],
    ['("SVC_SECRET_QUOTED")', 'unusable_secret'],
    ['SVC_SECRET_BOT '.repeat(65), 'validation_error'],
    [`SVC_SECRET_BOT${' '.repeat(1_048_576 - 14)}`, 'validation_error'],
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

test('one connection takes 64 messages with secrets', async () => {
  const { caller, upstream } = await join()
  for (let sent = 0; sent < 65; sent += 1) caller.socket.send(`${sent} SVC_SECRET_BOT`)
  expect(await caller.closed).toEqual({ code: 1008, reason: 'validation_error' })
  await upstream.closed
  expect(upstream.frames.filter(({ opcode }) => opcode === TEXT).length).toBe(64)
})

test('a connection ends when a secret of one of its messages is not permitted any more', async () => {
  await agent.store('WITHDRAWN', 'value-of-withdrawn', LISTED)
  const { caller, upstream } = await join()
  caller.socket.send('SVC_SECRET_WITHDRAWN')
  await said(upstream)
  await agent.store('WITHDRAWN', 'value-of-withdrawn', {
    policy: { allowed_locations: ['header'] },
  })
  expect(await caller.closed).toEqual({ code: 1008, reason: 'policy_blocked' })
})
