// tier: quick, both databases always
/** Notices arrive again whatever became of the connection that they came over. */
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
/** Milliseconds between two pulses. */
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
  const heard: string[] = []
  let gaps = 0
  bus.subscribe(CHANNEL, { onNotice: (payload) => heard.push(payload), onGap: () => gaps++ })
  await until(() => gaps === 1)
  let pulses = 0
  const { unlisten } = await sql.listen(CHANNEL, (payload) => {
    if (payload === '') pulses += 1
  })
  /** Lets the time between two pulses pass, and waits until the pulse has gone around. */
  const pulse = async () => {
    const before = pulses
    await timers.advance(PULSE_MS)
    await until(() => pulses > before)
  }
  /** Advances time until the bus has received the pulse: a notice sent after it has arrived. */
  const receivePulse = async () => {
    await pulse()
    const after = `after ${pulses}`
    await sql.notify(CHANNEL, after)
    await until(() => heard.at(-1) === after)
  }
  const close = async () => {
    await unlisten()
    await bus.close()
    await sql.end()
  }
  return { sql, clients, logs, heard, pulse, receivePulse, close, gaps: () => gaps }
}

test('a connection that was lost is replaced, which counts as a gap and is logged once', async () => {
  const { sql, clients, logs, heard, pulse, close, gaps } = await open()
  await sql.notify(CHANNEL, 'one')
  await until(() => heard.length === 1)
  // The driver takes this connection for one that is no longer wanted, and does not replace it.
  await clients[0]?.end()
  await pulse()
  await pulse()
  await until(() => gaps() === 2)
  await sql.notify(CHANNEL, 'two')
  await until(() => heard.length === 2)
  expect(heard).toEqual(['one', 'two'])
  expect(logs.filter((line) => line.includes('database notifications do not arrive'))).toHaveLength(
    1,
  )
  await close()
})

test('a connection that replaced another is not replaced in its turn', async () => {
  const { clients, pulse, receivePulse, close, gaps } = await open()
  await clients[0]?.end()
  await pulse()
  await pulse()
  await until(() => gaps() === 2)
  for (let round = 0; round < 4; round += 1) await receivePulse()
  expect({ gaps: gaps(), connections: clients.length }).toEqual({ gaps: 2, connections: 2 })
  await close()
})

test('a pulse is no notice, and keeps the connection', async () => {
  const { clients, heard, receivePulse, close, gaps } = await open()
  for (let round = 0; round < 4; round += 1) await receivePulse()
  expect({ heard, gaps: gaps(), connections: clients.length }).toEqual({
    heard: [1, 2, 3, 4].map((count) => `after ${count}`),
    gaps: 1,
    connections: 1,
  })
  await close()
})
