// tier: quick, both databases always
/** Notices arrive again after any failure of their connection. */
import { expect } from 'bun:test'
import postgres from 'postgres'
import { openLog } from '../../src/core/log.ts'
import { openBus } from '../../src/database/notify.ts'
import { sharedCluster } from '../support/database.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'

const { test } = requires('postgresql')
const CHANNEL = 'cloakroom_policy'
/** Milliseconds between two heartbeats. */
const PULSE_MS = 5_000

async function open() {
  const { socketDir, createDatabase } = await sharedCluster()
  const database = await createDatabase()
  const connect = () => postgres({ host: socketDir, user: 'cloakroom', database, max: 1 })
  const sql = connect()
  const clients: postgres.Sql[] = []
  const logs: string[] = []
  const log = openLog('debug', (line) => logs.push(line))
  const connectBesides = () => {
    clients.push(connect())
    return clients.at(-1) as postgres.Sql
  }
  const timers = new FakeTimers()
  const bus = openBus({ kind: 'postgresql', sql, connectBesides }, log, timers)
  const received: string[] = []
  let gaps = 0
  bus.subscribe(CHANNEL, { onNotice: (payload) => received.push(payload), onGap: () => gaps++ })
  await until(() => gaps === 1)
  let pulses = 0
  const { unlisten } = await sql.listen(CHANNEL, (payload) => {
    if (payload === '') pulses += 1
  })
  /** Lets the time between two heartbeats pass, and waits until the heartbeat has arrived. */
  const pulse = async () => {
    const before = pulses
    await timers.advance(PULSE_MS)
    await until(() => pulses > before)
  }
  /** Advances time until the bus has received the heartbeat: a notice sent later has arrived. */
  const receivePulse = async () => {
    await pulse()
    const after = `after ${pulses}`
    await sql.notify(CHANNEL, after)
    await until(() => received.at(-1) === after)
  }
  const close = async () => {
    await unlisten()
    await bus.close()
    await sql.end()
  }
  return { sql, clients, logs, received, pulse, receivePulse, close, gaps: () => gaps }
}

test('a lost connection is replaced, which counts as a gap and is logged once', async () => {
  const { sql, clients, logs, received, pulse, close, gaps } = await open()
  await sql.notify(CHANNEL, 'one')
  await until(() => received.length === 1)
  // The driver treats this connection as no longer wanted, and does not replace it.
  await clients[0]?.end()
  await pulse()
  await pulse()
  await until(() => gaps() === 2)
  await sql.notify(CHANNEL, 'two')
  await until(() => received.length === 2)
  expect(received).toEqual(['one', 'two'])
  expect(logs.filter((line) => line.includes('database notifications do not arrive'))).toHaveLength(
    1,
  )
  await close()
})

test('a replacement connection is not replaced again', async () => {
  const { clients, pulse, receivePulse, close, gaps } = await open()
  await clients[0]?.end()
  await pulse()
  await pulse()
  await until(() => gaps() === 2)
  for (let round = 0; round < 4; round += 1) await receivePulse()
  expect({ gaps: gaps(), connections: clients.length }).toEqual({ gaps: 2, connections: 2 })
  await close()
})

test('a heartbeat is no notice, and keeps the connection open', async () => {
  const { clients, received, receivePulse, close, gaps } = await open()
  for (let round = 0; round < 4; round += 1) await receivePulse()
  expect({ received, gaps: gaps(), connections: clients.length }).toEqual({
    received: [1, 2, 3, 4].map((count) => `after ${count}`),
    gaps: 1,
    connections: 1,
  })
  await close()
})
