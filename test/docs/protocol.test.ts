import { expect, test } from 'bun:test'
import { allEndpoints } from '../../src/dev/all_endpoints.ts'
import { faultCodes, statusOf } from '../../src/platform/fault.ts'
import { textOf } from './documents.ts'

const protocol = textOf('docs/protocol.md')
const readme = textOf('README.md')

test('the table of error codes is the catalogue', () => {
  const section = protocol.split('## 9. Error codes')[1]?.split('\n## ')[0] ?? ''
  const documented = [...section.matchAll(/^\| (\d{3}) \| (.*) \|$/gm)].flatMap(
    ([, status, codes = '']) =>
      [...codes.matchAll(/`(\w+)`/g)].map(([, code = '']) => [code, Number(status)] as const),
  )
  expect(Object.fromEntries(documented)).toEqual(
    Object.fromEntries(faultCodes.map((code) => [code, statusOf(code)])),
  )
})

test('every endpoint is told, and no other', () => {
  const told = [...protocol.matchAll(/`((?:[A-Z]+, )*[A-Z]+) (\/\S+)`/g)].flatMap(
    ([, methods = '', path]) => methods.split(', ').map((method) => `${method} ${path}`),
  )
  const served = allEndpoints().flatMap(({ endpoints }) =>
    endpoints.map(({ method, path }) => `${method} ${path}`),
  )
  const docs = told.filter((name) => name.startsWith('GET /api/docs/'))
  expect(docs).toHaveLength(4)
  expect(new Set(told)).toEqual(new Set([...served, ...docs]))
})

test('the README quotes the claim word for word', () => {
  expect(readme).toContain(
    'At rest, nothing the server holds decrypts a secret: not the database, not `ENCRYPTION_KEY`, not both. A value exists in server memory only while a request with a live, provisioned token is being served (and in a short key cache that can be switched off). A server that is compromised while running can read what is used while it is compromised.',
  )
})
