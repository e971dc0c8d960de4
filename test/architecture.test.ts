// tier: quick
/**
 * Checks the rules of docs/internals/architecture.md, "Modules", in the source text. Type-only imports count, because
 * they couple modules too.
 */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import { migrations } from '../src/database/migrations/migrate.ts'
import * as schema from '../src/database/schema/index.ts'
import { importsOf, innerImportsOf, sources } from './support/source_imports.ts'

const root = join(import.meta.dir, '..')

/** Contracts describe endpoints as data, so clients may import them. */
const contracts = '*/contract.ts'

/**
 * The folders of src that each folder may import (docs/internals/architecture.md, "Modules"). A rule applies to all
 * files of the folder. `main.ts` only calls `cli`.
 */
const rules: Record<string, readonly string[]> = {
  'main.ts': ['cli'],
  cli: [
    'console',
    'server',
    'operator',
    'proxy',
    'client',
    'derivation',
    'leak_guard',
    'sigchain',
    'http',
    'core',
    contracts,
  ],
  console: ['client', 'derivation', 'sigchain', 'http', 'core', contracts],
  server: [
    'console',
    'operator',
    'features',
    'resolver',
    'renewal',
    'approvals',
    'notices',
    'outbound',
    'access',
    'audit',
    'identity',
    'http',
    'database',
    'core',
    contracts,
  ],
  operator: ['features', 'outbound', 'database', 'core'],
  features: [
    'renewal',
    'notices',
    'outbound',
    'access',
    'audit',
    'identity',
    'sigchain',
    'http',
    'database',
    'core',
  ],
  resolver: [
    'renewal',
    'approvals',
    'notices',
    'outbound',
    'access',
    'audit',
    'identity',
    'derivation',
    'leak_guard',
    'sigchain',
    'http',
    'database',
    'core',
  ],
  proxy: ['outbound', 'client', 'derivation', 'leak_guard', 'sigchain', 'http', 'core', contracts],
  outbound: ['derivation', 'leak_guard', 'sigchain', 'http', 'core'],
  derivation: ['core'],
  leak_guard: ['core/crypto'],
  access: ['audit', 'identity', 'sigchain', 'http', 'database', 'core'],
  approvals: ['notices', 'database', 'core'],
  renewal: ['notices', 'outbound', 'access', 'audit', 'derivation', 'http', 'database', 'core'],
  notices: ['outbound', 'database', 'core'],
  sigchain: ['core/crypto'],
  audit: ['http', 'database', 'core'],
  identity: ['http', 'database', 'core'],
  client: ['derivation', 'sigchain', 'http', 'core', contracts],
  http: ['database', 'core'],
  database: ['core'],
  core: [],
  /** Builds and generators: the executable contains none of them. */
  dev: [
    'cli',
    'console',
    'server',
    'operator',
    'features',
    'resolver',
    'access',
    'notices',
    'http',
    'database',
    'core',
  ],
}

/** Code that runs on a member's machine, or on both sides, never accesses the database. */
const withoutDatabase = [
  'cli',
  'console',
  'proxy',
  'outbound',
  'leak_guard',
  'client',
  'derivation',
  'sigchain',
]

/** Files that may be longer; the list is empty. */
const longFiles: readonly string[] = []
const MAX_LINES = 250

/** The folder that a rule applies to; a feature is a separate folder. */
function roomOf(path: string): string {
  const [first = path, second = ''] = path.split('/')
  return first === 'features' ? `${first}/${second}` : first
}

/** Migrations, package.json and templates lie outside src/. */
function isOutside(path: string): boolean {
  return path.startsWith('..')
}

function isAllowed(from: string, target: string): boolean {
  const [room, other] = [roomOf(from), roomOf(target)]
  if (room === other) return true
  if (withoutDatabase.includes(room) && target.startsWith('database/')) return false
  // A feature exports only its index and its contract to other features.
  const isFace = /^features\/\w+\/(index|contract)\.ts$/.test(target)
  if (room.startsWith('features/') && other.startsWith('features/')) return isFace
  const allowed = rules[room] ?? rules[room.split('/')[0] ?? ''] ?? []
  return allowed.some(
    (name) =>
      target.startsWith(`${name}/`) || (name === contracts && /\/contract\.ts$/.test(target)),
  )
}

/** Files that are being moved. The list must be empty afterwards. */
const pending: readonly string[] = []

function neighboursOf(room: string): string[] {
  const targets = sources
    .filter(({ path }) => roomOf(path) === room)
    .flatMap((source) => innerImportsOf(source).map(roomOf))
  return [...new Set(targets)].filter((other) => other.startsWith('features/') && other !== room)
}

function reachesItself(room: string, known: ReadonlyMap<string, readonly string[]>): boolean {
  const reached = new Set<string>(known.get(room))
  for (const next of reached) for (const other of known.get(next) ?? []) reached.add(other)
  return reached.has(room)
}

describe('dependencies', () => {
  test('no module imports what the table does not permit', () => {
    const broken = sources.flatMap((source) =>
      innerImportsOf(source)
        .filter((target) => !isOutside(target) && !isAllowed(source.path, target))
        .map((target) => `${source.path} -> ${target}`),
    )
    expect(broken.filter((arrow) => !pending.includes(arrow))).toEqual([])
  })

  test('features import each other in no circle', () => {
    const features = [...new Set(sources.map(({ path }) => roomOf(path)))].filter((room) =>
      room.startsWith('features/'),
    )
    const known = new Map(features.map((room) => [room, neighboursOf(room)]))
    const circles = features.filter((room) => reachesItself(room, known))
    expect(circles).toEqual([])
  })

  test('src/ imports nothing from outside but migrations, package.json with its lock and the built archives', () => {
    const outside = sources.flatMap((source) => innerImportsOf(source).filter(isOutside))
    const odd = outside.filter(
      (path) =>
        !/^\.\.\/(drizzle\/|package\.json$|bun\.lock$|dist\/(console|docs)\.tar$)/.test(path),
    )
    expect(odd).toEqual([])
  })

  test('the rule covers type-only imports, re-exports and dynamic imports', () => {
    const text = [
      "import type { A } from '../secrets/queries.ts'",
      "export * from '../projects/contract.ts'",
      "const x = await import('../agents/index.ts')",
    ].join('\n')
    const seen = innerImportsOf({ path: 'features/allowlist/index.ts', text })
    const found = ['secrets/queries.ts', 'projects/contract.ts', 'agents/index.ts']
    expect(seen).toEqual(found.map((name) => `features/${name}`))
  })

  test('the rule accepts permitted imports and rejects others', () => {
    const judged = (from: string, ...targets: string[]) =>
      targets.map((target) => isAllowed(from, target))
    const feature = 'features/allowlist/index.ts'
    expect(judged(feature, 'features/secrets/index.ts', 'features/secrets/queries.ts')).toEqual([
      true,
      false,
    ])
    expect(judged('client/api.ts', 'features/secrets/contract.ts')).toEqual([true])
    expect(judged('client/api.ts', 'features/secrets/index.ts', 'outbound/target.ts')).toEqual([
      false,
      false,
    ])
    expect(judged('leak_guard/a.ts', 'core/crypto/a.ts', 'core/log.ts')).toEqual([true, false])
    expect(judged('proxy/a.ts', 'outbound/a.ts', 'database/open.ts')).toEqual([true, false])
    expect(judged('http/serve.ts', 'identity/index.ts')).toEqual([false])
  })

  test('the table of docs/internals/architecture.md matches the rules', () => {
    const [, table = ''] = readFileSync(join(root, 'docs/internals/architecture.md'), 'utf8').split(
      '## Modules',
    )
    const rows = [...table.matchAll(/^\| `([^`]+)` \| .* \| ?(.*) ?\|$/gm)]
    const documented = rows.map(([, name = '', cell = '']) => ({
      name,
      imports: [...cell.matchAll(/`([^`]+)`|\b(contracts)\b/g)].map(
        (found) => found[1] ?? contracts,
      ),
      database: !cell.includes('without the database'),
    }))
    const enforced = Object.entries(rules).map(([name, imports]) => ({
      name,
      imports: [...imports],
      database: !withoutDatabase.includes(name),
    }))
    expect(documented).toEqual(enforced)
  })

  test('code that runs in the browser is imported by the browser only', () => {
    const importing = sources.filter(
      (source) =>
        !source.path.startsWith('console/web/') &&
        innerImportsOf(source).some((target) => target.startsWith('console/web/')),
    )
    expect(importing.map(({ path }) => path)).toEqual([])
  })

  test('serve.ts is imported only by the modules that compose a server', () => {
    const importing = sources
      .filter((source) => innerImportsOf(source).includes('http/serve.ts'))
      .map(({ path }) => roomOf(path))
    expect(new Set(importing)).toEqual(new Set(['server']))
  })

  test('Elysia is imported only by serve.ts, the reference page and the benches', () => {
    const knowing = sources
      .filter((source) => importsOf(source).some((target) => /^(elysia|@elysiajs\/)/.test(target)))
      .map(({ path }) => path)
      .filter((path) => path !== 'http/serve.ts')
      .filter((path) => !['features/reference', 'dev'].includes(roomOf(path)))
    expect(knowing).toEqual([])
  })

  test('the environment is read only by config.ts, the command line and the start of a server', () => {
    const readers = sources
      .filter(({ text }) => /\b(?:process|Bun)\.env\b|\bimport\.meta\.env\b/.test(text))
      .map(({ path }) => path)
      .filter(
        (path) =>
          ![
            'core/config/config.ts',
            // Starts the program again without variables that would change it.
            'core/clean_environment.ts',
            // Messages about variables of other programs.
            'client/agents/set_up_texts.ts',
            // Gives the console's build PATH and HOME, and nothing else.
            'console/build_on_demand.ts',
          ].includes(path) && !['cli', 'server', 'operator', 'dev'].includes(roomOf(path)),
      )
    expect(readers).toEqual([])
  })

  test('a command uses the environment, folder and streams of its host, and not those of the process', () => {
    const users = sources
      .filter(({ path }) => path.startsWith('cli/'))
      .filter(({ text }) => /\bprocess\.(?:env|cwd|stdin|stdout|stderr)\b|\bhomedir\(/.test(text))
      .map(({ path }) => path)
    expect(users.sort()).toEqual([
      // A demo server on one machine, without configuration.
      'cli/demo/index.ts',
      // Standard input is read differently if it is the process's own.
      'cli/files/read.ts',
      'cli/host.ts',
      // A child in a pseudo-terminal, and a closed pipe: both belong to the process.
      'cli/terminal/child.ts',
      'cli/terminal/streams.ts',
      // Runs as a separate process.
      'cli/unlocked/agent.ts',
    ])
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

  test('every migration file is registered, in the order of the journal', () => {
    const tags = journal.entries.map(({ tag }) => tag)
    const files = readdirSync(join(root, 'drizzle')).filter((name) => name.endsWith('.sql'))
    expect(migrations.map(({ name }) => name)).toEqual(tags)
    expect(files.sort()).toEqual(tags.map((tag) => `${tag}.sql`).sort())
    for (const { name, text } of migrations) {
      expect(text).toBe(readFileSync(join(root, `drizzle/${name}.sql`), 'utf8'))
    }
  })

  test('all migrations together create the schema that the queries are typed by', async () => {
    const last = journal.entries.at(-1)
    const number = String(last?.idx ?? 0).padStart(4, '0')
    const snapshot = JSON.parse(
      readFileSync(join(root, `drizzle/meta/${number}_snapshot.json`), 'utf8'),
    )
    const current = generateDrizzleJson(schema, snapshot.id, undefined, 'snake_case')
    expect(await generateMigration(snapshot, current)).toEqual([])
  })
})
