// tier: quick
/** /v1/forward/ on the real listener: an HTTP request in the form that an SDK sends, and the usual steps. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { formatSealedToken, parseToken } from '../../src/core/crypto/token.ts'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import {
  expectFault,
  type ForwardInit,
  forwardAs,
  newestRecord,
  recordOfAnswer,
} from '../support/forward.ts'
import { rawRequest, sendRaw } from '../support/raw_http.ts'
import { until } from '../support/until.ts'
import { answerOf, type ReceivedRequest } from '../support/upstream.ts'

const KEY = marked('sk_live_0123456789abcdef')
const OTHER = 'other.upstream.example'
const MIB = 1024 * 1024

const timers = new FakeTimers()
let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage({ names: [OTHER], timers })
  agent = await createAgentWithToken(stage, { secrets: { KEY, USER: 'ada', PASSWORD: 'pä:ss' } })
})
afterAll(() => stage.stop())
afterEach(() => {
  stage.upstream.received.length = 0
})

const forward = (path: string, init?: ForwardInit) => forwardAs(stage, agent, path, init)
const received = (): ReceivedRequest | undefined => stage.upstream.received[0]

/** A request to the resolver with this path, unchanged by any client library. */
function sendPath(path: string, more: readonly string[] = [], method = 'GET') {
  const { host } = new URL(stage.app.resolver)
  const headers = [`Host: ${host}`, `X-Service-Token: ${agent.token}`, ...more, 'Connection: close']
  return sendRaw(stage.app.resolver, rawRequest(`${method} ${path} HTTP/1.1`, headers), {
    timeoutMs: 2000,
  })
}

describe('a forwarded request', () => {
  test('a forwarded request arrives unchanged, with the credential, and without headers of the resolver', async () => {
    const response = await forward('/v1/x?a=1&a=2&b=%20', {
      method: 'POST',
      headers: {
        authorization: 'Bearer SVC_SECRET_KEY',
        'content-type': 'text/plain',
        'x-trace': 'abc',
        'x-forwarded-for': '1.2.3.4',
        'x-forwarded-proto': 'https',
        forwarded: 'for=1.2.3.4',
        via: '1.1 proxy',
        'x-real-ip': '1.2.3.4',
        'x-service-environment': 'development',
        'x-service-timeout-ms': '5000',
        'x-service-anything': 'else',
      },
      body: 'hello',
    })
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 200,
      body: { ok: true },
    })
    const { method, path, headers, body } = received() ?? {}
    expect({ method, path, body: Buffer.from(body ?? []).toString() }).toEqual({
      method: 'POST',
      path: '/v1/x?a=1&a=2&b=%20',
      body: 'hello',
    })
    const sent = Object.fromEntries(
      (headers ?? []).map(([name, value]) => [name.toLowerCase(), value]),
    )
    expect(sent).toEqual({
      authorization: `Bearer ${KEY}`,
      'content-type': 'text/plain',
      'x-trace': 'abc',
      'user-agent': expect.any(String),
      accept: '*/*',
      'accept-encoding': 'identity',
      host: stage.authorityOf(),
      connection: 'keep-alive',
      'content-length': '5',
    })
    expect(await recordOfAnswer(stage, response)).toMatchObject({
      method: 'POST',
      target_url: stage.url('/v1/x'),
      environment: 'development',
      credential_ref: 'KEY',
      injection_style: 'header',
      decision: 'allowed',
      status_code: 200,
      duration_ms: expect.any(Number),
    })
  })

  test('a forwarded request may have any method, and a body except with GET and HEAD', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      stage.upstream.received.length = 0
      const body = ['GET', 'HEAD'].includes(method) ? '' : 'x'
      const response = await forward('/m', { method, ...(body && { body }) })
      expect({ method, status: response.status }).toEqual({ method, status: 200 })
      await response.text()
      expect(received()?.method).toBe(method)
      expect(Buffer.from(received()?.body ?? []).toString()).toBe(body)
    }
    const before = stage.upstream.bytes
    for (const method of ['TRACE', 'CONNECT', 'PROPFIND']) {
      const { statuses } = await sendPath(`/v1/forward/${stage.authorityOf()}/m`, [], method)
      expect({ method, statuses }).toEqual({ method, statuses: [405] })
    }
    expect(stage.upstream.bytes).toBe(before)
  })

  test('a forwarded request is 422 for a body with GET or HEAD', async () => {
    const before = stage.upstream.bytes
    for (const method of ['GET', 'HEAD']) {
      for (const framing of [
        'Content-Length: 1\r\n\r\nx',
        'Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0',
      ]) {
        const { statuses } = await sendRaw(
          stage.app.resolver,
          `${method} /v1/forward/${stage.authorityOf()}/m HTTP/1.1\r\nHost: localhost\r\n` +
            `X-Service-Token: ${agent.token}\r\nConnection: close\r\n${framing}\r\n\r\n`,
          { timeoutMs: 2000 },
        )
        expect({ method, framing, statuses }).toEqual({ method, framing, statuses: [422] })
      }
    }
    expect(stage.upstream.bytes).toBe(before)
  })
})

describe('the target', () => {
  test('the target is read from the path byte for byte, and never becomes another host', async () => {
    const own = stage.authorityOf()
    const taken: [path: string, upstreamPath: string][] = [
      [`/v1/forward/${own}`, '/'],
      [`/v1/forward/${own}/`, '/'],
      [`/v1/forward/${own}?q=1`, '/?q=1'],
      [`/v1/forward/${own}/?q=1`, '/?q=1'],
      [`/v1/forward/${own}/a//${OTHER}/x`, `/a//${OTHER}/x`],
      [`/v1/forward/${own}/a%2Fb%20c`, '/a%2Fb%20c'],
      [`/v1/forward/${own}/https://${OTHER}/`, `/https://${OTHER}/`],
      [`/v1/forward/${own}/v1/forward/${OTHER}/x`, `/v1/forward/${OTHER}/x`],
      [`/v1/forward/${own}/x?next=/v1/forward/${OTHER}/`, `/x?next=/v1/forward/${OTHER}/`],
      [`/v1/forward/${own.toUpperCase()}/X`, '/X'],
      // The runtime reads a backslash as a slash, before any decision.
      [`/v1/forward/${own}\\@${OTHER}/`, `/@${OTHER}/`],
    ]
    for (const [path, upstreamPath] of taken) {
      stage.upstream.received.length = 0
      const { statuses } = await sendPath(path)
      expect({ path, statuses }).toEqual({ path, statuses: [200] })
      expect({ path, sent: received()?.path }).toEqual({ path, sent: upstreamPath })
      expect(received()?.header('host')).toBe(own)
    }
  })

  test('the target may have its colon escaped, the way clients of the OpenAPI document write it', async () => {
    const escaped = stage.authorityOf().replace(':', '%3A')
    const { statuses } = await sendPath(`/v1/forward/${escaped}/a%3A1?b=%3A`)
    expect({ statuses, sent: received()?.path, host: received()?.header('host') }).toEqual({
      statuses: [200],
      sent: '/a%3A1?b=%3A',
      host: stage.authorityOf(),
    })
  })

  test('the target is rejected if it is another host or missing', async () => {
    const own = stage.authorityOf()
    const { port } = stage.upstream
    const before = stage.upstream.bytes
    const refused: [path: string, status: number][] = [
      [`/v1/forward/${OTHER}:${port}/`, 403],
      [`/v1/forward/${own.split(':')[0]}/`, 403],
      [`/v1/forward/${own}.${OTHER}/`, 400],
      [`/v1/forward/127.0.0.1:${port}/`, 403],
      [`/v1/forward/2130706433:${port}/`, 403],
      [`/v1/forward/[::1]:${port}/`, 403],
      [`/v1/forward/user@${own}/`, 400],
      [`/v1/forward/user:pw@${own}/`, 400],
      [`/v1/forward/${own}@${OTHER}:${port}/`, 400],
      [`/v1/forward/${own}%40${OTHER}/`, 400],
      [`/v1/forward/${own}%2F/`, 400],
      [`/v1/forward/user%3A1@${own}/`, 400],
      [`/v1/forward/${OTHER}%3A${port}/`, 403],
      [`/v1/forward/${OTHER}%3A1:${port}/`, 400],
      [`/v1/forward/${OTHER}%2F${own}/`, 400],
      [`/v1/forward//${own}/x`, 404],
      [`/v1/forward/${own}//${OTHER}/x`, 400],
      [`/v1/forward/${own}//`, 400],
      [`/v1/forward/?x=${own}`, 404],
      [`/v1/forward/https://${own}/`, 400],
      [`/v1/forward/host:99999/`, 400],
      [`/v1/forward/host:0/`, 400],
      [`/v1/forward/..%2F${own}/`, 400],
    ]
    for (const [path, status] of refused) {
      const { statuses } = await sendPath(path)
      expect({ path, statuses }).toEqual({ path, statuses: [status] })
    }
    expect(stage.upstream.bytes).toBe(before)
  })

  test('the target has its dot segments resolved before any decision', async () => {
    await agent.store('NARROW', 'value-of-narrow', { policy: { allowed_paths: ['/v1/'] } })
    const own = stage.authorityOf()
    const before = stage.upstream.bytes
    for (const path of [
      '/v1/../admin',
      '/v1/%2e%2e/admin',
      '/v1/%2E%2E%2fadmin',
      '/v1/..;/admin',
    ]) {
      const { statuses } = await sendPath(`/v1/forward/${own}${path}`, ['X-Key: SVC_SECRET_NARROW'])
      expect({ path, statuses }).toEqual({ path, statuses: [403] })
    }
    for (const path of [
      '/v1/forward/../../v1/resolve',
      `/v1/forward/../${own}/`,
      '/v1/forward/..',
    ]) {
      const { statuses } = await sendPath(path)
      expect({ path, statuses }).toEqual({ path, statuses: [expect.any(Number)] })
      expect([400, 403, 404, 405]).toContain(statuses[0] ?? 0)
    }
    expect(stage.upstream.bytes).toBe(before)
  })

  test('the target keeps characters that a browser would send literally: placeholders in the URL are text', async () => {
    const response = await forward('/x?key=SVC_SECRET_KEY')
    await response.text()
    expect(received()?.path).toBe('/x?key=SVC_SECRET_KEY')
    expect(await recordOfAnswer(stage, response)).toMatchObject({ credential_ref: null })
  })
})

describe('the token', () => {
  const ask = (headers: Record<string, string>) =>
    fetch(`${stage.app.resolver}/v1/forward/${stage.authorityOf()}/t`, { headers })
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

  test('the token may be in its own header, in the bearer, or before the placeholder', async () => {
    const { token } = agent
    const ways: [
      headers: Record<string, string>,
      sent: [name: string, value: string | undefined],
    ][] = [
      [{ 'x-service-token': token }, ['authorization', undefined]],
      [{ authorization: `Bearer ${token}` }, ['authorization', undefined]],
      [{ authorization: `Bearer ${token}`, 'x-api-key': 'SVC_SECRET_KEY' }, ['x-api-key', KEY]],
      [{ authorization: `Bearer ${token}.SVC_SECRET_KEY` }, ['authorization', `Bearer ${KEY}`]],
      [{ authorization: `token ${token}.SVC_SECRET_KEY` }, ['authorization', `token ${KEY}`]],
      [{ 'x-api-key': `${token}.SVC_SECRET_KEY` }, ['x-api-key', KEY]],
      [{ authorization: basic(`${token}.SVC_SECRET_KEY:`) }, ['authorization', basic(`${KEY}:`)]],
      [
        { authorization: basic(`SVC_SECRET_USER:${token}.SVC_SECRET_PASSWORD`) },
        ['authorization', basic('ada:pä:ss')],
      ],
      [
        { 'x-service-token': token, authorization: `Bearer ${token}.SVC_SECRET_KEY` },
        ['authorization', `Bearer ${KEY}`],
      ],
      [
        { 'x-api-key': `${token}.SVC_SECRET_KEY`, authorization: `Bearer ${token}.SVC_SECRET_KEY` },
        ['x-api-key', KEY],
      ],
    ]
    for (const [headers, [name, value]] of ways) {
      stage.upstream.received.length = 0
      const response = await ask(headers)
      expect({ headers, status: response.status }).toEqual({ headers, status: 200 })
      await response.text()
      expect(received()?.header(name)).toBe(value)
      const wire = JSON.stringify(received()?.headers)
      expect(wire).not.toContain('svc_')
      expect(wire).not.toContain(Buffer.from('svc_').toString('base64').slice(0, 5))
    }
  })

  test("the token is 401 if it is missing, not an agent's, or given twice with a difference; nothing is sent", async () => {
    const { token } = agent
    const { text: second } = await agent.issue()
    const session = agent.person.token
    const before = stage.upstream.bytes
    const refused: Record<string, string>[] = [
      {},
      { authorization: 'Bearer SVC_SECRET_KEY' },
      { 'x-service-token': '' },
      { 'x-service-token': `${token}x` },
      { 'x-service-token': token.slice(0, -1) },
      { 'x-service-token': session },
      { authorization: `Bearer ${session}` },
      { authorization: `Bearer ${session}.SVC_SECRET_KEY` },
      { 'x-service-token': token, authorization: `Bearer ${session}` },
      { 'x-service-token': token, authorization: `Bearer ${second}` },
      { 'x-service-token': token, 'x-api-key': `${second}.SVC_SECRET_KEY` },
      { 'x-service-token': `${token}, ${token}` },
      { 'x-service-token': `Bearer ${token}` },
      { cookie: `token=${token}` },
    ]
    for (const headers of refused) {
      const response = await ask(headers)
      // git sends its data only after this.
      expect(response.headers.get('www-authenticate')).toBe('Bearer, Basic realm="cloakroom"')
      await expectFault(response, 'invalid_token')
    }
    const inQuery = await fetch(
      `${stage.app.resolver}/v1/forward/${stage.authorityOf()}/t?token=${token}`,
    )
    await expectFault(inQuery, 'invalid_token')
    expect(stage.upstream.bytes).toBe(before)
  })

  test('the token never goes upstream: it is 400 if it occurs without a placeholder', async () => {
    const { token } = agent
    const before = stage.upstream.bytes
    const leaks: Record<string, string>[] = [
      { 'x-service-token': token, 'x-api-key': token },
      { 'x-service-token': token, cookie: `a=${token}` },
      { authorization: `Bearer ${token}.SVC_SECRET_KEY`, 'x-copy': `x ${token} y` },
      { 'x-service-token': token, authorization: basic(`user:${token}`) },
      { 'x-service-token': token, authorization: basic(`ä\xff${token}`) },
    ]
    for (const headers of leaks) {
      const response = await ask(headers)
      await expectFault(
        response,
        'invalid_header',
        'A header contains the token, which would reach the API.',
      )
    }
    expect(stage.upstream.bytes).toBe(before)
  })

  test('the token is 403 scope_required in its sealed form', async () => {
    const { id, secret } = parseToken(agent.token) ?? { id: '', secret: new Uint8Array(32) }
    const response = await ask({ 'x-service-token': formatSealedToken(id, secret) })
    const message = 'The sealed form of a token cannot open what this needs: send the token itself.'
    await expectFault(response, 'scope_required', message)
  })
})

describe('headers', () => {
  test('hop-by-hop headers end at the resolver, also those that Connection names', async () => {
    const { statuses } = await sendPath(`/v1/forward/${stage.authorityOf()}/h`, [
      'TE: trailers',
      'Keep-Alive: timeout=5',
      'Proxy-Authorization: Basic eDp5',
      'Proxy-Connection: keep-alive',
      'Trailer: x-t',
      'Upgrade: h2c',
      'X-Private: 1',
      'Connection: x-private, upgrade',
      'X-Kept: 1',
    ])
    expect(statuses).toEqual([200])
    const names = received()?.headers.map(([name]) => name.toLowerCase()) ?? []
    expect(names).toContain('x-kept')
    for (const name of [
      'te',
      'keep-alive',
      'proxy-authorization',
      'proxy-connection',
      'trailer',
      'upgrade',
      'x-private',
    ]) {
      expect(names).not.toContain(name)
    }
    expect(received()?.header('connection')).toBe('keep-alive')
  })

  test('a request with Expect: 100-continue is answered by the resolver, and the header is not forwarded', async () => {
    const { statuses, text } = await sendRaw(
      stage.app.resolver,
      [
        `POST /v1/forward/${stage.authorityOf()}/h HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n` +
          `X-Service-Token: ${agent.token}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`,
        'body',
      ],
      { timeoutMs: 2000 },
    )
    expect(statuses.at(-1)).toBe(200)
    expect(text).toContain('{"ok":true}')
    expect(received()?.header('expect')).toBeUndefined()
    expect(Buffer.from(received()?.body ?? []).toString()).toBe('body')
  })

  test('headers of the settings are rejected if they are invalid', async () => {
    const before = stage.upstream.bytes
    const wrong = {
      'x-service-timeout-ms': ['0', '600001', 'soon'],
      'x-service-environment': ['A B'],
      'x-service-project': ['nope'],
      'x-service-sign': ['nope', '{}', '{"type":"hmac-sha256"}'],
    }
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) {
        const response = await forward('/s', { headers: { [name]: value } })
        expect({ name, value, status: response.status }).toEqual({ name, value, status: 422 })
        expect(await response.json()).toMatchObject({ error_code: 'validation_error' })
      }
    }
    const foreign = await forward('/s', { headers: { 'x-service-environment': 'production' } })
    expect(foreign.status).toBe(200)
    expect(await recordOfAnswer(stage, foreign)).toMatchObject({ environment: 'production' })
    expect(stage.upstream.bytes).toBeGreaterThan(before)
  })

  test('redirects and links that continue a call return through the resolver', async () => {
    const { origin } = new URL(stage.app.resolver)
    const own = stage.authorityOf()
    const cases: [location: string, seen: string | null][] = [
      ['/v2/x?y=1#z', `/v1/forward/${own}/v2/x?y=1#z`],
      ['next', `/v1/forward/${own}/redirect/next`],
      [`https://${OTHER}/a`, `/v1/forward/~from=${own}/${OTHER}/a`],
      [`//${OTHER}/a`, `/v1/forward/~from=${own}/${OTHER}/a`],
      [`https://user:pw@${OTHER}/a`, `/v1/forward/~from=${own}/${OTHER}/a`],
      [`http://${OTHER}/a`, null],
      ['javascript:alert(1)', null],
      ['https://', null],
    ]
    for (const [location, seen] of cases) {
      stage.upstream.on('/redirect/here', answerOf(307, { location }))
      const response = await forward('/redirect/here')
      expect(response.status).toBe(307)
      expect({ location, seen: response.headers.get('location') }).toEqual({ location, seen })
    }
    const link = `<https://${own}/l?page=2>; rel="next", </l?page=9>; rel="last"`
    stage.upstream.on('/l', answerOf(200, { link }))
    expect((await forward('/l')).headers.get('link')).toBe(
      `<${origin}/v1/forward/${own}/l?page=2>; rel="next", <${origin}/v1/forward/${own}/l?page=9>; rel="last"`,
    )
    // No trusted proxy reports it.
    const secure = await forward('/l', { headers: { 'x-forwarded-proto': 'https' } })
    expect(secure.headers.get('link')).toStartWith(`<${origin}/`)
    stage.upstream.on('/l', answerOf(200, { link: '<http://evil.example/>; rel="next"' }))
    expect((await forward('/l')).headers.get('link')).toBeNull()
  })
})

describe('bodies', () => {
  const LIMIT = 10 * MIB
  const tooLarge = `The request body may have at most ${LIMIT} bytes.`

  function streamOf(pieces: number, size = MIB): ReadableStream<Uint8Array> {
    let left = pieces
    return new ReadableStream({
      pull: (controller) => {
        left -= 1
        if (left < 0) controller.close()
        else controller.enqueue(new Uint8Array(size).fill(97))
      },
    })
  }

  test('bodies up to the limit pass through as they arrive', async () => {
    for (const type of ['application/octet-stream', 'application/json']) {
      stage.upstream.received.length = 0
      const response = await forward('/b', {
        method: 'POST',
        headers: { 'content-type': type },
        body: new Uint8Array(LIMIT).fill(0x20),
      })
      expect({ type, status: response.status }).toEqual({ type, status: 200 })
      expect(received()?.body.length).toBe(LIMIT)
      expect(received()?.header('content-length')).toBe(String(LIMIT))
    }
  })

  test('bodies that declare more than the limit are 413 before any byte is sent', async () => {
    const before = stage.upstream.bytes
    for (const type of ['application/octet-stream', 'application/json']) {
      const response = await forward('/b', {
        method: 'POST',
        headers: { 'content-type': type },
        body: new Uint8Array(LIMIT + 1),
      })
      await expectFault(response, 'payload_too_large', tooLarge)
    }
    expect(stage.upstream.bytes).toBe(before)
  })

  test('bodies over the limit without a length are 413, and the upstream never receives a complete request', async () => {
    const broken = Promise.withResolvers<void>()
    const connections = stage.upstream.connections
    stage.upstream.on('/big', () => broken.reject(new Error('the request arrived whole')))
    for (const type of ['application/octet-stream', 'application/json']) {
      const response = await forward('/big', {
        method: 'POST',
        headers: { 'content-type': type },
        body: streamOf(12),
      })
      await expectFault(response, 'payload_too_large', tooLarge)
    }
    expect(await newestRecord(stage)).toMatchObject({ method: 'POST' })
    expect(stage.upstream.connections - connections).toBeLessThanOrEqual(1)
    broken.resolve()
    await broken.promise
  })

  test('interrupted bodies never arrive as complete ones', async () => {
    const whole: ReceivedRequest[] = []
    stage.upstream.on('/broken', (request) => void whole.push(request))
    const served = () => stage.app.logs.filter((line) => line.includes('"method":"PUT"')).length
    const before = served()
    const framings = [
      'Content-Length: 100\r\n\r\npartial',
      'Transfer-Encoding: chunked\r\n\r\n7\r\npartial\r\n',
    ]
    const types = ['application/octet-stream', 'application/json']
    const requests = framings.flatMap((framing) =>
      types.map((type) =>
        sendRaw(
          stage.app.resolver,
          `PUT /v1/forward/${stage.authorityOf()}/broken HTTP/1.1\r\nHost: localhost\r\n` +
            `X-Service-Token: ${agent.token}\r\nContent-Type: ${type}\r\n${framing}`,
          { timeoutMs: 300 },
        ),
      ),
    )
    await Promise.all(requests)
    await until(() => served() === before + requests.length)
    expect(whole).toEqual([])
    expect(stage.app.logs.filter((line) => line.includes('request failed'))).toEqual([])
  })

  test('bodies may take longer than the deadline in total, but not pause for that long', async () => {
    /** Pieces of ten bytes with the given pause in milliseconds after each, once it has reached the upstream. */
    const drip = (pauses: readonly number[]) =>
      new ReadableStream<Uint8Array>({
        start: async (controller) => {
          for (const pause of pauses) {
            const { bytes } = stage.upstream
            controller.enqueue(new Uint8Array(10))
            await until(() => stage.upstream.bytes >= bytes + 10)
            await timers.advance(pause)
          }
          controller.close()
        },
      })
    const put = (body: ReadableStream<Uint8Array>) =>
      forward('/drip', {
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream', 'x-service-timeout-ms': '60000' },
        body,
      })
    const steady = await put(drip([59_000, 59_000, 59_000, 59_000, 59_000]))
    expect(steady.status).toBe(200)
    expect(received()?.body.length).toBe(50)
    stage.upstream.received.length = 0
    await expectFault(await put(drip([59_000, 60_000])), 'upstream_timeout')
    expect(stage.upstream.received).toEqual([])
  })

  test('bodies are never sent in part when a pooled connection turns out dead', async () => {
    for (let round = 0; round < 10; round += 1) {
      stage.upstream.received.length = 0
      await (await forward('/warm')).text()
      stage.upstream.disconnect()
      const response = await forward('/upload', {
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream' },
        body: streamOf(3, 1000),
      })
      const uploads = stage.upstream.received.filter(({ path }) => path === '/upload')
      for (const { body } of uploads) expect(body.length).toBe(3000)
      expect([200, 502]).toContain(response.status)
      expect(uploads.length).toBe(response.status === 200 ? 1 : 0)
      await response.text()
    }
  })
})

test('an error has the form in which SDKs expect errors, and forbids retries if waiting does not help', async () => {
  const refused = await fetch(`${stage.app.resolver}/v1/forward/not.allowed.example/x`, {
    headers: { 'x-service-token': agent.token },
  })
  expect(refused.status).toBe(403)
  expect(refused.headers.get('x-should-retry')).toBe('false')
  const { error_code, message, error } = (await refused.json()) as Record<string, unknown>
  expect(error_code).toBe('domain_blocked')
  expect(error).toEqual({ type: 'permission_error', code: 'domain_blocked', message })
})

test('HEAD has the length that the upstream announces', async () => {
  stage.upstream.on('/length', 'HTTP/1.1 200 OK\r\ncontent-length: 12345\r\n\r\n')
  const answer = await forwardAs(stage, agent, '/length', { method: 'HEAD' })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-length')).toBe('12345')
})
