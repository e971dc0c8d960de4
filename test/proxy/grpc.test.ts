// tier: all
/** gRPC behind the proxy: calls of all four kinds, with the values only outside it. */
import { afterAll, expect } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { deflateSync, gzipSync } from 'node:zlib'
import { version } from '../../package.json'
import { encodeGrpcFrame } from '../../src/outbound/grpc/frames.ts'
import { API } from '../support/agent.ts'
import { startGrpcUpstream } from '../support/grpc_upstream.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import type { AskedCall } from './grpc_child.ts'
import { openGrpcClient } from './grpc_client.ts'
import { KEY, type OpenProxy, openProxyStage, runWith } from './stage.ts'

const { describe, test } = requires('node')

const stage = await openProxyStage()
const upstream = await startGrpcUpstream(stage.authority, [API])
afterAll(async () => {
  for (const client of Object.values(clients)) client.close()
  await stage.stop()
  await upstream.stop()
})
const host = `${API}:${upstream.port}`
await stage.agent.allow(host)

const proxies = { local: await stage.open('local'), remote: await stage.open('remote') }
const clients = {
  local: openGrpcClient(proxies.local, stage.directory),
  remote: openGrpcClient(proxies.remote, stage.directory),
}

const BEARER = { authorization: 'Bearer SVC_SECRET_KEY' }

/** Headers of the resolver, its origin headers, or links. */
const FOREIGN = {
  'x-service-error': 'domain_blocked',
  'x-service-request-id': 'theirs',
  'alt-svc': 'h3=":443"',
  'clear-site-data': '"*"',
  'strict-transport-security': 'max-age=1',
  'set-cookie': ['a=b', 'c=d'],
  location: 'https://elsewhere.example/',
  'content-location': '/there',
  link: '<https://elsewhere.example/>; rel=next',
}

/** Messages that arrived. */
const receivedMessages: string[] = []
upstream.on('/test/Echo', async ({ headers, messages, begin, send, end }) => {
  begin({ 'x-echo': headers.authorization ?? '' })
  for await (const message of messages) {
    receivedMessages.push(message)
    send(`you said ${message}`)
  }
  end(0, { 'x-end': headers.authorization ?? '', 'grpc-message': `for ${headers.authorization}` })
})

upstream.on('/test/Binary', ({ headers, end }) => {
  end(0, { 'x-got-bin': String(headers['x-key-bin']) })
})
upstream.on('/test/BinaryBack', ({ begin, end }) => {
  const own = { 'x-own-bin': [btoa('\xff\xfe'), btoa('\xfd')] }
  begin({ ...own, 'x-text-bin': KEY })
  end(3, {
    ...own,
    'x-url-bin': Buffer.from(`\xff\xff\xfe${KEY}`, 'latin1').toString('base64url'),
    'x-part-bin': btoa(`\xff${KEY.slice(0, 16)}\xff`),
    'grpc-status-details-bin': btoa(`\x08\x03\x12\x20${KEY}`),
  })
})
upstream.on('/test/Fails', ({ end }) => {
  end(5, { 'grpc-message': 'no such %C3%A4pfel', 'grpc-status-details-bin': 'CAU' })
})
upstream.on('/test/TrailersOnly', ({ stream }) => {
  const headers = { 'content-type': 'application/grpc', 'grpc-status': '9', 'x-only': 'yes' }
  stream.respond({ ':status': 200, ...headers }, { endStream: true })
})
upstream.on('/test/Passes', ({ begin, end }) => {
  begin({ ...FOREIGN, 'x-theirs': 'yes' })
  end(7, { ...FOREIGN, 'x-theirs': 'yes' })
})
upstream.on('/test/BadGateway', ({ stream }) => {
  stream.respond({ ':status': 502, 'content-type': 'text/html' })
  stream.end(`<h1>${KEY}</h1>`)
})
upstream.on('/test/NoTrailers', ({ begin, send, stream }) => {
  begin()
  send('half')
  stream.close()
})
upstream.on('/test/Resets', ({ stream }) => stream.close(2))
upstream.on('/test/Watch', ({ begin }) => begin({ 'x-begun': 'yes' }))
upstream.on('/test/Count', async ({ messages, send, end }) => {
  let bytes = 0
  for await (const message of messages) bytes += message.length
  send(String(bytes))
  end(0)
})
upstream.on('/test/Stream', ({ send, end }) => {
  for (let at = 0; at < 50; at += 1) send(`${at} ${'x'.repeat(30_000)}`)
  end(0)
})

/** An answer of two messages, the second of which contains the value. */
const holding: Record<string, (key: string) => [Uint8Array, flags?: number, coding?: string]> = {
  'as it is': (key) => [Buffer.from(`\n\x20${key}`)],
  'in base64': (key) => [Buffer.from(`--${btoa(key)}--`)],
  'in what is compressed': (key) => [gzipSync(key), 1, 'gzip'],
  'in what is deflated': (key) => [deflateSync(key), 1, 'deflate'],
}
for (const [name, make] of Object.entries(holding)) {
  upstream.on(`/test/Holds/${name.replaceAll(' ', '-')}`, ({ begin, send, end }) => {
    const [bytes, flags, coding] = make(KEY)
    begin(coding ? { 'grpc-encoding': coding } : {})
    send('first')
    send(bytes, flags)
    end(0)
  })
}
upstream.on('/test/Gzip', ({ begin, send, end }) => {
  begin({ 'grpc-encoding': 'gzip' })
  send(gzipSync('small'), 1)
  end(0)
})
upstream.on('/test/Bomb', ({ begin, send, end }) => {
  begin({ 'grpc-encoding': 'gzip' })
  send(gzipSync(Buffer.alloc(64_000_000)), 1)
  end(0)
})
upstream.on('/test/UnknownCoding', ({ begin, send, end }) => {
  begin({ 'grpc-encoding': 'snappy' })
  send('what', 1)
  end(0)
})
upstream.on('/test/TooLarge', ({ begin, stream }) => {
  begin()
  stream.write(Buffer.from([0, 0x7f, 0xff, 0xff, 0xff, 1, 2, 3]))
})

describe.each(['local', 'remote'] as const)('behind the %s proxy', (way) => {
  const call = (path: string, asked: Partial<AskedCall> = {}) =>
    clients[way].call({ host, path, messages: ['hello'], ...asked })

  test('a call sends the value in its metadata and receives none, in headers or trailers', async () => {
    const got = await call('/test/Echo', { metadata: BEARER })
    expect(got).toMatchObject({
      code: 0,
      details: 'for Bearer SVC_SECRET_KEY',
      messages: ['you said hello'],
      headers: { 'x-echo': 'Bearer SVC_SECRET_KEY' },
      trailers: { 'x-end': 'Bearer SVC_SECRET_KEY' },
    })
    const sent = upstream.received.at(-1)?.headers
    expect(sent).toMatchObject({
      authorization: `Bearer ${KEY}`,
      te: 'trailers',
      'content-type': 'application/grpc',
      'grpc-accept-encoding': 'identity',
    })
    expect(sent).not.toHaveProperty('x-service-token')
  })

  test('a call without any message is one of gRPC', async () => {
    expect(await call('/test/Count', { messages: [] })).toMatchObject({ code: 0, messages: ['0'] })
  })

  test('the record of a call names the used secrets and their places, and reports redactions', async () => {
    await call('/test/Echo', { metadata: BEARER })
    expect(await recordOf(way, '/test/Echo')).toMatchObject({
      method: 'POST',
      decision: 'allowed',
      status_code: 200,
      redacted: true,
      credential_ref: 'KEY',
      injection_style: 'header',
    })
  })

  test('the record of a call that the upstream ends with an error has the HTTP status', async () => {
    expect(await call('/test/Fails')).toMatchObject({ code: 5 })
    expect(await recordOf(way, '/test/Fails')).toMatchObject({ status_code: 200 })
  })

  test('binary metadata is decoded, filled and encoded again', async () => {
    const metadata = { 'x-key-bin': 'key=SVC_SECRET_KEY' }
    const { trailers } = await call('/test/Binary', { metadata })
    expect(upstream.received.at(-1)?.headers['x-key-bin']).toBe(btoa(`key=${KEY}`))
    expect(trailers).toHaveProperty('x-got-bin', 'key=SVC_SECRET_KEY')
  })

  test('each of several binary values is decoded, filled and encoded, whatever its bytes', async () => {
    const metadata = { 'x-key-bin': ['\n\x0eSVC_SECRET_KEY\xff\xfe', '\xff', 'SVC_SECRET_KEY'] }
    const { code, trailers } = await call('/test/Binary', { metadata })
    const sent = [`\n\x0e${KEY}\xff\xfe`, '\xff', KEY].map(btoa)
    const arrived = String(upstream.received.at(-1)?.headers['x-key-bin'])
    expect({ code, arrived: arrived.split(/, */) }).toEqual({ code: 0, arrived: sent })
    expect(trailers).toHaveProperty('x-got-bin', metadata['x-key-bin'].join(','))
  })

  test('returned binary metadata loses values and their fragments, and otherwise keeps its bytes', async () => {
    const { code, headers, trailers } = await call('/test/BinaryBack')
    expect(headers).toMatchObject({ 'x-own-bin': '\xff\xfe,\xfd' })
    expect(headers).not.toHaveProperty('x-text-bin')
    expect({ code, trailers }).toEqual({
      code: 3,
      trailers: {
        'x-own-bin': '\xff\xfe,\xfd',
        'x-url-bin': '\xff\xff\xfeSVC_SECRET_KEY',
        'x-part-bin': '\xff[REDACTED]\xff',
      },
    })
  })

  test('messages are sent both ways, each before the next', async () => {
    const messages = ['a', 'b', 'c'.repeat(100_000)]
    const got = await call('/test/Echo', { messages, lockstep: true })
    expect(got).toMatchObject({ code: 0, messages: messages.map((text) => `you said ${text}`) })
  })

  test("a message whose end starts like its caller's token is not held back for the next", async () => {
    const secret = stage.agent.token.slice(-49, -6)
    const messages = [`a${secret.slice(0, 1)}`, `b${secret.slice(0, 20)}`, 'c']
    const got = await call('/test/Echo', { messages, lockstep: true })
    expect(got).toMatchObject({ code: 0, messages: messages.map((text) => `you said ${text}`) })
  })

  test('many messages arrive whole and in order, in both directions', async () => {
    const got = await call('/test/Stream')
    const numbers = got.messages.map((message: string) => Number(message.split(' ')[0]))
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, at) => at))
    const messages = Array<string>(90).fill('y'.repeat(1000))
    expect(await call('/test/Count', { messages })).toMatchObject({
      code: 0,
      messages: ['90000'],
    })
  })

  test('headers arrive before the first message, and a cancelled call ends the one to the upstream', async () => {
    const got = await call('/test/Watch', { cancelAt: 'headers' })
    expect(got).toMatchObject({ code: 1, headers: { 'x-begun': 'yes' } })
    expect(await upstream.received.at(-1)?.closed).toBe(8)
  })

  test('a message of 4 MiB is passed on, and a longer one is rejected', async () => {
    const most = 4 * 1024 * 1024
    expect(await call('/test/Count', { messages: ['x'.repeat(most)] })).toMatchObject({
      code: 0,
      messages: [String(most)],
    })
    receivedMessages.length = 0
    const messages = ['first', 'x'.repeat(most + 1)]
    expect(await call('/test/Echo', { messages, lockstep: true })).toMatchObject({
      code: 8,
      messages: ['you said first'],
      details: expect.stringContaining('payload_too_large: '),
      trailers: { 'x-service-error': 'payload_too_large' },
    })
    expect(receivedMessages).toEqual(['first'])
  })

  test("statuses are the upstream's", async () => {
    expect(await call('/test/Fails')).toMatchObject({
      code: 5,
      details: 'no such äpfel',
      trailers: { 'grpc-status-details-bin': expect.anything() },
    })
    expect(await call('/test/TrailersOnly')).toMatchObject({
      code: 9,
      trailers: { 'x-only': 'yes' },
    })
  })

  test("an upstream's answer is never mistaken for the resolver's, in headers or trailers", async () => {
    const { code, headers, trailers } = await call('/test/Passes')
    expect({ code, trailers }).toEqual({ code: 7, trailers: { 'x-theirs': 'yes' } })
    for (const name of Object.keys(FOREIGN)) {
      if (name !== 'x-service-request-id') expect(headers).not.toHaveProperty(name)
    }
    expect(headers).toMatchObject({ 'x-theirs': 'yes', 'x-service-request-id': expect.any(String) })
    expect(headers['x-service-request-id']).not.toBe('theirs')
  })

  test.each([
    ['/test/BadGateway', 14, 'The API returned HTTP 502 instead of gRPC.', undefined],
    ['/test/NoTrailers', 13, expect.stringContaining(''), 'upstream_protocol_error'],
    ['/test/Resets', 13, expect.stringContaining(''), 'upstream_protocol_error'],
    ['/test/Bomb', 8, expect.stringContaining(''), 'upstream_too_large'],
    ['/test/UnknownCoding', 13, expect.stringContaining(''), 'upstream_protocol_error'],
    ['/test/TooLarge', 8, expect.stringContaining(''), 'upstream_too_large'],
  ])('an unreadable answer ends in a status: %s', async (path, code, details, error) => {
    const got = await call(path)
    expect(got).toMatchObject({ code, details })
    expect(got.trailers['x-service-error'] ?? got.headers['x-service-error']).toBe(error)
  })

  test.each(Object.keys(holding))(
    'a message that contains the value, %s, ends the call',
    async (name) => {
      const got = await call(`/test/Holds/${name.replaceAll(' ', '-')}`, { metadata: BEARER })
      expect(got).toMatchObject({
        code: 13,
        messages: ['first'],
        details: expect.stringContaining(
          'upstream_protocol_error: A message from the API contains',
        ),
        trailers: { 'x-service-error': 'upstream_protocol_error' },
      })
    },
  )

  test('an answer that is compressed anyway is passed on unchanged', async () => {
    expect(await call('/test/Gzip')).toMatchObject({
      code: 0,
      messages: ['small'],
    })
  })

  test.each([
    ['an unknown secret', 'Bearer SVC_SECRET_NONE', 3, 'unknown_secret'],
    ['a malformed name', 'Bearer SVC_SECRET_', 3, 'invalid_header'],
  ])('%s is rejected in the form of gRPC', async (_, authorization, code, error) => {
    const got = await call('/test/Echo', { metadata: { authorization } })
    expect(got).toMatchObject({ code, details: expect.stringContaining(`${error}: `) })
    expect({ ...got.headers, ...got.trailers }['x-service-error']).toBe(error)
  })

  test('an upstream without HTTP/2 is reported as such', async () => {
    const got = await call('/', { host: stage.authorityOf() })
    expect(got).toMatchObject({ code: 13 })
    expect(got.details).toContain('does not support HTTP/2')
  })
})

test("a message that contains its caller's token does not reach the upstream", async () => {
  const messages = ['first', `x${stage.agent.token}`]
  receivedMessages.length = 0
  const got = await clients.remote.call({ host, path: '/test/Echo', messages, lockstep: true })
  expect(got).toMatchObject({
    code: 3,
    messages: ['you said first'],
    details: expect.stringContaining('invalid_header: A message contains the token'),
  })
  expect(receivedMessages).toEqual(['first'])
})

/** The newest record of a path that has its outcome. */
function recordOf(way: 'local' | 'remote', path: string) {
  return until(async () => {
    const records = await stage.records(way === 'local' ? 'client' : 'resolver')
    return records.findLast(
      ({ target_url, status_code }) =>
        target_url === `https://${host}${path}` && status_code !== null,
    )
  })
}

describe('behind a reverse proxy that reads requests whole, the remote proxy', () => {
  const reverse = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async ({ url, method, headers, body }) => {
      const { pathname, search } = new URL(url)
      headers.delete('host')
      headers.delete('transfer-encoding')
      const content = body && (await new Response(body).bytes())
      const target = `${stage.app.resolver}${pathname}${search}`
      const answer = await fetch(target, { method, headers, body: content, redirect: 'manual' })
      answer.headers.delete('transfer-encoding')
      return new Response(answer.body, answer)
    },
  })
  const opened = stage
    .open('remote', { resolver: reverse.url.origin })
    .then((proxy) => openGrpcClient(proxy, stage.directory))
  afterAll(async () => {
    ;(await opened).close()
    await reverse.stop(true)
  })

  test('the remote proxy returns answers of calls that do not wait for them before they have sent everything', async () => {
    const client = await opened
    const got = await client.call({ host, path: '/test/Stream', messages: ['hello'] })
    expect(got).toMatchObject({ code: 0 })
    expect(got.messages.length).toBe(50)
    const messages = Array<string>(90).fill('y'.repeat(1000))
    expect(await client.call({ host, path: '/test/Count', messages })).toMatchObject({
      code: 0,
      messages: ['90000'],
    })
  })
})

describe.each(['local', 'remote'] as const)('a continuing program behind the %s proxy', (way) => {
  test.each([
    ['the upstream ends the call', '/test/Fails', '5', undefined],
    ['the upstream answers with trailers only', '/test/TrailersOnly', '9', undefined],
    ['the call is refused', '/test/Echo', '3', 'Bearer SVC_SECRET_NONE'],
  ])("a continuing program's stream is closed when %s", async (_, path, status, authorization) => {
    const session = await openSession(proxies[way])
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      ...(authorization ? { authorization } : {}),
    })
    let ending: Record<string, unknown> = {}
    for (const part of ['response', 'trailers'] as const) {
      stream.once(part, (headers) => {
        ending = headers
      })
    }
    const closed = once(stream, 'close')
    stream.resume().write(encodeGrpcFrame(0, Buffer.from('hello')))
    await closed
    expect(stream.rstCode).toBe(0)
    expect(ending['grpc-status']).toBe(status)
    session.destroy()
  })

  test.each([
    ['POST', 'with its body', expect.stringContaining('unknown_secret')],
    ['HEAD', 'with its head', ''],
  ])("a program's stream is closed when a %s of HTTP is rejected, %s", async (method, _, body) => {
    const session = await openSession(proxies[way])
    const authorization = 'Bearer SVC_SECRET_NONE'
    // A body of this type is passed on as it arrives, so the error arrives before its end.
    const type = 'application/octet-stream'
    const head = { ':method': method, ':path': '/', 'content-type': type, authorization }
    const stream = session.request(head, { endStream: false })
    const closed = once(stream, 'close')
    const answered = once(stream, 'response')
    if (method === 'POST') stream.write('hello')
    const pieces = await Array.fromAsync(stream)
    await closed
    expect(stream.rstCode).toBe(0)
    expect((await answered)[0]).toMatchObject({ ':status': 422 })
    expect(Buffer.concat(pieces).toString()).toEqual(body)
    session.destroy()
  })
})

describe.each(['local', 'remote'] as const)(
  'behind the %s proxy, a program without its own headers',
  (way) => {
    const ours = { 'accept-encoding': 'identity', 'user-agent': `cloakroom/${version}` }

    test('a program without its own headers gets the same ones from gRPC both ways', async () => {
      const session = await openSession(proxies[way])
      const type = { 'content-type': 'application/grpc' }
      const stream = session.request({ ':method': 'POST', ':path': '/test/Fails', ...type })
      await once(stream.resume().end(), 'close')
      session.destroy()
      const arrived = Object.entries(upstream.received.at(-1)?.headers ?? {})
      const named = arrived.filter(([name]) => !name.startsWith(':'))
      expect(Object.fromEntries(named)).toEqual({
        ...ours,
        ...type,
        'grpc-accept-encoding': 'identity',
        te: 'trailers',
      })
    })

    requires('node', 'curl').test(
      'has the same ones sent by HTTP as in the other way',
      async () => {
        const none = ['-H', 'User-Agent:', '-H', 'Accept:']
        await runWith(proxies[way], ['curl', '-sS', ...none, stage.url('/')])
        const arrived = stage.upstream.received.at(-1)?.headers ?? []
        const named = arrived.map(([name, value]) => [name.toLowerCase(), value])
        expect(Object.fromEntries(named)).toEqual({
          ...ours,
          accept: '*/*',
          connection: 'keep-alive',
          host: stage.authorityOf(),
        })
      },
    )
  },
)

/** HTTP/2 through the proxy, by hand. */
async function openSession({ url, certificate }: OpenProxy) {
  const { port, username, password } = new URL(url)
  const socket = connectTcp(Number(port), '127.0.0.1')
  const login = btoa(`${username}:${password}`)
  socket.write(`CONNECT ${host} HTTP/1.1\r\nProxy-Authorization: Basic ${login}\r\n\r\n`)
  await once(socket, 'data')
  const wire = connectTls({ socket, servername: API, ca: certificate, ALPNProtocols: ['h2'] })
  await once(wire, 'secureConnect')
  return connect(`https://${host}`, { createConnection: () => wire })
}
