// tier: quick
/** Streamed answers on the real listener: passed on as they arrive, and still free of inserted values. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { brotliCompressSync, createGzip, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import {
  expectFault,
  forwardAs,
  newestRecord,
  recordOfAnswer,
  streamAs,
} from '../support/forward.ts'
import { answerOf, chunked, type Script } from '../support/upstream.ts'

const KEY = marked('sk_live_0123456789abcdef')

const timers = new FakeTimers()
let stage: Stage
let agent: Agent
let count = 0

beforeAll(async () => {
  stage = await sharedStage({ timers })
  agent = await createAgentWithToken(stage, { secrets: { KEY } })
})
afterAll(() => stage.stop())

const HEADERS = { authorization: 'Bearer SVC_SECRET_KEY' }

function pathFor(script: Script | string | Uint8Array): string {
  count += 1
  stage.upstream.on(`/stream/${count}`, script)
  return `/stream/${count}`
}

function call(script: Script | string | Uint8Array, more: object = {}, signal?: AbortSignal) {
  const target_url = stage.url(pathFor(script))
  return streamAs(stage, agent, { target_url, headers: HEADERS, ...more }, signal)
}

const HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const END = '0\r\n\r\n'

/** An upstream that the test controls piece by piece. */
function led() {
  const { promise, resolve } = Promise.withResolvers<TLSSocket>()
  return { script: (_: unknown, wire: TLSSocket) => resolve(wire), wire: promise }
}

function readerOf(response: Response) {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  return {
    next: async () => decoder.decode((await reader?.read())?.value),
    cancel: () => reader?.cancel(),
  }
}

const closed = (wire: TLSSocket) =>
  new Promise<void>((resolve) => {
    if (wire.destroyed) resolve()
    else wire.once('close', () => resolve())
  })

describe('early bytes', () => {
  test('an event is passed on before the next one is sent', async () => {
    const { script, wire } = led()
    const pending = call(script)
    const upstream = await wire
    upstream.write(`${HEAD}${chunk('data: one\n\n')}`)
    const reader = readerOf(await pending)
    expect(await reader.next()).toBe('data: one\n\n')
    for (const event of ['data: two\n\n', `data: ${KEY}\n\n`]) {
      upstream.write(chunk(event))
      expect(await reader.next()).toBe(event.replace(KEY, 'SVC_SECRET_KEY'))
    }
    upstream.write(END)
    expect(await reader.next()).toBe('')
    expect(await newestRecord(stage)).toMatchObject({
      decision: 'allowed',
      status_code: 200,
      redacted: true,
      credential_ref: 'KEY',
    })
  })

  test('a compressed event that the upstream flushed is passed on before the next one is sent', async () => {
    const { script, wire } = led()
    const pending = call(script)
    const upstream = await wire
    const gzip = createGzip()
    gzip.on('data', (piece: Buffer) => {
      upstream.write(`${piece.length.toString(16)}\r\n`)
      upstream.write(piece)
      upstream.write('\r\n')
    })
    upstream.write(HEAD.replace('\r\n\r\n', '\r\ncontent-encoding: gzip\r\n\r\n'))
    gzip.write('data: one\n\n')
    gzip.flush()
    const reader = readerOf(await pending)
    expect(await reader.next()).toBe('data: one\n\n')
    gzip.once('end', () => upstream.write(END))
    gzip.end(`data: ${KEY}\n\n`)
    expect(await reader.next()).toBe('data: SVC_SECRET_KEY\n\n')
    expect(await reader.next()).toBe('')
  })

  test('an Accept header of text/event-stream also requests a stream, unless the call names another mode', async () => {
    const ask = (body: object) =>
      fetch(`${stage.app.resolver}/v1/resolve`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${agent.token}`,
          'content-type': 'application/json',
          accept: 'text/event-stream',
        },
        body: JSON.stringify({ target_url: stage.url('/plain'), ...body }),
      })
    expect(await (await ask({})).json()).toEqual({ ok: true })
    expect(await (await ask({ stream: false })).json()).toMatchObject({ body: '{"ok":true}' })
  })
})

describe('a streamed credential', () => {
  test('a streamed credential is redacted wherever the chunks are cut', async () => {
    const text = `before ${KEY} between ${btoa(KEY)} after`
    for (let cut = 1; cut < text.length; cut += 3) {
      const body = chunked([text.slice(0, cut), text.slice(cut)])
      const response = await call(Buffer.concat([Buffer.from(HEAD), body]))
      expect(await response.text()).toBe('before SVC_SECRET_KEY between SVC_SECRET_KEY after')
    }
  })

  test('a streamed credential is redacted when every byte arrives alone, in every coding', async () => {
    const codings = {
      gzip: gzipSync,
      'x-gzip': gzipSync,
      deflate: deflateSync,
      br: brotliCompressSync,
      zstd: zstdCompressSync,
    }
    for (const [coding, compress] of Object.entries(codings)) {
      const bytes = compress(Buffer.from(`{"key":"${KEY}"}`))
      const head = HEAD.replace('\r\n\r\n', `\r\ncontent-encoding: ${coding}\r\n\r\n`)
      const pieces = [...bytes].map((byte) => Uint8Array.of(byte))
      const response = await call(Buffer.concat([Buffer.from(head), chunked(pieces)]))
      expect({ coding, text: await response.text() }).toEqual({
        coding,
        text: '{"key":"SVC_SECRET_KEY"}',
      })
      expect(response.headers.get('content-encoding')).toBeNull()
    }
  })

  test('a streamed credential is redacted in headers, and the record notes it although the body is clean', async () => {
    const response = await call(answerOf(200, { 'x-echo': `key=${KEY}` }, 'clean'))
    expect(response.headers.get('x-echo')).toBe('key=SVC_SECRET_KEY')
    expect(await response.text()).toBe('clean')
    expect(await recordOfAnswer(stage, response)).toMatchObject({ redacted: true })
  })
})

describe('the streamed answer', () => {
  test("the answer has the upstream's status and sanitised body, whatever the status", async () => {
    for (const status of [201, 400, 401, 404, 429, 500, 503]) {
      const response = await call(answerOf(status, { 'retry-after': '7' }, `no: ${KEY}`))
      expect({ status: response.status, text: await response.text() }).toEqual({
        status,
        text: 'no: SVC_SECRET_KEY',
      })
      expect(response.headers.get('retry-after')).toBe('7')
      expect(await recordOfAnswer(stage, response)).toMatchObject({
        decision: 'allowed',
        reason: null,
        status_code: status,
      })
    }
  })

  test('the answer has no body for HEAD, 204, 205 and 304', async () => {
    for (const status of [204, 205, 304]) {
      const response = await call(`HTTP/1.1 ${status} X\r\nx-kept: 1\r\n\r\n`)
      expect({ status: response.status, text: await response.text() }).toEqual({ status, text: '' })
      expect(response.headers.get('x-kept')).toBe('1')
      expect(await recordOfAnswer(stage, response)).toMatchObject({ status_code: status })
    }
    const path = pathFor('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\nx-kept: 1\r\n\r\n')
    const head = await forwardAs(stage, agent, path, { method: 'HEAD' })
    expect({ status: head.status, text: await head.text() }).toEqual({ status: 200, text: '' })
    expect(head.headers.get('x-kept')).toBe('1')
    expect(await recordOfAnswer(stage, head)).toMatchObject({ status_code: 200, method: 'HEAD' })
  })

  test("the answer has the upstream's headers without framing, origin headers and cookies, which are named as dropped", async () => {
    const answer = answerOf(
      200,
      {
        'set-cookie': ['a=1', 'b=2'],
        connection: 'x-private',
        'x-private': 'hop',
        'alt-svc': 'h3=":443"',
        'strict-transport-security': 'max-age=1',
        'clear-site-data': '"*"',
        'cache-control': 'public, max-age=60',
        'x-service-request-id': 'forged',
        'x-request-id': 'req_of_upstream',
        etag: '"abc"',
        'content-type': 'text/plain',
      },
      'body',
    )
    const response = await call(answer)
    expect(await response.text()).toBe('body')
    const headers = Object.fromEntries(response.headers)
    expect(headers).toEqual({
      etag: '"abc"',
      'content-type': 'text/plain',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'req_of_upstream',
      'x-service-dropped': 'set-cookie',
      'x-service-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'content-length': '4',
      date: expect.any(String),
    })
    expect(await recordOfAnswer(stage, response)).toMatchObject({ status_code: 200 })
  })

  test("the answer's redirects are passed on, not followed", async () => {
    const response = await call(answerOf(302, { location: 'https://elsewhere.example/x' }))
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe('https://elsewhere.example/x')
  })
})

describe('502 before the first byte, as JSON', () => {
  test('invalid framing is a 502 as JSON', async () => {
    const heads = [
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nok',
      'HTTP/1.1 099 X\r\ncontent-length: 2\r\n\r\nok',
      'HTTP/1.1 600 X\r\ncontent-length: 2\r\n\r\nok',
      `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(65_536)}\r\ncontent-length: 2\r\n\r\nok`,
      'HTTP/1.1 200 OK\r\ncontent-encoding: compress\r\ncontent-length: 2\r\n\r\nok',
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip, gzip\r\ncontent-length: 2\r\n\r\nok',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      'no http at all\r\n\r\n',
    ]
    for (const head of heads) {
      const response = await call(head)
      await expectFault(response, 'upstream_protocol_error')
      expect(await recordOfAnswer(stage, response)).toMatchObject({
        decision: 'error',
        reason: 'upstream_protocol_error',
        status_code: 502,
      })
    }
  })

  test('the connection to an upstream with invalid framing is closed', async () => {
    const { script, wire } = led()
    const pending = call(script)
    const upstream = await wire
    upstream.write(HEAD.replace('\r\n\r\n', '\r\ncontent-encoding: compress\r\n\r\n'))
    await expectFault(await pending, 'upstream_protocol_error')
    await closed(upstream)
  })
})

describe('an interrupted answer', () => {
  const noise = randomBytes(60_000).toString('hex')
  const gzipped = gzipSync(noise)
  const withGzip = HEAD.replace('\r\n\r\n', '\r\ncontent-encoding: gzip\r\n\r\n')
  const half = gzipped.length >> 1
  const [front, back] = [gzipped.subarray(0, half), gzipped.subarray(half)]
  /** More bytes than are held back for the next ones. */
  const partial = 'partial. '.repeat(40)
  const chunkOf = (bytes: Uint8Array) =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

  const cases: Record<string, [sent: Uint8Array[], then: string | Uint8Array]> = {
    'short of its length': [
      [Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n${partial}`)],
      'more',
    ],
    'without its last chunk': [[Buffer.from(HEAD + chunk(partial))], chunk('more')],
    'in a bad chunk': [[Buffer.from(HEAD + chunk(partial))], 'zz\r\n'],
    'in the middle of gzip': [[Buffer.from(withGzip), chunkOf(front)], END],
    'in gzip with a wrong checksum': [
      [Buffer.from(withGzip), chunkOf(front)],
      chunked([back.with(back.length - 5, (back.at(-5) ?? 0) ^ 1)]),
    ],
  }
  for (const [name, [sent, then]] of Object.entries(cases)) {
    test(`an interrupted answer, ${name}, does not look complete, and the record states 502`, async () => {
      const { script, wire } = led()
      const pending = call(script)
      const upstream = await wire
      upstream.write(Buffer.concat(sent))
      const response = await pending
      expect(response.status).toBe(200)
      upstream.end(then)
      await expect(response.text()).rejects.toThrow()
      expect(await recordOfAnswer(stage, response)).toMatchObject({
        decision: 'error',
        reason: 'upstream_protocol_error',
        status_code: 502,
      })
    })
  }

  test('an answer interrupted at its first byte is still a 502 as JSON', async () => {
    const heads = [
      'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n',
      HEAD,
      `${HEAD}zz\r\n`,
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 7\r\n\r\npartial',
      'HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 7\r\n\r\npartial',
      'HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\ncontent-length: 7\r\n\r\npartial',
    ]
    for (const head of heads) {
      const response = await call((_, wire) => void wire.end(head))
      await expectFault(response, 'upstream_protocol_error')
      expect(await recordOfAnswer(stage, response)).toMatchObject({
        reason: 'upstream_protocol_error',
      })
    }
  })
})

describe('the deadline', () => {
  test('the deadline restarts with every byte: a slow answer may take longer in total', async () => {
    const { script, wire } = led()
    const pending = call(script, { timeout_ms: 60_000 })
    const upstream = await wire
    upstream.write(`${HEAD}${chunk('data: one\n\n')}`)
    const reader = readerOf(await pending)
    await reader.next()
    for (let drop = 0; drop < 8; drop += 1) {
      await timers.advance(59_000)
      upstream.write(chunk('data: more\n\n'))
      expect(await reader.next()).toBe('data: more\n\n')
    }
    upstream.write(END)
    expect(await reader.next()).toBe('')
  })

  test('the deadline ends a hang in the body: the caller gets an interrupted body, the record 504', async () => {
    const { script, wire } = led()
    const pending = call(script, { timeout_ms: 60_000 })
    const upstream = await wire
    upstream.write(`${HEAD}${chunk('data: one\n\n')}`)
    const response = await pending
    const reader = readerOf(response)
    expect(await reader.next()).toBe('data: one\n\n')
    await timers.advance(60_000)
    await expect(reader.next()).rejects.toThrow()
    await closed(upstream)
    expect(await recordOfAnswer(stage, response)).toMatchObject({
      decision: 'error',
      reason: 'upstream_timeout',
      status_code: 504,
    })
  })

  test('the deadline ends a hang before the first byte of the answer with 504 as JSON', async () => {
    const { script, wire } = led()
    const pending = call(script, { timeout_ms: 60_000 })
    const upstream = await wire
    await timers.advance(60_000)
    const response = await pending
    await expectFault(response, 'upstream_timeout')
    await closed(upstream)
    expect(await recordOfAnswer(stage, response)).toMatchObject({
      decision: 'error',
      reason: 'upstream_timeout',
      status_code: 504,
    })
  })
})

describe('a caller that disconnects', () => {
  test('a caller that disconnects during the answer ends the call to the upstream, and the outcome is recorded', async () => {
    const { script, wire } = led()
    const controller = new AbortController()
    const pending = call(script, {}, controller.signal)
    const upstream = await wire
    upstream.write(`${HEAD}${chunk(`data: ${KEY}\n\n`)}`)
    const response = await pending
    expect(await readerOf(response).next()).toBe('data: SVC_SECRET_KEY\n\n')
    controller.abort()
    await closed(upstream)
    expect(await recordOfAnswer(stage, response)).toMatchObject({
      decision: 'allowed',
      status_code: 200,
      redacted: true,
    })
  })

  test('a caller that disconnects before the headers ends the call too: 499 in the record', async () => {
    const { script, wire } = led()
    const controller = new AbortController()
    const pending = call(script, {}, controller.signal)
    const upstream = await wire
    controller.abort()
    await expect(pending).rejects.toThrow()
    await closed(upstream)
    expect(await newestRecord(stage)).toMatchObject({
      decision: 'error',
      reason: 'caller_gone',
      status_code: 499,
      credential_ref: 'KEY',
    })
  })
})
