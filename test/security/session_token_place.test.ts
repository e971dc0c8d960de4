// tier: quick
/**
 * Case 95: a secret that is named as the session token or access key ID of AWS is judged by the place to which it is
 * sent.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Policy } from '../../src/core/policy/policy.ts'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, {
    secrets: {
      AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      ANY: 'value-of-any-secret-1',
    },
  })
  await agent.store('AWS_ACCESS_KEY_ID', 'AKIAIOSFODNN7EXAMPLE', {
    policy: { allowed_locations: ['header', 'query'] },
  })
  await agent.store('QUERY', 'value-of-query-1', { policy: { allowed_locations: ['query'] } })
  await agent.store('OTHER', 'value-of-other-1', { policy: { allowed_headers: ['authorization'] } })
  const policy = { allowed_headers: ['X-Amz-Security-Token'] }
  await agent.store('TOKEN', 'value-of-token-1', { policy })
})
afterAll(() => stage.stop())

const signedWith = (name: string) => ({
  target_url: stage.url('/'),
  sign: {
    type: 'aws-sigv4',
    access_key_id: 'SVC_SECRET_AWS_ACCESS_KEY_ID',
    secret_access_key: 'SVC_SECRET_AWS_SECRET_ACCESS_KEY',
    session_token: `SVC_SECRET_${name}`,
    region: 'eu-west-1',
    service: 'execute-api',
  },
})
const presignedWith = (name: string) => {
  const parameters = {
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': 'SVC_SECRET_AWS_ACCESS_KEY_ID/20260101/eu-west-1/s3/aws4_request',
    'X-Amz-Date': '20260101T000000Z',
    'X-Amz-Expires': '600',
    'X-Amz-SignedHeaders': 'host',
    'X-Amz-Security-Token': `SVC_SECRET_${name}`,
    'X-Amz-Signature': '0'.repeat(64),
  }
  return { target_url: stage.url(`/?${new URLSearchParams(parameters)}`) }
}

describe.each([
  ['in a header', signedWith, { ANY: 200, QUERY: 403, OTHER: 403, TOKEN: 200 }],
  ['in a presigned URL', presignedWith, { ANY: 403, QUERY: 200, OTHER: 403, TOKEN: 403 }],
] as const)('a session token %s', (_, callWith, expected) => {
  test.each(Object.entries(expected))(
    'a session token of the secret %s is answered with %i',
    async (name, status) => {
      const sent = stage.upstream.bytes
      const answer = await agent.resolve(callWith(name))
      expect(answer.status).toBe(status)
      if (status === 200) return
      expect(answer.body).toMatchObject({ error_code: 'policy_blocked' })
      expect(stage.upstream.bytes).toBe(sent)
    },
  )
})

describe('an access key ID', () => {
  /** The key of a name with another ending is the secret with the same beginning. */
  const names: [name: string, policy: Policy | null, inHeader: number, inQuery: number][] = [
    ['USUAL', null, 200, 403],
    ['HEADER', { allowed_locations: ['header'] }, 200, 403],
    ['QUERY', { allowed_locations: ['query'] }, 403, 200],
    ['BOTH', { allowed_locations: ['header', 'query'] }, 200, 200],
    ['OTHER', { allowed_headers: ['x-other'] }, 403, 403],
    ['SIGNS', { allowed_locations: ['sign'] }, 403, 403],
  ]
  const scopeOf = (name: string) =>
    `SVC_SECRET_${name}_ACCESS_KEY_ID/20260101/eu-west-1/s3/aws4_request`
  const inHeaderOf = (name: string) => ({
    target_url: stage.url('/'),
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=${scopeOf(name)}, SignedHeaders=host;x-amz-date, Signature=00`,
      'x-amz-date': '20260101T000000Z',
    },
  })
  const inQueryOf = (name: string) => {
    const url = new URL(presignedWith('QUERY').target_url)
    url.searchParams.set('X-Amz-Credential', scopeOf(name))
    return { target_url: url.href }
  }

  test.each(names)(
    '%s with the policy %j is judged by the place that it is sent in',
    async (...row) => {
      const [name, policy, inHeader, inQuery] = row
      await agent.store(`${name}_ACCESS_KEY_ID`, `AKIA${name}`, policy ? { policy } : {})
      await agent.store(`${name}_SECRET_ACCESS_KEY`, `secret-of-${name}`)
      for (const [asked, status] of [
        [inHeaderOf(name), inHeader],
        [inQueryOf(name), inQuery],
      ] as const) {
        const sent = stage.upstream.bytes
        const answer = await agent.resolve(asked)
        expect([asked.target_url, answer.status]).toEqual([asked.target_url, status])
        if (status === 403) expect(stage.upstream.bytes).toBe(sent)
      }
    },
  )
})
