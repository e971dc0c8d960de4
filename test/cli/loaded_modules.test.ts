// tier: quick
/** Modules that a command loads at start, by the imports in its files: only the ones that it uses. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = join(import.meta.dir, '../../src')
const transpiler = new Bun.Transpiler({ loader: 'ts' })

/** The files and packages that are loaded with these, except types and dynamic imports. */
function loadedWith(...entries: readonly string[]): Set<string> {
  const loaded = new Set(entries)
  for (const target of loaded) for (const next of importsOf(target)) loaded.add(next)
  return loaded
}

function importsOf(target: string): string[] {
  const path = join(root, target)
  if (!target.endsWith('.ts') || !existsSync(path)) return []
  return transpiler
    .scanImports(readFileSync(path, 'utf8').replace(/^#!.*/, ''))
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path: name }) =>
      name.startsWith('.') ? relative(root, join(dirname(path), name)) : name,
    )
}

const START = ['main.ts', 'cli/program.ts', 'cli/context.ts', 'cli/arguments.ts']
const RUN = [...START, 'cli/commands/use/run.ts']
const SESSION = [
  ...RUN,
  'cli/session/session.ts',
  'cli/trust/chains.ts',
  'cli/values/session_source.ts',
]

/** Contracts consist of hundreds of schemas each; the others are large, or load large ones. */
const LARGE =
  /^features\/\w+\/contract\.ts$|^resolver\/contract\.ts$|^leak_guard\/index\.ts$|^cli\/terminal\/explain\.ts$|^(tldts|hash-wasm|elysia|drizzle-orm|postgres)$/

test.each([
  ['--version', ['main.ts', 'cli/commands/machine/version.ts'], []],
  ['any command', START, []],
  ['a run with a token', [...RUN, 'cli/tokens/token_source.ts'], ['links', 'workloads']],
  ['a run by the session', SESSION, ['agents', 'links', 'projects', 'secrets', 'workspaces']],
])('%s loads no contract and no large module that it does not use', (_, entries, features) => {
  const large = [...loadedWith(...entries)].filter((target) => LARGE.test(target)).sort()
  expect(large).toEqual(features.map((feature) => `features/${feature}/contract.ts`))
})

test('--version loads no package, and no slow module of the runtime', () => {
  const loaded = [...loadedWith('main.ts', 'cli/commands/machine/version.ts')]
  const others = loaded.filter((target) => !/\.(ts|json)$/.test(target)).sort()
  expect(others).toEqual(['node:os', 'node:path'])
})
