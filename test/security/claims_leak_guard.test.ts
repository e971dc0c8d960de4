// tier: quick
/** Leaks that the leak guard stops, leaks that it cannot stop, and the means that stop those. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  type Agent,
  createAgentWithToken,
  expectRefused,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { answerOf, type ReceivedRequest } from '../support/upstream.ts'

const VALUE = marked('sk_live_the-seat-belt')
const headers = { 'X-Key': 'SVC_SECRET_KEY' }

/** A transformation that an API may apply to a text, that no scanner knows, and that the agent can undo. */
const reversed = (text: string) => text.split('').reverse().join('')
const xored = (text: string) => Buffer.from(text, 'latin1').map((byte) => byte ^ 0x55)
const spread = (text: string) => text.split('').join('-')

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE } })
  await agent.store('NARROW', VALUE, {
    policy: { allowed_methods: ['GET'], allowed_paths: ['/charges'] },
  })
  const keyIn = (request: ReceivedRequest) => request.header('x-key') ?? ''
  const answer = (path: string, change: (key: string) => string | Uint8Array) =>
    stage.upstream.on(path, (request, wire) => {
      wire.write(answerOf(200, {}, change(keyIn(request))))
    })
  answer('/echo', (key) => `your key is ${key}`)
  answer('/reversed', reversed)
  answer('/xored', xored)
  answer('/spread', spread)
})
afterAll(() => stage.stop())

/** The body that the agent gets, whatever its encoding. */
async function bodyOf(path: string): Promise<string> {
  const { status, body } = await agent.resolve({ target_url: stage.url(path), headers })
  expect(status).toBe(200)
  const answer = body as { body: string; body_encoding?: 'base64' }
  return Buffer.from(answer.body, answer.body_encoding ?? 'utf8').toString('latin1')
}

describe('The leak guard is a safety net, not a barrier. An allowed upstream has the credential, and an API that stores or transforms its input can disclose it. Limit what may be called.', () => {
  test('an API that returns what it was sent does not carry it out', async () => {
    const body = await bodyOf('/echo')
    expect(body).not.toContain(VALUE)
    expect(body).toMatch(/^your key is /)
  })

  test.each([
    ['/reversed', reversed],
    ['/xored', (text: string) => Buffer.from(xored(text)).toString('latin1')],
    ['/spread', (text: string) => text.replaceAll(/(.)-/g, '$1')],
  ])('an API that transforms it does: %s', async (path, undo) => {
    expect(undo(await bodyOf(path))).toBe(VALUE)
  })

  test('the allowlist keeps it from everybody else', async () => {
    await expectRefused(
      stage,
      agent,
      { target_url: 'https://evil.example/', headers },
      'domain_blocked',
    )
  })

  test('a policy keeps it from what else the API has', async () => {
    const narrow = { 'X-Key': 'SVC_SECRET_NARROW' }
    const call = (path: string, method: string) => ({
      target_url: stage.url(path),
      method,
      headers: narrow,
    })
    expect((await agent.resolve(call('/charges', 'GET'))).status).toBe(200)
    for (const [refused, why] of [
      [call('/reversed', 'GET'), 'path (allowed_paths: /charges)'],
      [call('/charges', 'POST'), 'method (allowed_methods: GET)'],
    ] as const) {
      const message = `The policy of the secret NARROW does not permit this ${why}.`
      await expectRefused(stage, agent, refused, 'policy_blocked', message)
    }
  })
})
