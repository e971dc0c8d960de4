// tier: quick
import { beforeEach, expect, test } from 'bun:test'
import { DatabaseUpkeep } from '../../../src/database/embedded/upkeep.ts'

const MIB = 1024 * 1024

let world = { now: 0, freeBytes: 1000 * MIB, segments: 0 }
let statements: string[] = []
let upkeep: DatabaseUpkeep

beforeEach(() => {
  world = { now: 0, freeBytes: 1000 * MIB, segments: 0 }
  statements = []
  upkeep = new DatabaseUpkeep({
    now: () => world.now,
    freeBytes: () => world.freeBytes,
    takeSegments: () => {
      const taken = world.segments
      world.segments = 0
      return taken
    },
  })
})

test('no upkeep runs while there is space and little log', async () => {
  await attend({ segments: 3 })
  expect(statements).toEqual([])
})

test('a checkpoint runs after every four segments of log', async () => {
  for (let segment = 0; segment < 8; segment += 1) await attend({ segments: 1 })
  expect(statements).toEqual(['CHECKPOINT', 'CHECKPOINT'])
})

test('writes are rejected before the disk is full, and accepted again once there is enough space', async () => {
  await attend({ freeBytes: 97 * MIB })
  expect(statements).toEqual([])
  await attend({ freeBytes: 95 * MIB })
  await attend({ freeBytes: 20 * MIB })
  await attend({ freeBytes: 127 * MIB })
  expect(statements).toEqual(['CHECKPOINT', 'SET default_transaction_read_only = on'])
  statements = []
  await attend({ freeBytes: 129 * MIB })
  expect(statements).toEqual(['SET default_transaction_read_only = off'])
})

test('the disk is checked four times a second, not at every statement', async () => {
  await attend({})
  world.freeBytes = 0
  await upkeep.attend(execute)
  expect(statements).toEqual([])
  world.now += 250
  await upkeep.attend(execute)
  expect(statements).toContain('SET default_transaction_read_only = on')
})

test("a new session's writes are also rejected immediately", async () => {
  await attend({ freeBytes: 0 })
  upkeep.beginSession()
  statements = []
  await upkeep.attend(execute)
  expect(statements).toContain('SET default_transaction_read_only = on')
})

async function attend(change: Partial<typeof world>): Promise<void> {
  Object.assign(world, { now: world.now + 1000 }, change)
  await upkeep.attend(execute)
}

async function execute(statement: string): Promise<void> {
  statements.push(statement)
}
