// tier: quick
/** A policy that limits operations, or permits only reads, applies to every route, body and override. */
import { afterAll, describe, expect, test } from 'bun:test'
import type { Policy } from '../../src/core/policy/policy.ts'
import { createAgentWithToken, expectRefused, sharedStage } from '../support/agent.ts'
import { forwardAs, streamAs } from '../support/forward.ts'

const stage = await sharedStage()
afterAll(stage.stop)
const agent = await createAgentWithToken(stage)
const policies: Record<string, Policy> = {
  READS: { read_only: true },
  VIEWER: { allowed_operations: ['query:viewer'] },
  TOOL: { read_only: true, allowed_operations: ['rpc:tools/list', 'rpc:tools/call:search'] },
  NAMED: { read_only: true, allowed_paths: ['/named'] },
  PLACED: { read_only: true, allowed_locations: ['header', 'query', 'path', 'json'] },
  SIGNS: { read_only: true, allowed_locations: ['sign'] },
}
for (const [name, policy] of Object.entries(policies)) {
  await agent.store(name, `value-of-${name.toLowerCase()}`, { policy })
}

const QUERY = '{"query":"{ viewer { login } }"}'
const MUTATION = '{"query":"mutation { deleteAll }"}'
const JSON_TYPE = { 'content-type': 'application/json' }

type Asked = { path?: string; method?: string; body?: string; headers?: Record<string, string> }

const call = (name: string, { path = '/graphql', headers = JSON_TYPE, ...asked }: Asked) => ({
  target_url: stage.url(path),
  method: 'POST',
  headers: { authorization: `Bearer SVC_SECRET_${name}`, ...headers },
  ...asked,
})

async function expectSent(name: string, asked: Asked): Promise<void> {
  const { body } = await agent.resolve(call(name, asked))
  expect(body).toMatchObject({ status_code: 200 })
}

const expectBlocked = (name: string, asked: Asked, sentence: string) =>
  expectRefused(
    stage,
    agent,
    call(name, asked),
    'policy_blocked',
    `The policy of the secret ${name} ${sentence}.`,
  )

describe('a read-only secret', () => {
  test('a read-only secret is sent with queries, reads of MCP and methods that read', async () => {
    await expectSent('READS', { body: QUERY })
    await expectSent('READS', { path: '/mcp', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' })
    await expectSent('READS', { path: '/repos?query=x', method: 'GET' })
    await expectSent('NAMED', { path: '/named', body: QUERY })
    await expectSent('TOOL', {
      path: '/mcp',
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search"}}',
    })
  })

  const refused: [what: string, asked: Asked, sentence: string][] = [
    [
      'a method that writes',
      { method: 'DELETE' },
      'does not permit this method (read_only: GET, HEAD, OPTIONS)',
    ],
    [
      'a mutation',
      { body: MUTATION },
      'permits only reads (read_only), and this request has a GraphQL mutation',
    ],
    [
      'a mutation in the query of a GET',
      { method: 'GET', path: '/x?query=mutation%7Bb%7D' },
      'permits only reads (read_only), and this request has a GraphQL mutation',
    ],
    [
      'a tool',
      { path: '/mcp', body: '{"method":"tools/call","params":{"name":"search"}}' },
      'permits only reads (read_only), and this request has a JSON-RPC method or tool that allowed_operations does not list',
    ],
    [
      'a body of something else',
      { body: '{"title":"x"}' },
      'permits only reads (read_only), and this request may write: its body is neither a GraphQL nor a JSON-RPC request',
    ],
    [
      'a query that is sent to another path',
      { path: '/repos/o/r/forks', body: QUERY },
      'permits only reads (read_only), and this request may write: it is a POST to a path that is not known to serve GraphQL or JSON-RPC. If it does, list exactly this path in allowed_paths',
    ],
    [
      'a header that overrides the method',
      { body: QUERY, headers: { ...JSON_TYPE, 'x-http-method-override': 'DELETE' } },
      'limits methods or paths, and a header of this request may override them',
    ],
    [
      'a parameter that overrides the method',
      { method: 'GET', path: '/x?_method=DELETE' },
      'limits methods, and a query parameter of this request may override them',
    ],
    [
      'a body that overrides the method',
      { body: '{"query":"{ a }","_method":"DELETE"}' },
      'limits methods, and the body of this request may override them',
    ],
  ]
  test.each(refused)('a read-only secret is not sent with %s', async (_, asked, sentence) => {
    await expectBlocked('READS', asked, sentence)
  })

  test('a read-only secret is not sent in a query that its values turn into a mutation', async () => {
    const asked = { path: '/x?token=SVC_SECRET_PLACED&query=mutation%7Bb%7D', method: 'GET' }
    const sentence = 'permits only reads (read_only), and this request has a GraphQL mutation'
    await expectBlocked('PLACED', asked, sentence)
    await expectSent('PLACED', { path: '/x?token=SVC_SECRET_PLACED&query=%7Bb%7D', method: 'GET' })
  })

  test('a read-only secret signs no request that may write', async () => {
    const sign = { type: 'hmac-sha256', secret: 'SVC_SECRET_SIGNS', header: 'X-Signature' }
    const headers = { ...JSON_TYPE }
    const asked = (body: string) => ({
      target_url: stage.url('/graphql'),
      method: 'POST',
      headers,
      body,
      sign,
    })
    expect((await agent.resolve(asked(QUERY))).body).toMatchObject({ status_code: 200 })
    const sentence =
      'The policy of the secret SIGNS permits only reads (read_only), and this request has a GraphQL mutation.'
    await expectRefused(stage, agent, asked(MUTATION), 'policy_blocked', sentence)
  })
})

describe('a secret with allowed_operations', () => {
  test('a secret with allowed_operations is sent with the operations of its list, and with a plain GET', async () => {
    await expectSent('VIEWER', { body: QUERY })
    await expectSent('VIEWER', { path: '/repos', method: 'GET' })
  })

  test('a secret with allowed_operations is not sent with others', async () => {
    const sentence = 'does not permit this operation (allowed_operations: query:viewer)'
    for (const body of [MUTATION, '{"query":"{ viewer { id } user { id } }"}', `[${QUERY}]`]) {
      await expectBlocked('VIEWER', { body }, sentence)
    }
    const path = '/graphql?query={user{id}}'
    await expectBlocked('VIEWER', { method: 'GET', path }, sentence)
  })

  test('a secret with allowed_operations is not sent with a request that cannot be checked', async () => {
    const because = 'limits operations (allowed_operations), and this request cannot be checked'
    await expectBlocked(
      'VIEWER',
      { method: 'DELETE' },
      `${because}: it is neither a POST nor a GET without a body`,
    )
    const zipped = { ...JSON_TYPE, 'content-encoding': 'gzip' }
    await expectBlocked(
      'VIEWER',
      { body: QUERY, headers: zipped },
      `limits methods, and the body of this request may override them: it has a Content-Encoding`,
    )
  })
})

test('an open answer ends when the policy no longer lists its operation', async () => {
  const { resolve, promise } = Promise.withResolvers<void>()
  stage.upstream.on('/mcp', (_, wire) => {
    wire.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n')
    wire.once('close', resolve)
  })
  const store = (allowed_operations: string[]) =>
    agent.store('STREAM', 'value-of-stream', { policy: { allowed_operations } })
  await store(['rpc:tools/list'])
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
  const answer = await streamAs(stage, agent, call('STREAM', { path: '/mcp', body }))
  expect(answer.status).toBe(200)
  await store(['rpc:prompts/list'])
  await promise
  await expect(answer.text()).rejects.toThrow()
})

describe('forward mode', () => {
  const headers = { ...JSON_TYPE, authorization: 'Bearer SVC_SECRET_READS' }
  const post = (body: BodyInit, type = 'application/json') =>
    forwardAs(stage, agent, '/graphql', {
      method: 'POST',
      headers: { ...headers, 'content-type': type },
      body,
    })

  test('forward mode reads bodies whole, also those of GraphQL and those without a declared length', async () => {
    const stream = (text: string) => new Blob([text]).stream()
    for (const body of [QUERY, stream(QUERY)]) expect((await post(body)).status).toBe(200)
    expect((await post(stream('{ viewer }'), 'application/graphql')).status).toBe(200)
    const sent = stage.upstream.bytes
    for (const body of [MUTATION, stream(MUTATION)]) expect((await post(body)).status).toBe(403)
    expect((await post(stream('mutation { b }'), 'application/graphql')).status).toBe(403)
    expect((await post(stream(QUERY), 'application/x-ndjson')).status).toBe(403)
    expect((await post(stream(QUERY), 'application/octet-stream')).status).toBe(403)
    expect((await post(stream('\0\0\0\0\0'), 'application/grpc')).status).toBe(403)
    expect(stage.upstream.bytes).toBe(sent)
  })
})
