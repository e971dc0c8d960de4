// tier: all
/** The deadline of a relayed WebSocket on the real clock. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { settle } from '../support/fake_timers.ts'
import { newestRecord } from '../support/forward.ts'
import { type Accepted, accepting, frame } from '../support/socket_upstream.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
const PING = 9

let stage: Stage
let agent: Agent
let count = 0

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage)
})
afterAll(() => stage.stop())

/** Both ends of a relayed WebSocket. */
async function join(timeoutMs: number) {
  count += 1
  const path = `/socket/${count}`
  const accepted = Promise.withResolvers<Accepted>()
  stage.upstream.on(path, accepting(accepted.resolve))
  const url = `${stage.app.resolver.replace('http', 'ws')}/v1/forward/${stage.authorityOf()}${path}`
  const headers = { 'x-service-token': agent.token, 'x-service-timeout-ms': String(timeoutMs) }
  const socket = new WebSocket(url, { headers } as never)
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.onclose = ({ code, reason }) => resolve({ code, reason })
  })
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  return { socket, closed, upstream: await accepted.promise }
}

test('a WebSocket ends after the silence of both sides, and pings keep it open', async () => {
  const { socket, closed, upstream } = await join(400)
  let pings = 0
  const alternate = setInterval(() => {
    pings += 1
    if (pings % 2 === 1) upstream.wire.write(frame(PING, ''))
    else (socket as unknown as { ping(): void }).ping()
  }, 150)
  await until(() => pings === 8)
  clearInterval(alternate)
  expect(socket.readyState).toBe(WebSocket.OPEN)
  expect(upstream.frames.some(({ opcode }) => opcode === PING)).toBe(true)
  expect(await closed).toEqual({ code: 1011, reason: 'upstream_timeout' })
  await upstream.closed
  expect(await newestRecord(stage)).toMatchObject({ reason: 'upstream_timeout', status_code: 504 })
})

test('a WebSocket ends when its upstream does not read a flood of messages', async () => {
  const { socket, closed, upstream } = await join(1000)
  upstream.wire.pause()
  for (let sent = 0; sent < 64 && socket.readyState === WebSocket.OPEN; sent += 1) {
    socket.send(Buffer.alloc(MIB))
    // The relay reads while the flood continues.
    await settle()
  }
  expect(await closed).toEqual({ code: 1011, reason: 'upstream_timeout' })
  upstream.wire.destroy()
})
