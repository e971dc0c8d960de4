// tier: quick
/** The module is the same for servers, workers and browsers: it uses no feature that only one of them has. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { replay } from '../../src/sigchain/index.ts'
import { links, workspaceId } from './vector_support.ts'

const FOLDER = join(import.meta.dir, '../../src/sigchain')

test('the code runs with only the language and Web Crypto', async () => {
  const { outputs } = await Bun.build({
    entrypoints: [join(FOLDER, 'index.ts')],
    target: 'browser',
    format: 'cjs',
    // The bundler would silently replace these; unchanged, they fail here.
    external: ['node:*', 'bun', 'bun:*'],
  })
  const module: { exports: { replay?: typeof replay } } = { exports: {} }
  const page = createContext({ module, crypto, TextEncoder, TextDecoder, URL })
  runInContext((await outputs[0]?.text()) ?? '', page)
  const chain = await module.exports.replay?.(workspaceId, links)
  expect(chain?.head).toBe((await replay(workspaceId, links)).head)
})

test('the code has no clock, no randomness and no I/O', async () => {
  const own = /\bDate\.now|\bnew Date\(\)|\bMath\.random|getRandomValues|\bperformance\b|\bfetch\(/
  for (const file of new Bun.Glob('*.ts').scanSync(FOLDER)) {
    expect(await Bun.file(join(FOLDER, file)).text()).not.toMatch(own)
  }
})
