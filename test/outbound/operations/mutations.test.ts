// tier: quick
/** Whatever the shape of a request, a policy that permits only reads admits no mutation. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { objectionTo } from '../../../src/core/policy/policy_check.ts'
import { operationsIn } from '../../../src/outbound/operations/operations.ts'
import { effort } from '../../support/effort.ts'
import { mayWrite, type Sent } from './lenient_servers.ts'

const PATH = '/graphql'

function isPermitted({ method, search, type, body }: Sent): boolean {
  const headers = { 'content-type': type }
  const target = { path: PATH, search }
  const call = { method, headers, body: body && { bytes: body }, answer: 'whole' as const }
  const operations = operationsIn(call, target)
  const asked = { method, override: null, isMultipart: false, operations }
  const at = { ...asked, target: { ...target, host: 'api.example.com', port: 443 } }
  return objectionTo({ read_only: true }, { style: 'header', header: '' }, at) === null
}

const piece = fc.constantFrom(
  '{ a }',
  'query A { a }',
  'mutation M { b }',
  'subscription S { c }',
  '{ ...F }',
  'fragment F on Query { a }',
  'mutation',
  'query',
  '{',
  '}',
  'a',
  '(x: "',
  '")',
  '(x: ["""',
  '"""])',
  '"',
  '""""',
  '\\"',
  '#',
  '# mutation { b }\n',
  '\n',
  '\r',
  '\u2028',
  '\0',
  '\ufeff',
  ' ',
  '@live',
)
const document = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(' '))
const member = fc.constantFrom('query', 'Query', 'qu\\u0065ry', '\uff51uery', 'variables', 'id')
const value = fc.oneof(
  document.map((text) => JSON.stringify(text)),
  fc.constantFrom('null', '{}'),
)
const object = fc
  .array(fc.tuple(member, value), { maxLength: 3 })
  .map((members) => `{${members.map(([name, text]) => `"${name}":${text}`).join(',')}}`)
const list = fc.array(object, { maxLength: 3 }).map((objects) => `[${objects.join(',')}]`)
const parameters = fc
  .array(
    fc.tuple(
      fc.constantFrom('query', 'QUERY', 'query[]', '%71uery', 'id', 'variables'),
      document.map(encodeURIComponent),
      fc.constantFrom('&', ';'),
    ),
    { maxLength: 3 },
  )
  .map((some) => some.map(([name, text, separator]) => `${name}=${text}${separator}`).join(''))
const text = fc.oneof(
  object,
  list,
  parameters,
  document,
  fc.tuple(object, parameters).map((both) => both.join('&')),
)
const encoding = fc.constantFrom('utf8' as const, 'utf8' as const, 'utf16le' as const)
const sent: fc.Arbitrary<Sent> = fc
  .record({
    method: fc.constantFrom('POST', 'POST', 'GET', 'HEAD'),
    search: parameters.map((some) => (some === '' ? '' : `?${some}`)),
    type: fc.constantFrom(
      'application/json',
      'application/json; charset=utf-8',
      'application/graphql',
      'application/x-www-form-urlencoded',
      'text/plain',
    ),
    body: fc.tuple(text, encoding).map(([written, form]) => Buffer.from(written, form)),
  })
  .map((one) => ({ ...one, body: one.method === 'POST' ? one.body : null }))

test('a policy that permits only reads admits no request in which any server finds a mutation', () => {
  let permitted = 0
  fc.assert(
    fc.property(sent, (request) => {
      if (!isPermitted(request)) return
      permitted += 1
      expect(mayWrite(request)).toBe(false)
    }),
    { numRuns: effort(10_000, 200_000) },
  )
  // Otherwise the property would hold for a policy that rejects everything.
  expect(permitted).toBeGreaterThan(100)
}, 60_000)

test('the servers of this test find the expected mutations', () => {
  const of = (body: string, search = ''): Sent => ({
    method: 'POST',
    search,
    type: 'application/json',
    body: Buffer.from(body),
  })
  for (const request of [
    of('{"query":"mutation { b }"}'),
    of('{"query":"mutation { b }","query":"{ a }"}'),
    of('[{"Query":"query A { a } mutation B { b }"}]'),
    of('x=1;query=mutation%7Bb%7D'),
    of('{}', '?query=mutation{b}'),
    of(JSON.stringify({ query: '{ a(x: [""""]) } mutation B { b } #"""]) }' })),
  ]) {
    expect(mayWrite(request)).toBe(true)
  }
  expect(mayWrite(of('{"query":"{ a }","variables":{"query":"mutation { b }"}}'))).toBe(false)
})
