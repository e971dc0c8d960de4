// tier: quick, both databases always
/** Notices arrive again whatever became of the connection that they came over. */
import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { openBus } from '../../../src/platform/db/notify.ts'
import { openLog } from '../../../src/platform/log.ts'
import { databaseKind, sharedCluster } from '../../support/database.ts'

const CHANNEL = 'cloakroom_policy'

async function open(pulseMs: number) {
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
  const bus = openBus({ kind: 'postgresql', sql, connectBesides }, log, { pulseMs })
  const heard: string[] = []
  let gaps = 0
  bus.subscribe(CHANNEL, { onNotice: (payload) => heard.push(payload), onGap: () => gaps++ })
  const until = async (condition: () => boolean) => {
    while (!condition()) await Bun.sleep(5)
  }
  await until(() => gaps === 1)
  return { sql, bus, clients, logs, heard, until, gaps: () => gaps }
}

if (databaseKind === 'postgresql') {
  test('a connection that was lost for good is replaced, which counts as a gap, and is said once', async () => {
    const { sql, bus, clients, logs, heard, until, gaps } = await open(200)
    await sql.notify(CHANNEL, 'one')
    await until(() => heard.length === 1)
    // The driver believes that this one is not wanted any more.
    await clients[0]?.end()
    await until(() => gaps() === 2)
    await sql.notify(CHANNEL, 'two')
    await until(() => heard.length === 2)
    expect(heard).toEqual(['one', 'two'])
    expect(logs.filter((line) => line.includes('notices do not arrive'))).toHaveLength(1)
    await bus.close()
    await sql.end()
  })

  test('a connection that replaced another is not replaced in its turn', async () => {
    const { sql, bus, clients, until, gaps } = await open(300)
    let pulses = 0
    const { unlisten } = await sql.listen(CHANNEL, (payload) => {
      if (payload === '') pulses += 1
    })
    await clients[0]?.end()
    await until(() => gaps() === 2)
    const before = pulses
    await until(() => pulses >= before + 4)
    expect({ gaps: gaps(), connections: clients.length }).toEqual({ gaps: 2, connections: 2 })
    await unlisten()
    await bus.close()
    await sql.end()
  })

  test('what only shows that the connection is alive is no notice, and keeps it', async () => {
    const { sql, bus, clients, heard, gaps } = await open(1_000)
    await Bun.sleep(3_500)
    expect({ heard, gaps: gaps(), connections: clients.length }).toEqual({
      heard: [],
      gaps: 1,
      connections: 1,
    })
    await bus.close()
    await sql.end()
  })
}
