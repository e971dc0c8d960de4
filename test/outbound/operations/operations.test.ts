// tier: quick
/** The operations of GraphQL and JSON-RPC in a request, in all shapes that servers read. */
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { operationsIn } from '../../../src/outbound/operations/operations.ts'

type Shape = {
  method?: string
  type?: string | null
  url?: string
  headers?: Record<string, string>
  answer?: 'whole' | 'socket' | 'grpc'
}

function asked(body: string | Uint8Array | null, shape: Shape = {}) {
  const { method = 'POST', type = 'application/json', url = '/graphql', answer = 'whole' } = shape
  const { pathname: path, search } = new URL(url, 'https://api.example.com')
  const headers = { ...(type === null ? {} : { 'content-type': type }), ...shape.headers }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return operationsIn({ method, headers, body: bytes && { bytes }, answer }, { path, search })
}

const json = (value: unknown, shape?: Shape) => asked(JSON.stringify(value), shape)
const document = (query: string, others: object = {}) => json({ query, ...others })
const get = (url: string) => asked(null, { method: 'GET', url, type: null })
const UNREAD = { unread: expect.any(String) }
const digest = (text: string) => createHash('sha256').update(text).digest('hex')

describe('a GraphQL document', () => {
  const read: [text: string, operations: string[]][] = [
    ['{ viewer { login } }', ['query:viewer']],
    ['query Q($a: Int = 1) @live { viewer { login } }', ['query:viewer']],
    ['query { a: viewer { login } b: user(login: "x") { id } }', ['query:viewer', 'query:user']],
    ['mutation { viewer: deleteAll }', ['mutation:deleteAll']],
    ['subscription S { events { id } }', ['subscription:events']],
    ['query A { a } mutation B { b }', ['query:a', 'mutation:b']],
    [
      '{ ...F } fragment F on Query { a ...G } fragment G on Query { b ...F }',
      ['query:a', 'query:b'],
    ],
    [
      '{ ... on Query @include(if: true) { a } ... { b } ... @skip(if: false) { c } }',
      ['query:a', 'query:b', 'query:c'],
    ],
    [
      '{ __schema { types { name } } __type(name: "A") { name } __typename }',
      ['query:__schema', 'query:__type', 'query:__typename'],
    ],
    ['# mutation { b }\n{ a } # }', ['query:a']],
    ['{ a(text: "} mutation { b }") }', ['query:a']],
    ['{ a(text: """} mutation { b }""") }', ['query:a']],
    ['\ufeff{ a }', ['query:a']],
    ['{ a(o: { query: ["mutation"] }) { mutation: b } }', ['query:a']],
    ['"what it does" query { a }', ['query:a']],
    ['mutation { ...F } fragment F on Mutation { deleteAll }', ['mutation:deleteAll']],
    ['query ($mutation: Int) { mutation(x: $mutation) }', ['query:mutation']],
    ['query mutation { a }', ['query:a']],
    [`{ ${'a '.repeat(9_000)} }`, ['query:a']],
  ]
  test.each(read)('a GraphQL document %p is read', (text, operations) => {
    expect(document(text)).toEqual(operations)
  })

  const unread: [what: string, text: string][] = [
    ['is not GraphQL', 'viewer'],
    ['is empty', ' '],
    ['is not closed', '{ a'],
    ['has a stray brace', '{ a } }'],
    ['defines a type', '{ a } type Query { a: Int }'],
    ['extends the schema', 'extend schema { mutation: M } query { a }'],
    ['has fragments only', 'fragment F on Query { a }'],
    ['has a missing fragment', '{ ...F }'],
    ['has a fragment twice', '{ ...F } fragment F on Query { a } fragment F on Query { b }'],
    ['ends a comment with a lone CR', '{ a } #\rmutation { b }'],
    ['ends a comment with U+2028', '{ a } #\u2028mutation { b }'],
    ['ends a comment with U+0085', '{ a } #\u0085mutation { b }'],
    ['has a NUL', '{ a } \0 mutation { b }'],
    ['has a form feed', '{ a } #\fmutation { b }'],
    ['has half a surrogate pair', '{ a(x: "\ud800") }'],
    [
      'has a block string that older parsers end earlier',
      '{ a(x: [""""]) } mutation B { b } #"""]) }',
    ],
    ['has a block string with an escaped quote', '{ a(x: """ \\""" """) }'],
    ['is nested too deeply', `${'{ a '.repeat(101)}${'}'.repeat(101)}`],
    ['has lists that are nested too deeply', `{ a(x: ${'['.repeat(5_000)}${']'.repeat(5_000)}) }`],
    ['has too many tokens', `{ ${'a '.repeat(10_001)} }`],
    ['is too long', `{ a } #${'x'.repeat(100_000)}`],
    ['writes the keyword in upper case', 'MUTATION { b }'],
    ['has escapes in a name', 'm\\u0075tation { b }'],
  ]
  test.each(unread)('a GraphQL document that %s is not read', (_, text) => {
    expect(document(text)).toEqual(UNREAD)
  })

  test('a GraphQL document sent as application/graphql is read', () => {
    expect(asked('mutation { a }', { type: 'application/graphql' })).toEqual(['mutation:a'])
    expect(asked('{"query":"{ a }"}', { type: 'application/graphql' })).toEqual(UNREAD)
  })
})

describe('a GraphQL request', () => {
  test('a GraphQL request counts every operation, whatever operationName is', () => {
    const text = 'query A { a } mutation B { b }'
    for (const operationName of ['A', 'B', null, 5]) {
      expect(document(text, { operationName })).toEqual(['query:a', 'mutation:b'])
    }
  })

  test("a GraphQL request's variables are read as data", () => {
    expect(document('{ a }', { variables: { query: 'mutation { b }' } })).toEqual(['query:a'])
  })

  test("a GraphQL request's JSON escapes are decoded", () => {
    expect(asked('{"qu\\u0065ry":"{ \\u0061 }"}')).toEqual(['query:a'])
    expect(asked('{"query":"\\u006dutation { b }"}')).toEqual(['mutation:b'])
  })

  const unread: [what: string, body: string][] = [
    ['has a member twice', '{"query":"{ a }","query":"mutation { b }"}'],
    ['has an escaped member twice', '{"query":"{ a }","qu\\u0065ry":"mutation { b }"}'],
    ['has a member in another case', '{"query":"{ a }","Query":"mutation { b }"}'],
    ['has a member that folds to query', '{"query":"{ a }","\uff51uery":"mutation { b }"}'],
    ['has a member with a NUL', '{"query":"{ a }","query\\u0000":"mutation { b }"}'],
    ['has a member of something else', '{"query":"{ a }","title":"an issue"}'],
    ['has a member of JSON-RPC', '{"query":"{ a }","jsonrpc":"2.0","method":"tools/list"}'],
    ['has variables with a member twice', '{"query":"{ a }","variables":{"a":1,"a":2}}'],
    ['reaches into a prototype', '{"query":"{ a }","__proto__":{"query":"mutation { b }"}}'],
    ['has an object as query', '{"query":{"match_all":{}}}'],
    ['has a list as query', '{"query":["mutation { b }"]}'],
    ['has a list as extensions', '{"query":"{ a }","extensions":[]}'],
    ['has no query', '{"variables":{}}'],
    ['is empty', '{}'],
    ['is a text', '"{ a }"'],
    ['is null', 'null'],
    ['is not JSON', '{"query":"{ a }"'],
    ['has a comment', '{"query":"{ a }" /* x */}'],
    ['has two values', '{"query":"{ a }"}{"query":"mutation { b }"}'],
    ['begins with a byte order mark', '\ufeff{"query":"{ a }"}'],
    ['is nested too deeply', `{"query":"{ a }","variables":${'['.repeat(99)}${']'.repeat(99)}}`],
    ['is too long', `{"query":"{ a }","variables":"${'x'.repeat(1_048_576)}"}`],
  ]
  test.each(unread)('a GraphQL request that %s is not read', (_, body) => {
    expect(asked(body)).toEqual(UNREAD)
  })

  const shapes: [what: string, shape: Shape][] = [
    ['with a Content-Encoding', { headers: { 'Content-Encoding': 'gzip' } }],
    ['in another charset', { type: 'application/json; charset=utf-16' }],
    ['in two charsets', { type: 'application/json; charset=utf-8; charset=utf-16' }],
    ['with two types', { type: 'application/json, text/plain' }],
    ['without a type', { type: null }],
    ['as text', { type: 'text/plain' }],
    ['as JSON with comments', { type: 'application/json5' }],
    ['in parts', { type: 'multipart/form-data; boundary=x' }],
    ['as gRPC', { type: 'application/grpc', answer: 'grpc' }],
    ['in a WebSocket', { method: 'GET', answer: 'socket' }],
    ['by PUT', { method: 'PUT' }],
    ['by DELETE', { method: 'DELETE' }],
  ]
  test.each(shapes)('a GraphQL request that is sent %s is not read', (_, shape) => {
    expect(asked('{"query":"{ a }"}', shape)).toEqual(UNREAD)
  })

  test.each([
    'application/json',
    'Application/JSON; Charset="UTF-8"',
    'application/graphql+json',
    'application/json;charset=utf-8',
  ])('a GraphQL request may have the type %s', (type) => {
    expect(asked('{"query":"{ a }"}', { type })).toEqual(['query:a'])
  })

  test('a GraphQL request in UTF-16 is not read', () => {
    expect(asked(Buffer.from('{"query":"{ a }"}', 'utf16le'))).toEqual(UNREAD)
  })

  test('a GraphQL request that still arrives is not read', () => {
    const body = { stream: new Blob(['{"query":"{ a }"}']).stream(), length: null }
    const headers = { 'content-type': 'application/json' }
    const call = { method: 'POST', headers, body, answer: 'streamed' as const }
    expect(operationsIn(call, { path: '/graphql', search: '' })).toEqual(UNREAD)
  })
})

describe('a persisted query', () => {
  const hash = digest('{ a }')
  const read: [what: string, body: object, operations: string[]][] = [
    [
      'a hash',
      { extensions: { persistedQuery: { version: 1, sha256Hash: hash } } },
      [`persisted:${hash}`],
    ],
    ['a documentId', { documentId: 'abc', variables: {} }, ['persisted:abc']],
    ['a doc_id', { doc_id: 123 }, ['persisted:123']],
    ['an id', { id: 'abc' }, ['persisted:abc']],
    ['a queryId', { queryId: 'abc' }, ['persisted:abc']],
    ['an operationId', { extensions: { operationId: 'client/abc' } }, ['persisted:client/abc']],
    ['an empty query', { query: '', id: 'abc' }, ['persisted:abc']],
    ['an id that cannot be listed', { id: 'a b' }, ['persisted']],
    ['an id that is an object', { id: {} }, ['persisted']],
    ['no hash', { extensions: { persistedQuery: {} } }, ['persisted']],
    ['an id beside a query', { query: '{ a }', id: 'abc' }, ['query:a', 'persisted:abc']],
    ['two ids', { id: 'a', doc_id: 'b' }, ['persisted:b', 'persisted:a']],
  ]
  test.each(read)('a persisted query with %s is read', (_, body, operations) => {
    expect(json(body)).toEqual(operations)
  })

  test('a persisted query counts as the query itself if the hash matches', () => {
    const extensions = { persistedQuery: { version: 1, sha256Hash: hash } }
    expect(document('{ a }', { extensions })).toEqual(['query:a'])
    expect(document('{ b }', { extensions })).toEqual(['query:b', `persisted:${hash}`])
  })
})

describe('a JSON-RPC request', () => {
  const rpc = (method: unknown, params?: unknown) => ({ jsonrpc: '2.0', id: 1, method, params })

  test('a JSON-RPC request returns its method, and the tool that it calls', () => {
    expect(json(rpc('tools/list', {}))).toEqual(['rpc:tools/list'])
    expect(json(rpc('eth_call', []))).toEqual(['rpc:eth_call'])
    expect(json({ method: 'getinfo', params: [], id: 0 })).toEqual(['rpc:getinfo'])
    expect(json(rpc('tools/call', { name: 'search', arguments: {} }))).toEqual([
      'rpc:tools/call:search',
    ])
  })

  test('a JSON-RPC message without a method is a reply to the server, and performs no operation', () => {
    expect(json({ jsonrpc: '2.0', id: 1, result: {} })).toEqual(['rpc'])
    expect(json({ jsonrpc: '2.0', id: 1, error: { code: 1, message: '' } })).toEqual(['rpc'])
  })

  const unread: [what: string, body: unknown][] = [
    ['has a tool without a name', rpc('tools/call', {})],
    ['has no parameters for a tool', rpc('tools/call')],
    ['has a list of parameters for a tool', rpc('tools/call', ['search'])],
    ['names a tool in two cases', rpc('tools/call', { name: 'a', Name: 'b' })],
    ['names the tool in the method', rpc('tools/call:search')],
    ['has a method with a space', rpc('tools/list ')],
    ['has a method that is no text', rpc(['tools/list'])],
    ['has another version', { ...rpc('a'), jsonrpc: '3.0' }],
    ['has a result as well', { ...rpc('a'), result: {} }],
    ['has neither a method nor a result', { jsonrpc: '2.0', id: 1 }],
    ['has a member in another case', { ...rpc('tools/list'), Method: 'tools/call' }],
    ['has a member of something else', { ...rpc('tools/list'), title: 'x' }],
  ]
  test.each(unread)('a JSON-RPC request that %s is not read', (_, body) => {
    expect(json(body)).toEqual(UNREAD)
  })

  test('a JSON-RPC request with a duplicate member is not read', () => {
    expect(asked('{"method":"tools/list","method":"tools/call"}')).toEqual(UNREAD)
    expect(asked('{"method":"tools/call","params":{"name":"a","name":"b"}}')).toEqual(UNREAD)
  })
})

describe('a batch', () => {
  test('a batch performs the operations of all its requests', () => {
    const body = [{ query: '{ a }' }, { query: 'mutation { b }' }, { method: 'ping' }]
    expect(json(body)).toEqual(['batch', 'query:a', 'mutation:b', 'rpc:ping'])
  })

  test('a batch that is empty, too long or contains another list is not read', () => {
    expect(json([])).toEqual(UNREAD)
    expect(json(Array.from({ length: 21 }, () => ({ query: '{ a }' })))).toEqual(UNREAD)
    expect(json([[{ query: '{ a }' }]])).toEqual(UNREAD)
    expect(json([{ query: '{ a }' }, { title: 'x' }])).toEqual(UNREAD)
  })
})

describe('a form', () => {
  const form = (body: string) => asked(body, { type: 'application/x-www-form-urlencoded' })

  test('a form is read as a GraphQL request', () => {
    expect(form('query=%7B+a+%7D&variables=%7B%7D')).toEqual(['query:a'])
    expect(form('query=mutation%7Bb%7D')).toEqual(['mutation:b'])
    expect(form('extensions={"persistedQuery":{"sha256Hash":"abc"}}')).toEqual(['persisted:abc'])
  })

  test('a form may contain JSON, which curl sends as a form', () => {
    expect(form('{"query":"mutation { b }"}')).toEqual(['mutation:b'])
    expect(form('[{"query":"{ a }"}]')).toEqual(['batch', 'query:a'])
  })

  test.each([
    'query=%7Ba%7D&query=mutation%7Bb%7D',
    'query=%7Ba%7D&Query=mutation%7Bb%7D',
    'query=%7Ba%7D;query=mutation%7Bb%7D',
    'query=%7Ba%7D&query[]=mutation%7Bb%7D',
    'query=%7Ba%7D&title=x',
    'query=%7Ba%7D&extensions=x',
    '{"query":"{ a }","variables":"&query=mutation{b}"}',
    '{"query":"{ a }","variables":";query=mutation{b}"}',
    'title=x',
    '',
  ])('a form that servers read in different ways is not read: %s', (body) => {
    expect(form(body)).toEqual(UNREAD)
  })
})

describe('the query of a URL', () => {
  const read: [url: string, operations: string[]][] = [
    ['/repos/o/r', []],
    ['/repos?page=2', []],
    ['/search?query=mutation', []],
    ['/search?query=a+b', []],
    ['/api/v1/query?query=up{job="x"}', []],
    ['/docs?documentId=5', []],
    ['/docs?id=5', []],
    ['/graphql?query={a}', ['query:a']],
    ['/x?query={a}', ['query:a']],
    ['/graphql?query=mutation{b}', ['mutation:b']],
    ['/x?query=mutation%7Bb%7D', ['mutation:b']],
    ['/x?QUERY=mutation{b}', ['mutation:b']],
    ['/x?query[]=mutation{b}', ['mutation:b']],
    ['/graphql?doc.id=abc', ['persisted:abc']],
    ['/x?%71uery=mutation{b}', ['mutation:b']],
    ['/x?a=1;query=mutation{b}', ['mutation:b']],
    ['/x?query={a}&query=mutation{b}', ['query:a', 'mutation:b']],
    ['/graphql?documentId=abc', ['persisted:abc']],
    ['/x?id=abc&variables={}', ['persisted:abc']],
    ['/x?extensions={"persistedQuery":{"sha256Hash":"abc"}}', ['persisted:abc']],
    ['/graphql?operationName=A&variables={}', ['persisted']],
  ]
  test.each(read)('the query of a GET %s is read', (url, operations) => {
    expect(get(url)).toEqual(operations)
  })

  test.each([
    '/graphql?query=viewer',
    '/x?query=mutation{b',
    '/x?query={a}}mutation{b}',
    '/x?extensions=persistedQuery',
  ])('the query of a GET %s is not read', (url) => {
    expect(get(url)).toEqual(UNREAD)
  })

  test('the query counts in addition to a body', () => {
    const url = '/graphql?query=mutation{b}'
    expect(json({ query: '{ a }' }, { url })).toEqual(['mutation:b', 'query:a'])
    expect(json({ query: '{ a }' }, { url: '/graphql?operationName=A' })).toEqual(['query:a'])
  })

  test('the query counts for a POST without a body', () => {
    expect(asked(null, { url: '/graphql?query=mutation{b}' })).toEqual(['mutation:b'])
    expect(asked(null)).toEqual(UNREAD)
  })
})
