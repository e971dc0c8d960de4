/** The documents that people read, and their headings. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

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

/** The headings of a document in order, as written. */
export function headingsOf(text: string): string[] {
  const prose = text.replace(/^```.*?^```/gms, '')
  return [...prose.matchAll(/^#{1,6} +(.*?) *$/gm)].map(([, heading = '']) => heading)
}

/** What links name headings by: GitHub's rule. */
export function anchorsOf(text: string): string[] {
  const seen = new Map<string, number>()
  return headingsOf(text).map((heading) => {
    const bare = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '')
    const anchor = bare.replace(/\s/g, '-')
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  })
}
