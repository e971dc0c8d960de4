// tier: quick
import { describe, expect, test } from 'bun:test'
import type { AskedOperations } from '../../../src/core/policy/operations.ts'
import { type Policy, policy as policySchema } from '../../../src/core/policy/policy.ts'
import { objectionTo, objectionToRecorded } from '../../../src/core/policy/policy_check.ts'

const place = { style: 'header', header: 'authorization' } as const

function objection(
  policy: Policy,
  operations: AskedOperations,
  { method = 'POST', path = '/graphql', override = null as string | null } = {},
) {
  const target = { host: 'api.example.com', port: 443, path, search: '' }
  return objectionTo(policy, place, { target, method, override, isMultipart: false, operations })
}

describe('an entry of allowed_operations', () => {
  test.each([
    'query',
    'query:viewer',
    'mutation:createIssue',
    'subscription:__typename',
    'rpc',
    'rpc:tools/list',
    'rpc:eth_call',
    'rpc:tools/call',
    'rpc:tools/call:search_issues',
    'rpc:tools/call:server:tool',
    'persisted',
    `persisted:${'a'.repeat(64)}`,
    'batch',
  ])('an entry may be %s', (entry) => {
    expect(policySchema.safeParse({ allowed_operations: [entry] }).success).toBe(true)
  })

  test.each([
    '',
    '*',
    'Query',
    'query:',
    'query:*',
    'query:a b',
    'query:a.b',
    'viewer',
    'mutations:a',
    'rpc:',
    'rpc:a:b',
    'rpc:tools/call:',
    'rpc:tools/call:a b',
    'rpc:a,b',
    'persisted:',
    'batch:2',
    'query:a\n',
    'query:ä',
  ])('an entry cannot be %j', (entry) => {
    expect(policySchema.safeParse({ allowed_operations: [entry] }).success).toBe(false)
  })
})

test('read_only is true or absent', () => {
  expect(policySchema.safeParse({ read_only: true }).success).toBe(true)
  for (const other of [false, 'true', 1]) {
    expect(policySchema.safeParse({ read_only: other }).success).toBe(false)
  }
})

describe('allowed_operations', () => {
  const permitted: [entry: string, operation: string][] = [
    ['query', 'query:viewer'],
    ['query:viewer', 'query:viewer'],
    ['mutation:createIssue', 'mutation:createIssue'],
    ['rpc', 'rpc:tools/call:anything'],
    ['rpc:tools/call', 'rpc:tools/call:anything'],
    ['rpc:tools/call:search', 'rpc:tools/call:search'],
    ['rpc:tools/call:search', 'rpc:initialize'],
    ['rpc:tools/call:search', 'rpc:notifications/initialized'],
    ['rpc:tools/call:search', 'rpc'],
    ['persisted', 'persisted:abc'],
    ['persisted:abc', 'persisted:abc'],
    ['batch', 'batch'],
  ]
  test.each(permitted)('a policy with %s permits %s', (entry, operation) => {
    expect(objection({ allowed_operations: [entry] }, [operation])).toBeNull()
  })

  const refused: [entry: string, operation: string][] = [
    ['query:viewer', 'query:viewers'],
    ['query:viewer', 'query'],
    ['query:viewer', 'mutation:viewer'],
    ['query', 'mutation:createIssue'],
    ['query', 'rpc:initialize'],
    ['query', 'persisted:abc'],
    ['query', 'batch'],
    ['rpc:tools/list', 'rpc:tools/call:search'],
    ['rpc:tools/list', 'rpc:resources/list'],
    ['rpc:tools/call', 'rpc:tools/list'],
    ['rpc:tools/call:search', 'rpc:tools/call:search_all'],
    ['persisted:abc', 'persisted'],
    ['persisted:abc', 'persisted:abcd'],
    ['batch', 'query:viewer'],
  ]
  test.each(refused)('a policy with %s rejects %s', (entry, operation) => {
    expect(objection({ allowed_operations: [entry] }, [operation])).toEqual({
      rule: 'allowed_operations',
      text: `does not permit this operation (allowed_operations: ${entry})`,
    })
  })

  test('allowed_operations rejects a request with one operation that it does not list', () => {
    const policy = { allowed_operations: ['query:viewer'] }
    expect(objection(policy, ['query:viewer', 'query:user'])?.rule).toBe('allowed_operations')
  })

  test('allowed_operations rejects every operation if it is empty', () => {
    expect(objection({ allowed_operations: [] }, ['query:viewer'])?.text).toContain('none')
  })

  test('allowed_operations names the reason for which a request cannot be checked', () => {
    expect(objection({ allowed_operations: ['query'] }, { unread: 'it is too odd' })).toEqual({
      rule: 'allowed_operations',
      text: 'limits operations (allowed_operations), and this request cannot be checked: it is too odd',
    })
  })

  test('allowed_operations permits a GET without operations', () => {
    const policy = { allowed_operations: ['query:viewer'] }
    expect(objection(policy, [], { method: 'GET', path: '/repos' })).toBeNull()
  })
})

describe('read_only', () => {
  test.each(['GET', 'HEAD', 'OPTIONS'])('read_only permits %s', (method) => {
    expect(objection({ read_only: true }, [], { method, path: '/repos' })).toBeNull()
  })

  test.each(['PUT', 'PATCH', 'DELETE'])('read_only rejects %s', (method) => {
    expect(objection({ read_only: true }, { unread: 'x' }, { method })).toEqual({
      rule: 'read_only',
      text: 'does not permit this method (read_only: GET, HEAD, OPTIONS)',
    })
  })

  test.each([
    'query:viewer',
    'query',
    'rpc:initialize',
    'rpc:ping',
    'rpc:tools/list',
    'rpc:resources/read',
    'rpc:notifications/cancelled',
    'rpc',
  ])('read_only permits a POST of %s', (operation) => {
    expect(objection({ read_only: true }, [operation])).toBeNull()
  })

  test.each([
    'mutation:createIssue',
    'mutation',
    'subscription:events',
    'rpc:tools/call:search',
    'rpc:logging/setLevel',
    'rpc:notifications/other',
    'rpc:eth_sendTransaction',
    'persisted:abc',
    'persisted',
    'batch',
  ])('read_only rejects a POST of %s', (operation) => {
    for (const policy of [{ read_only: true } as const, read('query'), read('rpc:other')]) {
      expect(objection(policy, ['query:viewer', operation])?.rule).toMatch(/^(read_only|allowed)/)
    }
    expect(objection({ read_only: true }, [operation])?.rule).toBe('read_only')
  })

  const read = (...allowed_operations: string[]): Policy => ({
    read_only: true,
    allowed_operations,
  })

  test('read_only permits the tools, methods and persisted queries that allowed_operations names one by one', () => {
    for (const operation of ['rpc:tools/call:search', 'rpc:eth_call', 'persisted:abc']) {
      expect(objection(read(operation), [operation])).toBeNull()
    }
    expect(objection(read('batch', 'query'), ['batch', 'query:viewer'])).toBeNull()
  })

  test('read_only rejects them if an entry names all of their kind', () => {
    for (const [entry = '', operation = ''] of [
      ['rpc', 'rpc:tools/call:search'],
      ['rpc:tools/call', 'rpc:tools/call:search'],
      ['persisted', 'persisted:abc'],
      ['persisted', 'persisted'],
    ]) {
      expect(objection(read(entry), [operation])?.rule).toBe('read_only')
    }
  })

  test('read_only rejects a mutation that allowed_operations lists', () => {
    expect(objection(read('mutation:createIssue'), ['mutation:createIssue'])).toEqual({
      rule: 'read_only',
      text: 'permits only reads (read_only), and this request has a GraphQL mutation',
    })
  })

  test('read_only rejects a GET that cannot be checked, such as the handshake of a WebSocket', () => {
    const unread = { unread: 'WebSocket messages are not checked' }
    expect(objection({ read_only: true }, unread, { method: 'GET' })?.rule).toBe('read_only')
  })

  test('read_only rejects a header that overrides the method', () => {
    const asked = { method: 'GET', override: 'x-http-method-override' }
    expect(objection({ read_only: true }, [], asked)?.rule).toBe('override')
    expect(objection({ allowed_operations: ['query'] }, [], asked)?.rule).toBe('override')
  })
})

describe('a POST of GraphQL', () => {
  const policies: Policy[] = [{ read_only: true }, { allowed_operations: ['query'] }]

  test.each([
    '/graphql',
    '/graphql/',
    '/api/graphql',
    '/v1/graphql',
    '/api/v4/graphql',
    '/admin/api/2026-01/graphql.json',
    '/mcp',
    '/api/mcp',
  ])('a POST of GraphQL may be sent to %s', (path) => {
    for (const policy of policies) expect(objection(policy, ['query:viewer'], { path })).toBeNull()
  })

  test.each([
    '/',
    '/repos/o/r/forks',
    '/repos/graphql/graphql',
    '/graphql/../forks',
    '/graphql/x',
    '/GraphQL',
    '/api/x/graphql',
    '/%67raphql',
    '/v2',
  ])(
    'a POST of GraphQL may be sent to %s only if allowed_paths lists exactly that path',
    (path) => {
      for (const policy of policies) {
        expect(objection(policy, ['query:viewer'], { path })?.text).toContain('allowed_paths')
        const beneath = { ...policy, allowed_paths: ['/'] }
        if (path !== '/') expect(objection(beneath, ['query:viewer'], { path })).not.toBeNull()
      }
      const listed = { read_only: true as const, allowed_paths: [path] }
      if (!/[.%]/.test(path)) expect(objection(listed, ['query:viewer'], { path })).toBeNull()
    },
  )
})

describe('a record of a call, which has no body', () => {
  const record = (method: string, path: string) =>
    ({ method, target_url: `https://api.example.com${path}`, style: 'header' }) as const

  test('a record is rejected by read_only if its method or path decides it', () => {
    expect(objectionToRecorded({ read_only: true }, record('DELETE', '/x'))?.rule).toBe('read_only')
    expect(objectionToRecorded({ read_only: true }, record('POST', '/x'))?.rule).toBe('read_only')
  })

  test('a record is not judged by its operations', () => {
    const policy: Policy = { read_only: true, allowed_operations: ['query:viewer'] }
    expect(objectionToRecorded(policy, record('POST', '/graphql'))).toBeNull()
    expect(objectionToRecorded(policy, record('GET', '/x'))).toBeNull()
  })
})
