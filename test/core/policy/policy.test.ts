// tier: quick
import { expect, test } from 'bun:test'
import { policyHash } from '../../../src/core/crypto/secret_value.ts'
import {
  isDeliverable,
  isHeld,
  listAllowedLocations,
  policy,
  readApprover,
  readDerivedVariable,
} from '../../../src/core/policy/policy.ts'
import { jsonSchemaOf } from '../../../src/http/openapi/json_schema.ts'

test('a parsed policy is the very object that was passed in', () => {
  for (const sent of [
    null,
    {},
    { allowed_paths: ['/b', '/a'], allowed_domains: ['EXAMPLE.com.'] },
    { allowed_locations: ['env', 'header'], allowed_methods: [], allowed_headers: ['X-Key'] },
  ]) {
    expect(policy.parse(sent)).toBe(sent as never)
  }
})

test('every accepted policy has a hash, so that a ciphertext can bind it', () => {
  expect(policyHash(policy.parse({ allowed_paths: ['/\u{1f511}'] }))).toHaveLength(32)
  expect(policy.safeParse({ allowed_paths: ['/\ud83d'] }).success).toBe(false)
})

test('an absent policy is not a policy: each caller decides what absence means', () => {
  expect(policy.safeParse(undefined).success).toBe(false)
})

test('a list holds at most 100 entries', () => {
  const paths = (count: number) => ({ allowed_paths: Array.from({ length: count }, () => '/') })
  expect(policy.safeParse(paths(100)).success).toBe(true)
  expect(policy.safeParse(paths(101)).success).toBe(false)
})

test('the documentation of a policy lists its fields', () => {
  const { anyOf } = jsonSchemaOf(policy, 'input') as {
    anyOf: { properties?: Record<string, unknown> }[]
  }
  expect(Object.keys(anyOf[0]?.properties ?? {})).toEqual([
    'allowed_domains',
    'allowed_methods',
    'allowed_paths',
    'allowed_headers',
    'allowed_locations',
    'sign_templates',
    'allowed_operations',
    'read_only',
    'basic_encoding',
    'sensitive',
    'references',
    'kind',
    'approval',
    'description',
  ])
})

const approval = { by: 'member', ttl_seconds: 0 }

test('an approval names an approver and a time of at most a day, and nothing else', () => {
  const isValid = (sent: unknown) => policy.safeParse({ approval: sent }).success
  for (const by of ['member', 'admin'])
    for (const ttl_seconds of [0, 1, 86_400]) expect(isValid({ by, ttl_seconds })).toBe(true)
  const refused = [
    null,
    true,
    'member',
    {},
    { by: 'member' },
    { ttl_seconds: 0 },
    { by: 'owner', ttl_seconds: 0 },
    { by: 'read_only', ttl_seconds: 0 },
    { by: 'member', ttl_seconds: -1 },
    { by: 'member', ttl_seconds: 86_401 },
    { by: 'member', ttl_seconds: 0.5 },
    { by: 'member', ttl_seconds: '0' },
    { by: 'member', ttl_seconds: null },
    { by: 'member', ttl_seconds: 0, hosts: [] },
  ]
  for (const sent of refused) expect(isValid(sent)).toBe(false)
})

test('an approval excludes kind, references, sensitive, and the locations env and sign', () => {
  const complaintsOf = (sent: object) =>
    policy.safeParse({ approval, ...sent }).error?.issues.map(({ path, message }) => ({
      path: path.join('.'),
      message,
    }))
  const message = 'cannot be combined with approval'
  expect(complaintsOf({ kind: 'oauth2' })).toEqual([{ path: 'kind', message }])
  expect(complaintsOf({ references: true })).toEqual([{ path: 'references', message }])
  expect(complaintsOf({ sensitive: false })).toEqual([{ path: 'sensitive', message }])
  expect(complaintsOf({ allowed_locations: ['header', 'env', 'sign'] })).toEqual([
    { path: 'allowed_locations.1', message },
    { path: 'allowed_locations.2', message },
  ])
  const others = policyWithoutExclusions()
  expect(complaintsOf(others)).toBeUndefined()
})

function policyWithoutExclusions() {
  return {
    allowed_domains: ['api.stripe.com'],
    allowed_methods: ['POST'],
    allowed_paths: ['/v1'],
    allowed_headers: ['Authorization'],
    allowed_locations: ['header', 'basic', 'query', 'path', 'json', 'form', 'websocket'],
    description: 'Pays out',
  }
}

test('a held secret is never deliverable, whatever its policy lists', () => {
  const held = [
    { approval },
    { approval, allowed_locations: ['header'] },
    // The validation rejects these, but a database may contain them.
    { approval, allowed_locations: ['env'] },
    { approval, kind: 'oauth2' },
    { approval: null },
  ]
  for (const one of held) {
    expect(isHeld(one)).toBe(true)
    expect(isDeliverable(one)).toBe(false)
    expect(readDerivedVariable(one)).toBeNull()
  }
  for (const one of [null, undefined, {}, { description: 'approval' }]) {
    expect(isHeld(one)).toBe(false)
    expect(isDeliverable(one)).toBe(true)
  }
  expect(listAllowedLocations(policy.parse({ approval }))).toEqual(['header', 'basic'])
  expect(listAllowedLocations(null)).toEqual(['header', 'basic', 'env'])
})

test('the approver is the one that the policy names, and an admin if it names an unknown one', () => {
  expect(readApprover(null)).toBeNull()
  expect(readApprover({})).toBeNull()
  expect(readApprover({ approval })).toBe('member')
  expect(readApprover({ approval: { by: 'admin', ttl_seconds: 0 } })).toBe('admin')
  for (const unknown of [null, {}, { by: 'anyone' }, 'member'])
    expect(readApprover({ approval: unknown })).toBe('admin')
})
