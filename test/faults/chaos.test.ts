// tier: all, both databases in test:all
/** An API that fails in every way, beside all work of people and agents. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { databaseKind } from '../support/database.ts'
import { chaos } from './chaos.ts'
import { randomFrom, seedOf } from './random.ts'
import { openWorld, type World } from './world.ts'

let world: World | undefined

beforeAll(async () => {
  world = await openWorld(databaseKind, { isShort: true, replicas: 1 })
}, 60_000)
afterAll(() => world?.stop())

test('callers of a bad API delay no other callers, and leak no memory, no open files and no unrecorded call', async () => {
  if (!world) throw new Error('there is no server')
  const before = world.subject.ledger.size
  expect(await chaos(world, randomFrom(seedOf()), 5)).toContain('on record')
  expect(world.subject.ledger.size).toBeGreaterThan(before)
}, 180_000)
