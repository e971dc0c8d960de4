// tier: quick, both databases in test:all
/**
 * Open calls end when their permission is removed: streams break off and WebSockets close, towards the caller and
 * towards the upstream, on every process, and the record has the reason.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TLSSocket } from 'node:tls'
import { deleteAgent, unprovisionAgentToken } from '../../src/features/agents/contract.ts'
import { deleteProject } from '../../src/features/projects/contract.ts'
import { deleteSecret } from '../../src/features/secrets/contract.ts'
import {
  type Agent,
  type AuditRow,
  createAgentWithToken,
  openStage,
  recordOf,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { preparedDatabase } from '../support/database.ts'
import { expectFault, forwardAs, recordOfAnswer, streamAs } from '../support/forward.ts'
import { requires } from '../support/requires.ts'
import { sample } from '../support/sample.ts'
import { type Accepted, accepting, frame } from '../support/socket_upstream.ts'
import { until } from '../support/until.ts'

const KEY = 'sk_live_0123456789abcdef'
const HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const HEADERS = { authorization: 'Bearer SVC_SECRET_KEY' }
const [TEXT, CLOSE] = [1, 8]
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

/** An open call: how to observe that it continues, and how it ends. */
type Open = {
  /** Sends data through from the upstream. */
  expectAlive(): Promise<void>
  /** Waits for the end on all sides, as for a call that is no longer permitted. */
  expectEnded(code: string, status: number): Promise<void>
  leave(): Promise<void>
}
type Opener = (stage: Stage, agent: Agent) => Promise<Open>

let count = 0

function led(stage: Stage) {
  count += 1
  const path = `/open/${count}`
  const { promise, resolve } = Promise.withResolvers<TLSSocket>()
  stage.upstream.on(path, (_, wire) => resolve(wire))
  return { path, wire: promise }
}

const closed = (wire: TLSSocket) =>
  new Promise<void>((resolve) => {
    if (wire.destroyed) resolve()
    else wire.once('close', () => resolve())
  })

function expectRecord(record: AuditRow | null, code: string, status: number): void {
  expect(record).toMatchObject({
    decision: 'error',
    reason: code,
    status_code: status,
    credential_ref: 'KEY',
    duration_ms: expect.any(Number),
  })
}

async function openStream(
  stage: Stage,
  ask: (path: string) => Promise<Response>,
): Promise<Open & { response: Response }> {
  const { path, wire } = led(stage)
  const pending = ask(path)
  const upstream = await wire
  upstream.write(`${HEAD}${chunk('data: one\n\n')}`)
  const response = await pending
  const reader = response.body?.getReader()
  const next = async () => Buffer.from((await reader?.read())?.value ?? []).toString()
  expect(await next()).toBe('data: one\n\n')
  return {
    response,
    expectAlive: async () => {
      upstream.write(chunk('data: more\n\n'))
      expect(await next()).toBe('data: more\n\n')
    },
    expectEnded: async (code, status) => {
      // An end that looks complete would be an empty piece here.
      await expect(next()).rejects.toThrow()
      await closed(upstream)
      expectRecord(await recordOfAnswer(stage, response), code, status)
    },
    leave: async () => {
      await reader?.cancel()
      await closed(upstream)
    },
  }
}

const openers: Record<string, Opener> = {
  'a stream through /v1/resolve': (stage, agent) =>
    openStream(stage, (path) =>
      streamAs(stage, agent, { target_url: stage.url(path), headers: HEADERS }),
    ),
  'a stream through /v1/forward': (stage, agent) =>
    openStream(stage, (path) => forwardAs(stage, agent, path, { headers: HEADERS })),
  'a WebSocket': openSocket,
}

async function openSocket(stage: Stage, agent: Agent): Promise<Open> {
  count += 1
  const path = `/open/${count}`
  const accepted = Promise.withResolvers<Accepted>()
  stage.upstream.on(path, accepting(accepted.resolve))
  const url = `${stage.app.resolver.replace('http', 'ws')}/v1/forward/${stage.authorityOf()}${path}`
  const headers = { ...HEADERS, 'x-service-token': agent.token }
  const socket = new WebSocket(url, { headers } as never)
  const messages: string[] = []
  socket.onmessage = ({ data }) => void messages.push(String(data))
  const ended = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.onclose = ({ code, reason }) => resolve({ code, reason })
  })
  const upstream = await accepted.promise
  await new Promise((resolve) => {
    socket.onopen = resolve
  })
  return {
    expectAlive: async () => {
      const before = messages.length
      upstream.wire.write(frame(TEXT, 'more'))
      await until(() => messages.length > before, { stepMs: 1 })
      socket.send('answer')
      expect(await upstream.next()).toEqual({ opcode: TEXT, payload: Buffer.from('answer') })
    },
    expectEnded: async (code, status) => {
      expect(await ended).toEqual({ code: 1008, reason: code })
      const last = await upstream.next()
      expect([last.opcode, last.payload.readUInt16BE(0)]).toEqual([CLOSE, 1001])
      await upstream.closed
      expectRecord(await socketRecord(stage, path), code, status)
    },
    leave: async () => {
      socket.close()
      await upstream.closed
    },
  }
}

async function socketRecord({ app }: Stage, path: string): Promise<AuditRow | null> {
  await app.flushAudit()
  const [row] = await app.connection.sql<{ id: string }[]>`
    select id from audit_logs where target_path = ${path}`
  return recordOf(app, { headers: new Headers({ 'x-request-id': row?.id ?? '' }) })
}

type Change = [title: string, act: (agent: Agent, stage: Stage) => Promise<unknown>, Ends]
type Ends = [code: string, status: number]

const changes: Change[] = [
  ['its token is revoked', (agent) => agent.revoke(), ['invalid_token', 401]],
  [
    'its agent is deleted',
    ({ person, workspaceId, registrationId }) =>
      person.api.call(deleteAgent, {
        params: { workspace_id: workspaceId, registration_id: registrationId },
      }),
    ['invalid_token', 401],
  ],
  [
    'the domain is taken off the allowlist',
    (agent, stage) => agent.disallow(stage.authorityOf()),
    ['domain_blocked', 403],
  ],
  [
    'the grant is removed',
    ({ person, workspaceId, registrationId, tokenId, projectId, environment }) =>
      person.api.call(unprovisionAgentToken, {
        params: { workspace_id: workspaceId, registration_id: registrationId, token_id: tokenId },
        query: { project_id: projectId, environment },
      }),
    ['key_not_provisioned', 409],
  ],
  [
    'the secret is deleted',
    ({ person, projectId, environment }) =>
      person.api.call(deleteSecret, {
        params: { project_id: projectId, key: 'KEY' },
        query: { environment },
      }),
    ['unknown_secret', 422],
  ],
  [
    'the policy of the secret becomes narrower',
    (agent) => agent.store('KEY', KEY, { policy: { allowed_methods: ['DELETE'] } }),
    ['policy_blocked', 403],
  ],
  [
    'the project is deleted',
    ({ person, workspaceId }) =>
      person.api.call(deleteProject, {
        params: { workspace_id: workspaceId, project_name: 'main' },
      }),
    ['unknown_secret', 422],
  ],
]

/** `here` makes the changes, `there` holds the open calls: the same process, or another. */
function describeEndings(
  { describe, test, beforeAll, afterAll }: ReturnType<typeof requires>,
  place: string,
  open: () => Promise<{ here: Stage; there: Stage }>,
) {
  describe(place, () => {
    let here: Stage
    let there: Stage
    beforeAll(async () => {
      ;({ here, there } = await open())
    }, 30_000)
    afterAll(async () => {
      if (there !== here) await there.stop()
      await here.stop()
    })
    const createAgent = () =>
      createAgentWithToken(here, {
        secrets: { KEY },
        domains: [here.authorityOf(), there.authorityOf()],
      })

    for (const [kind, opener] of Object.entries(openers)) {
      const sampled = sample(`${kind}, ${place}`, changes)
      test.each(sampled)(`${kind} ends soon after %s`, async (_, act, [code, status]) => {
        const [agent, bystander] = [await createAgent(), await createAgent()]
        const [mine, foreign] = [await opener(there, agent), await opener(there, bystander)]
        await mine.expectAlive()
        await act(agent, there)
        await mine.expectEnded(code, status)
        await foreign.expectAlive()
        await foreign.leave()
      })

      test(`${kind} continues after changes that keep its permissions`, async () => {
        const agent = await createAgent()
        const other = await agent.issue()
        await agent.provision(other)
        const mine = await opener(there, agent)
        const second = await opener(there, { ...agent, token: other.text })
        await agent.store('KEY', `${KEY}-rotated`)
        await agent.store('OTHER', 'value-of-other')
        await agent.allow('another.example')
        await agent.disallow('another.example')
        await agent.revoke(other.id)
        await second.expectEnded('invalid_token', 401)
        await mine.expectAlive()
        await mine.leave()
      })
    }
  })
}

describeEndings(requires(), 'one process, the database under test', async () => {
  const stage = await sharedStage()
  return { here: stage, there: stage }
})

describeEndings(requires('postgresql'), 'two instances on one PostgreSQL', async () => {
  const { env } = await preparedDatabase()
  const here = await openStage({ env })
  return { here, there: await openStage({ env }) }
})

describe('in one process', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await sharedStage()
  })
  afterAll(() => stage.stop())

  test('a token that expires ends its stream within seconds, without any notice', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { KEY } })
    const open = await openers['a stream through /v1/resolve']?.(stage, agent)
    await open?.expectAlive()
    // Only the tables change: it simulates the passage of time.
    const { sql } = stage.app.connection
    await sql`update tokens set expires_at = now() where id = ${agent.tokenId}`
    await open?.expectEnded('invalid_token', 401)
  }, 20_000)

  test('a stream whose upstream has sent nothing yet ends with an error response', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { KEY } })
    for (const begun of ['', HEAD]) {
      const { path, wire } = led(stage)
      const issued = await agent.issue()
      await agent.provision(issued)
      const pending = forwardAs(stage, { token: issued.text }, path, { headers: HEADERS })
      const upstream = await wire
      upstream.write(begun)
      await agent.revoke(issued.id)
      const response = await pending
      await expectFault(response, 'invalid_token')
      await closed(upstream)
      expectRecord(await recordOfAnswer(stage, response), 'invalid_token', 401)
    }
  })

  test('a caller that reads nothing cannot keep its stream, and its queue is dropped', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { KEY } })
    const { path, wire } = led(stage)
    const pending = forwardAs(stage, agent, path, { headers: HEADERS })
    const upstream = await wire
    const SIZE = 64 * 1024 * 1024
    upstream.write(`HTTP/1.1 200 OK\r\ncontent-length: ${SIZE}\r\n\r\n`)
    const block = Buffer.alloc(1024 * 1024, 'abcdefghij0123456789 ')
    for (let sent = 0; sent < SIZE && upstream.write(block); ) sent += block.length
    const response = await pending
    await agent.revoke()
    await closed(upstream)
    expectRecord(await recordOfAnswer(stage, response), 'invalid_token', 401)
    await expect(response.bytes()).rejects.toThrow()
  })

  test('many streams of one workspace end together', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { KEY } })
    const bystander = await createAgentWithToken(stage, { secrets: { KEY } })
    const opener = openers['a stream through /v1/forward']
    const foreign = await opener?.(stage, bystander)
    const open = await Promise.all(Array.from({ length: 100 }, async () => opener?.(stage, agent)))
    await agent.disallow(stage.authorityOf())
    await Promise.all(open.map(async (one) => one?.expectEnded('domain_blocked', 403)))
    await foreign?.expectAlive()
    await foreign?.leave()
  }, 30_000)
})
