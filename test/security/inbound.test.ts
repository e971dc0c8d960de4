// tier: quick
/**
 * Attacks that a stranger can make on a listener with bytes alone: odd hosts, paths, methods and bodies. The runtime
 * handles most of it; these tests verify that. inbound_listeners.test.ts has smuggling and unknown hosts on the real
 * listeners.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { CALLER, openTiny, PROJECT, type TinyListener, WORKSPACE } from '../http/tiny_listener.ts'
import { rawRequest, sendRaw } from '../support/raw_http.ts'

let tiny: TinyListener

beforeAll(() => {
  tiny = openTiny({ idleSeconds: 2 })
})
beforeEach(() => {
  tiny.events.length = 0
})
afterAll(() => tiny.listener.close(100))

const HOST = 'Host: localhost'
const JSON_TYPE = 'Content-Type: application/json'
const POST = 'POST /echo/ HTTP/1.1'
const GET = 'GET /hello/ HTTP/1.1'
const chunked = 'Transfer-Encoding: chunked'
/** If this is ever handled, a request was smuggled. */
const smuggled = 'GET /hello/?name=smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n'
const size = smuggled.length

describe('a request inside the body of another is not handled (43)', () => {
  const post = (headers: readonly string[], body: string) =>
    rawRequest(POST, [HOST, JSON_TYPE, ...headers], body)
  const vectors: [string, string][] = [
    [
      'a request as the body of a GET',
      rawRequest(GET, [HOST, `Content-Length: ${size}`], smuggled),
    ],
    [
      'a request as the body of a refused request',
      rawRequest(
        `PUT /items/${WORKSPACE}/a/ HTTP/1.1`,
        [HOST, `Content-Length: ${size}`],
        smuggled,
      ),
    ],
    [
      'a request as the body of an unknown path',
      rawRequest('POST /nowhere/ HTTP/1.1', [HOST, `Content-Length: ${size}`], smuggled),
    ],
  ]

  test.each(vectors)('%s', async (_, bytes) => {
    const { text } = await sendRaw(tiny.origin, bytes, { timeoutMs: 150 })
    expect(text).not.toContain('smuggled')
    expect(tiny.events.filter((event) => event === 'hello').length).toBeLessThanOrEqual(
      bytes.startsWith(GET) ? 1 : 0,
    )
  })

  test('a chunk extension is ignored', async () => {
    const { statuses } = await sendRaw(tiny.origin, post([chunked], '2;a=b\r\n{}\r\n0\r\n\r\n'))
    expect(statuses).toEqual([200])
  })
})

describe('the Host (44)', () => {
  test.each(['LOCALHOST', 'localhost:8000', 'localhost.', 'example.com', 'a.b.example.com'])(
    'the Host %s is served',
    async (host) => {
      const { statuses } = await sendRaw(tiny.origin, rawRequest(GET, [`Host: ${host}`]), {
        timeoutMs: 100,
      })
      expect(statuses).toEqual([200])
    },
  )

  test('the Host is checked before the path, the method and the token', async () => {
    for (const line of [
      'GET /nowhere/ HTTP/1.1',
      'DELETE /hello/ HTTP/1.1',
      'GET /list/ HTTP/1.1',
    ]) {
      const { text } = await sendRaw(tiny.origin, rawRequest(line, ['Host: evil.example']))
      expect(text).toContain('"error_code":"invalid_host"')
    }
  })
})

describe('paths', () => {
  const get = (path: string) =>
    sendRaw(
      tiny.origin,
      rawRequest(`GET ${path} HTTP/1.1`, [HOST, `Authorization: Bearer ${CALLER}`]),
      { timeoutMs: 100, waitsForAnswers: true },
    )

  test('a path that cannot be decoded is 404 or 422', async () => {
    const escapes = ['%zz', '%', '%f', '%ff', '%c3%28', '%ed%a0%80']
    const answers = escapes.map(async (bad) => {
      const paths = [`/items/${bad}/a/`, `/items/${WORKSPACE}/${bad}/`, `/${bad}`]
      const all = await Promise.all(paths.map(get))
      return { bad, statuses: all.flatMap(({ statuses }) => statuses) }
    })
    expect(await Promise.all(answers)).toEqual(
      escapes.map((bad) => ({ bad, statuses: [404, 422, 404] })),
    )
    expect(tiny.events).toEqual([])
  })

  test('an escaped slash stays inside its segment', async () => {
    const { text } = await get(`/items/${WORKSPACE}/a%2Fb/`)
    expect(text).toContain('"item":"a/b"')
  })

  test('a path is decoded once', async () => {
    expect((await get(`/items/${WORKSPACE}/%2561/`)).statuses).toEqual([422])
  })

  test('NUL, doubled slashes and other origins reach no handler', async () => {
    for (const path of [
      '//hello/',
      '//evil.example/hello/',
      '/hello//',
      `/items/${WORKSPACE}/a%00/`,
    ])
      expect((await get(path)).statuses[0]).toBeGreaterThanOrEqual(404)
    expect((await get('/hello/\0')).statuses[0]).toBeGreaterThanOrEqual(400)
    expect(tiny.events).toEqual([])
  })

  test('paths with and without the final slash are answered alike', async () => {
    expect((await get('/hello?name=a')).text).toContain('"name":"a"')
    expect((await get('/hello/?name=a')).text).toContain('"name":"a"')
  })
})

describe('methods', () => {
  const send = (line: string) => sendRaw(tiny.origin, rawRequest(line, [HOST]), { timeoutMs: 100 })

  test('HEAD is GET without the body', async () => {
    const { statuses, text } = await send('HEAD /hello/ HTTP/1.1')
    expect(statuses).toEqual([200])
    expect(text).toEndWith('\r\n\r\n')
    expect(text.toLowerCase()).toContain('content-length: 45')
    expect((await send('HEAD /list/ HTTP/1.1')).statuses).toEqual([401])
    expect((await send('HEAD /echo/ HTTP/1.1')).statuses).toEqual([405])
  })

  test.each(['OPTIONS', 'TRACE', 'CONNECT', 'PATCH', 'PROPFIND', 'QUERY'])(
    '%s on a path without it is 405 with the other methods, and no body is echoed',
    async (method) => {
      const { statuses, text } = await send(`${method} /hello/ HTTP/1.1`)
      expect(statuses).toEqual([405])
      expect(text.toLowerCase()).toContain('allow: get, head\r\n')
      expect(text).not.toContain(`${method} /hello/`)
      expect(tiny.events).toEqual([])
    },
  )

  test.each(['FOO /hello/', 'get /hello/', 'CONNECT localhost:443', 'OPTIONS *', 'GET hello'])(
    '%s reaches no handler',
    async (line) => {
      await send(`${line} HTTP/1.1`)
      expect(tiny.events).toEqual([])
    },
  )

  test('an upgrade is ignored', async () => {
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
    const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='
    const { statuses } = await sendRaw(tiny.origin, rawRequest(GET, [HOST, ...upgrade, key]))
    expect(statuses).toEqual([200])
  })
})

describe('bodies (46)', () => {
  test('a body that declares more than the limit is 413 before a byte of it arrives', async () => {
    const bytes = rawRequest(POST, [HOST, JSON_TYPE, 'Content-Length: 2049'])
    const { statuses, text } = await sendRaw(tiny.origin, bytes)
    expect(statuses).toEqual([413])
    expect(text).toContain('"error_code":"payload_too_large"')
    expect(tiny.events).toEqual([])
  })

  test('a body at the limit is accepted, and one byte more is not, with and without a length', async () => {
    const fits = `"${'a'.repeat(2046)}"`
    const send = (body: string, headers: string[]) =>
      sendRaw(tiny.origin, rawRequest(POST, [HOST, JSON_TYPE, ...headers], body))
    const inChunks = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    expect((await send(fits, ['Content-Length: 2048'])).statuses).toEqual([200])
    expect((await send(inChunks(fits), [chunked])).statuses).toEqual([200])
    expect((await send(`${fits} `, ['Content-Length: 2049'])).statuses).toEqual([413])
    expect((await send(inChunks(`${fits} `), [chunked])).statuses).toEqual([413])
  })

  test('a body that is compressed, form-encoded or without a type is 415', async () => {
    const gzip = Buffer.from(Bun.gzipSync('{"a":1}')).toString('latin1')
    const refused = [
      [[JSON_TYPE, 'Content-Encoding: gzip'], gzip],
      [[JSON_TYPE, 'Content-Encoding: br'], '{}'],
      [['Content-Type: application/x-www-form-urlencoded'], 'a=1'],
      [['Content-Type: text/plain'], '{}'],
      [['Content-Type: application/json; charset=utf-16'], '{}'],
      [['Content-Type: application/json-patch+json'], '{}'],
      [[], '{}'],
    ] as const
    const answers = refused.map(([headers, body]) => {
      const bytes = rawRequest(POST, [HOST, ...headers, `Content-Length: ${body.length}`], body)
      return sendRaw(tiny.origin, bytes, { timeoutMs: 100, waitsForAnswers: true })
    })
    for (const { statuses } of await Promise.all(answers)) expect(statuses).toEqual([415])
    expect(tiny.events).toEqual([])
  })

  test('no byte of a body is read before the caller is authenticated', async () => {
    // Neither the length nor the type nor the JSON matters yet.
    const bytes = rawRequest(`PUT /items/${WORKSPACE}/a/ HTTP/1.1`, [
      HOST,
      'Content-Length: 999999',
    ])
    expect((await sendRaw(tiny.origin, bytes)).statuses).toEqual([401])
    const foreign = rawRequest(
      `PUT /items/${PROJECT}/a/ HTTP/1.1`.replace(PROJECT, PROJECT.replace('2', '9')),
      [HOST, `Authorization: Bearer ${CALLER}`, 'Content-Length: 999999'],
    )
    expect((await sendRaw(tiny.origin, foreign)).statuses).toEqual([404])
  })
})

test("a stranger's X-Forwarded-For opens no new account at the rate limiter (50)", async () => {
  const limited = openTiny({ loginRate: { count: 3, seconds: 60 } })
  const statuses: number[] = []
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const response = await fetch(`${limited.origin}/echo/`, {
      method: 'POST',
      body: '{}',
      headers: {
        'content-type': 'application/json',
        'x-forwarded-for': `203.0.113.${attempt}`,
        forwarded: `for=203.0.113.${attempt}`,
        'x-real-ip': `203.0.113.${attempt}`,
      },
    })
    statuses.push(response.status)
  }
  await limited.listener.close(100)
  expect(statuses).toEqual([200, 200, 200, 429, 429])
})
