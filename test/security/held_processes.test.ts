// tier: all
/**
 * Two server processes on one PostgreSQL: a release reaches every waiting call, and no memory has the value before
 * it.
 */
import { beforeEach, expect } from 'bun:test'
import { denyApproval, revokeApproval } from '../../src/features/approvals/contract.ts'
import { openStage, resolveAs, type Stage } from '../support/agent.ts'
import { HELD, type HeldStage, heldStage } from '../support/approvals.ts'
import { marked } from '../support/canary.ts'
import { preparedDatabase } from '../support/database.ts'
import { foundInMemory } from '../support/process_memory.ts'
import { requires } from '../support/requires.ts'
import { type ServerProcess, startServer } from '../support/server_process.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'

const { test, beforeAll, afterAll } = requires('postgresql')

const HOST = 'localhost'
let stage: Stage
let held: HeldStage
let value: string
const servers: ServerProcess[] = []

beforeAll(async () => {
  const database = await preparedDatabase()
  const env: Record<string, string> = {
    ...database.env,
    RATE_TOKEN: '100000/1',
    RATE_API: '100000/1',
    RATE_REGISTER: '100000/1',
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32,::1/128',
  }
  stage = await openStage({ env, names: [HOST] })
  const { SECRET_KEY, ENCRYPTION_KEY } = stage.app.config
  Object.assign(env, { SECRET_KEY, ENCRYPTION_KEY, RESOLVER_CA_FILE: stage.caFile })
  for (const _ of [1, 2]) servers.push(await startServer(env))
  stage.upstream.on('/echo', (_, wire) => void wire.write(answerOf(200, {}, 'sent')))
}, 120_000)
afterAll(async () => {
  for (const server of servers) {
    server.kill('SIGKILL')
    await server.exited
  }
  await stage.stop()
})
beforeEach(async () => {
  if (!stage) return
  stage.upstream.received.length = 0
  value = marked('held_')
  held = await heldStage({ app: stage.app, authorityOf: () => stage.authorityOf(HOST) })
  await held.store('KEY', value, HELD)
})

const callOn = (server: ServerProcess | undefined, path = '/echo', waitMs = 0) =>
  resolveAs(server?.resolver ?? '', held.token.text, {
    target_url: stage.url(path, HOST),
    headers: { authorization: 'Bearer SVC_SECRET_KEY' },
    approval_wait_ms: waitMs,
  })
const pendingId = () => until(async () => (await held.pending())[0]?.id)
const params = (id: string) => ({ workspace_id: held.project.workspaceId, approval_id: id })
const inMemory = () =>
  servers.flatMap(({ pid }) => foundInMemory(pid, { value: Buffer.from(value) }))

test('no process has a held value in its memory before a member releases it', async () => {
  await Promise.all(servers.map((server) => callOn(server)))
  expect(inMemory()).toEqual([])
  await held.release(await pendingId())
  const [first] = servers
  expect((await callOn(first)).status).toBe(200)
})

test('equal calls of two processes wait for one request, and a release lets one of them continue', async () => {
  const calls = servers.map((server) => callOn(server, '/echo', 60_000))
  const id = await pendingId()
  expect(await held.pending()).toHaveLength(1)
  await held.release(id)
  expect((await Promise.race(calls)).status).toBe(200)
  // The other call creates a request at a later time.
  const other = await pendingId()
  expect(other).not.toBe(id)
  await held.project.owner.api.call(denyApproval, { params: params(other), body: {} })
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([200, 403])
  expect(stage.upstream.received).toHaveLength(1)
})

test('a revoked window is over on every process once the revocation is acknowledged', async () => {
  await callOn(servers[0])
  const id = await pendingId()
  const scope = { host: stage.authorityOf(HOST), methods: ['GET' as const], path_prefix: '/echo' }
  await held.release(id, { scope })
  for (const server of servers) expect((await callOn(server)).status).toBe(200)
  await held.project.owner.api.call(revokeApproval, { params: params(id), body: {} })
  for (const server of servers) expect((await callOn(server)).status).toBe(403)
  expect(stage.upstream.received).toHaveLength(2)
})
