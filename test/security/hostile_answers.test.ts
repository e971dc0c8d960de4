// tier: all
/**
 * Whatever an upstream answers, others are served meanwhile, and the deadline holds (protocol 6.2). The test counts
 * turns of the event loop, and not only time, because the test machine is slow.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { answerOf } from '../support/upstream.ts'

const MIB = 1024 * 1024

let stage: Stage
let attacker: Agent
let other: Agent

beforeAll(async () => {
  stage = await openStage()
  attacker = await createAgentWithToken(stage, {
    secrets: { KEY: marked('%73%6b_live_hostile&amp;\\u0041') },
  })
  other = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_of_another') } })
  await other.resolve({ target_url: stage.url('/') })
}, 30_000)
afterAll(() => stage.stop())

const bodies: Record<string, string> = {
  ampersands: '&'.repeat(6 * MIB),
  backslashes: '\\'.repeat(6 * MIB),
  escapes: '%73%6b'.repeat(MIB),
}

test.each(Object.entries(bodies))(
  'an answer of only %s delays no other caller',
  async (name, body) => {
    stage.upstream.on(`/${name}`, answerOf(200, { 'content-type': 'text/plain' }, body))
    let isOver = false
    const hostile = attacker
      .resolve({ target_url: stage.url(`/${name}`), timeout_ms: 60_000 })
      .finally(() => {
        isOver = true
      })
    let served = 0
    while (!isOver) {
      const { status } = await other.resolve({ target_url: stage.url('/') })
      expect(status).toBe(200)
      served += 1
    }
    expect((await hostile).status).toBe(200)
    expect(served).toBeGreaterThan(5)
  },
  60_000,
)

test('the deadline ends the reading of an answer', async () => {
  stage.upstream.on('/late', answerOf(200, {}, '%73%6b&\\'.repeat(MIB)))
  const started = performance.now()
  const { status, body } = await attacker.resolve({
    target_url: stage.url('/late'),
    timeout_ms: 100,
  })
  expect({ status, body }).toMatchObject({ status: 504, body: { error_code: 'upstream_timeout' } })
  expect(performance.now() - started).toBeLessThan(5_000)
})
