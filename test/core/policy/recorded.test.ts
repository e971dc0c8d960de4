// tier: quick
import { describe, expect, test } from 'bun:test'
import type { Policy } from '../../../src/core/policy/policy.ts'
import { objectionToRecorded, type RecordedCall } from '../../../src/core/policy/policy_check.ts'

const call = (fields: Partial<RecordedCall> = {}): RecordedCall => ({
  method: 'POST',
  target_url: 'https://api.example.com/v1/charges',
  style: 'header',
  ...fields,
})

describe('a policy draft on a recorded call', () => {
  const refused: [rule: string, policy: Policy, made: RecordedCall][] = [
    ['allowed_domains', { allowed_domains: ['other.example.com'] }, call()],
    [
      'allowed_domains',
      { allowed_domains: ['api.example.com'] },
      call({ target_url: 'https://api.example.com:8443/' }),
    ],
    ['allowed_methods', { allowed_methods: ['GET'] }, call()],
    ['allowed_paths', { allowed_paths: ['/v1/customers'] }, call()],
    [
      'allowed_paths',
      { allowed_paths: ['/v1'] },
      call({ target_url: 'https://api.example.com/v1/..%2fv2' }),
    ],
    ['allowed_locations', { allowed_locations: ['basic'] }, call()],
    ['allowed_locations', {}, call({ style: 'json' })],
    ['allowed_locations', {}, call({ style: 'hmac_sha256' })],
    [
      'batch',
      { allowed_methods: ['POST'] },
      call({ target_url: 'https://api.example.com/$batch' }),
    ],
  ]
  test.each(refused)(
    'a policy draft rejects by %s what the resolver would reject',
    (rule, policy, made) => {
      expect(objectionToRecorded(policy, made)?.rule as string).toBe(rule)
    },
  )

  const allowed: [what: string, policy: Policy, made: RecordedCall][] = [
    ['no policy', {}, call()],
    ['its domain', { allowed_domains: ['*.example.com'] }, call()],
    [
      'its port',
      { allowed_domains: ['api.example.com:8443'] },
      call({ target_url: 'https://api.example.com:8443/' }),
    ],
    ['its path', { allowed_paths: ['/v1/'] }, call()],
    ['what was signed', { allowed_locations: ['sign'] }, call({ style: 'hmac_sha256' })],
    ['headers, which no record has', { allowed_headers: ['X-Key'] }, call()],
    [
      'templates, which no record has',
      { allowed_locations: ['sign'], sign_templates: [] },
      call({ style: 'hmac_sha256' }),
    ],
  ]
  const held: Policy = { approval: { by: 'member', ttl_seconds: 900 } }
  test.each(['hmac_sha256', 'aws_sigv4', 'azure_storage', 'google_jwt'] as const)(
    'a policy draft rejects a held secret for signing by %s',
    (style) => {
      const places = ['header', 'sign'] as const
      for (const policy of [held, { ...held, allowed_locations: [...places] }]) {
        const text = 'requires approval for each use, and such secrets cannot sign'
        expect(objectionToRecorded(policy, call({ style }))).toEqual({ rule: 'approval', text })
      }
    },
  )

  test('a policy draft permits a held secret in a header, and keeps it out of a variable', () => {
    expect(objectionToRecorded(held, call())).toBeNull()
    expect(objectionToRecorded(held, call({ style: 'env' }))?.rule).toBe('allowed_locations')
  })

  test.each(allowed)('a policy draft permits %s', (_, policy, made) => {
    expect(objectionToRecorded(policy, made)).toBeNull()
  })
})
