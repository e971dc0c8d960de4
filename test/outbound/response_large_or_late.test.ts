// tier: all
/** Answers of maximum size, and answers that are late by the real clock. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
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
import { answerOf, chunked, type Script } from '../support/upstream.ts'

const CAP = 10 * 1024 * 1024

let stage: Stage
let agent: Agent
let count = 0

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, {
    secrets: { KEY: marked('sk_live_0123456789abcdef') },
  })
}, 30_000)
afterAll(() => stage.stop())

/** A call to a path with this behaviour, with a credential in it. */
async function callTo(script: Script | Uint8Array, call: Record<string, unknown> = {}) {
  count += 1
  const path = `/answer/${count}`
  stage.upstream.on(path, script)
  const headers = { authorization: 'Bearer SVC_SECRET_KEY' }
  return agent.resolve({ target_url: stage.url(path), headers, ...call })
}

async function expectFailed(script: Script | Uint8Array, code: FaultCode, call?: object) {
  const answer = await callTo(script, { ...call })
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: statusOf(code),
    body: { error_code: code, message: messageOf(code), ...adviceFor(code) },
  })
  expect(await recordOf(stage.app, answer)).toMatchObject({
    decision: 'error',
    reason: code,
    status_code: statusOf(code),
    redacted: false,
    credential_ref: 'KEY',
  })
}

const raw = (head: string, body: string | Uint8Array = '') =>
  Buffer.concat([Buffer.from(head.replaceAll('\n', '\r\n'), 'latin1'), Buffer.from(body)])

test('an answer may have exactly 10 MiB', async () => {
  const answer = await callTo(answerOf(200, {}, Buffer.alloc(CAP, 'a')))
  expect((answer.body as { body: string }).body.length).toBe(CAP)
})

describe('502 upstream_too_large', () => {
  test('a body over the cap in chunks or until the end is upstream_too_large', async () => {
    const body = Buffer.alloc(CAP + 1, 'a')
    await expectFailed(
      raw('HTTP/1.1 200 X\ntransfer-encoding: chunked\n\n', chunked([body])),
      'upstream_too_large',
    )
    await expectFailed((_, wire) => {
      wire.write(raw('HTTP/1.1 200 X\n\n'))
      wire.end(body)
    }, 'upstream_too_large')
  })

  const brotli = (bytes: Buffer) =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotli],
    ['zstd', zstdCompressSync],
  ] as const)(
    'a body with %s that grows over the cap is upstream_too_large',
    async (coding, encode) => {
      const bomb = encode(Buffer.alloc(CAP + 1))
      await expectFailed(answerOf(200, { 'content-encoding': coding }, bomb), 'upstream_too_large')
    },
  )
})

describe('504 upstream_timeout', () => {
  const late = { timeout_ms: 200 }
  const pace = (wire: { write(text: string): unknown; destroyed: boolean }, text: string) => {
    const timer = setInterval(() => {
      if (wire.destroyed) clearInterval(timer)
      else wire.write(text)
    }, 20)
  }
  const slow: [string, Script][] = [
    ['silence', () => {}],
    ['silence after half a head', (_, wire) => void wire.write('HTTP/1.1 200 X\r\n')],
    [
      'silence in a body with length',
      (_, wire) => void wire.write('HTTP/1.1 200 X\r\ncontent-length: 10\r\n\r\nstart'),
    ],
    [
      'silence in a chunked body',
      (_, wire) =>
        void wire.write('HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n'),
    ],
    [
      'a head that drips',
      (_, wire) => {
        wire.write('HTTP/1.1 200 X\r\n')
        pace(wire, 'x-a: 1\r\n')
      },
    ],
    [
      'a body that drips',
      (_, wire) => {
        wire.write('HTTP/1.1 200 X\r\ncontent-length: 10000\r\n\r\n')
        pace(wire, 'a')
      },
    ],
    [
      'chunks that drip',
      (_, wire) => {
        wire.write('HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n')
        pace(wire, '1\r\na\r\n')
      },
    ],
    [
      'endless informational responses',
      (_, wire) => pace(wire, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    ],
  ]
  test.each(slow)('%s is upstream_timeout', async (_, script) => {
    const started = performance.now()
    await expectFailed(script, 'upstream_timeout', late)
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  test('an answer that arrives in time is never upstream_timeout', async () => {
    const answer = await callTo(
      async (_, wire) => {
        for (const piece of ['HTTP/1.1 200 X\r\ncontent', '-length: 2\r\n\r\n', 'o', 'k']) {
          await new Promise((resolve) => wire.write(piece, resolve))
        }
      },
      { timeout_ms: 10_000 },
    )
    expect(answer.body).toEqual({ status_code: 200, headers: {}, body: 'ok', redacted: false })
  })
})
