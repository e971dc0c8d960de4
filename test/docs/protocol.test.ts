// tier: quick
import { expect, test } from 'bun:test'
import { allEndpoints } from '../../src/dev/all_endpoints.ts'
import { faultCodes, statusOf } from '../../src/platform/fault.ts'
import { textOf } from './documents.ts'

const protocol = textOf('docs/protocol.md')

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
  expect(docs).toHaveLength(5)
  expect(new Set(told)).toEqual(new Set([...served, ...docs]))
})
