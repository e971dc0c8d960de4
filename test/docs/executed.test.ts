// tier: quick
/**
 * A test executes each command, request and settings file of README, Start and the guides. A test names what it
 * executes with `blocksOf`, `scriptOf` or `linesOf` (./blocks.ts).
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { allBlocks, type Block } from './blocks.ts'
import { ROOT } from './documents.ts'

const PAGES = /^(README\.md|docs\/(start|guides)\/)/
/** Languages of texts that people or models read, and nothing executes. */
const TEXTS = ['text', 'markdown']

/** By page and name of the block: why no test can execute it, and what checks it instead. */
const NOT_EXECUTED: Record<string, string> = {
  'README.md test':
    'It runs every quick test, also the test that would execute it; .ci/run executes it, and test/runner checks it.',
  'docs/start/install.md windows':
    'needs PowerShell; test/dev/release/release.test.ts compares the hash of each file with SHA256SUMS',
}

const nameOf = ({ page, name }: Block) => `${page} ${name}`

/** The blocks that test files request, as `page name`, or `page` for all blocks. */
async function findRequestedBlocks(): Promise<Set<string>> {
  const found = new Set<string>()
  for (const path of new Bun.Glob('test/**/*.ts').scanSync({ cwd: ROOT })) {
    const source = await Bun.file(join(ROOT, path)).text()
    const calls = source.matchAll(
      /\b(?:blocksOf|scriptOf|linesOf)\(\s*'([^']+\.md)'(?:,\s*'([^']+)')?/g,
    )
    for (const [, page = '', name] of calls)
      found.add(name === undefined ? page : `${page} ${name}`)
    for (const [, page] of source.matchAll(/\btakeTour\('([^']+)'[,)]/g))
      for (const name of ['server', 'tour']) found.add(`${page} ${name}`)
  }
  return found
}

const blocks = allBlocks.filter(
  ({ page, language }) => PAGES.test(page) && !TEXTS.includes(language),
)

test('a test executes each block of README, Start and the guides, or a reason says why not', async () => {
  const known = await findRequestedBlocks()
  const isExecuted = (block: Block) =>
    block.name !== '' && (known.has(nameOf(block)) || known.has(block.page))
  const missing = blocks.filter((block) => !isExecuted(block) && !(nameOf(block) in NOT_EXECUTED))
  expect(
    missing.map(({ page, line, language, name }) => `${page}:${line} ${language} ${name}`),
  ).toEqual([])
  const executed = blocks.filter(isExecuted).map(nameOf)
  expect(Object.keys(NOT_EXECUTED).filter((name) => executed.includes(name))).toEqual([])
  const existing = new Set(blocks.map(nameOf))
  expect(Object.keys(NOT_EXECUTED).filter((name) => !existing.has(name))).toEqual([])
})
