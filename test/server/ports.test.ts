// tier: quick
import { expect, test } from 'bun:test'
import { adminPortOf, listConfiguredPorts } from '../../src/server/app.ts'

const ports = { PORT: 8000, RESOLVER_PORT: 8080, ADMIN_PORT: undefined, WORKERS: 1 }

test('the server recognizes the ports of all workers and both listeners, whichever process opens them', () => {
  expect(listConfiguredPorts(ports)).toEqual([8000, 8080])
  expect(listConfiguredPorts({ ...ports, ADMIN_PORT: 9090 })).toEqual([8000, 8080, 9090])
  expect(listConfiguredPorts({ ...ports, ADMIN_PORT: 9090, WORKERS: 3 })).toEqual([
    8000, 8080, 9090, 9091, 9092,
  ])
})

test('a port that the system picks is unknown in advance', () => {
  expect(listConfiguredPorts({ ...ports, PORT: 0, RESOLVER_PORT: 0, ADMIN_PORT: 0 })).toEqual([])
})

test('each worker has its own port for metrics', () => {
  expect([0, 1, 2].map((worker) => adminPortOf({ ADMIN_PORT: 9090 }, worker))).toEqual([
    9090, 9091, 9092,
  ])
  expect(adminPortOf({ ADMIN_PORT: undefined }, 1)).toBeUndefined()
})
