/** A network between server and PostgreSQL that goes silent: nothing is closed, nothing arrives, and later all of it does. */
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '../bench/processes.ts'
import { type FaultCluster, startFaultCluster } from './cluster.ts'
import { whileDown } from './kill.ts'
import { Loss } from './ledger.ts'
import { longestAnswer, mustBeTheSame, untilHealthy } from './stops.ts'
import { openWorld } from './world.ts'

export type Cut = { cluster: FaultCluster; cut(): void; mend(): void; remove(): Promise<void> }

/** A cluster that is reached through a wire that can be cut. */
export async function startBehindWire(): Promise<Cut> {
  const cluster = await startFaultCluster()
  const port = freePort()
  const sockets = new Set<Socket>()
  let isCut = false
  const joined = (socket: Socket, other: Socket) => {
    sockets.add(socket)
    socket.on('data', (bytes) => void other.write(bytes))
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      other.destroy()
    })
    if (isCut) socket.pause()
  }
  const server = createServer((near) => {
    const far = connect(cluster.port, '127.0.0.1')
    joined(near, far)
    joined(far, near)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    cluster: { ...cluster, port, database: { ...cluster.database, DB_PORT: String(port) } },
    cut: () => {
      isCut = true
      for (const socket of sockets) socket.pause()
    },
    mend: () => {
      isCut = false
      for (const socket of sockets) socket.resume()
    },
    remove: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await cluster.remove()
    },
  }
}

/** Returns what was seen. @throws Loss */
export async function cutOff(rounds: number, silentMs: number, isShort = false): Promise<string> {
  const wire = await startBehindWire()
  try {
    const world = await openWorld('postgresql', { cluster: wire.cluster, isShort })
    let longest = 0
    const refusals = new Set<string>()
    try {
      for (let round = 0; round < rounds; round += 1) {
        const tally = await world.through(async () => {
          await Bun.sleep(200)
          await whileDown(world, world.subject.replicas, async () => {
            wire.cut()
            try {
              longest = Math.max(longest, await longestAnswer(world, silentMs))
            } finally {
              wire.mend()
            }
            await untilHealthy(world)
          })
          mustBeTheSame(world)
        })
        for (const code of tally.refusals.keys()) refusals.add(code)
      }
    } finally {
      await world.stop()
    }
    const odd = [...refusals].filter((code) => code.startsWith('5') && !code.startsWith('503 '))
    if (odd.length > 0) throw new Loss(`refused by ${odd}`)
    return `cut for ${silentMs / 1000} s; health was 503 within ${longest.toFixed(0)} ms; ${[...refusals].sort().join(', ')}`
  } finally {
    await wire.remove()
  }
}
