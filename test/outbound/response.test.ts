// tier: quick
/** Step 11 on the real listener: the answer is bounded, checked, and free of inserted values. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { type FaultCode, messageOf, statusOf } from '../../src/core/fault.ts'
import { adviceFor } from '../../src/http/advice.ts'
import {
  type Agent,
  createAgentWithToken,
  recordOf,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import { until } from '../support/until.ts'
import { answerOf, chunked, type Script } from '../support/upstream.ts'

const KEY = marked('sk_live_"<&>é/+0123456789')
const ASCII = marked('sk-live/0123+456789~<&>"')
const MIB = 1024 * 1024
const CAP = 10 * MIB

const timers = new FakeTimers()
let stage: Stage
let agent: Agent
let count = 0

beforeAll(async () => {
  stage = await sharedStage({ timers })
  agent = await createAgentWithToken(stage, { secrets: { KEY, ASCII } })
}, 30_000)
afterAll(() => stage.stop())

type Call = Record<string, unknown>

/** A call to a path with this behaviour, with a credential in it. */
async function callTo(script: Script | string | Uint8Array, call: Call = {}) {
  count += 1
  const path = `/answer/${count}`
  stage.upstream.on(path, script)
  const headers = {
    'X-Key': 'SVC_SECRET_ASCII',
    Authorization: `Basic ${btoa('ada:SVC_SECRET_KEY')}`,
  }
  return agent.resolve({ target_url: stage.url(path), headers, ...call })
}

async function expectAnswer(script: Script | string | Uint8Array, body: object, call: Call = {}) {
  const answer = await callTo(script, call)
  expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body })
  return answer
}

async function expectFailed(script: Script | string | Uint8Array, code: FaultCode, call?: Call) {
  const answer = await callTo(script, call)
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: statusOf(code),
    body: { error_code: code, message: messageOf(code), ...adviceFor(code) },
  })
  expect(await recordOf(stage.app, answer)).toMatchObject({
    decision: 'error',
    reason: code,
    status_code: statusOf(code),
    redacted: false,
    credential_ref: 'ASCII,KEY',
  })
}

const raw = (head: string, body: string | Uint8Array = '') =>
  Buffer.concat([Buffer.from(head.replaceAll('\n', '\r\n'), 'latin1'), Buffer.from(body)])

/** Every way in which the specification promises to recognise a value. */
function disguises(value: string): [name: string, text: string][] {
  const bytes = Buffer.from(value)
  const aligned = ['', 'x', 'xy'].map((lead) => Buffer.concat([Buffer.from(lead), bytes]))
  const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  return [
    ['raw', value],
    ...aligned.map((lead, at): [string, string] => [`base64 at ${at}`, lead.toString('base64')]),
    ...aligned.map((lead, at): [string, string] => [`b64url at ${at}`, lead.toString('base64url')]),
    ['hex', bytes.toString('hex')],
    ['upper-case hex', bytes.toString('hex').toUpperCase()],
    ['percent', encodeURIComponent(value)],
    ['all percent', percent],
    ['a form', new URLSearchParams({ value }).toString().slice(6)],
    ['JSON', JSON.stringify(value)],
    ['JSON in JSON', JSON.stringify(JSON.stringify(value))],
    [
      'JSON with every character escaped',
      [...value].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    ],
    [
      'HTML',
      value
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;'),
    ],
    ['numeric HTML', [...value].map((c) => `&#${c.charCodeAt(0)};`).join('')],
  ]
}

describe('an echoed credential', () => {
  for (const [name, value] of [
    ['KEY', KEY],
    ['ASCII', ASCII],
  ] as const) {
    test.each(disguises(value))(
      `an echoed credential is replaced in the body: ${name} as %s`,
      async (_, text) => {
        const answer = await callTo(answerOf(200, {}, `before ${text} after`))
        const { body, redacted } = answer.body as { body: string; redacted: boolean }
        expect(redacted).toBe(true)
        expect(body).toMatch(new RegExp(`^before .*SVC_SECRET_${name}.* after$`))
        // The digit on each side that mixes with neighbouring bytes may stay.
        expect(body.replace(`SVC_SECRET_${name}`, '').length).toBeLessThanOrEqual(
          'before  after'.length + 7,
        )
        expect(await recordOf(stage.app, answer)).toMatchObject({
          redacted: true,
          status_code: 200,
        })
      },
    )
  }

  test.each([200, 201, 301, 400, 401, 404, 422, 500, 503, 599])(
    'an echoed credential is replaced whatever the status: %i',
    async (status) => {
      await expectAnswer(answerOf(status, { 'x-echo': ASCII }, KEY), {
        status_code: status,
        headers: { 'x-echo': 'SVC_SECRET_ASCII' },
        body: 'SVC_SECRET_KEY',
        redacted: true,
      })
    },
  )

  test('an echoed credential is replaced in header values, raw, encoded and as the whole Basic pair', async () => {
    const pair = Buffer.from(`ada:${KEY}`).toString('base64')
    await expectAnswer(
      answerOf(200, {
        'x-raw': `a ${ASCII} b`,
        'x-pair': `Basic ${pair}`,
        'x-hex': Buffer.from(ASCII).toString('hex'),
        location: `https://evil.example/?k=${encodeURIComponent(ASCII)}`,
        'x-utf8': Buffer.from(KEY).toString('latin1'),
        'x-many': [ASCII, ASCII],
      }),
      {
        status_code: 200,
        headers: {
          'x-raw': 'a SVC_SECRET_ASCII b',
          'x-pair': `Basic ${btoa('ada:SVC_SECRET_KEY')}`,
          'x-hex': 'SVC_SECRET_ASCII',
          location: 'https://evil.example/?k=SVC_SECRET_ASCII',
          'x-utf8': 'SVC_SECRET_KEY',
          'x-many': 'SVC_SECRET_ASCII, SVC_SECRET_ASCII',
        },
        body: '',
        redacted: true,
      },
    )
  })

  test('an echoed credential in a header name drops the header', async () => {
    await agent.store('TOKENISH', 'x-secret-name')
    const answer = await callTo(answerOf(200, { 'x-secret-name': '1', 'x-other': '2' }), {
      headers: { 'X-Key': 'SVC_SECRET_TOKENISH' },
    })
    expect(answer.body).toMatchObject({ headers: { 'x-other': '2' }, redacted: true })
    expect(JSON.stringify(answer.body)).not.toContain('x-secret-name')
  })

  const encoders = {
    gzip: gzipSync,
    'x-gzip': gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
    zstd: zstdCompressSync,
  }
  test.each(Object.entries(encoders))(
    'an echoed credential is replaced inside %s',
    async (coding, encode) => {
      const body = encode(Buffer.from(`{"key":${JSON.stringify(KEY)}}`))
      await expectAnswer(answerOf(200, { 'content-encoding': coding.toUpperCase() }, body), {
        status_code: 200,
        headers: {},
        body: '{"key":"SVC_SECRET_KEY"}',
        redacted: true,
      })
    },
  )

  test('an echoed credential is replaced when it arrives byte by byte in chunks', async () => {
    const pieces = [...Buffer.from(`a ${KEY} b`)].map((byte) => Uint8Array.of(byte))
    await expectAnswer(raw('HTTP/1.1 200 X\ntransfer-encoding: chunked\n\n', chunked(pieces)), {
      status_code: 200,
      headers: {},
      body: 'a SVC_SECRET_KEY b',
      redacted: true,
    })
  })

  test('an echoed credential is replaced in a body without length, in separate writes', async () => {
    const script: Script = async (_, wire) => {
      wire.write(raw('HTTP/1.1 200 X\nconnection: close\n\n'))
      for (const byte of Buffer.from(KEY)) {
        await new Promise((resolve) => wire.write(Uint8Array.of(byte), resolve))
      }
      wire.end()
    }
    await expectAnswer(script, {
      status_code: 200,
      headers: {},
      body: 'SVC_SECRET_KEY',
      redacted: true,
      length: 'unproven',
    })
  })

  test('an echoed credential is replaced in a body that is not text', async () => {
    const body = Buffer.concat([Uint8Array.of(0xff, 0xfe), Buffer.from(KEY), Uint8Array.of(0xff)])
    const expected = Buffer.concat([
      Uint8Array.of(0xff, 0xfe),
      Buffer.from('SVC_SECRET_KEY'),
      Uint8Array.of(0xff),
    ])
    await expectAnswer(answerOf(200, {}, body), {
      status_code: 200,
      headers: {},
      body: expected.toString('base64'),
      body_encoding: 'base64',
      redacted: true,
    })
  })

  test('a credential is replaced whether the call used it or not, unless it is a setting', async () => {
    await agent.store('UNUSED', marked('value-of-unused'))
    await agent.store('SETTING', 'eu-central-1', { policy: { sensitive: false } })
    const text = `${marked('value-of-unused')} eu-central-1`
    for (const headers of [{ 'X-Key': 'SVC_SECRET_ASCII, SVC_SECRET_SETTING' }, {}]) {
      const answer = await callTo(answerOf(200, {}, text), { headers })
      const body = 'SVC_SECRET_UNUSED eu-central-1'
      expect(answer.body).toMatchObject({ body, redacted: true })
    }
  })
})

describe('the answer', () => {
  test('the answer joins repeated headers, drops headers that are not for the caller, and names a dropped cookie', async () => {
    const dropped = {
      'set-cookie': ['a=1', 'b=2'],
      connection: 'X-Hop, keep-alive',
      'x-hop': 'by hop',
      'keep-alive': 'timeout=5',
      'proxy-authenticate': 'Basic',
      trailer: 'x',
      upgrade: 'h2c',
      te: 'trailers',
    }
    const kept = { 'x-many': ['1', '2', '3'], vary: ['a', 'b'], __proto__x: 'y' }
    await expectAnswer(answerOf(200, { ...dropped, ...kept }, 'ok'), {
      status_code: 200,
      headers: { 'x-many': '1, 2, 3', vary: 'a, b', __proto__x: 'y' },
      dropped_headers: ['set-cookie'],
      body: 'ok',
      redacted: false,
    })
  })

  test('the answer has a binary body as base64, and UTF-8 unchanged, including a byte order mark', async () => {
    const bytes = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 255)
    await expectAnswer(answerOf(200, {}, bytes), {
      status_code: 200,
      headers: {},
      body: Buffer.from(bytes).toString('base64'),
      body_encoding: 'base64',
      redacted: false,
    })
    const text = '\ufeff\0 grüße \u{1f600}'
    await expectAnswer(answerOf(200, {}, text), {
      status_code: 200,
      headers: {},
      body: text,
      redacted: false,
    })
  })

  test('the answer to HEAD, 204 and 304 has no body, whatever length is announced', async () => {
    const head = raw(`HTTP/1.1 200 X\ncontent-length: ${50 * MIB}\n\n`)
    const empty = { headers: {}, body: '', redacted: false }
    await expectAnswer(head, { status_code: 200, ...empty }, { method: 'HEAD' })
    await expectAnswer(raw('HTTP/1.1 204 X\n\n'), { status_code: 204, ...empty })
    await expectAnswer(raw(`HTTP/1.1 304 X\ncontent-length: ${50 * MIB}\n\n`), {
      status_code: 304,
      ...empty,
    })
    const gzipped = raw('HTTP/1.1 200 X\ncontent-encoding: gzip\ncontent-length: 9\n\n')
    await expectAnswer(gzipped, { status_code: 200, ...empty }, { method: 'HEAD' })
  })

  test('the answer may follow informational responses', async () => {
    await expectAnswer(
      raw('HTTP/1.1 103 Early Hints\nlink: </a>\n\nHTTP/1.1 200 X\ncontent-length: 2\n\nok'),
      { status_code: 200, headers: {}, body: 'ok', redacted: false },
    )
  })

  test('a redirect is returned like any other answer, and its target is never contacted', async () => {
    stage.names.set('sink.example', ['127.0.0.1'])
    for (const status of [301, 302, 303, 307, 308]) {
      const [before, lookups] = [stage.upstream.received.length, stage.lookups.length]
      const location = stage.url('/sink', 'sink.example')
      await expectAnswer(answerOf(status, { location }), {
        status_code: status,
        headers: { location },
        body: '',
        redacted: false,
      })
      expect(stage.upstream.received.length).toBe(before + 1)
      expect(stage.lookups.slice(lookups)).toEqual(['api.upstream.example'])
    }
  })
})

describe('502 upstream_too_large', () => {
  test('a declared length over the cap is upstream_too_large, without reading the body', async () => {
    await expectFailed(
      raw(`HTTP/1.1 200 X\ncontent-length: ${CAP + 1}\n\nstart`),
      'upstream_too_large',
    )
  })
})

describe('502 upstream_protocol_error', () => {
  const length = 'content-length: 2\n'
  const broken: [string, string | Uint8Array][] = [
    ['Content-Length and Transfer-Encoding', `${length}transfer-encoding: chunked\n\n2\nok\n0\n\n`],
    ['Transfer-Encoding and Content-Length', `transfer-encoding: chunked\n${length}\n2\nok\n0\n\n`],
    ['repeated Content-Length', `${length}${length}\nok`],
    ['different Content-Length', `${length}content-length: 3\n\nokk`],
    ['a Content-Length list', 'content-length: 2, 2\n\nok'],
    ['a negative length', 'content-length: -2\n\nok'],
    ['a length with a sign', 'content-length: +2\n\nok'],
    ['a hexadecimal length', 'content-length: 0x2\n\nok'],
    ['another transfer coding', 'transfer-encoding: gzip, chunked\n\n2\nok\n0\n\n'],
    ['an unknown transfer coding', 'transfer-encoding: cow\n\nok'],
    ['a bad chunk size', 'transfer-encoding: chunked\n\nzz\nok\n0\n\n'],
    ['a folded header', `x-a: 1\n 2\n${length}\nok`],
    ['NUL in a header', `x-a: 1\x002\n${length}\nok`],
    ['a space before the colon', `x-a : 1\n${length}\nok`],
    ['an unknown content coding', `content-encoding: rot13\n${length}\nok`],
    ['two content codings', `content-encoding: gzip, br\n${length}\nok`],
    ['a coding that is not kept', `content-encoding: gzip\n${length}\nok`],
  ]
  test.each(broken)('an upstream with %s is upstream_protocol_error', async (_, rest) => {
    await expectFailed(raw(`HTTP/1.1 200 X\n${rest}`), 'upstream_protocol_error')
  })

  test.each(['000', '099', '600', '999', '20', '2000', 'abc'])(
    'the status %s is upstream_protocol_error',
    async (status) => {
      await expectFailed(raw(`HTTP/1.1 ${status} X\n${length}\nok`), 'upstream_protocol_error')
    },
  )

  test('an unrequested 101 is upstream_protocol_error', async () => {
    await expectFailed(
      raw('HTTP/1.1 101 X\nupgrade: websocket\nconnection: upgrade\n\n'),
      'upstream_protocol_error',
    )
  })

  test.each([
    ['one header', `x-a: ${'a'.repeat(65_536)}\n`],
    [
      'many headers',
      Array.from({ length: 700 }, (_, at) => `x-${at}: ${'a'.repeat(100)}\n`).join(''),
    ],
  ])('more than 64 KiB in %s is upstream_too_large', async (_, headers) => {
    await expectFailed(raw(`HTTP/1.1 200 X\n${headers}${length}\nok`), 'upstream_protocol_error')
  })

  const ends: [string, string][] = [
    ['no answer at all', ''],
    ['half a head', 'HTTP/1.1 200 X\ncontent-le'],
    ['less than its length', 'HTTP/1.1 200 X\ncontent-length: 10\n\nok'],
    ['no last chunk', 'HTTP/1.1 200 X\ntransfer-encoding: chunked\n\n2\nok\n'],
    ['half a chunk', 'HTTP/1.1 200 X\ntransfer-encoding: chunked\n\nff\nok'],
    ['something that is not HTTP', 'SSH-2.0-OpenSSH_9.6\n'],
    ['another protocol version', 'HTTP/2.0 200 X\ncontent-length: 2\n\nok'],
  ]
  test.each(ends)('%s before the end is upstream_protocol_error', async (_, text) => {
    await expectFailed((__, wire) => void wire.end(raw(text)), 'upstream_protocol_error', {
      method: 'POST',
    })
  })

  test('compressed data that breaks off is upstream_protocol_error', async () => {
    const body = gzipSync(Buffer.from('a'.repeat(1000)))
    await expectFailed(
      answerOf(200, { 'content-encoding': 'gzip' }, body.subarray(0, body.length - 9)),
      'upstream_protocol_error',
    )
  })
})

describe('504 upstream_timeout', () => {
  test('a silent upstream is upstream_timeout', async () => {
    const arrived = Promise.withResolvers<void>()
    const failed = expectFailed(() => arrived.resolve(), 'upstream_timeout', { timeout_ms: 60_000 })
    await arrived.promise
    await timers.expire(60_000)
    await failed
  })

  test.each([
    ['the call named', { timeout_ms: 60_000 }, 60_000, undefined],
    ['a setting limits', {}, 30_000, { setting: 'RESOLVER_TIMEOUT_MS' }],
  ])(
    'a name server that does not answer in the time that %s is upstream_timeout, and no request is sent',
    async (_, named, ms, fix) => {
      stage.names.set('slow.example', () => new Promise(() => {}))
      await agent.allow('slow.example')
      const [sent, looked] = [stage.upstream.bytes, stage.lookups.length]
      const call = agent.resolve({ target_url: 'https://slow.example/', ...named })
      await until(() => stage.lookups.length > looked)
      await timers.expire(ms)
      const answer = await call
      expect({ status: answer.status, body: answer.body }).toEqual({
        status: 504,
        body: {
          error_code: 'upstream_timeout',
          message: messageOf('upstream_timeout'),
          ...adviceFor('upstream_timeout', fix),
        },
      })
      expect(await recordOf(stage.app, answer)).toMatchObject({ reason: 'upstream_timeout' })
      expect(stage.upstream.bytes).toBe(sent)
    },
  )
})
