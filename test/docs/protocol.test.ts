// tier: quick
import { expect, test } from 'bun:test'
import { permissionTexts, roleMarkdown, roleRows } from '../../src/client/role_table.ts'
import { faultCodes, statusOf } from '../../src/core/fault.ts'
import type { Permission } from '../../src/core/grant.ts'
import { matrix } from '../../src/core/roles.ts'
import { allEndpoints } from '../../src/dev/all_endpoints.ts'
import { textOf } from './documents.ts'

const protocol = textOf('docs/reference/protocol.md')

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

test('the table of roles is the one that the matrix and the member rules generate', () => {
  const [, table] = /<!-- roles -->\n(.*?)<!-- \/roles -->/s.exec(protocol) ?? []
  expect(table).toBe(roleMarkdown())
})

test('the table of roles has the roles of every permission that an endpoint asks for', () => {
  const asked = allEndpoints().flatMap(({ endpoints }) =>
    endpoints.flatMap(({ access }) => (access.kind === 'member' ? [access.permission] : [])),
  )
  expect([...new Set(asked)].sort()).toEqual(Object.keys(permissionTexts).sort() as Permission[])
  for (const [permission, what] of Object.entries(permissionTexts)) {
    const row = roleRows().find((row) => row.what === what)
    expect({ permission, roles: row?.roles }).toEqual({
      permission,
      roles: matrix[permission as Permission],
    })
  }
})
