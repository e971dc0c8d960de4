// tier: all
/** Streamed answers on the real clock, a large download, and the runtime's output. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { expectFault, recordOfAnswer, streamAs } from '../support/forward.ts'
import { until } from '../support/until.ts'
import type { Script } from '../support/upstream.ts'
import { watched } from '../support/watched.ts'

const KEY = marked('sk_live_0123456789abcdef')
const MIB = 1024 * 1024
const HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const END = '0\r\n\r\n'
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

let stage: Stage
let agent: Agent
let count = 0

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY } })
})
afterAll(() => stage.stop())

function call(script: Script, more: object = {}) {
  count += 1
  stage.upstream.on(`/stream/${count}`, script)
  const target_url = stage.url(`/stream/${count}`)
  const headers = { authorization: 'Bearer SVC_SECRET_KEY' }
  return streamAs(stage, agent, { target_url, headers, ...more })
}

describe('the deadline', () => {
  test('the deadline restarts with every byte: a slow answer may take longer in total', async () => {
    const started = performance.now()
    const response = await call(
      (_, wire) => {
        wire.write(HEAD)
        let drops = 0
        const drip = setInterval(() => {
          wire.write(chunk('.'))
          drops += 1
          if (drops < 8) return
          clearInterval(drip)
          wire.write(END)
        }, 100)
      },
      { timeout_ms: 400 },
    )
    expect(await response.text()).toBe('........')
    expect(performance.now() - started).toBeGreaterThan(600)
  })

  test('the deadline ends a hang before the headers, and before the body, with 504 as JSON', async () => {
    for (const begun of ['', HEAD, `${HEAD}${chunk(KEY.slice(0, 9))}`]) {
      const arrived = Promise.withResolvers<TLSSocket>()
      const pending = call((_, wire) => arrived.resolve(wire), { timeout_ms: 200 })
      const upstream = await arrived.promise
      const closed = new Promise((resolve) => upstream.once('close', resolve))
      upstream.write(begun)
      const response = await pending
      await expectFault(response, 'upstream_timeout')
      await closed
      expect(await recordOfAnswer(stage, response)).toMatchObject({
        decision: 'error',
        reason: 'upstream_timeout',
        status_code: 504,
      })
    }
  })
})

test('an interrupted answer prints nothing, because the runtime would quote the URL with its credential', async () => {
  const file = join(import.meta.dir, 'stream.test.ts')
  const printed = watched(
    Bun.spawnSync([process.execPath, 'test', file, '-t', 'short of its length']),
  )
  expect(printed.stderr.toString()).not.toContain('https://127.0.0.1')
  expect(printed.stderr.toString()).toContain(' 1 pass')
}, 60_000)

test('a large download waits for a slow reader instead of filling the memory', async () => {
  const SIZE = 200 * MIB
  const block = Buffer.alloc(MIB, 'abcdefghij0123456789 ')
  let poured = 0
  const response = await call(async (_, wire) => {
    wire.write(`HTTP/1.1 200 OK\r\ncontent-length: ${SIZE}\r\n\r\n`)
    while (poured < SIZE && !wire.destroyed) {
      poured += block.length
      if (!wire.write(block)) await new Promise((resolve) => wire.once('drain', resolve))
    }
  })
  const reader = response.body?.getReader()
  await reader?.read()
  let before = -1
  const standsStill = () => {
    const isSame = poured === before
    before = poured
    return isSame
  }
  await until(standsStill, { stepMs: 1000 })
  expect(poured).toBeLessThan(100 * MIB)
  await reader?.cancel()
}, 60_000)
