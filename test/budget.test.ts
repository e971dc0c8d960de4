// tier: quick
/**
 * Budgets of the source. A commit that raises one gives the reason in its message; one that needs less lowers it. The aims are
 * 80,000 lines and 40 names with two owners.
 */
import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const LINES = 136_400
const NAMES_WITH_TWO_OWNERS = 39
const FILES_IN_A_FOLDER = 20

const root = join(import.meta.dir, '..')
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => statSync(join(root, 'src', path)).isFile())
  .sort()
const sources = files
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, 'src', path), 'utf8') }))

const countLines = (text: string) => text.split('\n').length - 1
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)

test('the source has no more lines than its budget', () => {
  expect(sumOf(sources.map(({ text }) => countLines(text)))).toBeLessThanOrEqual(LINES)
})

test('no package is patched', () => {
  expect(existsSync(join(root, '.patches'))).toBe(false)
  expect(readFileSync(join(root, 'package.json'), 'utf8')).not.toContain('patchedDependencies')
})

test('no folder has more files than the limit', () => {
  const counts = Map.groupBy(files, (path) => dirname(path))
  const full = [...counts].filter(([, inside]) => inside.length > FILES_IN_A_FOLDER)
  expect(full.map(([folder, inside]) => `${folder}: ${inside.length}`)).toEqual([])
})

test('the number of exported names with two owners does not grow', () => {
  const exported = /^export (?:async )?(?:function\*?|const|let|class|type|interface) (\w+)/gm
  const owners = new Map<string, Set<string>>()
  for (const { path, text } of sources) {
    // A browser's half of a file exports the same names on purpose.
    if (path.endsWith('.browser.ts')) continue
    for (const [, name = ''] of text.matchAll(exported)) {
      owners.set(name, (owners.get(name) ?? new Set()).add(path))
    }
  }
  const shared = [...owners].filter(([, paths]) => paths.size > 1).map(([name]) => name)
  expect(shared.length, shared.join(' ')).toBeLessThanOrEqual(NAMES_WITH_TWO_OWNERS)
})
