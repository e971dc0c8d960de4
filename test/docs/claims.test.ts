// tier: quick
/** README, protocol and threat model list the same claims. Each claim is the name of a test group that tries to break it. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { documents, ROOT, textOf } from './documents.ts'

/** Reads claims: the entries of a quoted list. */
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
  '%s lists the claims of the protocol',
  (path) => {
    expect(claims).toHaveLength(6)
    expect(claimsOf(path)).toEqual(claims)
  },
)

test.each(claims)('the claim has tests: %s', (claim) => {
  expect(names).toContain(claim)
})

/** `file`: "title" */
const CITED = /`(test\/[\w/]+\.test\.ts)`:\s+"([^"]+)"/g

test('every test that a document cites exists', () => {
  const cited = documents.flatMap(({ text }) => [...text.matchAll(CITED)])
  expect(cited.length).toBeGreaterThan(15)
  const missing = cited.filter(
    ([, file = '', title = '']) => !titlesIn(readFileSync(join(ROOT, file), 'utf8')).has(title),
  )
  expect(missing.map(([citation]) => citation)).toEqual([])
})

/** Finds the titles of tests, groups and table rows. */
function titlesIn(text: string): Set<string> {
  const strings = text.matchAll(/(?:^|[\s(])(['"])(.+?)\1(?:,\s|: )/g)
  return new Set([...strings].map(([, , title = '']) => title))
}
