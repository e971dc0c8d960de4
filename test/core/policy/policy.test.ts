// tier: quick
import { expect, test } from 'bun:test'
import { policyHash } from '../../../src/core/crypto/secret_value.ts'
import { policy } from '../../../src/core/policy/policy.ts'
import { jsonSchemaOf } from '../../../src/http/openapi/json_schema.ts'

test('a policy comes out as the very object that went in', () => {
  for (const sent of [
    null,
    {},
    { allowed_paths: ['/b', '/a'], allowed_domains: ['EXAMPLE.com.'] },
    { allowed_locations: ['env', 'header'], allowed_methods: [], allowed_headers: ['X-Key'] },
  ]) {
    expect(policy.parse(sent)).toBe(sent as never)
  }
})

test('every policy that is accepted has a hash, so that a ciphertext can bind it', () => {
  expect(policyHash(policy.parse({ allowed_paths: ['/\u{1f511}'] }))).toHaveLength(32)
  expect(policy.safeParse({ allowed_paths: ['/\ud83d'] }).success).toBe(false)
})

test('an absent policy is not a policy: whoever takes one says what absence means', () => {
  expect(policy.safeParse(undefined).success).toBe(false)
})

test('a list holds at most 100 entries', () => {
  const paths = (count: number) => ({ allowed_paths: Array.from({ length: count }, () => '/') })
  expect(policy.safeParse(paths(100)).success).toBe(true)
  expect(policy.safeParse(paths(101)).success).toBe(false)
})

test('the documentation knows its fields', () => {
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
    'description',
  ])
})
