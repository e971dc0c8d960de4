// tier: quick
/** Upstreams that only support HTTP/2, on the real listener. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { createSecureServer } from 'node:http2'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import {
  type Agent,
  API,
  createAgentWithToken,
  type Stage,
  sharedStage,
} from '../../support/agent.ts'
import { marked } from '../../support/canary.ts'
import { type GrpcCall, type GrpcUpstream, startGrpcUpstream } from '../../support/grpc_upstream.ts'
import { FRAME, http2Frame } from '../../support/http2_frames.ts'
import { until } from '../../support/until.ts'

const VALUE = marked('sk_live_0123456789abcdef')
let stage: Stage
let agent: Agent
let upstream: GrpcUpstream
let host: string

const answers: Record<string, (call: GrpcCall) => unknown> = {
  '/echo': async ({ headers, stream }) => {
    const body = Buffer.concat(await Array.fromAsync(stream)).toString()
    stream.respond({ ':status': 201, 'x-echo': headers.authorization, 'x-two': ['a', 'b'] })
    stream.end(`${headers[':method']} ${headers['content-length']} ${body}`)
  },
  '/none': ({ stream }) => stream.respond({ ':status': 204 }, { endStream: true }),
  '/long': ({ stream }) => {
    stream.respond({ ':status': 200, 'content-type': 'text/plain' })
    stream.end('x'.repeat(300_000))
  },
  '/half': ({ stream }) => {
    stream.respond({ ':status': 200, 'content-type': 'application/octet-stream' })
    stream.write('partial. '.repeat(40))
  },
  '/long-lie': ({ stream }) => {
    stream.respond({ ':status': 200, 'content-length': '5' })
    stream.end('longer')
  },
  '/short-lie': ({ stream }) => {
    stream.respond({ ':status': 200, 'content-length': '50' })
    stream.end('shorter')
  },
  '/resets': ({ stream }) => stream.close(7),
  '/silent': () => {},
}

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE } })
  upstream = await startGrpcUpstream(stage.authority, [API])
  for (const [path, answer] of Object.entries(answers)) upstream.on(path, answer)
  host = `${API}:${upstream.port}`
  await agent.allow(host)
})
afterAll(async () => {
  await stage.stop()
  await upstream.stop()
})

const BEARER = { authorization: 'Bearer SVC_SECRET_KEY' }
const ECHO = { method: 'POST', body: 'hello' }

function forward(path: string, { place = host, ...init }: RequestInit & { place?: string } = {}) {
  const headers = { 'x-service-token': agent.token, ...BEARER, ...init.headers }
  return fetch(`${stage.app.resolver}/v1/forward/${place}${path}`, { ...init, headers })
}

describe.each(['refuses', 'ignores'] as const)(
  'an upstream that %s requests other than HTTP/2',
  (does) => {
    let place: string
    let stop = () => {}
    beforeAll(async () => {
      if (does === 'refuses') place = host
      else ({ place, cut: stop } = await startIgnoring())
      await agent.allow(place)
    })
    afterAll(() => stop())

    test('the detecting request is sent again', async () => {
      const target_url = `https://${place}/echo`
      const answer = await agent.resolve({ target_url, headers: BEARER, ...ECHO })
      expect(answer.body).toMatchObject({
        status_code: 201,
        headers: { 'x-echo': 'Bearer SVC_SECRET_KEY', 'x-two': 'a, b' },
        body: 'POST 5 hello',
        redacted: true,
      })
      expect(upstream.received.at(-1)?.headers).toMatchObject({
        ':authority': place,
        ':path': '/echo',
        authorization: `Bearer ${VALUE}`,
        'accept-encoding': 'identity',
      })
      expect(upstream.received.at(-1)?.headers).not.toHaveProperty('te')
    })

    test('other requests are sent over HTTP/2 immediately, on the same connection', async () => {
      const before = upstream.connections
      const headers = { 'content-type': 'application/octet-stream' }
      const answer = await forward('/echo', { place, ...ECHO, headers })
      expect(await answer.text()).toBe('POST 5 hello')
      expect((await forward('/none', { place })).status).toBe(204)
      expect(upstream.connections).toBe(before)
    })
  },
)

describe('a body that streams', () => {
  const send = (place: string) =>
    forward('/echo', { place, ...ECHO, headers: { 'content-type': 'application/octet-stream' } })

  test('a streamed body that was not read when the upstream refused is sent again', async () => {
    const other = await startGrpcUpstream(stage.authority, [API])
    other.on('/echo', answers['/echo'] ?? (() => {}))
    const place = `${API}:${other.port}`
    await agent.allow(place)
    expect(await (await send(place)).text()).toBe('POST 5 hello')
    await other.disconnect()
    await other.stop()
  })

  test('bytes that were read cannot be sent again, but the next call succeeds', async () => {
    const { place, cut } = await startIgnoring()
    await agent.allow(place)
    const first = await send(place)
    expect({ status: first.status, body: await first.json() }).toMatchObject({
      status: 502,
      body: { error_code: 'upstream_protocol_error' },
    })
    expect(await (await send(place)).text()).toBe('POST 5 hello')
    cut()
  })
})

test('nothing is sent to an upstream with a certificate for another name', async () => {
  const other = await startGrpcUpstream(stage.authority, ['other.upstream.example'])
  const place = `${API}:${other.port}`
  await agent.allow(place)
  const answer = await forward('/echo', { place })
  expect(await answer.json()).toMatchObject({ error_code: 'upstream_tls_error' })
  expect(other.received).toEqual([])
  await other.stop()
})

test('an upstream that speaks both versions is sent no request twice', async () => {
  const requests: string[] = []
  const both = createSecureServer({ ...(await stage.authority.issue([API])), allowHTTP1: true })
  both.on('request', ({ httpVersion, socket }) => {
    requests.push(httpVersion)
    socket.destroy()
  })
  await once(both.listen(0, '127.0.0.1'), 'listening')
  const place = `${API}:${(both.address() as AddressInfo).port}`
  await agent.allow(place)
  const call = { target_url: `https://${place}/`, headers: BEARER, ...ECHO }
  expect((await agent.resolve(call)).body).toMatchObject({ error_code: 'upstream_protocol_error' })
  expect(requests).toEqual(['1.1'])
  both.close()
})

describe('over HTTP/2', () => {
  test('the answer to a HEAD over HTTP/2 has no body, and ends the stream', async () => {
    const answer = await forward('/long', { method: 'HEAD' })
    expect({ status: answer.status, body: await answer.text() }).toEqual({ status: 200, body: '' })
    await upstream.received.at(-1)?.closed
  })

  test('a long answer over HTTP/2 arrives whole', async () => {
    expect(await (await forward('/long')).text()).toBe('x'.repeat(300_000))
  })

  test('an answer on a connection that closes early is reported as incomplete', async () => {
    const { place, cut } = await startIgnoring()
    await agent.allow(place)
    const reader = (await forward('/half', { place })).body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    cut()
    const rest = async () => {
      while (!(await reader?.read())?.done);
    }
    await expect(rest()).rejects.toThrow()
  })

  test.each([
    ['/long-lie', 'upstream_protocol_error'],
    ['/short-lie', 'upstream_protocol_error'],
    ['/resets', 'upstream_protocol_error'],
    ['/silent', 'upstream_timeout'],
  ])('the result of %s is %s', async (path, error_code) => {
    const answer = await forward(path, { headers: { 'x-service-timeout-ms': '500' } })
    expect(await answer.json()).toMatchObject({ error_code })
  })

  test('a caller that disconnects ends the request', async () => {
    const gone = new AbortController()
    const count = upstream.received.length
    const answer = forward('/silent', { signal: gone.signal }).catch(() => 'gone')
    await until(() => upstream.received.length > count)
    gone.abort()
    expect(await answer).toBe('gone')
    expect(await upstream.received.at(-1)?.closed).toBe(8)
  })
})

/** Before the other one: a client that does not offer HTTP/2 gets it anyway. */
async function startIgnoring() {
  const rude = createServer(await stage.authority.issue([API]), (wire) => {
    const debug = Buffer.from('\0\0\0\0\0\0\0\x01no preface', 'latin1')
    const frames = [http2Frame(FRAME.settings), http2Frame(FRAME.goAway, { payload: debug })]
    // Once everything has arrived: unread bytes could be sent again.
    let text = ''
    wire.on('error', () => {})
    wire.on('data', (chunk) => {
      text += chunk
      if (/^GET|hello$/.test(text)) wire.end(Buffer.concat(frames))
    })
  })
  await once(rude.listen(0, '127.0.0.1'), 'listening')
  const wires = new Set<Socket>()
  const server = createTcpServer((near) => {
    wires.add(near)
    near.once('data', (hello) => {
      const { port } = hello.includes('\x02h2') ? upstream : (rude.address() as AddressInfo)
      const far = connect(port, '127.0.0.1')
      near
        .on('error', () => {})
        .pipe(far.on('error', () => {}))
        .pipe(near)
      far.write(hello)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const cut = () => {
    for (const wire of wires) wire.destroy()
    server.close()
    rude.close()
  }
  return { place: `${API}:${(server.address() as AddressInfo).port}`, cut }
}
