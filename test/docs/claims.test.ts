// tier: quick
/** What is claimed is the same wherever it stands, and each claim is the name of tests that try to break it. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { documents, ROOT, textOf } from './documents.ts'

/** A claim is an entry of a quoted list. */
function claimsOf(path: string): string[] {
  return [...textOf(path).matchAll(/^> - (.+)$/gm)].map(([, claim = '']) => claim)
}

const claims = claimsOf('docs/reference/protocol.md')

const names = [...new Bun.Glob('test/security/claims_*.test.ts').scanSync({ cwd: ROOT })].flatMap(
  (path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^describe\((['"])(.+)\1, /gm)].map(
      ([, , name = '']) => name,
    ),
)

test.each(['README.md', 'docs/internals/threat-model.md'])(
  '%s makes the claims of the protocol',
  (path) => {
    expect(claims).toHaveLength(6)
    expect(claimsOf(path)).toEqual(claims)
  },
)

test.each(claims)('is tested: %s', (claim) => {
  expect(names).toContain(claim)
})

/** `file`: "title" */
const CITED = /`(test\/[\w/]+\.test\.ts)`:\s+"([^"]+)"/g

test('tests that are cited by their names are there', () => {
  const cited = documents.flatMap(({ text }) => [...text.matchAll(CITED)])
  expect(cited.length).toBeGreaterThan(15)
  const missing = cited.filter(
    ([, file = '', title = '']) => !titlesIn(readFileSync(join(ROOT, file), 'utf8')).has(title),
  )
  expect(missing.map(([citation]) => citation)).toEqual([])
})

/** Of tests, of groups of them, and of the rows of their tables. */
function titlesIn(text: string): Set<string> {
  const strings = text.matchAll(/(?:^|[\s(])(['"])(.+?)\1(?:,\s|: )/g)
  return new Set([...strings].map(([, , title = '']) => title))
}
