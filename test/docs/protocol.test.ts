// tier: quick
import { expect, test } from 'bun:test'
import { permissionTexts, roleMarkdown, roleRows } from '../../src/client/role_table.ts'
import * as exitCodes from '../../src/core/exit_codes.ts'
import { faultCodes, statusOf } from '../../src/core/fault.ts'
import type { Permission } from '../../src/core/grant.ts'
import { matrix } from '../../src/core/roles.ts'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import { DEFAULT_BODY_LIMIT } from '../../src/http/request_body.ts'
import { textOf } from './documents.ts'
import { computeExamples } from './protocol_examples.ts'

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

test('the page lists every endpoint and no other', () => {
  const listed = [...protocol.matchAll(/`((?:[A-Z]+, )*[A-Z]+) (\/\S+)`/g)].flatMap(
    ([, methods = '', path]) => methods.split(', ').map((method) => `${method} ${path}`),
  )
  const served = listAllEndpoints().flatMap(({ endpoints }) =>
    endpoints.map(({ method, path }) => `${method} ${path}`),
  )
  const docs = listed.filter((name) => name.startsWith('GET /api/docs/'))
  expect(docs).toHaveLength(5)
  expect(new Set(listed)).toEqual(new Set([...served, ...docs]))
})

test('both tables of roles match the role matrix and the rules for members', () => {
  for (const page of ['docs/reference/protocol.md', 'docs/guides/teams.md']) {
    const [, table] = /<!-- roles -->\n(.*?)<!-- \/roles -->/s.exec(textOf(page)) ?? []
    expect({ page, table }).toEqual({ page, table: roleMarkdown() })
  }
})

test('the table of roles has the roles of every permission that an endpoint asks for', () => {
  const asked = listAllEndpoints().flatMap(({ endpoints }) =>
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

/** Each line of an example block is a label, two spaces or more, and a value. Labels are unique in a section. */
function readExamples(page: string): Record<string, Record<string, string>> {
  const examples: Record<string, Record<string, string>> = {}
  const [firstHalf = ''] = page.split('\n## 6. ')
  for (const section of firstHalf.split(/^(?=#{2,3} \d)/m)) {
    const [, number = 'preamble'] = /^#+ (\d+(?:\.\d+)?)/.exec(section) ?? []
    for (const [, block = ''] of section.matchAll(/^```text example\n(.*?)^```$/gms)) {
      for (const line of block.trimEnd().split('\n')) {
        const columns = line.split(/ {2,}/)
        const value = columns.pop() ?? ''
        examples[number] = { ...examples[number], [columns.join(' ')]: value }
      }
    }
  }
  return examples
}

test('each example has the bytes that the implementation computes', async () => {
  const computed = await computeExamples()
  expect(Object.values(computed).flatMap(Object.keys).length).toBeGreaterThan(60)
  expect(readExamples(protocol)).toEqual(computed)
})

test('the table of size limits has every limit that a contract sets', () => {
  const units = { KiB: 1024, MiB: 1_048_576 }
  const [, section = ''] = /^## 2\. (.*?)^## 3\. /ms.exec(protocol) ?? []
  const listed = [...section.matchAll(/^\| (\d+) (KiB|MiB) \|/gm)].map(
    ([, count, unit]) => Number(count) * units[unit as keyof typeof units],
  )
  const limits = listAllEndpoints().flatMap(({ endpoints }) =>
    endpoints.map(({ bodyLimit = DEFAULT_BODY_LIMIT }) => bodyLimit),
  )
  expect(listed).toEqual([...new Set(limits)].sort((one, other) => one - other))
})

test('the guide for scripts lists every exit code', () => {
  const section = textOf('docs/guides/ci.md').split('\n## Scripts\n')[1]?.split('\n## ')[0] ?? ''
  const listed = [...section.matchAll(/^\| (\d[\d, ]*) \|/gm)].flatMap(([, numbers = '']) =>
    numbers.split(', ').map(Number),
  )
  expect(listed).toEqual([0, ...Object.values(exitCodes).toSorted((one, other) => one - other)])
})
