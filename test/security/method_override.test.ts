/** Case 80: a header that asks the upstream for another method or path does not get around a policy. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Agent, employAgent, expectRefused, openStage, type Stage } from '../support/agent.ts'
import { forwardAs } from '../support/forward.ts'

const OVERRIDES = [
  'X-HTTP-Method',
  'X-HTTP-Method-Override',
  'X-Method-Override',
  'X-Original-URL',
  'X-Rewrite-URL',
  'X-Rewrite-URI',
  'X-Original-URI',
  'X-Original-Host',
  'X-Original-Method',
  'X-Method',
  'X-Tunnel-Method',
  'X-Real-Method',
  'X-Envoy-Original-Path',
  'X-HTTP-DestinationURL',
  '_method',
  'X-Forwarded-Host',
  'X-Forwarded-Prefix',
  'X-Forwarded-For',
  'Forwarded',
  'x-http-method-override',
  'X_HTTP_Method_Override',
  'x-forwarded_uri',
]

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage()
  agent = await employAgent(stage, { secrets: { FREE: 'value-free' } })
  await agent.store('METHODS', 'value-methods', { policy: { allowed_methods: ['GET'] } })
  await agent.store('PATHS', 'value-paths', { policy: { allowed_paths: ['/v1'] } })
  await agent.store('HOSTS', 'value-hosts', { policy: { allowed_domains: [stage.authorityOf()] } })
})
afterAll(() => stage.stop())

const call = (name: string, headers: Record<string, string>) => ({
  target_url: stage.url('/v1/charges'),
  headers: { Authorization: `Bearer SVC_SECRET_${name}`, ...headers },
})
const refusal = (name: string) =>
  `The policy of the secret ${name} limits methods or paths, and a header of this request may override them.`

describe.each(OVERRIDES)('%s', (header) => {
  test.each(['METHODS', 'PATHS'])('is refused with the limited secret %s', async (name) => {
    const asked = call(name, { [header]: 'DELETE' })
    await expectRefused(stage, agent, asked, 'policy_blocked', refusal(name))
  })

  test('is sent with a secret whose policy has neither list, and without a secret', async () => {
    for (const name of ['FREE', 'HOSTS', '']) {
      const headers = { [header]: '/v1/charges' }
      const answer = await agent.resolve({ ...call(name, headers), ...(name ? {} : { headers }) })
      expect(answer.body).toMatchObject({ status_code: 200 })
      expect(stage.upstream.received.at(-1)?.header(header.toLowerCase())).toBe('/v1/charges')
    }
  })
})

test('the limited secret goes on working where the request says what it wants', async () => {
  for (const name of ['METHODS', 'PATHS']) {
    const answer = await agent.resolve(call(name, { 'X-Request-Method': 'GET', 'X-Original': '/' }))
    expect(answer.body).toMatchObject({ status_code: 200 })
  }
})

test('an override is no less one in the header of a signature', async () => {
  const policy = { allowed_methods: ['POST' as const], allowed_locations: ['sign' as const] }
  await agent.store('SIGNS', 'value-signs', { policy })
  const signed = (header: string) => ({
    target_url: stage.url('/hooks'),
    method: 'POST',
    body: 'x',
    sign: { type: 'hmac-sha256', secret: 'SVC_SECRET_SIGNS', header, value: 'DELETE' },
  })
  const asked = signed('X-HTTP-Method-Override')
  await expectRefused(stage, agent, asked, 'policy_blocked', refusal('SIGNS'))
  expect((await agent.resolve(signed('X-Signature'))).body).toMatchObject({ status_code: 200 })
})

test('in forward mode an override is refused, and what proxies add is dropped', async () => {
  const headers = { authorization: 'Bearer SVC_SECRET_METHODS' }
  const sent = stage.upstream.bytes
  const refused = await forwardAs(stage, agent, '/v1/charges', {
    headers: { ...headers, 'x-http-method-override': 'DELETE' },
  })
  expect([refused.status, stage.upstream.bytes]).toEqual([403, sent])
  const passed = await forwardAs(stage, agent, '/v1/charges', {
    headers: { ...headers, 'x-forwarded-for': '203.0.113.9' },
  })
  expect(passed.status).toBe(200)
  expect(stage.upstream.received.at(-1)?.header('x-forwarded-for')).toBeUndefined()
})
