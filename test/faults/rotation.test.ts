// tier: all
/** Rotations of the server's keys during all work, with kill -9; `bun run faults --only rotation` runs it for long. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { databaseKind } from '../support/database.ts'
import { randomFrom, seedOf } from './random.ts'
import { rotationRound } from './rotation.ts'
import { openWorld, type World } from './world.ts'

let world: World | undefined

beforeAll(async () => {
  world = await openWorld(databaseKind, { isShort: true })
})
afterAll(() => world?.stop())

test('both keys of the server are rotated through kills: no value is lost or torn, all open, and no old key is needed', async () => {
  const random = randomFrom(seedOf())
  process.stdout.write(`FAULTS_SEED=${random.seed}\n`)
  if (!world) throw new Error('there is no server')
  const before = world.subject.ledger.size
  expect(await rotationRound(world, random)).toBeGreaterThan(2)
  expect(world.subject.ledger.size).toBeGreaterThan(before + 20)
})
