// tier: quick
/**
 * A value with references is no credential: the referenced secret has its own policy, which a call with the composed
 * value would bypass. The ciphertext binds the mark, so only the author sets or removes it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Policy } from '../../src/core/policy/policy.ts'
import { adviceFor } from '../../src/http/advice.ts'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'

const NARROW = marked('only-for-one-host')
const TEXT = 'Bearer $' + '{NARROW}'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage)
  await agent.store('NARROW', NARROW, { policy: { allowed_domains: ['other.example'] } })
  await agent.store('COMPOSED', TEXT, { policy: { references: true } })
  await agent.store('TEXT', TEXT)
})
afterAll(() => stage.stop())

const use = (name: string) =>
  agent.resolve({
    target_url: stage.url('/used'),
    headers: { authorization: `SVC_SECRET_${name}` },
  })

const alter = (key: string, policy: Policy | null) =>
  stage.app.connection.sql`
    update secrets set policy = ${policy && JSON.stringify(policy)}::text::json
    where key = ${key} and project_id = ${agent.projectId}`

describe('a call', () => {
  test('a call with an unresolved reference is rejected by name and code, and nothing is sent', async () => {
    const before = stage.upstream.received.length
    const { status, body } = await use('COMPOSED')
    expect({ status, body }).toEqual({
      status: 422,
      body: {
        error_code: 'unresolved_reference',
        message:
          'The secret COMPOSED refers to other secrets, which calls do not resolve. Use those secrets directly.',
        ...adviceFor('unresolved_reference'),
      },
    })
    expect(stage.upstream.received.length).toBe(before)
  })

  test('a call with the same unmarked text sends it unchanged', async () => {
    expect((await use('TEXT')).status).toBe(200)
    expect(stage.upstream.received.at(-1)?.header('authorization')).toBe(TEXT)
  })

  test('a call ignores a mark that the database removed or added', async () => {
    await alter('COMPOSED', null)
    await alter('TEXT', { references: true })
    const before = stage.upstream.received.length
    for (const name of ['COMPOSED', 'TEXT']) {
      const { status, body } = await use(name)
      expect([status, (body as { error_code: string }).error_code]).toEqual([
        422,
        'unreadable_secret',
      ])
    }
    expect(stage.upstream.received.length).toBe(before)
  })
})
