// tier: quick
/** A call's own token does not reach the upstream, in whichever part of the call it is (protocol 6.3). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Agent, API, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { expectFault, forwardAs } from '../support/forward.ts'
import { accepting } from '../support/socket_upstream.ts'

let stage: Stage
let agent: Agent
let secret: string

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, {
    secrets: { KEY: marked('sk_live_0123456789abcdef') },
  })
  secret = agent.token.slice(-49, -6)
  await agent.store('SIGNER', 'value', { policy: { allowed_locations: ['sign'] } })
})
afterAll(() => stage.stop())

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const escaped = (text: string) => text.replace('svc', '%73vc')

async function expectNothingSent(act: () => Promise<unknown>): Promise<void> {
  const before = stage.upstream.received.length
  await act()
  expect(stage.upstream.received.length).toBe(before)
}

describe.each([
  ['the token', () => agent.token],
  ['its secret part', () => secret],
])('%s is rejected', (_, textOf) => {
  const calls: [where: string, call: (text: string) => object][] = [
    ['in the path', (text) => ({ target_url: stage.url(`/${text}/x`) })],
    ['in the query', (text) => ({ target_url: stage.url(`/?key=${text}.SVC_SECRET_KEY`) })],
    ['in the query, escaped', (text) => ({ target_url: stage.url(`/?key=${escaped(text)}`) })],
    ['in a header', (text) => ({ headers: { 'x-key': text } })],
    ['in the name of a header', (text) => ({ headers: { [`x-${text}`]: '1' } })],
    ['in Basic credentials', (text) => ({ headers: { authorization: basic(`${text}:x`) } })],
    ['in Basic of another header', (text) => ({ headers: { 'x-auth': basic(`me:${text}`) } })],
    ['in the body', (text) => ({ method: 'POST', body: `{"key":"${text}"}` })],
    [
      'in a body of bytes',
      (text) => ({ method: 'POST', body: btoa(`\xff${text}`), body_encoding: 'base64' }),
    ],
  ]
  const signatures: [where: string, signature: (text: string) => object][] = [
    ['value', (text) => ({ value: `${text}={signature}` })],
    ['value, in Basic', (text) => ({ value: basic(`${text}:x`) })],
    ['header', (text) => ({ header: `x-${text}` })],
    ['template', (text) => ({ template: `${text}{body}` })],
  ]
  const signed = (more: object) => ({
    type: 'hmac-sha256',
    secret: 'SVC_SECRET_SIGNER',
    header: 'x-signature',
    ...more,
  })
  for (const [where, signatureOf] of signatures) {
    calls.push([`in sign.${where}`, (text) => ({ sign: signed(signatureOf(text)) })])
  }

  test.each(signatures)(
    'the token is rejected in %s of X-Service-Sign, also escaped',
    async (_, signatureOf) => {
      await expectNothingSent(async () => {
        const sign = JSON.stringify(signed(signatureOf(textOf())))
        const [first = ''] = textOf()
        const code = `\\u00${first.charCodeAt(0).toString(16)}`
        for (const text of [sign, sign.replace(textOf(), code + textOf().slice(1))]) {
          const headers = { 'x-service-sign': text }
          const answer = await forwardAs(stage, agent, '/', { method: 'POST', body: 'x', headers })
          expect(answer.status).toBe(400)
          expect(await answer.json()).toMatchObject({ error_code: 'invalid_header' })
        }
      })
    },
  )

  test.each(calls)('%s', async (_, callOf) => {
    await expectNothingSent(async () => {
      const call = { target_url: stage.url('/'), ...callOf(textOf()) }
      const { status, body } = await agent.resolve(call)
      expect({ status, body }).toMatchObject({
        status: 400,
        body: { error_code: 'invalid_header' },
      })
      expect(JSON.stringify(body)).not.toContain(secret)
    })
  })

  const forwarded: [
    where: string,
    path: (text: string) => string,
    init: (text: string) => object,
  ][] = [
    ['in the query', (text) => `/?key=${text}.SVC_SECRET_KEY`, () => ({})],
    ['in the name of a header', () => '/', (text) => ({ headers: { [`x-${text}`]: '1' } })],
    ['in Basic of another header', () => '/', (text) => ({ headers: { 'x-b': basic(text) } })],
    ['in JSON', () => '/', (text) => ({ method: 'POST', body: JSON.stringify({ key: text }) })],
  ]
  test.each(forwarded)('the token is rejected %s, in forward mode', async (_, pathOf, initOf) => {
    await expectNothingSent(async () => {
      const init = { ...initOf(textOf()) } as { headers?: Record<string, string>; body?: string }
      const headers = { 'content-type': 'application/json', ...init.headers }
      const answer = await forwardAs(stage, agent, pathOf(textOf()), { ...init, headers })
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ error_code: 'invalid_header' })
    })
  })

  test('the token is rejected in a handshake', async () => {
    let isAccepted = false
    stage.upstream.on(
      '/socket',
      accepting(() => {
        isAccepted = true
      }),
    )
    const url = `${stage.app.resolver.replace('http', 'ws')}/v1/forward/${stage.authorityOf()}/socket?key=${textOf()}`
    const socket = new WebSocket(url, { headers: { 'x-service-token': agent.token } } as never)
    await new Promise((resolve) => {
      socket.onerror = resolve
      socket.onopen = resolve
    })
    expect(isAccepted).toBe(false)
  })
})

test('a streamed body is interrupted before the token, wherever it is split', async () => {
  for (const size of [1, 10, 1000]) {
    const text = `${'x'.repeat(500)}${agent.token}${'y'.repeat(500)}`
    const pieces = text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? []
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const piece of pieces) controller.enqueue(Buffer.from(piece))
        controller.close()
      },
    })
    const before = stage.upstream.received.length
    const headers = { 'content-type': 'text/plain' }
    const answer = await forwardAs(stage, agent, '/', { method: 'POST', body, headers })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(stage.upstream.received.length).toBe(before)
  }
})

describe('a body whose pieces each wait for the arrival of the previous one', () => {
  let received = ''
  let noted = () => {}
  let host = ''
  let server: Bun.Server<undefined>
  afterAll(() => server.stop(true))
  beforeAll(async () => {
    const tls = await stage.authority.issue([API])
    const fetch = async ({ body }: Request) => {
      for await (const piece of body ?? []) {
        received += String(Buffer.from(piece))
        noted()
      }
      return new Response()
    }
    server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, tls, fetch })
    host = `${API}:${server.port}`
    await agent.allow(host)
  })

  /** Returns the answer's status. */
  async function send(pieces: readonly string[], last: string): Promise<number> {
    received = ''
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const write = (text: string) => void writer.write(Buffer.from(text)).catch(() => {})
    const headers = { 'content-type': 'application/octet-stream' }
    const init = { method: 'POST', body: readable, headers }
    const answer = forwardAs({ app: stage.app, authorityOf: () => host }, agent, '/', init)
    let expected = ''
    for (const piece of pieces) {
      expected += piece
      const arrived = Promise.withResolvers<void>()
      noted = () => received === expected && arrived.resolve()
      write(piece)
      await arrived.promise
    }
    write(last)
    void writer.close().catch(() => {})
    return (await answer).status
  }

  test('a slow body arrives, also if a piece ends like the start of the token', async () => {
    const pieces = [`a${secret.slice(0, 1)}`, `b${secret.slice(0, 7)}`, secret.slice(0, 3)]
    expect(await send(pieces, 'c')).toBe(200)
    expect(received).toBe(`${pieces.join('')}c`)
  })

  test("a slow body with a guess of the token's start arrives immediately, right or wrong: it cannot be found one character at a time", async () => {
    for (let length = 1; length <= 7; length += 1) {
      const right = secret.slice(0, length)
      const wrong = `${right.slice(0, -1)}${right.endsWith('A') ? 'B' : 'A'}`
      for (const pieces of [[right], [wrong], [...right], [...wrong]]) {
        expect(await send(pieces, '!')).toBe(200)
        expect(received).toBe(`${pieces.join('')}!`)
      }
    }
  })

  test('a slow body is interrupted after at most seven characters of the token', async () => {
    expect(await send([`a${secret.slice(0, 7)}`], secret.slice(7))).toBeGreaterThanOrEqual(400)
    expect(received).toBe(`a${secret.slice(0, 7)}`)
  })

  test('a slow body continues if it turns out to be another text', async () => {
    expect(await send([`a${secret.slice(0, 7)}`], `${secret.slice(7, 42)}!`)).toBe(200)
    expect(received).toBe(`a${secret.slice(0, 42)}!`)
  })
})

describe('permitted uses of the token', () => {
  test('the token before a placeholder, and in Basic, is accepted', async () => {
    const { token } = agent
    for (const authorization of [
      `Bearer ${token}.SVC_SECRET_KEY`,
      basic(`me:${token}.SVC_SECRET_KEY`),
    ]) {
      const url = `${stage.app.resolver}/v1/forward/${stage.authorityOf()}/`
      expect((await fetch(url, { headers: { authorization } })).status).toBe(200)
    }
  })

  test('a signature without the token is sent', async () => {
    const sign = { type: 'hmac-sha256', secret: 'SVC_SECRET_SIGNER', header: 'x-signature' }
    const call = { target_url: stage.url('/'), method: 'POST', body: 'x', sign }
    expect((await agent.resolve(call)).status).toBe(200)
  })

  test('another token in a body is sent, because it may be the purpose of the call', async () => {
    const { text } = await agent.issue()
    const { status } = await agent.resolve({
      target_url: stage.url('/'),
      method: 'POST',
      body: JSON.stringify({ secret: text }),
    })
    expect(status).toBe(200)
  })

  test('a streamed body arrives whole, also when it begins like the token', async () => {
    const text = `${secret.slice(0, 20)}${secret.slice(0, 42)}`
    const headers = { 'content-type': 'text/plain' }
    const answer = await forwardAs(stage, agent, '/', { method: 'POST', body: text, headers })
    expect(answer.status).toBe(200)
    expect(String(Buffer.from(stage.upstream.received.at(-1)?.body ?? ''))).toBe(text)
  })

  test('a call with a revoked token stays 401', async () => {
    const dead = `${agent.token.slice(0, -6)}AAAAAA`
    await expectFault(await forwardAs(stage, { token: dead }, `/?key=${dead}`), 'invalid_token')
  })
})
