// tier: all
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { openEmbedded } from '../../../src/database/embedded/open.ts'
import { effort } from '../../support/effort.ts'
import { databasePlace } from '../../support/places.ts'
import { until } from '../../support/until.ts'
import { startChild } from './process.ts'

let directory = ''

beforeEach(() => {
  directory = mkdtempSync(join(databasePlace, 'embedded-durability-'))
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

describe('a kill', () => {
  test(
    'a kill loses no acknowledged write, in any round',
    async () => {
      let before = 0
      for (let round = 1; round <= effort(2, 3); round += 1) {
        const child = startChild(directory, 'write')
        await child.until(String(before + 150 * round))
        await child.kill()
        const acknowledged = child.lines().map(Number).filter(Number.isInteger)
        const kept = await readIds(directory)
        expect(acknowledged.length).toBeGreaterThanOrEqual(150)
        expect(kept).toEqual(Array.from(kept, (_, index) => index + 1))
        expect(kept.length).toBeGreaterThanOrEqual(acknowledged.at(-1) ?? Number.NaN)
        before = kept.length
      }
    },
    effort(120_000, 600_000),
  )

  test('a kill at any moment of the first start leaves a directory that opens', async () => {
    const moments = effort([90, 300, 550], [0, 150, 300, 550])
    for (const delayMs of moments) {
      const fresh = join(directory, `after-${delayMs}`)
      const child = startChild(fresh, 'hold')
      await child.until('extracting')
      // The moment of the kill is the subject.
      await Bun.sleep(delayMs)
      await child.kill()
      expect(await readIds(fresh, 'CREATE TABLE IF NOT EXISTS marks (id integer)')).toEqual([])
      expect(readdirSync(fresh).sort()).toEqual(['cloakroom.lock', 'postgres'])
    }
  }, 120_000)

  test('a kill while a template is extracted leaves only files that the next start removes', async () => {
    const child = startChild(directory, 'hold')
    await child.until('extracting')
    await until(() => readdirSync(directory).some((name) => name.startsWith('postgres.new-')), {
      stepMs: 0,
    })
    await child.kill()
    expect(readdirSync(directory)).not.toContain('postgres')
    expect(await readIds(directory, 'CREATE TABLE marks (id integer)')).toEqual([])
    expect(readdirSync(directory).sort()).toEqual(['cloakroom.lock', 'postgres'])
  }, 60_000)
})

test('every commit is synced to the disk before it is acknowledged', async () => {
  const database = await openEmbedded({ dataDir: directory, onFailure: fail })
  const sql = postgres({ ...database.settings, max: 1, ssl: false })
  await sql`CREATE TABLE marks (id integer PRIMARY KEY)`
  const before = await database.countSyncs()
  for (let id = 0; id < 100; id += 1) await sql`INSERT INTO marks VALUES (${id})`
  expect((await database.countSyncs()) - before).toBeGreaterThanOrEqual(100)
  await sql.end()
  await database.close()
}, 30_000)

async function readIds(dataDir: string, first = 'SELECT 1'): Promise<number[]> {
  const database = await openEmbedded({ dataDir, onFailure: fail })
  const sql = postgres({ ...database.settings, max: 1, ssl: false, onnotice: () => undefined })
  await sql.unsafe(first)
  const rows = await sql<{ id: number }[]>`SELECT id FROM marks ORDER BY id`
  await sql.end()
  await database.close()
  return rows.map((row) => row.id)
}

function fail(reason: string): void {
  throw new Error(reason)
}
