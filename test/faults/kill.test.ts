// tier: all, both databases in test:all
/** kill -9 during all work; `bun run faults --only kill` runs it for long. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { databaseKind } from '../support/database.ts'
import { killRound } from './kill.ts'
import { randomFrom, seedOf } from './random.ts'
import { openWorld, type World } from './world.ts'

let world: World | undefined

beforeAll(async () => {
  world = await openWorld(databaseKind, { isShort: true })
})
afterAll(() => world?.stop())

test('kills of the server lose and tear no acknowledged write, and no revoked token is accepted', async () => {
  const random = randomFrom(seedOf())
  process.stdout.write(`FAULTS_SEED=${random.seed}\n`)
  if (!world) throw new Error('there is no server')
  const before = world.subject.ledger.size
  for (let round = 0; round < 2; round += 1) await killRound(world, random)
  expect(world.subject.ledger.size).toBeGreaterThan(before + 20)
})
