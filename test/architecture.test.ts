/**
 * The house rules of the code (README, "Layout"), read from its source text. Type-only imports count:
 * a slice that knows another's types knows the other slice.
 */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import { migrations } from '../src/platform/db/migrate.ts'
import * as schema from '../src/platform/db/schema/index.ts'

const root = join(import.meta.dir, '..')

/** What everybody may know. */
const common = ['kernel', 'identity', 'audit'] as const

/** What of the resolver the local proxy does the same with: nothing that knows tokens or the database. */
const stepsOfResolver = [
  'address_book',
  'call',
  'credentials',
  'deadline',
  'dial',
  'forward_links',
  'headers',
  'locations',
  'placeholders',
  'plan',
  'stream_answer',
  'target',
  'websocket',
  'websocket_dial',
  'websocket_frames',
].map((name) => `resolver/${name}.ts`)

/**
 * Who may import whom, by the folder in src/ (or the file, for those that lie there). A slice that is
 * not named follows `slice`; `x/file.ts` permits one file of a folder.
 */
const rules: Record<string, readonly string[]> = {
  kernel: [],
  identity: ['kernel'],
  audit: ['kernel', 'identity'],
  broker: common,
  resolver: [...common, 'broker', 'secrets/index.ts', 'allowlist/index.ts'],
  workloads: [...common, 'broker', 'secrets/index.ts', 'allowlist/index.ts'],
  client: ['kernel', '*/contract.ts'],
  proxy: ['kernel', 'client', '*/contract.ts', ...stepsOfResolver],
  console: ['kernel', 'client', '*/contract.ts'],
}
const slice = common
/** The composition root and those above it. */
const unbound = ['app.ts', 'main.ts', 'cli', 'dev']

/** Listed files may be longer; there is none. */
const longFiles: readonly string[] = []
const MAX_LINES = 250

type Source = { path: string; text: string }

const sources: Source[] = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, 'src', path), 'utf8') }))

function importsOf({ text }: Source): string[] {
  const found = text.matchAll(/(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*['"]([^'"]+)['"]/g)
  return [...found].map((match) => match[1] ?? '')
}

/** The imported files inside the project, relative to src/. */
function innerImportsOf(source: Source): string[] {
  return importsOf(source)
    .filter((target) => target.startsWith('.'))
    .map((target) => relative('', join(dirname(source.path), target)))
}

function homeOf(path: string): string {
  return path.split('/')[0] ?? path
}

/** Migrations, package.json and templates lie outside src/. */
function isOutside(path: string): boolean {
  return path.startsWith('..')
}

function isAllowed(from: string, target: string): boolean {
  const [home, other] = [homeOf(from), homeOf(target)]
  if (unbound.includes(home) || home === other) return true
  const allowed = rules[home] ?? slice
  return (
    allowed.includes(other) ||
    allowed.includes(target) ||
    (allowed.includes('*/contract.ts') && /^[a-z_]+\/contract\.ts$/.test(target))
  )
}

describe('dependencies', () => {
  test('no module imports what the table does not permit', () => {
    const broken = sources.flatMap((source) =>
      innerImportsOf(source)
        .filter((target) => !isOutside(target) && !isAllowed(source.path, target))
        .map((target) => `${source.path} -> ${target}`),
    )
    expect(broken).toEqual([])
  })

  test('nothing outside src/ is imported but migrations, package.json and the database template', () => {
    // The runner of the suite looks for PostgreSQL in the way in which the suite does.
    const shipped = sources.filter(({ path }) => path !== 'dev/test.ts')
    const outside = shipped.flatMap((source) => innerImportsOf(source).filter(isOutside))
    const odd = outside.filter(
      (path) => !/^\.\.\/(drizzle\/|package\.json$|dist\/pgdata\.tar\.gz$)/.test(path),
    )
    expect(odd).toEqual([])
  })

  test('the rule sees type-only imports, re-exports and dynamic imports', () => {
    const text = [
      "import type { A } from '../secrets/queries.ts'",
      "export * from '../projects/contract.ts'",
      "const x = await import('../agents/index.ts')",
    ].join('\n')
    const seen = innerImportsOf({ path: 'allowlist/index.ts', text })
    expect(seen).toEqual(['secrets/queries.ts', 'projects/contract.ts', 'agents/index.ts'])
    expect(seen.map((target) => isAllowed('allowlist/index.ts', target))).toEqual([
      false,
      false,
      false,
    ])
    expect(isAllowed('resolver/views.ts', 'secrets/index.ts')).toBe(true)
    expect(isAllowed('resolver/views.ts', 'secrets/queries.ts')).toBe(false)
    expect(isAllowed('client/api.ts', 'secrets/contract.ts')).toBe(true)
    expect(isAllowed('client/api.ts', 'secrets/index.ts')).toBe(false)
    expect(isAllowed('kernel/serve.ts', 'identity/index.ts')).toBe(false)
  })

  test('only serve.ts, the reference page and the benches know Elysia', () => {
    const knowing = sources
      .filter((source) => importsOf(source).some((target) => /^(elysia|@elysiajs\/)/.test(target)))
      .map(({ path }) => path)
      .filter((path) => path !== 'kernel/serve.ts' && !['reference', 'dev'].includes(homeOf(path)))
    expect(knowing).toEqual([])
  })

  test('the environment is read by config.ts and the command line only', () => {
    const readers = sources
      .filter(({ text }) => /\b(?:process|Bun)\.env\b|\bimport\.meta\.env\b/.test(text))
      .map(({ path }) => path)
      .filter((path) => path !== 'kernel/config.ts' && !['cli', 'dev'].includes(homeOf(path)))
    expect(readers).toEqual([])
  })
})

test(`no file of src/ has more than ${MAX_LINES} lines`, () => {
  const long = sources
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ path, lines }) => lines > MAX_LINES && !longFiles.includes(path))
  expect(long).toEqual([])
})

describe('migrations', () => {
  const journal: { entries: { idx: number; tag: string }[] } = JSON.parse(
    readFileSync(join(root, 'drizzle/meta/_journal.json'), 'utf8'),
  )

  test('every file is registered, in the order of the journal', () => {
    const tags = journal.entries.map(({ tag }) => tag)
    const files = readdirSync(join(root, 'drizzle')).filter((name) => name.endsWith('.sql'))
    expect(migrations.map(({ name }) => name)).toEqual(tags)
    expect(files.sort()).toEqual(tags.map((tag) => `${tag}.sql`).sort())
    for (const { name, text } of migrations) {
      expect(text).toBe(readFileSync(join(root, `drizzle/${name}.sql`), 'utf8'))
    }
  })

  test('together they make the schema that the queries are typed by', async () => {
    const last = journal.entries.at(-1)
    const number = String(last?.idx ?? 0).padStart(4, '0')
    const snapshot = JSON.parse(
      readFileSync(join(root, `drizzle/meta/${number}_snapshot.json`), 'utf8'),
    )
    const current = generateDrizzleJson(schema, snapshot.id, undefined, 'snake_case')
    expect(await generateMigration(snapshot, current)).toEqual([])
  })
})
