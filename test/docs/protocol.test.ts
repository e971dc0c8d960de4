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

test('the README quotes the claims that hold word for word', () => {
  const claims = [
    'At rest, nothing the server stores decrypts a secret: not the database, not `ENCRYPTION_KEY`, not both. (Who has both can guess weak passwords offline.)',
    "Values are in server memory while a live token's calls use them, and may linger there until the memory is reused. Who controls the running process can read what is used meanwhile.",
    'The leak guard is a seat belt, not a wall: an upstream on the allowlist has the credential, and an API that stores or transforms what it is sent can carry it out. Narrow what may be called.',
  ]
  expect(claims.filter((claim) => !readme.includes(`> - ${claim}\n`))).toEqual([])
})
