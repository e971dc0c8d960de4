// tier: quick
/**
 * What strangers can do to a listener with bytes alone: smuggling, odd hosts, odd paths and methods,
 * bodies that never end or never come. Most is kept by the runtime; these tests hold it to that.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import {
  CALLER,
  openTiny,
  PROJECT,
  type TinyListener,
  WORKSPACE,
} from '../platform/http/tiny_listener.ts'
import { rawRequest, sendRaw } from '../support/raw_http.ts'
import { smugglingVectors, strangeHosts } from './raw_vectors.ts'

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

describe('no request hides in another (43)', () => {
  const post = (headers: readonly string[], body: string) =>
    rawRequest(POST, [HOST, JSON_TYPE, ...headers], body)
  const vectors: [string, string][] = [
    ...smugglingVectors({ line: POST, headers: [HOST, JSON_TYPE], hidden: smuggled }),
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

  test('a second request that stands in the open is answered: the vectors could have been', async () => {
    const { statuses, text } = await sendRaw(tiny.origin, rawRequest(GET, [HOST]) + smuggled)
    expect(statuses).toEqual([200, 200])
    expect(text).toContain('smuggled')
  })

  test('a chunk extension is passed over', async () => {
    const { statuses } = await sendRaw(tiny.origin, post([chunked], '2;a=b\r\n{}\r\n0\r\n\r\n'))
    expect(statuses).toEqual([200])
  })
})

describe('the Host is one of ours, once (44)', () => {
  test.each(strangeHosts)('%s: 400 invalid_host', async (_, headers) => {
    const { statuses, text } = await sendRaw(tiny.origin, rawRequest(GET, headers), {
      timeoutMs: 100,
    })
    expect(statuses).toEqual([400])
    expect(text).toContain('"error_code":"invalid_host"')
    expect(tiny.events).toEqual([])
  })

  test('absent: 400, by the runtime for HTTP/1.1 and by us for HTTP/1.0', async () => {
    expect((await sendRaw(tiny.origin, rawRequest(GET, []))).statuses).toEqual([400])
    const old = await sendRaw(tiny.origin, rawRequest('GET /hello/ HTTP/1.0', []))
    expect(old.text).toContain('"error_code":"invalid_host"')
    expect(tiny.events).toEqual([])
  })

  test.each(['LOCALHOST', 'localhost:8000', 'localhost.', 'example.com', 'a.b.example.com'])(
    '%s is ours',
    async (host) => {
      const { statuses } = await sendRaw(tiny.origin, rawRequest(GET, [`Host: ${host}`]), {
        timeoutMs: 100,
      })
      expect(statuses).toEqual([200])
    },
  )

  test('is checked before the path, the method and the token', async () => {
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
      {
        timeoutMs: 100,
      },
    )

  test('what cannot be decoded names nothing, and is no defect', async () => {
    for (const bad of ['%zz', '%', '%f', '%ff', '%c3%28', '%ed%a0%80']) {
      const asId = await get(`/items/${bad}/a/`)
      expect({ bad, statuses: asId.statuses }).toEqual({ bad, statuses: [404] })
      const asName = await get(`/items/${WORKSPACE}/${bad}/`)
      expect({ bad, statuses: asName.statuses }).toEqual({ bad, statuses: [422] })
      expect((await get(`/${bad}`)).statuses).toEqual([404])
    }
    expect(tiny.events).toEqual([])
  })

  test('an escaped slash stays inside its segment', async () => {
    const { text } = await get(`/items/${WORKSPACE}/a%2Fb/`)
    expect(text).toContain('"item":"a/b"')
  })

  test('is decoded once', async () => {
    expect((await get(`/items/${WORKSPACE}/%2561/`)).statuses).toEqual([422])
  })

  test('NUL, doubled slashes and other origins reach nothing', async () => {
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

  test('answer alike with and without the slash at the end', async () => {
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
    '%s on a path without it: 405 that names the others, and no body is echoed',
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

  test('an upgrade is not taken up', async () => {
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
    const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='
    const { statuses } = await sendRaw(tiny.origin, rawRequest(GET, [HOST, ...upgrade, key]))
    expect(statuses).toEqual([200])
  })
})

describe('bodies (46)', () => {
  test('over the limit by its length: 413 before a byte of it came', async () => {
    const bytes = rawRequest(POST, [HOST, JSON_TYPE, 'Content-Length: 2049'])
    const { statuses, text } = await sendRaw(tiny.origin, bytes)
    expect(statuses).toEqual([413])
    expect(text).toContain('"error_code":"payload_too_large"')
    expect(tiny.events).toEqual([])
  })

  test('at the limit is taken, one more is not, with and without a length', async () => {
    const fits = `"${'a'.repeat(2046)}"`
    const send = (body: string, headers: string[]) =>
      sendRaw(tiny.origin, rawRequest(POST, [HOST, JSON_TYPE, ...headers], body))
    const inChunks = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    expect((await send(fits, ['Content-Length: 2048'])).statuses).toEqual([200])
    expect((await send(inChunks(fits), [chunked])).statuses).toEqual([200])
    expect((await send(`${fits} `, ['Content-Length: 2049'])).statuses).toEqual([413])
    expect((await send(inChunks(`${fits} `), [chunked])).statuses).toEqual([413])
  })

  test('without end: 413, and nothing of it is kept', async () => {
    const { port, hostname } = new URL(tiny.origin)
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('error', () => {})
    let answer = ''
    socket.on('data', (data) => {
      answer += data.toString('latin1')
    })
    const mebibyte = Buffer.concat([
      Buffer.from('100000\r\n'),
      Buffer.alloc(0x10_0000, 'a'),
      Buffer.from('\r\n'),
    ])
    const before = process.memoryUsage.rss()
    let peak = before
    socket.write(rawRequest(POST, [HOST, JSON_TYPE, chunked]))
    for (let sent = 0; sent < 128 && !socket.destroyed; sent += 1) {
      await new Promise((done) => socket.write(mebibyte, done))
      peak = Math.max(peak, process.memoryUsage.rss())
    }
    socket.destroy()
    expect(answer).toContain('HTTP/1.1 413')
    expect(peak - before).toBeLessThan(64 * 1024 * 1024)
  })

  test('compressed, form-encoded or of no type: 415', async () => {
    const gzip = Buffer.from(Bun.gzipSync('{"a":1}')).toString('latin1')
    for (const [headers, body] of [
      [[JSON_TYPE, 'Content-Encoding: gzip'], gzip],
      [[JSON_TYPE, 'Content-Encoding: br'], '{}'],
      [['Content-Type: application/x-www-form-urlencoded'], 'a=1'],
      [['Content-Type: text/plain'], '{}'],
      [['Content-Type: application/json; charset=utf-16'], '{}'],
      [['Content-Type: application/json-patch+json'], '{}'],
      [[], '{}'],
    ] as const) {
      const bytes = rawRequest(POST, [HOST, ...headers, `Content-Length: ${body.length}`], body)
      expect((await sendRaw(tiny.origin, bytes, { timeoutMs: 100 })).statuses).toEqual([415])
    }
    expect(tiny.events).toEqual([])
  })

  test('nothing of a body is read before the caller is known', async () => {
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

describe('slowness (49)', () => {
  test('headers and bodies that do not come end their connection and hold up nobody', async () => {
    const patience = { timeoutMs: 20_000 }
    const slow = Promise.all([
      sendRaw(tiny.origin, 'GET /hello/ HTTP/1.1\r\nHost: lo', patience),
      sendRaw(
        tiny.origin,
        rawRequest(POST, [HOST, JSON_TYPE, 'Content-Length: 10'], '{"'),
        patience,
      ),
      sendRaw(tiny.origin, rawRequest(POST, [HOST, JSON_TYPE, chunked], '5\r\n{"'), patience),
    ])
    const meanwhile = await fetch(`${tiny.origin}/hello/`, { headers: { host: 'localhost' } })
    expect(meanwhile.status).toBe(200)
    const ended = await slow
    expect(ended.map(({ closed }) => closed)).toEqual([true, true, true])
    expect(tiny.events).toEqual(['hello'])
  }, 30_000)
})

test('a large body of a known caller may take longer than the idle timeout to arrive', async () => {
  // Four seconds and more, where the listener closes after two: the runtime counts in steps of four.
  const size = 1_000_000
  const parts = Array.from({ length: 9 }, () => ' '.repeat(100_000))
  const body = '{"text":"slow"}'
  const headers = [HOST, JSON_TYPE, `Authorization: Bearer ${CALLER}`, `Content-Length: ${size}`]
  const head = rawRequest(`PUT /items/${WORKSPACE}/a/ HTTP/1.1`, headers)
  const { statuses } = await sendRaw(
    tiny.origin,
    [head, ...parts, ' '.repeat(100_000 - body.length) + body],
    { pauseMs: 700, timeoutMs: 3000 },
  )
  expect(statuses).toEqual([200])
}, 20_000)

test('X-Forwarded-For of a stranger opens no new account at the rate limiter (50)', async () => {
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
