// tier: quick
/**
 * Cases 80 and 94: a header that requests another method or path from the upstream, in its header, query or body,
 * does not bypass a policy.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  type Agent,
  createAgentWithToken,
  expectRefused,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
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
  'Method-Override',
  'X-HTTP-Verb',
  'X.HTTP.Method.Override',
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
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: { FREE: 'value-free' } })
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
  test.each(['METHODS', 'PATHS'])(
    'an override is rejected with the limited secret %s',
    async (name) => {
      const asked = call(name, { [header]: 'DELETE' })
      await expectRefused(stage, agent, asked, 'policy_blocked', refusal(name))
    },
  )

  test('an override is sent with a secret whose policy has neither list, and without a secret', async () => {
    for (const name of ['FREE', 'HOSTS', '']) {
      const headers = { [header]: '/v1/charges' }
      const answer = await agent.resolve({ ...call(name, headers), ...(name ? {} : { headers }) })
      expect(answer.body).toMatchObject({ status_code: 200 })
      expect(stage.upstream.received.at(-1)?.header(header.toLowerCase())).toBe('/v1/charges')
    }
  })
})

test('the limited secret stays usable if the request states its method', async () => {
  for (const name of ['METHODS', 'PATHS']) {
    const answer = await agent.resolve(call(name, { 'X-Request-Method': 'GET', 'X-Original': '/' }))
    expect(answer.body).toMatchObject({ status_code: 200 })
  }
})

test('an override in a header of a signature is also detected', async () => {
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

test('an override is rejected in forward mode, and headers that proxies add are dropped', async () => {
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

const QUERIES = [
  '_method=DELETE',
  '_method=delete',
  '_METHOD=Delete',
  '%5fmethod=DELETE',
  '%5F%6Dethod=%44ELETE',
  '_method=%20DELETE',
  'a=1&_method=DELETE',
  'a=1;_method=DELETE',
  '_method=POST&_method=DELETE',
  '.method=DELETE',
  '+_method=DELETE',
  '_method[]=DELETE',
  '_method%5B%5D=DELETE',
  '_method=purge',
  '_method=SVC_SECRET_METHODS',
  'X-HTTP-Method-Override=DELETE',
  'x_http_method_override=DELETE',
  'x-http-method=DELETE',
  'x-method-override=PUT',
  'x-tunnel-method=PUT',
  '$httpMethod=DELETE',
  'http_method=DELETE',
  'method=delete',
]
const ORDINARY = [
  '_method=GET',
  '_method=get',
  '_method=',
  '_method',
  'payment_method=DELETE',
  'method=flickr.photos.search',
  'method=card',
  'methods=DELETE',
  'a=_method=DELETE',
  'a=_method%26x',
]

describe('a method in the query', () => {
  const said =
    'The policy of the secret METHODS limits methods, and a query parameter of this request may override them.'
  const asked = (name: string, query: string) => ({
    ...call(name, {}),
    target_url: stage.url(`/v1/charges?${query}`),
  })
  const expectSent = async (name: string, query: string) => {
    const answer = await agent.resolve(asked(name, query))
    expect(answer.body).toMatchObject({ status_code: 200 })
    expect(stage.upstream.received.at(-1)?.path).toBe(`/v1/charges?${query}`)
  }

  test.each(QUERIES)('?%s is rejected if the policy limits methods', (query) =>
    expectRefused(stage, agent, asked('METHODS', query), 'policy_blocked', said).then(() => {}),
  )

  test.each(QUERIES)('?%s is sent if the policy does not limit methods', async (query) => {
    for (const name of ['FREE', 'HOSTS', 'PATHS']) await expectSent(name, query)
  })

  test.each(ORDINARY)('?%s is sent with any policy', async (query) => {
    for (const name of ['METHODS', 'FREE', 'PATHS']) await expectSent(name, query)
  })

  test('a method in the query is rejected in forward mode too', async () => {
    const headers = { authorization: 'Bearer SVC_SECRET_METHODS' }
    const sent = stage.upstream.bytes
    const refused = await forwardAs(stage, agent, '/v1/charges?_method=DELETE', { headers })
    expect([refused.status, stage.upstream.bytes]).toEqual([403, sent])
    expect((await forwardAs(stage, agent, '/v1/charges?_method=GET', { headers })).status).toBe(200)
  })
})

const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data; boundary=b'
const part = (disposition: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n--b--\r\n`
/** A multipart body with one part of these headers. */
const headed = (headers: string, end = '\r\n') =>
  ['--b', headers, '', 'DELETE', '--b--', ''].join(end)
const field = 'Content-Disposition: form-data; name="_method"'
/** Servers read these bodies differently: some read a field `_method` in each. */
const UNPLAIN: [type: string, body: string][] = [
  ...[
    'Content-Disposition: form-data;\r\n name="_method"',
    'Content-Disposition:\r\n form-data; name="_method"',
    'Content-Disposition: form-data\r\n\t; name="_method"',
    'X-A: b\r\n c\r\nContent-Disposition: form-data; name="a"',
    "Content-Disposition: form-data; name='_method'",
    'Content-Disposition: form-data; name=_method',
    'Content-Disposition: form-data; name="_met\\hod"',
    'Content-Disposition: form-data; filename="a\\"; name="_method"',
    'Content-Disposition: form-data; name = "_method"',
    'Content-Disposition: form-data; name*0="_met"; name*1="hod"',
    "Content-Disposition: form-data; name*=utf-8''_method",
    "Content-Disposition: form-data; name*=utf-8''%5fmethod",
    'Content-Disposition: form-data; name="a"; name*=utf-8\'\'_method',
    'Content-Disposition: form-data; name="=?utf-8?q?=5Fmethod?="',
    'Content-Disposition: form-data; name="_method\0x"',
    'Content-Disposition : form-data; name="_method"',
    ' Content-Disposition: form-data; name="_method"',
    'X-A: b\rContent-Disposition: form-data; name="_method"',
    'X-A: b\nContent-Disposition: form-data; name="_method"',
    'X-A: b\n\nContent-Disposition: form-data; name="_method"',
    'Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Disposition: form-data;\r\n name="_method"\r\n\r\nDELETE\r\n--c--',
  ].map((headers): [string, string] => [MULTIPART, headed(headers)]),
  [MULTIPART, headed(field, '\r')],
  [MULTIPART, headed(field, '\n')],
  [MULTIPART, `x${headed(field)}`],
  [MULTIPART, `${headed(field)}${headed(field)}`],
  [MULTIPART, `--b \r\n${field}\r\n\r\nDELETE\r\n--b--\r\n`],
  [MULTIPART, `--b\r\n${field}\r\n\r\nDELETE`],
  ['multipart/related; boundary=b', headed(field, '\n')],
  ['multipart/form-data', headed(field)],
  ['multipart/form-data, a/b; boundary=b', headed(field)],
  ['multipart/form-data; boundary=a; boundary=b', headed(field)],
  ["multipart/form-data; boundary*=utf-8''b", headed(field)],
  ['multipart/form-data; boundary="\\b"', headed(field)],
  ['text/plain', headed('Content-Disposition: form-data;\r\n name="_method"')],
]
const wide = (text: string) => Buffer.from(text, 'utf16le').toString('latin1')

const BODIES: [type: string, body: string][] = [
  ...QUERIES.filter((query) => !query.includes('SVC_SECRET')).map((query): [string, string] => [
    FORM,
    query,
  ]),
  [`${FORM};charset=utf-16`, wide('_method=DELETE')],
  [MULTIPART, part('name="_method"', 'DELETE')],
  [MULTIPART, part('name="file"; filename="_method"; name="_method"', ' DELETE ')],
  [MULTIPART, part('name="%5fmethod"', '\r\n DELETE')],
  [MULTIPART, part(`name="_method"\r\nX-Pad: ${'x'.repeat(5000)}`, 'DELETE')],
  [MULTIPART, headed('Content-ID: _method')],
  [MULTIPART, headed('Content-ID: <_method>')],
  [MULTIPART, part('name="_method[]"', 'DELETE')],
  [MULTIPART, part('name="X-HTTP-Method-Override"', 'PUT')],
  ['application/json', '{"_method":"DELETE"}'],
  ['application/json', '{"a":{"b":["x"]},"_METHOD" : "delete"}'],
  ['application/json', '{"\\u005fmethod":"DELETE"}'],
  ['application/json', '{"_method":"POST","_method":"DELETE"}'],
  ['application/json', '{"a":"\\\\","_method":"purge"}'],
  ['application/vnd.api+json', '{"X-HTTP-Method-Override":"DELETE"}'],
  ...['', 'text/plain', 'text/plain;charset=utf-8', 'what', 'a/b, c/d'].flatMap(
    (type): [string, string][] => [
      [type, '_method=DELETE'],
      [type, 'a=1&%5F%6D%65%74%68%6F%64=%44ELETE'],
      [type, ' {"_method":"DELETE"}'],
      [type, '\xef\xbb\xbf{"a":[],"X-HTTP-Method-Override":"PUT"}'],
      [type, part('name="_method"', 'DELETE')],
      [type, wide('_method=DELETE')],
    ],
  ),
  ['multipart/related; boundary=b', part('name="_method"', 'DELETE')],
  ...[
    'application/x-json',
    'application/json-rpc',
    'application/json5',
    'application/jsonrequest',
    'text/x-json; charset=utf-8',
    'text/html; a=/json',
    'image/png; a=json',
  ].map((type): [string, string] => [type, '{"_method":"DELETE"}']),
  ['application/x-ndjson', '{"a":1}\n{"_method":"DELETE"}'],
  ['application/x-www-form-urlencoded; a=json', '_method=DELETE'],
  ['application/json', '{"_method":"SVC_SECRET_POSTS"}'],
]
/** One of each type, in forward mode. */
const FORWARDED = [...new Map(BODIES.map((each) => [each[0], each])).values()].filter(
  ([type, body]) => type !== '' && !body.includes('SVC_SECRET'),
)
const ORDINARY_BODIES: [type: string, body: string][] = [
  [FORM, 'payment_method=DELETE&_method=POST&_method='],
  [FORM, 'text=_method%3DDELETE'],
  [MULTIPART, part('name="text"', '_method=DELETE')],
  [MULTIPART, part('name="a b"; filename="naïve; name=c.txt"\r\nContent-Type: text/plain', 'x')],
  [
    MULTIPART,
    part('name="mail"; filename=a.eml', 'Content-Disposition: attachment;\r\n name="_method"'),
  ],
  ['multipart/related; boundary="b"', headed('Content-Type: application/json', '\n')],
  ['Multipart/Form-Data; charset=utf-8; boundary="b"', part('name="a"', 'DELETE')],
  [MULTIPART, part('name="_method"', 'post')],
  ['application/json', '{"method":"delete","id":1,"params":{"_method":"DELETE"}}'],
  ['application/json', '{"text":"_method","next":"DELETE","list":["_method","DELETE"]}'],
  ['application/octet-stream', '_method=DELETE'],
  ['image/png', '_method=DELETE'],
  ['text/plain', 'To delete, send {"_method":"DELETE"} or _method=DELETE.'],
  ['text/plain', '100 % of methods\n'.repeat(100_000)],
  ['application/json5', '{"method":"a\\\\b"}'],
  ['application/json5', "{name: 'a', /* x */}"],
  ['', '{"method":"delete","list":[{"_method":"DELETE"}]}'],
]

describe('a method in the body', () => {
  const said =
    'The policy of the secret POSTS limits methods, and the body of this request may override them.'
  const asked = (name: string, type: string, body: string) => ({
    ...call(name, type === '' ? {} : { 'Content-Type': type }),
    method: 'POST',
    body: Buffer.from(body, 'latin1').toString('base64'),
    body_encoding: 'base64',
  })
  beforeAll(() => agent.store('POSTS', 'value-posts', { policy: { allowed_methods: ['POST'] } }))

  test.each(BODIES)(
    'a method in the body of type %s, %p, is rejected if the policy limits methods',
    (type, body) =>
      expectRefused(stage, agent, asked('POSTS', type, body), 'policy_blocked', said).then(
        () => {},
      ),
  )

  test.each(UNPLAIN)(
    'a method in the body of type %s, %p, is rejected because servers read its parts differently',
    async (type, body) => {
      const reason =
        'send a multipart body with one plain boundary, CRLF line ends, one line for each part header and names in double quotes without escapes.'
      const text = `${said.slice(0, -1)}: ${reason}`
      await expectRefused(stage, agent, asked('POSTS', type, body), 'policy_blocked', text)
    },
  )

  test.each(['{_method:"DELETE"}', `{'_method':"DELETE"}`, '{/*"*/"_method":"DELETE"}'])(
    'a method in the body of type application/json5, %p, is rejected because it is not JSON',
    async (body) => {
      const text = `${said.slice(0, -1)}: send it as JSON without comments, and with double quotes around names.`
      const call = asked('POSTS', 'application/json5', body)
      await expectRefused(stage, agent, call, 'policy_blocked', text)
    },
  )

  test.each(ORDINARY_BODIES)('a method in the body is not found in %s, %p', async (type, body) => {
    const answer = await agent.resolve(asked('POSTS', type, body))
    expect(answer.body).toMatchObject({ status_code: 200 })
  })

  test('a method in the body is rejected in forward mode too, also in an encoded body or one without a declared length', async () => {
    const sent = stage.upstream.bytes
    for (const [type, body] of FORWARDED) {
      const headers = { authorization: 'Bearer SVC_SECRET_POSTS', 'content-type': type }
      const stream = new Blob([body]).stream()
      const refused = await forwardAs(stage, agent, '/', { method: 'POST', headers, body: stream })
      expect([refused.status, stage.upstream.bytes]).toEqual([403, sent])
      const encoded = { ...headers, 'content-encoding': 'gzip' }
      const zipped = { method: 'POST', headers: encoded, body: Bun.gzipSync(body) }
      expect((await forwardAs(stage, agent, '/', zipped)).status).toBe(403)
    }
  })

  test('a method in the body is sent if the policy does not limit methods', async () => {
    for (const [type, body] of new Map([...BODIES, ...UNPLAIN])) {
      const answer = await agent.resolve(asked('FREE', type, body))
      expect(answer.body).toMatchObject({ status_code: 200 })
    }
  })
})
