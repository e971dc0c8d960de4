/** The test files to run, and their databases. A file's first line states its tier and its databases. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const ROOT = join(import.meta.dir, '..', '..')

export type Tier = 'quick' | 'all'
export type DatabaseKind = 'postgresql' | 'embedded'
/** `once`: on the main database; `in test:all`: there also on the other one; `always`: on both in each tier. */
type Databases = 'once' | 'in test:all' | 'always'

export type TestFile = { path: string; tier: Tier; databases: Databases }

/** The test files of one database; `names` is a pattern that keeps some of their tests. */
export type Pass = { database: DatabaseKind; files: string[]; names?: string }

const TIER_LINE = /^\/\/ tier: (quick|all)(?:, both databases (in test:all|always))?\n/

/** @throws Error for a file whose first line states no tier */
export function listTestFiles(): TestFile[] {
  const paths = [...new Bun.Glob('test/**/*.test.{ts,tsx}').scanSync({ cwd: ROOT })].sort()
  return paths.map(readTestFile)
}

function readTestFile(path: string): TestFile {
  const found = TIER_LINE.exec(readFileSync(join(ROOT, path), 'utf8'))
  if (!found)
    throw new Error(
      `${path}: the first line states no tier. Write "// tier: quick" (see CONTRIBUTING.md).`,
    )
  const [, tier, databases = 'once'] = found
  return { path, tier: tier as Tier, databases: databases as Databases }
}

export type Request = {
  tier: Tier
  /** Parts of paths, or of test names if no path has them. */
  words: readonly string[]
  /** Leaves out what `bun run test` has run in full just before. */
  rest: boolean
  main: DatabaseKind
  /** The other database; `null` where PostgreSQL is not installed. */
  other: DatabaseKind | null
}

/** The files of a run, and how many test files the tier leaves out. */
export function plan(
  files: readonly TestFile[],
  request: Request,
): { passes: Pass[]; leftOut: number } {
  const { tier, words, main, other } = request
  if (words.length > 0) return { passes: planWords(files, request), leftOut: 0 }
  const chosen = files.filter((file) => tier === 'all' || file.tier === 'quick')
  const onMain = chosen.filter((file) => !request.rest || isUnfinished(file))
  const onOther = chosen.filter(
    ({ databases }) =>
      (tier === 'all' && databases === 'in test:all') || (databases === 'always' && !request.rest),
  )
  const passes = [passOf(main, onMain), ...(other === null ? [] : [passOf(other, onOther)])]
  return { passes, leftOut: files.length - chosen.length }
}

/** Files that the quick tier leaves out or samples. */
function isUnfinished({ path, tier }: TestFile): boolean {
  return tier === 'all' || reaches(path, SAMPLING)
}

const passOf = (database: DatabaseKind, files: readonly TestFile[]): Pass => ({
  database,
  files: files.map(({ path }) => path),
})

function planWords(files: readonly TestFile[], { words, main, other }: Request): Pass[] {
  const given = words.map((word) => word.replace(/^\.\//, ''))
  const exact = given.filter((path) => /\.tsx?$/.test(path) && existsSync(join(ROOT, path)))
  const byPath = files.filter(({ path }) => given.some((word) => path.includes(word)))
  const isNamed = byPath.length + exact.length === 0
  const names = given.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')
  const found = isNamed ? files.filter(({ path }) => hasText(path, names)) : byPath
  const onBoth = found.filter(({ databases }) => databases !== 'once')
  const unlisted = exact.filter((path) => !found.some((file) => file.path === path))
  const passes = [passOf(main, found), ...(other === null ? [] : [passOf(other, onBoth)])]
  passes[0]?.files.push(...unlisted)
  return isNamed ? passes.map((pass) => ({ ...pass, names })) : passes
}

function hasText(path: string, pattern: string): boolean {
  return new RegExp(pattern).test(readFileSync(join(ROOT, path), 'utf8'))
}

/** A test file that imports one of these does less in the quick tier. */
const SAMPLING = ['test/support/effort.ts', 'test/support/sample.ts'].map((path) =>
  join(ROOT, path),
)

/** Whether a test file imports one of the targets through files of the tests. */
export function reaches(file: string, targets: readonly string[]): boolean {
  const seen = new Set<string>()
  const walk = (path: string): boolean => {
    if (targets.includes(path)) return true
    if (seen.has(path) || !path.startsWith(join(ROOT, 'test')) || !existsSync(path)) return false
    seen.add(path)
    return importsOf(path).some((name) => walk(join(dirname(path), name)))
  }
  return walk(join(ROOT, file))
}

function importsOf(path: string): string[] {
  const found = readFileSync(path, 'utf8').matchAll(/\bfrom\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/g)
  return [...found].map(([, fixed = '', dynamic = '']) => fixed || dynamic)
}
