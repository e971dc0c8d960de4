// tier: quick, both databases in test:all
/** Limits of a token: each call over one is rejected before it is sent, and omitted fields do not bypass it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import type { TokenLimits } from '../../src/core/token_limits.ts'
import { listAgentTokens } from '../../src/features/agents/contract.ts'
import {
  type Agent,
  createAgentWithToken,
  recordOf,
  resolveAs,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import type { Answer } from '../support/app.ts'
import { forwardAs, recordOfAnswer } from '../support/forward.ts'
import { socketThrough } from '../support/socket_caller.ts'
import { accepting, frame } from '../support/socket_upstream.ts'
import { until } from '../support/until.ts'
import { answerOf, chunked } from '../support/upstream.ts'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY: 'a value to put in' } })
})
afterAll(() => stage.stop())

type Limited = { token: string; id: string; call(body?: object): Promise<Answer> }

async function limited(limits: Partial<TokenLimits>): Promise<Limited> {
  const issued = await agent.issue({ limits })
  await agent.provision(issued)
  return {
    token: issued.text,
    id: issued.id,
    call: (body = {}) => resolveAs(stage.app.resolver, issued.text, { ...get(), ...body }),
  }
}

const get = (path = '/x') => ({
  target_url: stage.url(path),
  headers: { 'x-key': 'SVC_SECRET_KEY' },
})
const post = (body: string, path = '/x') => ({
  target_url: stage.url(path),
  method: 'POST',
  headers: { 'x-key': 'SVC_SECRET_KEY', 'content-type': 'application/json' },
  body,
})
const refusedWith = (message: RegExp) => ({
  error_code: 'budget_exceeded',
  message: expect.stringMatching(message),
})
const secondsToMidnight = () => 86_400 - (Math.floor(stage.app.clock.now() / 1000) % 86_400)

async function spentBy({ id }: Limited) {
  const params = { workspace_id: agent.workspaceId, registration_id: agent.registrationId }
  const listed = await agent.person.api.list(listAgentTokens, { params })
  return listed.find((token) => token.id === id)?.spent
}

describe('calls per minute', () => {
  test('calls over the limit per minute are rejected with the seconds to wait, rejected ones included', async () => {
    const token = await limited({ calls_per_minute: 2 })
    const blocked = await token.call({ target_url: 'https://not-allowed.example/' })
    expect(blocked.status).toBe(403)
    expect((await token.call()).status).toBe(200)
    const before = stage.upstream.received.length
    const answer = await token.call()
    expect([answer.status, answer.body]).toMatchObject([
      429,
      refusedWith(/^This token can make 2 calls per minute\. Retry in \d+ s\.$/),
    ])
    const wait = Number(answer.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(30)
    expect(stage.upstream.received.length).toBe(before)
    expect(await recordOf(stage.app, answer)).toMatchObject({
      decision: 'blocked',
      reason: 'budget_exceeded',
      status_code: 429,
      token_id: token.id,
    })
  })
})

describe('calls per day', () => {
  test('calls per day are counted exactly when many are concurrent, and only sent ones count', async () => {
    const token = await limited({ calls_per_day: 5 })
    await token.call({ target_url: 'https://not-allowed.example/' })
    const answers = await Promise.all(Array.from({ length: 12 }, () => token.call()))
    expect(answers.filter(({ status }) => status === 200).length).toBe(5)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.body).toMatchObject(
      refusedWith(/^This token has used its daily limit of 5 calls\. Retry after 00:00 UTC\.$/),
    )
    const wait = Number(refused?.headers.get('retry-after'))
    expect(Math.abs(wait - secondsToMidnight())).toBeLessThan(60)
    expect(await recordOf(stage.app, refused as Answer)).toMatchObject({
      decision: 'blocked',
      reason: 'budget_exceeded',
      target_url: expect.stringContaining('/x'),
    })
    expect(await spentBy(token)).toMatchObject({ calls_today: 5, running: 0 })
  })

  test('calls per day are rejected in forward mode in the form of an SDK', async () => {
    const token = await limited({ calls_per_day: 1 })
    expect((await forwardAs(stage, token, '/x')).status).toBe(200)
    const answer = await forwardAs(stage, token, '/x')
    expect([answer.status, await answer.json()]).toMatchObject([
      429,
      { error_code: 'budget_exceeded' },
    ])
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  })
})

describe('concurrent calls', () => {
  test('concurrent calls over the limit are rejected, and the place of a call is free when it ends', async () => {
    const token = await limited({ concurrent_calls: 1 })
    const held = Promise.withResolvers<void>()
    stage.upstream.on('/held', async (_, wire) => {
      await held.promise
      wire.write(answerOf(200, { 'content-type': 'application/json' }, '{}'))
    })
    const first = token.call({ target_url: stage.url('/held') })
    await until(async () => (await spentBy(token))?.running === 1)
    const second = await token.call()
    expect([second.status, second.body]).toMatchObject([
      429,
      refusedWith(/^This token has 1 calls running, which is its limit\./),
    ])
    expect(second.headers.get('retry-after')).toBe('1')
    held.resolve()
    expect((await first).status).toBe(200)
    for (let call = 0; call < 3; call++) expect((await token.call()).status).toBe(200)
  })

  test('concurrent calls release their place when they fail, are rejected or lose their caller', async () => {
    const token = await limited({ concurrent_calls: 1 })
    stage.upstream.on('/broken', (_, wire) => void wire.destroy())
    stage.upstream.on('/silent', () => {})
    expect((await token.call({ target_url: stage.url('/broken') })).status).toBe(502)
    const leaving = new AbortController()
    const left = forwardAs(stage, token, '/silent', { signal: leaving.signal }).catch(() => 'left')
    await until(async () => (await spentBy(token))?.running === 1)
    leaving.abort()
    expect(await left).toBe('left')
    await until(async () => (await spentBy(token))?.running === 0)
    expect((await token.call({ target_url: 'https://not-allowed.example/' })).status).toBe(403)
    expect((await token.call()).status).toBe(200)
  })

  test('concurrent calls of a killed process count until their lease ends', async () => {
    const token = await limited({ concurrent_calls: 1 })
    const { sql } = stage.app.connection
    const lease = (until: string) => sql`insert into token_calls (call_id, token_id, until)
      values (${Bun.randomUUIDv7()}, ${token.id}, clock_timestamp() + ${until}::interval)`
    await lease('-1 second')
    expect((await token.call()).status).toBe(200)
    await lease('30 seconds')
    expect((await token.call()).status).toBe(429)
  })
})

describe('bytes per day', () => {
  test('a body that exceeds the bytes per day is rejected before it is sent', async () => {
    const token = await limited({ bytes_per_day: 100 })
    const before = stage.upstream.received.length
    const answer = await token.call(post('x'.repeat(101)))
    expect([answer.status, answer.body]).toMatchObject([
      429,
      refusedWith(
        /^The request body has 101 bytes\. This token has 100 of its 100 daily bytes left\./,
      ),
    ])
    expect(stage.upstream.received.length).toBe(before)
    expect((await token.call(post('x'.repeat(50)))).status).toBe(200)
    expect(await spentBy(token)).toMatchObject({ bytes_today: 50 + '{"ok":true}'.length })
  })

  test('the call that crosses the bytes per day is sent, and no other', async () => {
    const token = await limited({ bytes_per_day: 15 })
    expect((await token.call()).status).toBe(200)
    expect((await token.call()).status).toBe(200)
    const answer = await token.call()
    expect([answer.status, answer.body]).toMatchObject([
      429,
      refusedWith(/^This token has used its daily limit of 15 bytes\./),
    ])
  })

  test('bytes per day count decoded bytes of a compressed answer', async () => {
    const token = await limited({ bytes_per_day: 1_000_000 })
    const body = JSON.stringify({ text: 'y'.repeat(50_000) })
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    stage.upstream.on('/gzip', answerOf(200, headers, gzipSync(body)))
    expect((await token.call({ target_url: stage.url('/gzip') })).status).toBe(200)
    expect(await spentBy(token)).toMatchObject({ bytes_today: body.length })
  })

  test('bytes per day end a stream that continues beyond the limit', async () => {
    const token = await limited({ bytes_per_day: 1_000 })
    stage.upstream.on('/endless', (_, wire) => {
      wire.write(
        'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n',
      )
      const more = () => {
        if (wire.writable) wire.write(`${(400).toString(16)}\r\n${'z'.repeat(400)}\r\n`)
        if (wire.writable) setImmediate(more)
      }
      more()
    })
    const answer = await forwardAs(stage, token, '/endless')
    expect(answer.status).toBe(200)
    await expect(answer.text()).rejects.toThrow()
    expect(await recordOfAnswer(stage, answer)).toMatchObject({
      decision: 'error',
      reason: 'budget_exceeded',
    })
    expect((await token.call()).status).toBe(429)
  })

  test('bytes per day count a body without a declared length as it passes', async () => {
    const token = await limited({ bytes_per_day: 1_000_000 })
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (let piece = 0; piece < 3; piece++) controller.enqueue(new Uint8Array(1_000).fill(97))
        controller.close()
      },
    })
    const headers = { 'content-type': 'application/octet-stream' }
    const answer = await forwardAs(stage, token, '/x', { method: 'POST', headers, body })
    await answer.text()
    await until(async () => (await spentBy(token))?.bytes_today === 3_000 + '{"ok":true}'.length)
  })

  test('bytes per day count the messages of a WebSocket in both directions, and end it over the limit', async () => {
    const token = await limited({ bytes_per_day: 100 })
    stage.upstream.on(
      '/socket',
      accepting(async (accepted) => {
        for (;;) {
          const { opcode } = await accepted.next()
          if (opcode === 8) return
          accepted.wire.write(frame(1, 'e'.repeat(30)))
        }
      }),
    )
    const caller = socketThrough(stage, token, '/socket')
    expect(await caller.opened).toBe('open')
    for (let sent = 0; sent < 10; sent++) caller.socket.send('c'.repeat(30))
    expect(await caller.closed).toMatchObject({ reason: 'budget_exceeded' })
    await until(async () => ((await spentBy(token))?.bytes_today ?? 0) > 100)
    expect((await token.call()).status).toBe(429)
  })
})

describe('model tokens per day', () => {
  const usage =
    '{"choices":[],"usage":{"prompt_tokens":60,"completion_tokens":40,"total_tokens":100}}'
  const stream = (...data: string[]) =>
    Buffer.concat([
      Buffer.from(
        'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
      ),
      chunked(data.map((text) => `data: ${text}\n\n`)),
    ])

  test("model tokens are counted from an answer's report, and the next call over the limit is rejected", async () => {
    const token = await limited({ model_tokens_per_day: 150 })
    stage.upstream.on('/json', answerOf(200, { 'content-type': 'application/json' }, usage))
    stage.upstream.on('/stream', stream('{"choices":[]}', usage, '[DONE]'))
    expect((await token.call(post('{}', '/json'))).status).toBe(200)
    expect(await spentBy(token)).toMatchObject({ model_tokens_today: 100 })
    const streamed = await forwardAs(stage, token, '/stream')
    expect([streamed.status, await streamed.text()]).toEqual([200, expect.stringContaining('DONE')])
    await until(async () => (await spentBy(token))?.model_tokens_today === 200)
    const refused = await token.call(post('{}', '/json'))
    expect([refused.status, refused.body]).toMatchObject([
      429,
      refusedWith(/^This token has used its daily limit of 150 model tokens\./),
    ])
  })

  test('model tokens are estimated from bytes in both directions for a stream that does not report them', async () => {
    const token = await limited({ model_tokens_per_day: 1_000_000 })
    stage.upstream.on('/silent-usage', stream('{"choices":[]}', '[DONE]'))
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ text: 'p'.repeat(4_000) })
    const answer = await forwardAs(stage, token, '/silent-usage', { method: 'POST', headers, body })
    const bytes = body.length + (await answer.text()).length
    await until(async () => (await spentBy(token))?.model_tokens_today === Math.ceil(bytes / 4))
  })

  test("model tokens are estimated for a model's answer whose caller disabled usage", async () => {
    const token = await limited({ model_tokens_per_day: 1_000_000 })
    const path = '/v1/models/gemini:generateContent'
    const answer = JSON.stringify({ candidates: ['x'.repeat(4_000)] })
    stage.upstream.on(path, answerOf(200, { 'content-type': 'application/json' }, answer))
    expect((await token.call(post('{}', path))).status).toBe(200)
    const bytes = '{}'.length + answer.length
    await until(async () => (await spentBy(token))?.model_tokens_today === Math.ceil(bytes / 4))
  })

  test('model tokens are estimated for a call whose caller disconnects before the answer', async () => {
    const token = await limited({ model_tokens_per_day: 1_000_000 })
    stage.upstream.on('/never', () => {})
    const leaving = new AbortController()
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ text: 'p'.repeat(3_989) })
    const init = { method: 'POST', headers, body, signal: leaving.signal }
    const left = forwardAs(stage, token, '/never', init).catch(() => 'left')
    await until(() => stage.upstream.received.some(({ path }) => path === '/never'))
    leaving.abort()
    expect(await left).toBe('left')
    await until(async () => (await spentBy(token))?.model_tokens_today === 1_000)
  })

  test('model tokens are not counted for an unreachable upstream, nor for other APIs', async () => {
    const token = await limited({ model_tokens_per_day: 1_000 })
    stage.upstream.on('/closing', (_, wire) => void wire.destroy())
    await token.call()
    await forwardAs(stage, token, '/x').then((answer) => answer.text())
    await until(async () => (await spentBy(token))?.calls_today === 2)
    expect(await spentBy(token)).toMatchObject({ model_tokens_today: 0, running: 0 })
  })
})

test('a new day begins at midnight, UTC', async () => {
  const token = await limited({ calls_per_day: 1 })
  expect((await token.call()).status).toBe(200)
  expect((await token.call()).status).toBe(429)
  stage.app.clock.advance(secondsToMidnight() * 1_000)
  expect((await token.call()).status).toBe(200)
  expect((await token.call()).status).toBe(429)
})

test('a token without limits counts nothing', async () => {
  expect((await agent.resolve(get())).status).toBe(200)
  const { sql } = stage.app.connection
  expect(await sql`select 1 from token_days where token_id = ${agent.tokenId}`).toHaveLength(0)
  expect(await sql`select 1 from token_calls where token_id = ${agent.tokenId}`).toHaveLength(0)
  expect(await spentBy({ id: agent.tokenId } as Limited)).toBeUndefined()
})
