// tier: all
/**
 * A rolling restart into the next version, on PostgreSQL, of sources, and in the long tests of executables: `bun run
 * upgrade-test` does it from an older version.
 */
import { expect } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readApplied } from '../../../src/database/migrations/migrate.ts'
import { buildExecutable } from '../../../src/dev/build.ts'
import { executable } from '../../binary/executable.ts'
import { freshDatabase } from '../../support/database.ts'
import { effort } from '../../support/effort.ts'
import { requires } from '../../support/requires.ts'
import { change, configOf } from '../restored.ts'
import { KEYS, restartOneByOne } from './restart.ts'

const { afterAll, test } = requires('postgresql')

const MAIN = join(import.meta.dir, '../../../src/main.ts')
const place = mkdtempSync(join(tmpdir(), 'cr-next-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))

const ofSources = async () => ({ after: [process.execPath, join(import.meta.dir, 'child.ts')] })
const ofExecutables = async () => ({ before: [await executable()], after: [await buildNext()] })

/** The executable of child.ts: the build accepts programs below src only. */
async function buildNext(): Promise<string> {
  const outfile = join(place, 'cloakroom')
  const main = (await Bun.file(MAIN).text()).replace(/^#!.*/, '')
  const contents = `import ${JSON.stringify(join(import.meta.dir, 'later.ts'))}\n${main}`
  const next: Bun.BunPlugin = {
    name: 'next',
    setup: (build) => {
      build.onLoad({ filter: /[/]src[/]main\.ts$/ }, () => ({ contents, loader: 'ts' }))
    },
  }
  await buildExecutable({ entry: MAIN, outfile, plugins: [next] })
  return outfile
}

test('processes that are replaced one by one lose no request and tear no write, while the schema changes', async () => {
  const database = await freshDatabase()
  const { env } = database
  const versions = await effort(ofSources, ofExecutables)()
  const { calls, writes, ...found } = await restartOneByOne({ ...versions, env })
  expect(found).toEqual({ lost: [], torn: [], codes: [0, 0] })
  expect(calls).toBeGreaterThan(500)
  expect(writes).toBeGreaterThan(250)
  const applied = await change(configOf({ keys: KEYS }, database), ({ sql }) => readApplied(sql))
  expect(applied?.at(-1)?.name).toBe('9999_later')
}, 240_000)
