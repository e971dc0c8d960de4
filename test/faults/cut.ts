/**
 * A network between server and PostgreSQL that becomes silent: no connection closes and no byte arrives. A relay
 * delivers all of it later, a router never does.
 */
import { connect, createServer, type Socket } from 'node:net'
import { listAllowlist } from '../../src/features/allowlist/contract.ts'
import { freePort } from '../bench/processes.ts'
import { type FaultCluster, startFaultCluster } from './cluster.ts'
import { whileDown } from './kill.ts'
import { Loss } from './ledger.ts'
import { makeNetwork, type Network } from './namespaces.ts'
import type { Person } from './person.ts'
import { longestAnswer, mustBeTheSame, untilHealthy } from './stops.ts'
import { codeOf } from './work.ts'
import { openWorld, type World } from './world.ts'

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

/** A cluster behind a router that can lose every packet, or, with a message, behind the wire if no router is possible. */
export async function startBehindRouter(): Promise<Cut> {
  const network = routerOrReason()
  if (typeof network === 'string') {
    process.stdout.write(`NO NETWORK NAMESPACES HERE (${network}): a relay replaces the router\n`)
    return await startBehindWire()
  }
  const { cut, mend } = network
  const cluster = await startFaultCluster({ network }).catch((error: unknown) => {
    network.remove()
    throw error
  })
  const remove = async () => {
    await cluster.remove()
    network.remove()
  }
  return { cluster, cut, mend, remove }
}

function routerOrReason(): Network | string {
  try {
    return makeNetwork()
  } catch (error) {
    return `${error}`
  }
}

/** Requests are rejected within this time (docs/guides/self-hosting.md, "A silent network"). */
const PROMISED_MS = 10_000

type Order = { rounds: number; silentMs: number; isShort?: boolean }

/**
 * Returns the observations.
 * @throws Loss
 */
export async function cutOff(
  start: () => Promise<Cut>,
  { rounds, silentMs, isShort = false }: Order,
): Promise<string> {
  const wire = await start()
  try {
    const world = await openWorld('postgresql', { cluster: wire.cluster, isShort })
    const seen: Seen = { health: 0, answer: 0, codes: new Set() }
    try {
      for (let round = 0; round < rounds; round += 1) await cutRound(world, wire, silentMs, seen)
    } finally {
      await world.stop()
    }
    const { health, answer, codes } = seen
    const odd = [...codes].filter((code) => code.startsWith('5') && !code.startsWith('503 '))
    if (odd.length > 0) throw new Loss(`refused by ${odd}`)
    const report = `cut for ${silentMs / 1000} s; health was 503 within ${health.toFixed(0)} ms, requests that were on their way within ${answer.toFixed(0)} ms; ${[...codes].sort().join(', ')}`
    if (!isShort && answer > PROMISED_MS) throw new Loss(report)
    return report
  } finally {
    await wire.remove()
  }
}

/** The longest waits in milliseconds, and the answers. */
type Seen = { health: number; answer: number; codes: Set<string> }

async function cutRound(world: World, wire: Cut, silentMs: number, seen: Seen): Promise<void> {
  const { refusals } = await world.through(async () => {
    await Bun.sleep(200)
    await whileDown(world, world.subject.replicas, async () => {
      // Requests on their way when the network is cut, and later ones.
      const asked = world.people.flatMap((person) => Array.from({ length: 5 }, () => asks(person)))
      wire.cut()
      asked.push(...world.people.map(asks))
      try {
        seen.health = Math.max(seen.health, await longestAnswer(world, silentMs))
        // Answered while the network is cut, not after it is back.
        for (const { ms, code } of await Promise.all(asked)) {
          seen.answer = Math.max(seen.answer, ms)
          if (code !== '200') seen.codes.add(code)
        }
      } finally {
        wire.mend()
      }
      await untilHealthy(world)
    })
    mustBeTheSame(world)
  })
  for (const code of refusals.keys()) seen.codes.add(code)
}

/** A request that runs a statement. */
async function asks({ api, workspace }: Person): Promise<{ ms: number; code: string }> {
  const began = performance.now()
  const code = await api
    .list(listAllowlist, { params: { workspace_id: workspace.id } })
    .then(() => '200', codeOf)
  return { ms: performance.now() - began, code }
}
