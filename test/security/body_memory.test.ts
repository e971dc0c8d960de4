// tier: quick
/**
 * Case 92: endless bodies, of callers and of upstreams, take bounded memory, of each workspace and of the process,
 * and others are served (protocol 6.2). A proxy counts the memory that it holds, too.
 */
import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import type { BodyMemory } from '../../src/core/body_memory.ts'
import { openProxyStage } from '../proxy/stage.ts'
import { type Agent, createAgentWithToken } from '../support/agent.ts'
import { forwardAs } from '../support/forward.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'

const MIB = 1024 * 1024

const stage = await openProxyStage()
const { agent: greedy, upstream } = stage
const { bodies } = stage.app
const other = await createAgentWithToken(stage, { secrets: { KEY: 'value-of-another-1' } })
let held: { release(): void }[] = []

afterEach(async () => {
  for (const account of held) account.release()
  held = []
  stage.upstream.disconnect()
  await until(() => bodies.taken === 0)
})
afterAll(() => stage.stop())

function hold(owner: string, bytes: number, memory: BodyMemory = bodies): void {
  const account = memory.open(owner)
  account.take(bytes)
  held.push(account)
}

const fillProcess = () => {
  for (const owner of ['a', 'b', 'c', 'd']) hold(owner, bodies.share)
}

type Ask = (agent: Agent) => Promise<{ status: number; headers: Headers }>

/** Each way in which a body is read, from a caller or from an upstream. */
const WAYS: Record<string, Ask> = {
  'a described call': (agent) => agent.resolve({ target_url: stage.url('/') }),
  'a forwarded upload': (agent) =>
    forwardAs(stage, agent, '/', { method: 'POST', body: 'x', headers: {} }),
  'a forwarded form': (agent) =>
    forwardAs(stage, agent, '/', {
      method: 'POST',
      body: 'a=1',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }),
  'a report to the audit': (agent) =>
    stage.app.call('POST', '/api/internal/audit/logs/', {
      token: agent.token,
      body: { timestamp: new Date().toISOString(), method: 'GET', target_domain: 'a.example' },
    }),
  'a change in a workspace': (agent) =>
    stage.app.call('POST', `/api/workspaces/${agent.workspaceId}/allowlist/`, {
      token: agent.person.token,
      body: { domains: ['memory.example'] },
    }),
}

describe.each(Object.entries(WAYS))('%s', (_, ask) => {
  test('a body is 503 while bodies fill the process', async () => {
    fillProcess()
    const { status, headers } = await ask(greedy)
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  })

  test("a body is 429 if bodies fill its workspace's share, and others are served", async () => {
    hold(greedy.workspaceId, bodies.share)
    const { status, headers } = await ask(greedy)
    expect([status, headers.get('retry-after')]).toEqual([429, '1'])
    expect((await ask(other)).status).toBeLessThan(300)
  })
})

test('answers that stop after their first bytes count with their whole length', async () => {
  stage.upstream.on('/stops', (_, wire) => {
    wire.write(`HTTP/1.1 200 X\r\ncontent-length: ${10 * MIB}\r\n\r\nx`)
  })
  const most = Math.floor(bodies.share / (10 * MIB))
  const calls = Array.from({ length: most }, () =>
    greedy.resolve({ target_url: stage.url('/stops') }),
  )
  await until(() => bodies.taken >= most * 10 * MIB)
  const { status, body } = await greedy.resolve({ target_url: stage.url('/stops') })
  expect([status, body]).toMatchObject([429, { error_code: 'rate_limited' }])
  expect((await other.resolve({ target_url: stage.url('/') })).status).toBe(200)
  stage.upstream.disconnect()
  expect((await Promise.all(calls)).map((call) => call.status)).toEqual(calls.map(() => 502))
})

test('an upload without a declared length is counted while it arrives, and not after its end', async () => {
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(MIB)),
    pull: async (controller) => {
      await isOver
      controller.close()
    },
  })
  const call = forwardAs(stage, greedy, '/', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/octet-stream' },
  })
  await until(() => bodies.taken >= MIB)
  end()
  expect((await call).status).toBe(200)
})

await greedy.store('IN_JSON', 'value-in-a-body-1', { policy: { allowed_locations: ['json'] } })

describe.each([
  ['local', await stage.open('local', { standIns: true })],
  ['remote', await stage.open('remote', { standIns: true })],
])('while bodies fill a %s proxy', (_, proxy) => {
  const url = `${proxy.baseUrl}/${stage.authorityOf()}/`

  test('the proxy rejects a body that may contain stand-ins, and sends none of it', async () => {
    const json = { 'content-type': 'application/json' }
    const send = () => fetch(url, { method: 'POST', headers: json, body: '{"a":1}' })
    expect((await send()).status).toBe(200)
    await until(() => proxy.bodies.taken === 0)
    hold('others', proxy.bodies.share, proxy.bodies)
    const sent = upstream.bytes
    const answer = await send()
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      { error_code: 'unavailable', message: expect.stringContaining('BODY_MEMORY_MIB') },
    ])
    expect(upstream.bytes).toBe(sent)
  })

  test('the proxy streams a large answer as it arrives, and does not count it', async () => {
    upstream.on('/', answerOf(200, { 'content-type': 'text/plain' }, 'a short answer'))
    hold('others', proxy.bodies.share, proxy.bodies)
    expect(await (await fetch(url)).text()).toBe('a short answer')
    expect(proxy.bodies.taken).toBe(proxy.bodies.share)
  })
})
