// tier: quick
import { expect, test } from 'bun:test'
import { allEndpoints } from '../../src/dev/all_endpoints.ts'
import { faultCodes, statusOf } from '../../src/platform/fault.ts'
import { matrix } from '../../src/platform/roles.ts'
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

/** Words of the table of roles that name each permission. */
const WORDS: Record<keyof typeof matrix, string> = {
  'workspace.read': 'read projects, secrets, allowlist, members, audit',
  'workspace.update': 'rename and rekey the workspace',
  'workspace.delete': 'delete the workspace',
  'member.manage': 'invitations and roles',
  'allowlist.read': 'read projects, secrets, allowlist',
  'allowlist.write': 'allowlist, rename',
  'project.read': 'read projects',
  'project.write': 'create and update projects',
  'project.delete': 'delete and restore projects',
  'secret.read': 'read projects, secrets',
  'secret.write': 'write, delete, restore and roll back secrets',
  'agent.manage': 'agents, tokens',
  'audit.read': 'members, audit',
  'audit.export': 'export the audit',
}

test('each role has the permissions that the table of roles gives it', () => {
  const [, section = ''] = protocol.split('## 10. Roles')
  const [header = '', , ...lines] = section.trim().split('\n')
  const cells = (line: string) => line.split('|').map((cell) => cell.trim())
  const rows = lines.filter((line) => line.startsWith('|')).map(cells)
  const rolesFor = (words: string) => {
    const found = rows.filter(([, permission = '']) => permission.includes(words))
    expect({ words, rows: found.length }).toEqual({ words, rows: 1 })
    return cells(header).filter((_, column) => found[0]?.[column] === '✓')
  }
  const documented = Object.entries(WORDS).map(([name, words]) => [name, rolesFor(words)])
  expect(Object.fromEntries(documented)).toEqual(matrix)
})
