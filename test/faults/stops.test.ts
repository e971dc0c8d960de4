// tier: all, both databases in test:all
/** PostgreSQL that crashes or is frozen, and SIGTERM, under full load. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { databaseKind } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { cutOff, startBehindRouter, startBehindWire } from './cut.ts'
import { randomFrom, seedOf } from './random.ts'
import { crashRound, freeze, stopRound } from './stops.ts'
import { openWorld, type World } from './world.ts'

const random = randomFrom(seedOf())
let opened: World | undefined

function world(): World {
  if (!opened) throw new Error('there is no server')
  return opened
}

beforeAll(async () => {
  process.stdout.write(`FAULTS_SEED=${random.seed}\n`)
  opened = await openWorld(databaseKind, { isShort: true })
})
afterAll(() => opened?.stop())

{
  const { test } = requires('postgresql')
  test('a crash of PostgreSQL loses and tears nothing, and the server continues without help', async () => {
    const before = world().subject.ledger.size
    await crashRound(world(), random)
    expect(world().subject.ledger.size).toBeGreaterThan(before)
  })

  test('a frozen PostgreSQL is reported as unhealthy, and the server recovers when it continues', async () => {
    expect(await freeze(world(), 2_000)).toBeGreaterThan(0)
  })

  test('a network cut between server and database returns 503, loses and tears nothing, and the server continues once it is mended', async () => {
    const order = { rounds: 1, silentMs: 2_000, isShort: true }
    expect(await cutOff(startBehindWire, order)).toContain('health was 503')
  })

  requires('postgresql', 'network-namespaces').test(
    'requests are 503 while a router drops all packets to the database, and the server recovers without a restart',
    async () => {
      const order = { rounds: 1, silentMs: 2_000, isShort: true }
      expect(await cutOff(startBehindRouter, order)).toContain('health was 503')
    },
  )
}

test('SIGTERM under load loses and tears no acknowledged write', async () => {
  const before = world().subject.ledger.size
  await stopRound(world(), random)
  expect(world().subject.ledger.size).toBeGreaterThan(before)
})
