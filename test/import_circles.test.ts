// tier: quick
/** Files of src/ that import each other, directly or through others: neither can be read or changed alone. */
import { expect, test } from 'bun:test'
import { innerImportsOf, type Source, sources } from './support/source_imports.ts'

/** Each circle as `a.ts -> b.ts -> a.ts`; imports of files outside `files` do not count. */
function circlesAmong(files: readonly Source[]): string[] {
  const imports = new Map(files.map((file) => [file.path, innerImportsOf(file)]))
  const circles: string[] = []
  const visited = new Set<string>()
  const visit = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path)
    if (start >= 0) circles.push([...trail.slice(start), path].join(' -> '))
    if (visited.has(path)) return
    visited.add(path)
    for (const next of imports.get(path) ?? []) visit(next, [...trail, path])
  }
  for (const path of imports.keys()) visit(path, [])
  return circles
}

test('source files, with their type imports, do not import each other in circles', () => {
  expect(circlesAmong(sources)).toEqual([])
})

test('a circle is found through type imports, re-exports and dynamic imports', () => {
  const files = [
    { path: 'client/a.ts', text: "import type { B } from './b.ts'\nimport { E } from '../e.ts'" },
    { path: 'client/b.ts', text: "export * from '../c.ts'" },
    { path: 'c.ts', text: "const d = await import('./d.ts')" },
    { path: 'd.ts', text: "type A = typeof import('./client/a.ts')" },
    { path: 'e.ts', text: "import {\n  type E,\n} from './e.ts'" },
  ]
  expect(circlesAmong(files)).toEqual([
    'client/a.ts -> client/b.ts -> c.ts -> d.ts -> client/a.ts',
    'e.ts -> e.ts',
  ])
})
