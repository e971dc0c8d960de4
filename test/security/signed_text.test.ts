// tier: quick
/**
 * Case 74: an attacker with an HMAC of a chosen text can impersonate the secret, so a secret signs only where its
 * policy allows it, and only the templates that it lists.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { Policy } from '../../src/core/policy/policy.ts'
import {
  type Agent,
  createAgentWithToken,
  expectRefused,
  type Stage,
  sharedStage,
} from '../support/agent.ts'

const KEY = 'whsec_0123456789'
const STRIPE = '{timestamp}.{body}'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: { NONE: KEY } })
  const policies: Record<string, Policy> = {
    SILENT: { allowed_methods: ['POST'] },
    HEADER: { allowed_locations: ['header', 'basic', 'env'] },
    UNLISTED: { allowed_locations: ['header'], sign_templates: ['{body}'] },
    ANY: { allowed_locations: ['sign'] },
    LISTED: { allowed_locations: ['sign'], sign_templates: [STRIPE] },
    DEFAULT: { allowed_locations: ['sign'], sign_templates: ['{body}', STRIPE] },
    NOTHING: { allowed_locations: ['sign'], sign_templates: [] },
    OTHER_HEADER: { allowed_locations: ['sign'], allowed_headers: ['X-Other'] },
  }
  for (const [name, policy] of Object.entries(policies)) await agent.store(name, KEY, { policy })
})
afterAll(() => stage.stop())

const call = (name: string, more: object = {}) => ({
  target_url: stage.url('/hooks'),
  method: 'POST',
  body: 'a body',
  sign: { type: 'hmac-sha256', secret: `SVC_SECRET_${name}`, header: 'X-Signature', ...more },
})

const unlisted = 'does not permit signing: its allowed_locations do not list sign'

test.each(['NONE', 'SILENT', 'HEADER', 'UNLISTED'])(
  '%s signs nothing without the location sign',
  async (name) => {
    const message = `The policy of the secret ${name} ${unlisted}.`
    await expectRefused(stage, agent, call(name), 'policy_blocked', message)
  },
)

test.each([
  ['LISTED', undefined],
  ['LISTED', '{body}'],
  ['LISTED', `${STRIPE} `],
  ['LISTED', 'transfer=1000000'],
  ['DEFAULT', '{body}{body}'],
  ['NOTHING', undefined],
])('%s does not sign the template %p', async (name, template) => {
  const asked = call(name, template === undefined ? {} : { template })
  const message = `The policy of the secret ${name} does not permit signing this template.`
  await expectRefused(stage, agent, asked, 'policy_blocked', message)
})

test.each([
  ['ANY', undefined],
  ['ANY', 'v0:{body}'],
  ['LISTED', STRIPE],
  ['DEFAULT', undefined],
  ['DEFAULT', '{body}'],
  ['DEFAULT', STRIPE],
])('%s still signs the template %p', async (name, template) => {
  const value = '{timestamp},{signature}'
  const answer = await agent.resolve(
    call(name, { value, ...(template === undefined ? {} : { template }) }),
  )
  expect(answer.body).toMatchObject({ status_code: 200 })
  const sent = stage.upstream.received.at(-1)?.header('x-signature') ?? ''
  const [timestamp = '', signature] = sent.split(',')
  const text = (template ?? '{body}').replace('{timestamp}', timestamp).replace('{body}', 'a body')
  expect(signature).toBe(createHmac('sha256', KEY).update(text).digest('hex'))
})

test('a signing secret is bound to its headers, and is itself in none of them', async () => {
  const message =
    'The policy of the secret OTHER_HEADER does not permit this header (allowed_headers: X-Other).'
  await expectRefused(stage, agent, call('OTHER_HEADER'), 'policy_blocked', message)
  const asked = { target_url: stage.url('/'), headers: { Authorization: 'Bearer SVC_SECRET_ANY' } }
  const refusal =
    'The policy of the secret ANY does not permit this location (allowed_locations: sign).'
  await expectRefused(stage, agent, asked, 'policy_blocked', refusal)
})

test('AWS Signature 4 signs this one request, so it needs a header and no sign', async () => {
  const aws = (name: string) => ({
    target_url: stage.url('/'),
    sign: {
      type: 'aws-sigv4',
      access_key_id: `SVC_SECRET_${name}`,
      secret_access_key: `SVC_SECRET_${name}`,
      region: 'eu-central-1',
      service: 's3',
    },
  })
  for (const name of ['NONE', 'HEADER', 'UNLISTED']) {
    expect((await agent.resolve(aws(name))).body).toMatchObject({ status_code: 200 })
  }
  const message =
    'The policy of the secret ANY does not permit this location (allowed_locations: sign).'
  await expectRefused(stage, agent, aws('ANY'), 'policy_blocked', message)
})

describe('a signature of AWS, in place of which the client had a placeholder', () => {
  const scopeOf = (name: string) =>
    `SVC_SECRET_${name}_ACCESS_KEY_ID/20261122/eu-central-1/s3/aws4_request`
  const signed = (name: string) => ({
    target_url: stage.url('/bucket/key'),
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=${scopeOf(name)}, SignedHeaders=host;x-amz-date, Signature=00`,
      'x-amz-date': '20261122T000000Z',
    },
  })
  const presigned = (name: string) => ({
    target_url: stage.url(
      `/bucket/key?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(scopeOf(name))}&X-Amz-Date=20261122T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=00`,
    ),
  })
  const store = async (name: string, policy: Policy, ofId = policy) => {
    await agent.store(`${name}_ACCESS_KEY_ID`, 'AKIAIOSFODNN7EXAMPLE', { policy: ofId })
    await agent.store(`${name}_SECRET_ACCESS_KEY`, KEY, { policy })
  }

  test.each<[string, Policy]>([
    ['USUAL', {}],
    ['SHOWN', { allowed_locations: ['header'], allowed_headers: ['Authorization'] }],
    ['SHOWN_TOO', { allowed_locations: ['header', 'sign'], sign_templates: [STRIPE] }],
  ])(
    'an AWS signature of the secret %s needs a header, and is made again',
    async (name, policy) => {
      await store(name, policy)
      expect((await agent.resolve(signed(name))).body).toMatchObject({ status_code: 200 })
      await store(name, policy, { allowed_locations: ['query'] })
      expect((await agent.resolve(presigned(name))).body).toMatchObject({ status_code: 200 })
    },
  )

  test.each<[string, Policy, string]>([
    ['SIGNING', { allowed_locations: ['sign'] }, 'location (allowed_locations: sign)'],
    [
      'QUERY',
      { allowed_locations: ['query', 'basic'] },
      'location (allowed_locations: query, basic)',
    ],
    [
      'ELSEWHERE',
      { allowed_locations: ['header'], allowed_headers: ['X-Other'] },
      'header (allowed_headers: X-Other)',
    ],
  ])(
    'an AWS signature of the secret %s is rejected, because its policy does not permit the place',
    async (name, policy, what) => {
      await store(name, policy)
      const refusal = (part: string) =>
        `The policy of the secret ${name}_${part} does not permit this ${what}.`
      await expectRefused(stage, agent, signed(name), 'policy_blocked', refusal('ACCESS_KEY_ID'))
      await store(name, policy, { allowed_locations: ['query'] })
      const ofKey = refusal('SECRET_ACCESS_KEY')
      await expectRefused(stage, agent, presigned(name), 'policy_blocked', ofKey)
    },
  )
})
