// tier: quick
/** Policies are shown in words and changed field by field, without a value being typed again. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { policyInWords } from '../../src/client/secrets/policy_in_words.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { detailsOf } from './details.ts'
import { openAccount, type Terminal } from './person.ts'

const VALUE = marked('sk_live_policy_')

let app: TestApp
let ada: Terminal

beforeAll(async () => {
  app = await startTestApp()
  ada = await openAccount(app, 'ada@example.com')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `STRIPE_KEY=${VALUE}`)
})
afterAll(async () => {
  ada.remove()
  await app.stop()
})

const policyOf = async (key: string) =>
  ((await ada.json('policy', 'show', key)) as { policy: unknown }).policy

test('a policy is set field by field; value and earlier versions stay', async () => {
  await ada.must('policy', 'set', 'STRIPE_KEY', '--description', 'test account')
  const out = await ada.must(
    ...['policy', 'set', 'STRIPE_KEY', '--domains', 'api.stripe.com', '--methods', 'post'],
    ...['--paths', '/v1', '--locations', 'header', '--basic-encoding', 'form'],
  )
  expect(out).toBe(
    'payments/development: STRIPE_KEY: only POST to api.stripe.com/v1/*, in a header, form-encoded in basic authentication.\n',
  )
  const policy = {
    description: 'test account',
    allowed_domains: ['api.stripe.com'],
    allowed_methods: ['POST'],
    allowed_paths: ['/v1'],
    allowed_locations: ['header'],
    basic_encoding: 'form',
  }
  expect(await ada.json('policy', 'show', 'STRIPE_KEY')).toEqual({
    key: 'STRIPE_KEY',
    environment: 'development',
    version: 3,
    policy,
    in_words: 'only POST to api.stripe.com/v1/*, in a header, form-encoded in basic authentication',
  })
  expect(await ada.reveal('secrets', 'get', 'STRIPE_KEY')).toBe(VALUE)
  expect(await ada.must('secrets', 'list')).toContain(
    'only POST to api.stripe.com/v1/*, in a header',
  )
  await ada.must('secrets', 'rollback', 'STRIPE_KEY', '1', '--yes')
  expect(await policyOf('STRIPE_KEY')).toBeNull()
  await ada.must('secrets', 'rollback', 'STRIPE_KEY', '3', '--yes')
  expect(await policyOf('STRIPE_KEY')).toEqual(policy)
})

test('policy clear removes the named fields, or all restrictions without a name, but not the description', async () => {
  await ada.must('policy', 'clear', 'STRIPE_KEY', 'paths', 'locations', 'basic-encoding')
  expect(await policyOf('STRIPE_KEY')).toEqual({
    description: 'test account',
    allowed_domains: ['api.stripe.com'],
    allowed_methods: ['POST'],
  })
  const cleared = await ada.json('policy', 'clear', 'STRIPE_KEY')
  const policy = { description: 'test account' }
  expect(cleared).toEqual({ key: 'STRIPE_KEY', version: 7, policy, changed: true })
  // A policy without restrictions stays as it is, so no version is created.
  expect(await ada.json('policy', 'clear', 'STRIPE_KEY')).toEqual({
    ...{ key: 'STRIPE_KEY', version: 7, policy, changed: false },
  })
})

test('a setting stays a setting until a command makes it a secret', async () => {
  await ada.must('secrets', 'set', 'PORT=8080', '--plain')
  await ada.must('policy', 'set', 'PORT', '--locations', 'env,query')
  expect(await policyOf('PORT')).toEqual({
    sensitive: false,
    allowed_locations: ['env', 'query'],
  })
  await ada.must('policy', 'set', 'PORT', '--domains', '')
  expect(await policyOf('PORT')).toMatchObject({ allowed_domains: [] })
  await ada.must('policy', 'clear', 'PORT')
  expect(await policyOf('PORT')).toEqual({ sensitive: false })
  await ada.must('policy', 'set', 'PORT', '--sensitive')
  expect(await policyOf('PORT')).toBeNull()
})

test('show explains the defaults for fields that a policy does not set', async () => {
  await ada.must('secrets', 'set', 'FREE=of any policy')
  const out = await ada.must('policy', 'show', 'FREE')
  expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['key', 'FREE'],
    ['environment', 'development'],
    ['kind', 'secret'],
    ['policy', 'no restrictions'],
    ['domains', 'any of the allowlist'],
    ['methods', 'any'],
    ['paths', 'any'],
    ['headers', 'any'],
    ['locations', 'header, basic, env'],
    ['sign templates', 'any'],
    ['operations', 'any'],
    ['read only', 'no'],
    ['basic encoding', 'none'],
    ['approval', 'none'],
    ['references', 'no'],
    ['description', ''],
    [''],
  ])
})

test('operations and read-only are set, described in words, and cleared', async () => {
  await ada.must('secrets', 'set', 'GRAPH=value')
  const operations = 'query:viewer, rpc:tools/call:search'
  await ada.must('policy', 'set', 'GRAPH', '--operations', operations, '--read-only')
  expect(await policyOf('GRAPH')).toEqual({
    allowed_operations: ['query:viewer', 'rpc:tools/call:search'],
    read_only: true,
  })
  const out = await ada.must('policy', 'show', 'GRAPH')
  expect(out).toContain('only for reads, only for query:viewer or rpc:tools/call:search')
  expect(out).toMatch(/read only +yes/)
  await ada.must('policy', 'clear', 'GRAPH', 'read-only')
  expect(await policyOf('GRAPH')).toEqual({
    allowed_operations: ['query:viewer', 'rpc:tools/call:search'],
  })
  await ada.must('policy', 'clear', 'GRAPH')
  expect(await policyOf('GRAPH')).toBeNull()
})

test('an invalid policy option is named in the error and changes nothing', async () => {
  const before = await ada.json('secrets', 'history', 'STRIPE_KEY')
  for (const [args, said] of [
    [['set', 'STRIPE_KEY'], 'name at least one policy field'],
    [['set', 'STRIPE_KEY', '--methods', 'SEND'], '--methods is invalid'],
    [['set', 'STRIPE_KEY', '--paths', 'v1'], '--paths is invalid: must begin with /'],
    [
      ['set', 'STRIPE_KEY', '--operations', 'viewer'],
      '--operations is invalid: must be an operation such as query:viewer or rpc:tools/list',
    ],
    [['clear', 'STRIPE_KEY', 'path'], 'unknown policy field path (usage)\n→ did you mean paths?'],
    [
      ['set', 'STRIPE_KEY', '--domains', 'api.example.com,https://echo.internal'],
      'https://echo.internal is a URL. (usage)\n→ give the host: echo.internal',
    ],
  ] as const) {
    const { code, err } = await ada.run(['policy', ...args])
    expect([code, err]).toEqual([2, expect.stringContaining(said)])
  }
  for (const [policy, said] of [
    ['{"allowed_hosts":["x"]}', 'unknown field: allowed_hosts (usage)\n→ is it allowed_domains?'],
    [
      '{"allowed_method":["GET"]}',
      'unknown field: allowed_method (usage)\n→ is it allowed_methods?',
    ],
    ['{"allowed_methods":["SEND"]}', 'the policy is invalid: allowed_methods.0 must be one of'],
    ['{', 'the policy is not JSON (usage)\n→ example: '],
  ] as const) {
    const { code, err } = await ada.run(['secrets', 'set', 'NEW=x', '--policy', policy])
    expect([code, err]).toEqual([2, expect.stringContaining(said)])
  }
  const missing = await ada.run(['policy', 'set', 'STRIPE_KY', '--methods', 'GET'])
  expect([missing.code, missing.err]).toEqual([
    4,
    'cloakroom: there is no secret STRIPE_KY in payments/development (not_found)\n→ is it STRIPE_KEY?\n',
  ])
  expect(await ada.json('secrets', 'history', 'STRIPE_KEY')).toEqual(before)
})

test('a policy that was altered in the database is neither shown nor repaired', async () => {
  await ada.must('secrets', 'set', 'ALTERED=it was', '--policy', '{"allowed_methods":["GET"]}')
  await app.connection.sql`
    update secrets set policy = null where key = 'ALTERED'`
  for (const args of [
    ['show', 'ALTERED'],
    ['set', 'ALTERED', '--paths', '/v1'],
    ['clear', 'ALTERED'],
  ]) {
    const { code, out, err } = await ada.run(['policy', ...args])
    expect([code, out, err]).toEqual([
      5,
      '',
      expect.stringContaining('cannot be decrypted with the policy'),
    ])
  }
})

test('a value that another person stored concurrently is not replaced unseen', async () => {
  let meanwhile: (() => Promise<unknown>) | null = null
  const between = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const act = pathname === '/api/secrets/' && request.method === 'POST' ? meanwhile : null
      if (act !== null) meanwhile = null
      await act?.()
      const { method, headers } = request
      const body = method === 'GET' ? null : await request.arrayBuffer()
      return fetch(`${app.controlPlane}${pathname}${search}`, { method, headers, body })
    },
  })
  const eve = await openAccount(
    { controlPlane: `http://127.0.0.1:${between.port}`, resolver: app.resolver },
    'eve@example.com',
  )
  await eve.must('init', 'payments')
  await eve.must('secrets', 'set', 'RACED=first of two')
  const set = ['policy', 'set', 'RACED', '--methods', 'GET']
  expect((await eve.run([...set, '--paths', '/v1'])).err).toBe('')
  eve.write('raced.env', 'RACED=another\n')
  for (const [version, args] of [
    [3, [...set, '--paths', '/v2']],
    [4, ['secrets', 'set', 'RACED=another']],
    [5, ['secrets', 'push', 'raced.env']],
  ] as const) {
    meanwhile = () => eve.must('secrets', 'set', `RACED=number ${version}`)
    const raced = await eve.run(args)
    expect([raced.code, raced.err]).toEqual([
      5,
      `cloakroom: The item was changed by someone else. Reload it and retry. (conflict)\n  RACED: has version ${version}\n→ someone else changed it: review it and retry\n${detailsOf('conflict')}`,
    ])
    expect(await eve.must('secrets', 'get', 'RACED')).toBe(`number ${version}`)
  }
  // With --policy the command reads no version first, and therefore replaces the stored one.
  meanwhile = () => eve.must('secrets', 'set', 'RACED=number 6')
  await eve.must('secrets', 'set', 'RACED=the last', '--policy', 'null')
  expect(await eve.must('secrets', 'get', 'RACED')).toBe('the last')
  eve.remove()
  await between.stop(true)
})

for (const [policy, words] of [
  [null, ''],
  [{ sensitive: false, description: 'of the test account' }, ''],
  [{ allowed_methods: ['GET', 'POST', 'PUT'] }, 'only GET, POST or PUT'],
  [{ allowed_domains: ['a.example', 'b.example'] }, 'only to a.example or b.example'],
  [
    { allowed_domains: ['a.example', 'b.example'], allowed_paths: ['/v1', '/x/'] },
    'only to a.example or b.example, on /v1/* or /x/*',
  ],
  [{ allowed_paths: ['/v1'] }, 'only on /v1/*'],
  [{ allowed_methods: [] }, 'in no call (no methods)'],
  [{ allowed_locations: ['env'] }, 'in environment variables'],
  [{ allowed_locations: [] }, 'in no place'],
  [{ allowed_headers: ['X-Api-Key'] }, 'of headers only in X-Api-Key'],
  [
    { allowed_headers: ['X-Api-Key'], allowed_locations: ['header', 'query'] },
    'in the header X-Api-Key or the query',
  ],
  [
    { allowed_locations: ['sign'], sign_templates: ['{timestamp}.{body}'] },
    'in signatures, signing only "{timestamp}.{body}"',
  ],
  [{ basic_encoding: 'form' }, 'form-encoded in basic authentication'],
  [{ read_only: true }, 'only for reads'],
  [{ allowed_operations: ['query', 'batch'] }, 'only for query or batch'],
  [{ allowed_operations: [] }, 'for no operation'],
  [{ allowed_methods: 5 }, 'not a policy'],
] as const) {
  test(`in words: ${words || JSON.stringify(policy)}`, () => {
    expect(policyInWords(policy)).toBe(words)
  })
}
