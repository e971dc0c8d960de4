/** A minimal balancer: connects to one of the processes that report a healthy state. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

const PROBE_MS = 50

export type Balancer = {
  origin: string
  /** How many of the processes are healthy. */
  healthy(): number
  add(origin: string): void
  stop(): Promise<void>
}

export async function startBalancer(healthPath: string): Promise<Balancer> {
  const backends = new Map<string, boolean>()
  const open = new Set<Socket>()
  let turn = 0
  const chosen = () => {
    const healthy = [...backends].filter(([, is]) => is).map(([origin]) => origin)
    turn += 1
    return healthy[turn % healthy.length]
  }
  const server = createServer({ pauseOnConnect: true }, (client) => {
    open.add(client)
    client.on('close', () => open.delete(client))
    client.on('error', () => client.destroy())
    join(client, chosen())
  })
  const probe = async (origin: string) => {
    const answer = await fetch(`${origin}${healthPath}`, { keepalive: false }).catch(() => null)
    if (backends.has(origin)) backends.set(origin, answer?.ok === true)
    if (answer === null) backends.delete(origin)
  }
  const timer = setInterval(() => void Promise.all([...backends.keys()].map(probe)), PROBE_MS)
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    healthy: () => [...backends.values()].filter(Boolean).length,
    add: (origin) => void backends.set(origin, false),
    stop: async () => {
      clearInterval(timer)
      for (const socket of open) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}

/** Joins two connections without reading their bytes: bytes that a process does not take are lost. */
function join(client: Socket, origin: string | undefined): void {
  if (origin === undefined) return void client.destroy()
  const { hostname: host, port } = new URL(origin)
  const backend = connect({ host, port: Number(port) })
  backend.on('error', () => client.destroy())
  backend.on('close', () => client.destroy())
  client.on('close', () => backend.destroy())
  backend.on('connect', () => {
    client.pipe(backend)
    backend.pipe(client)
    client.resume()
  })
}
