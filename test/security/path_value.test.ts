// tier: quick
/**
 * If a policy limits paths, a value in the path cannot form an escape or a dot segment with the text before it. The
 * answer does not reveal whether it would, because that would reveal the beginning of the value.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { hasOpenPlaceholder } from '../../src/core/policy/path.ts'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: {} })
  const policy = { allowed_locations: ['path' as const], allowed_paths: ['/v1'] }
  await agent.store('BEGINS_WITH_F', marked('f0e1d2c3b4'), { policy })
  await agent.store('BEGINS_WITH_G', marked('g0e1d2c3b4'), { policy })
  await agent.store('DOTS', '..%2f..%2fadmin', { policy })
  await agent.store('FREE', marked('f0e1d2c3b4f'), { policy: { allowed_locations: ['path'] } })
})
afterAll(() => stage.stop())

test.each([
  '/v1/..%252@',
  '/v1/..%252@/admin',
  '/v1/%252e%252e%252@',
  '/v1/..%25252@',
  '/v1/x%25@',
  '/v1/.@/admin',
  '/v1/%252e@',
  '/v1/%EF%BC%8E@',
])('%s is rejected alike, whatever the value', async (path) => {
  const answers = []
  for (const name of ['BEGINS_WITH_F', 'BEGINS_WITH_G']) {
    const before = stage.upstream.received.length
    const url = stage.url(path.replace('@', `SVC_SECRET_${name}`))
    const { status, body } = await agent.resolve({ target_url: url })
    expect(stage.upstream.received.length).toBe(before)
    const { message, error_code } = body as { message: string; error_code: string }
    answers.push({ status, error_code, message: message.replace(name, '') })
  }
  expect(answers[0]).toEqual(answers[1])
  expect(answers[0]).toMatchObject({ status: 403, error_code: 'policy_blocked' })
})

test('a value that itself changes the path is checked in its sent form', async () => {
  const before = stage.upstream.received.length
  const { status, body } = await agent.resolve({ target_url: stage.url('/v1/SVC_SECRET_DOTS') })
  expect({ status, body }).toMatchObject({ status: 403, body: { error_code: 'policy_blocked' } })
  expect(stage.upstream.received.length).toBe(before)
})

test.each([
  ['/v1/SVC_SECRET_BEGINS_WITH_F', '/v1/'],
  ['/v1/botSVC_SECRET_BEGINS_WITH_F/me', '/v1/bot'],
  ['/v1/a%20SVC_SECRET_BEGINS_WITH_G', '/v1/a%20'],
  ['/v1/a.SVC_SECRET_BEGINS_WITH_G', '/v1/a.'],
  ['/v2/..%252SVC_SECRET_FREE', '/v2/..%252'],
])('%s is sent', async (path, sent) => {
  const { status } = await agent.resolve({ target_url: stage.url(path) })
  expect(status).toBe(200)
  expect(stage.upstream.received.at(-1)?.path).toStartWith(sent)
})

test('values in allowed paths are sent', () => {
  expect(hasOpenPlaceholder('/v1/x')).toBe(false)
  expect(hasOpenPlaceholder('/v1/SVC_SECRET_A/.SVC_SECRET_B')).toBe(true)
  expect(hasOpenPlaceholder('/v1/SVC_SECRET_A/bSVC_SECRET_B')).toBe(false)
})
