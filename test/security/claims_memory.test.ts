// tier: all
/**
 * The contents of the server's memory over time. Read from outside, like an attacker who controls the process, and
 * from inside, where references can be traced.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TLSSocket } from 'node:tls'
import { environmentKey } from '../../src/core/crypto/secret_value.ts'
import { Secret } from '../../src/core/secret.ts'
import { OutboundRequest } from '../../src/outbound/outbound_request.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { countReachable } from '../support/heap.ts'
import { foundInMemory } from '../support/process_memory.ts'
import { type ServerProcess, startServer } from '../support/server_process.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'

const VALUE = marked('in-memory-while-it-is-used')
const SECRET_KEY = 'a-key-that-the-server-must-have-in-memory'
const ANSWER = answerOf(200, {}, 'done')
const headers = { 'X-Key': 'SVC_SECRET_KEY' }

let stage: Stage

beforeAll(async () => {
  stage = await openStage({ env: { KEY_CACHE_SECONDS: '0' } })
})
afterAll(() => stage.stop())

/** A call that the upstream holds open until it gets the signal to answer. */
async function openCall(agent: Agent) {
  const arrived = Promise.withResolvers<TLSSocket>()
  stage.upstream.on('/held', (_, wire) => arrived.resolve(wire))
  const answer = agent.resolve({ target_url: stage.url('/held'), headers })
  const wire = await arrived.promise
  return {
    finish: async () => {
      wire.write(ANSWER)
      expect((await answer).status).toBe(200)
    },
  }
}

describe('Values are in server memory while calls of a live token use them, and can stay there until the memory is reused. An attacker who controls the running process can read them.', () => {
  let database: TestDatabase
  let server: ServerProcess
  let agent: Agent

  beforeAll(async () => {
    database = await freshDatabase()
    server = await startServer({
      ...database.env,
      SECRET_KEY,
      ENCRYPTION_KEY: Buffer.alloc(32, 6).toString('base64url'),
      KEY_CACHE_SECONDS: '0',
      RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
      RESOLVER_CA_FILE: stage.caFile,
      RESOLVER_HOSTS: 'api.upstream.example=127.0.0.1',
    })
    agent = await createAgentWithToken(
      { app: server.app, authorityOf: stage.authorityOf },
      { secrets: { KEY: VALUE } },
    )
  })
  afterAll(async () => {
    server.kill('SIGTERM')
    await server.exited
    database.remove()
  })

  /**
   * The data of a member and a secret that is in the server's memory now. Also checks that the memory was
   * searched.
   */
  function inMemory(): string[] {
    const { workspaceKey, privateKey } = agent.person
    return foundInMemory(server.pid, {
      SECRET_KEY: Buffer.from(SECRET_KEY),
      'private key': privateKey,
      'workspace key': workspaceKey,
      'environment key': environmentKey(workspaceKey, agent.projectId, 'development', 1),
      value: Buffer.from(VALUE),
      'value in UTF-16': Buffer.from(VALUE, 'utf16le'),
    })
  }

  test('before a call uses them neither a value nor a key that opens it is there', async () => {
    const blocked = { target_url: 'https://blocked.example/', headers }
    expect((await agent.resolve(blocked)).status).toBe(403)
    const listed = await fetch(`${server.resolver}/v1/credentials/`, {
      headers: { authorization: `Bearer ${agent.token}` },
    })
    expect(await listed.text()).toContain('"name":"KEY"')
    expect(inMemory()).toEqual(['SECRET_KEY'])
  }, 180_000)

  test('process memory contains a value during its call, but no member key', async () => {
    const call = await openCall(agent)
    const found = inMemory()
    expect(found).toContain('value')
    expect(found).not.toContain('private key')
    expect(found).not.toContain('workspace key')
    await call.finish()
  }, 180_000)

  test('between calls, with KEY_CACHE_SECONDS=0, nothing holds on to a value or a key', async () => {
    const before = countReachable(Secret)
    const agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE } })
    const call = await openCall(agent)
    expect(countReachable(OutboundRequest)).toBe(1)
    await call.finish()
    expect(countReachable(OutboundRequest)).toBe(0)
    expect(countReachable(Secret)).toBeLessThanOrEqual(before)
  }, 180_000)

  test('otherwise the key of an environment is kept, for as long as that says', async () => {
    const keeping = await openStage()
    const before = countReachable(Secret)
    const agent = await createAgentWithToken(keeping, { secrets: { KEY: VALUE } })
    expect((await agent.resolve({ target_url: keeping.url('/'), headers })).status).toBe(200)
    expect(countReachable(Secret)).toBeGreaterThan(before)
    keeping.app.clock.advance(60_001)
    // A timer wipes it within a second.
    await until(() => countReachable(Secret) <= before, { stepMs: 200 })
    await keeping.stop()
  }, 180_000)
})
