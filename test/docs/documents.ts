/** The documents that people read, and their headings. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export { anchorsOf, headingsOf } from '../../src/console/docs/headings.ts'

export const ROOT = join(import.meta.dir, '../..')

export type Document = { path: string; text: string }

const paths = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...[...new Bun.Glob('docs/**/*.md').scanSync({ cwd: ROOT })].sort(),
]

export const documents: readonly Document[] = paths.map((path) => ({
  path,
  text: readFileSync(join(ROOT, path), 'utf8'),
}))

/** @throws Error for a document that is not there */
export function textOf(path: string): string {
  const found = documents.find((document) => document.path === path)
  if (!found) throw new Error(`there is no ${path}`)
  return found.text
}
