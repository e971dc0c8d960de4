/** A rolling restart into the next version, on PostgreSQL: `bun run upgrade-test` does it from a version of before. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { databaseKind, freshDatabase } from '../../support/database.ts'
import { restartOneByOne } from './restart.ts'

if (databaseKind === 'postgresql') {
  test('processes that are replaced one by one lose no request and tear no write, while the schema changes', async () => {
    const { env } = await freshDatabase()
    const after = join(import.meta.dir, 'child.ts')
    const { calls, writes, ...found } = await restartOneByOne({ before: undefined, after, env })
    expect(found).toEqual({ lost: [], torn: [], codes: [0, 0] })
    expect(calls).toBeGreaterThan(500)
    expect(writes).toBeGreaterThan(250)
  }, 240_000)
}
