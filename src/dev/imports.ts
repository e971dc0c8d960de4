/** Lists packages that source files import at run time. Type-only imports do not count. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const transpilers = {
  ts: new Bun.Transpiler({ loader: 'ts' }),
  tsx: new Bun.Transpiler({ loader: 'tsx' }),
}

/** Returns a file's imports, static or dynamic: relative paths as absolute ones, others as written. */
export function importsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8').replace(/^#!.*/, '')
  const found = transpilers[path.endsWith('.tsx') ? 'tsx' : 'ts'].scanImports(text)
  return found.map(({ path: target }) =>
    target.startsWith('.') ? join(dirname(path), target) : target,
  )
}

/** The names of the packages that some files import. */
export function packagesOf(paths: Iterable<string>): Set<string> {
  const targets = [...paths].flatMap(importsOf)
  return new Set(targets.filter(isPackage).map(packageName))
}

/** The files that some files reach through imports, these included. */
export function findReachable(paths: readonly string[]): Set<string> {
  const reached = new Set(paths)
  for (const path of reached) {
    for (const target of importsOf(path))
      if (/\.tsx?$/.test(target) && existsSync(target)) reached.add(target)
  }
  return reached
}

function isPackage(target: string): boolean {
  return !/^(\/|node:|bun:|bun$)/.test(target)
}

/** `zod/v4` and `@noble/hashes/sha2.js` are parts of packages. */
function packageName(target: string): string {
  return target.split('/', target.startsWith('@') ? 2 : 1).join('/')
}
