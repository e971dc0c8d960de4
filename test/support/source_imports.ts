/** The files of src/ and what they import, read from their text: types, re-exports and dynamic imports count. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const folder = join(import.meta.dir, '../../src')

export type Source = { path: string; text: string }

export const sources: Source[] = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }))

export function importsOf({ text }: Source): string[] {
  const found = text.matchAll(/(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*['"]([^'"]+)['"]/g)
  return [...found].map((match) => match[1] ?? '')
}

/** The imported files inside the project, relative to src/. */
export function innerImportsOf(source: Source): string[] {
  return importsOf(source)
    .filter((target) => target.startsWith('.'))
    .map((target) => relative('', join(dirname(source.path), target)))
}
