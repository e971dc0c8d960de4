// tier: all
/**
 * The console's contracts accept, reject and report the same with `zod.browser.ts` as with zod. All schemas of all
 * files in the console's build that import zod are compared, with valid examples and with many changes to each one.
 */
import { afterAll, beforeAll, expect, setSystemTime, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { browserFiles } from '../../src/dev/browser_files.ts'
import { changesOf } from './changed_values.ts'

const ROOT = join(import.meta.dir, '..', '..')
const WEB = join(ROOT, 'src', 'console', 'web')
const ENTRIES = [join(WEB, 'main.tsx'), join(WEB, 'keys', 'worker.ts')]
const COMPLAINTS = join(ROOT, 'src', 'core', 'validation', 'complaints.ts')
const ZOD = join(ROOT, 'src', 'core', 'validation', 'zod.browser.ts')
/** Packages have folders of that name, too. */
const OWN_SOURCE = /^(?!.*node_modules\/)(.*\/)?src\//
/** More signed texts of a kind add no other changes. */
const MOST_SAMPLES = 4
/** Names of `z` that are types only. */
const TYPES = /^(input|output|infer|Zod\w+|RefinementCtx|core\.\$\w+)$/
/** Other sources than zod for a method that the page calls. */
const BUILT_IN = [Array, String, Promise, Map, Set, Response, TextEncoder, TextDecoder, RegExp]

type Issue = { code: string; path: PropertyKey[] }
type Parsed = { success: boolean; data?: unknown; error?: { issues: Issue[] } }
type Schema = { safeParse(value: unknown, options: object): Parsed }
type Half = { schemas: Map<string, Schema>; faultsOf(issues: Issue[]): unknown; z: object }

let files: string[] = []
let inPage: Half
let onServer: Half

beforeAll(async () => {
  // Times such as `7d` count from now.
  setSystemTime(new Date('2026-03-14T09:26:53.589Z'))
  files = await filesWithSchemas()
  inPage = await builtHalf()
  onServer = await serverHalf()
})
afterAll(() => {
  setSystemTime()
})

/** Files in the console's build that use zod, not only its types. */
async function filesWithSchemas(): Promise<string[]> {
  const { metafile } = await Bun.build({
    entrypoints: ENTRIES,
    target: 'browser',
    metafile: true,
    plugins: [browserFiles],
    external: ['*.css'],
    define: { ARGON2_WORKER: '""' },
  })
  const inputs = Object.keys(metafile?.inputs ?? {}).filter((path) => OWN_SOURCE.test(path))
  return inputs
    .map((path) => join(ROOT, path.slice(path.indexOf('src/'))))
    .filter((path) => /^import \{ z \} from 'zod'$/m.test(readFileSync(path, 'utf8')))
}

async function builtHalf(): Promise<Half> {
  const folder = await mkdtemp(join(tmpdir(), 'zod-in-the-page-'))
  const entry = join(folder, 'entry.ts')
  const lines = [...files, COMPLAINTS, ZOD].map(
    (path, index) => `export * as m${index} from ${JSON.stringify(path)}`,
  )
  await Bun.write(entry, lines.join('\n'))
  // Bun would import `entry.ts` for `entry.js` beside it.
  const outdir = join(folder, 'built')
  const built = await Bun.build({ entrypoints: [entry], outdir, plugins: [browserFiles] })
  const [output] = built.outputs
  const modules = await import(output?.path ?? '')
  await rm(folder, { recursive: true })
  const half = files.map((path, index): [string, object] => [path, modules[`m${index}`]])
  const { fieldFaults } = modules[`m${files.length}`]
  return { schemas: schemasOf(half), faultsOf: fieldFaults, z: modules[`m${files.length + 1}`].z }
}

async function serverHalf(): Promise<Half> {
  const half = await Promise.all(
    files.map(async (path): Promise<[string, object]> => [path, await import(path)]),
  )
  const { fieldFaults } = await import(COMPLAINTS)
  const { z } = await import('zod')
  return { schemas: schemasOf(half), faultsOf: fieldFaults, z }
}

/** All schemas that modules export, alone or inside endpoints, with their location. */
function schemasOf(modules: readonly [string, object][]): Map<string, Schema> {
  const found = new Map<string, Schema>()
  const visit = (place: string, value: unknown, depth: number) => {
    if (typeof value !== 'object' || value === null || depth > 4) return
    if ('_zod' in value) found.set(place, value as unknown as Schema)
    else
      for (const [name, inner] of Object.entries(value)) visit(`${place} ${name}`, inner, depth + 1)
  }
  for (const [path, module] of modules) visit(path.slice(ROOT.length + 1), module, 0)
  return found
}

function verdictOf(half: Half, place: string, value: unknown) {
  const parsed = half.schemas.get(place)?.safeParse(value, { reportInput: true })
  const { success, data, error } = parsed as Parsed
  const issues = error?.issues ?? []
  const kinds = issues.map(({ code, path }) => ({ code, path }))
  return { success, data, kinds, faults: half.faultsOf(issues) }
}

/** The documentation's examples, or accepted samples for a schema without documentation. */
async function examplesOf(place: string): Promise<unknown[]> {
  const schema = onServer.schemas.get(place) as unknown as Parameters<typeof jsonSchemaOf>[0]
  const { exampleOf } = await import('../../src/http/openapi/example.ts')
  const { jsonSchemaOf } = await import('../../src/http/openapi/json_schema.ts')
  const { samples } = await import('./schema_samples.ts')
  const documented = [
    exampleOf(jsonSchemaOf(schema, 'input')),
    exampleOf(jsonSchemaOf(schema, 'output')),
  ]
  if (documented.some((value) => compare(place, value))) return documented
  const accepted = samples.filter((value) => compare(place, value))
  return [...documented, ...accepted.slice(0, MOST_SAMPLES)]
}

test('the page has the schemas of the server, made by zod.browser.ts', () => {
  expect(files.length).toBeGreaterThan(30)
  expect(onServer.schemas.size).toBeGreaterThan(250)
  expect(namesOfKinds(inPage).filter((name) => !name.startsWith('Page'))).toEqual([])
  expect(namesOfKinds(onServer).filter((name) => name.startsWith('Page'))).toEqual([])
  expect([...inPage.schemas.keys()]).toEqual([...onServer.schemas.keys()])
})

function namesOfKinds({ schemas }: Half): string[] {
  return [...schemas.values()].map((schema) => schema.constructor.name)
}

test('every schema gives the same result in the page as on the server', async () => {
  const sums = { accepted: 0, rejected: 0 }
  const withoutSample: string[] = []
  for (const place of onServer.schemas.keys()) {
    const values = (await examplesOf(place)).flatMap((example) => [...changesOf(example)])
    const accepted = values.filter((value) => compare(place, value))
    if (accepted.length === 0) withoutSample.push(place)
    sums.accepted += accepted.length
    sums.rejected += values.length - accepted.length
  }
  expect(withoutSample).toEqual([])
  expect(sums.accepted).toBeGreaterThan(2_000)
  expect(sums.rejected).toBeGreaterThan(20_000)
})

/** Returns whether the schema accepts the value. @throws Error if the halves disagree */
function compare(place: string, value: unknown): boolean {
  const expected = verdictOf(onServer, place, value)
  const actual = verdictOf(inPage, place, value)
  if (!Bun.deepEquals(actual, expected, true))
    expect({ place, value, ...actual }).toEqual({ place, value, ...expected })
  return expected.success
}

test('zod.browser.ts has every function of zod that the page names', () => {
  const missing = files.flatMap((path) => {
    const text = readFileSync(path, 'utf8')
    const names = [...text.matchAll(/\bz\s*\.((?:core|iso|coerce)\.\$?\w+|\w+)/g)].map(
      ([, name = '']) => name,
    )
    return names
      .filter((name) => !TYPES.test(name) && !has(inPage.z, name))
      .map((name) => `${path}: z.${name}`)
  })
  expect(missing).toEqual([])
})

function has(object: object, name: string): boolean {
  const value = name
    .split('.')
    .reduce<unknown>((inner, part) => Reflect.get(Object(inner), part), object)
  return value !== undefined
}

test('zod.browser.ts has every method of schemas that the page calls, also inside functions', () => {
  const known = methodsOf(onServer)
  const small = methodsOf(inPage)
  const builtIn = new Set(
    BUILT_IN.flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype)),
  )
  const missing = files.flatMap((path) => {
    const names = [
      ...readFileSync(path, 'utf8').matchAll(/(?<!\b(?:z|iso|core|Math)\s*)\.(\w+)\(/g),
    ].map(([, name = '']) => name)
    return names
      .filter((name) => known.has(name) && !small.has(name) && !builtIn.has(name))
      .map((name) => `${path}: .${name}()`)
  })
  expect(missing).toEqual([])
})

/** Names of the methods of all schemas, wherever zod stores them. */
function methodsOf({ schemas }: Half): Set<string> {
  const names = [...schemas.values()].flatMap((schema) => [
    ...Object.getOwnPropertyNames(schema),
    ...Object.getOwnPropertyNames(Object.getPrototypeOf(schema)),
  ])
  return new Set(names)
}
