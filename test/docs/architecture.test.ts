// tier: quick
/** The map says what is there. That its table of rooms agrees with the rules: test/architecture.test.ts. */
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

test('every folder of src/ is a room of the map, and every room is there unless it says so', () => {
  const rooms = rowsOf('Rooms').map(([room = '', holds = '']) => ({
    name: room.replaceAll('`', ''),
    isBuilt: !holds.includes('not built yet'),
  }))
  const built = rooms.filter(({ isBuilt }) => isBuilt).map(({ name }) => name)
  expect(built.sort()).toEqual(readdirSync(join(ROOT, 'src')).sort())
})

test('the glossary has at most 30 words, each once', () => {
  const words = rowsOf('Glossary').flatMap(([word = '']) => word.split(', '))
  expect(words.length).toBeGreaterThan(20)
  expect(words.length).toBeLessThanOrEqual(30)
  expect(new Set(words).size).toBe(words.length)
})
