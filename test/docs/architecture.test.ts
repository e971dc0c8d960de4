// tier: quick
/** The map of the code lists every module. test/architecture.test.ts compares its import rules. */
import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, textOf } from './documents.ts'

const map = textOf('docs/internals/architecture.md')

function rowsOf(heading: string): string[][] {
  const [, section = ''] = map.split(`\n## ${heading}\n`)
  const [table = ''] = section.split('\n## ')
  const rows = [...table.matchAll(/^\| (.*) \|$/gm)].map(([, row = '']) => row.split(' | '))
  return rows.slice(1)
}

test('the map lists every folder of src, and no other', () => {
  const modules = rowsOf('Modules').map(([name = '']) => name.replaceAll('`', ''))
  expect(modules.sort()).toEqual(readdirSync(join(ROOT, 'src')).sort())
})

test('the glossary has at most 30 words, each once', () => {
  const words = rowsOf('Glossary').flatMap(([word = '']) => word.split(', '))
  expect(words.length).toBeGreaterThan(20)
  expect(words.length).toBeLessThanOrEqual(30)
  expect(new Set(words).size).toBe(words.length)
})
