// tier: quick
/** Occupied ports are detected before anything is touched, and free ones all differ. */
import { expect, test } from 'bun:test'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { claimPorts, PortsTaken } from '../../src/server/claim_ports.ts'

const config = {
  HOST: '127.0.0.1',
  PORT: 0,
  RESOLVER_PORT: 0,
  ADMIN_PORT: 0,
  ROLE: 'all',
  WORKERS: 1,
} as const

function listen(port: number): Promise<Server> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: config.HOST, port }, () => resolve(server))
  })
}

test('the picked ports differ, and are free again after the test', async () => {
  for (let round = 0; round < 20; round += 1) {
    const claimed = Object.values(await claimPorts(config))
    expect(new Set(claimed).size).toBe(3)
    const servers = await Promise.all(claimed.map(listen))
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
})

test('each occupied port is named, and the free ones are released', async () => {
  const taken = await listen(0)
  const { port } = taken.address() as AddressInfo
  const { RESOLVER_PORT = 0 } = await claimPorts({ ...config, ADMIN_PORT: undefined })
  const problem = claimPorts({ ...config, PORT: port, RESOLVER_PORT, ADMIN_PORT: undefined })
  const error = await problem.then(
    () => null,
    (thrown) => thrown,
  )
  expect(error).toBeInstanceOf(PortsTaken)
  expect(error.problems).toEqual([
    `PORT: port ${port} is in use by another program; set another, or 0 for a free one (example: PORT=${port + 1})`,
  ])
  const free = await listen(RESOLVER_PORT)
  for (const server of [taken, free]) await new Promise((resolve) => server.close(resolve))
})
