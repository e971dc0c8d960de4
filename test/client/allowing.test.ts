// tier: quick
/** The change that would permit a rejected call: exactly one, or none. */
import { expect, test } from 'bun:test'
import { addPolicyEntry, allowingOf, type RefusedCall } from '../../src/client/agents/allowing.ts'

const place = { projectId: 'p', environment: 'production' }
const call: RefusedCall = {
  reason: null,
  refused_by: null,
  method: 'POST',
  target_domain: 'api.example.com',
  target_url: 'https://api.example.com/v1/charges',
  target_path: '/v1/charges',
  credential_ref: 'OTHER,KEY',
  injection_style: 'header,aws_sigv4',
  project_id: 'p',
  environment: 'production',
  registration_id: 'a',
  token_id: 't',
}
const blocked = (rule: string, more: Partial<RefusedCall> = {}) =>
  allowingOf({ ...call, reason: 'policy_blocked', refused_by: { secret: 'KEY', rule }, ...more })

test('a domain_blocked record suggests its host, with an unusual port', () => {
  const asked = { ...call, reason: 'domain_blocked' }
  expect(allowingOf(asked)).toEqual({ kind: 'allowlist', domain: 'api.example.com' })
  const target_url = 'https://api.example.com:8443/x'
  const domain = 'api.example.com:8443'
  expect(allowingOf({ ...asked, target_url })).toEqual({ kind: 'allowlist', domain })
  const none = { kind: 'none', why: 'other' } as const
  expect(
    allowingOf({ ...asked, target_url: 'https://10.0.0.1/', target_domain: '10.0.0.1' }),
  ).toEqual(none)
})

test('the suggestion adds one entry to the list that rejected the call, and nothing if the record does not name it', () => {
  const policy = { kind: 'policy', secret: 'KEY', ...place } as const
  expect(blocked('allowed_methods')).toEqual({ ...policy, rule: 'allowed_methods', entry: 'POST' })
  expect(blocked('allowed_paths')).toEqual({
    ...policy,
    rule: 'allowed_paths',
    entry: '/v1/charges',
  })
  expect(blocked('allowed_domains')).toEqual({
    ...policy,
    rule: 'allowed_domains',
    entry: 'api.example.com',
  })
  expect(blocked('allowed_locations')).toEqual({
    ...policy,
    rule: 'allowed_locations',
    entry: 'sign',
  })
  const none = { kind: 'none', why: 'rule' } as const
  for (const rule of [
    'allowed_headers',
    'sign_templates',
    'override',
    'objects',
    'batch',
    'approval',
  ])
    expect(blocked(rule)).toEqual(none)
  expect(blocked('allowed_methods', { method: 'TRACE' })).toEqual(none)
  expect(blocked('allowed_methods', { environment: null })).toEqual(none)
  const twice = { credential_ref: 'KEY,KEY', injection_style: 'header,query' }
  expect(blocked('allowed_locations', twice)).toEqual(none)
})

test("the suggestion grants an environment's key to the token of the call; a scope is signed once", () => {
  const grant = { kind: 'grant', agentId: 'a', tokenId: 't', ...place } as const
  expect(allowingOf({ ...call, reason: 'key_not_provisioned' })).toEqual(grant)
  expect(allowingOf({ ...call, reason: 'scope_required' })).toEqual({ kind: 'none', why: 'scope' })
  expect(allowingOf({ ...call, reason: 'upstream_timeout' })).toEqual({
    kind: 'none',
    why: 'other',
  })
})

test('a policy is widened only in the field that rejected the call', () => {
  const policy = { allowed_methods: ['GET' as const], description: 'cards' }
  const methods = { rule: 'allowed_methods', entry: 'POST' } as const
  expect(addPolicyEntry(policy, methods)).toEqual({
    allowed_methods: ['GET', 'POST'],
    description: 'cards',
  })
  expect(addPolicyEntry(policy, { rule: 'allowed_methods', entry: 'GET' })).toBe(policy)
  // A missing list means no restrictions, so adding this entry alone would create one.
  expect(addPolicyEntry(policy, { rule: 'allowed_domains', entry: 'api.example.com' })).toBe(policy)
  const query = { rule: 'allowed_locations', entry: 'query' } as const
  expect(addPolicyEntry(null, query)).toEqual({
    allowed_locations: ['header', 'basic', 'env', 'query'],
  })
})
