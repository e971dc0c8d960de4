// tier: all
/**
 * Renewals of several server processes on one PostgreSQL: killed, stopped and stalled while a refresh token is being
 * sent.
 */
import { beforeEach, expect } from 'bun:test'
import postgres from 'postgres'
import type { Policy } from '../../src/core/policy/policy.ts'
import {
  type Agent,
  createAgentWithToken,
  openStage,
  resolveAs,
  type Stage,
} from '../support/agent.ts'
import { preparedDatabase } from '../support/database.ts'
import { cannedAnswers, type FakeProvider, startProvider } from '../support/oauth/provider.ts'
import { requires } from '../support/requires.ts'
import { type ServerProcess, startServer } from '../support/server_process.ts'
import { until } from '../support/until.ts'

const { test, beforeAll, afterAll } = requires('postgresql')

const LOCAL = 'localhost'
const oauth2: Policy = { kind: 'oauth2' }
/** The milliseconds after which a refresh token may no longer be sent, and a margin. */
const STALL_MS = 5_500

/** Nothing outside shows that a stopped process may no longer send. */
const stall = () => Bun.sleep(STALL_MS)

let stage: Stage
let provider: FakeProvider
let agent: Agent
let env: Record<string, string>
const servers: ServerProcess[] = []

beforeAll(async () => {
  const database = await preparedDatabase()
  env = {
    ...database.env,
    RATE_TOKEN: '100000/1',
    RATE_API: '100000/1',
    RATE_REGISTER: '100000/1',
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32,::1/128',
  }
  stage = await openStage({ env, names: [LOCAL] })
  const { SECRET_KEY, ENCRYPTION_KEY } = stage.app.config
  Object.assign(env, { SECRET_KEY, ENCRYPTION_KEY, RESOLVER_CA_FILE: stage.caFile })
  provider = await startProvider({ authority: stage.authority, host: LOCAL })
  await serve()
  await serve()
}, 120_000)
afterAll(async () => {
  for (const server of servers) {
    server.kill('SIGKILL')
    await server.exited
  }
  await provider.stop()
  await stage.stop()
})
beforeEach(async () => {
  if (!stage) return
  provider.clearFaults()
  provider.requests.length = 0
  agent = await createAgentWithToken(stage, { domains: [stage.authorityOf(LOCAL), provider.host] })
  const root = {
    token_url: provider.tokenUrl,
    client_id: provider.clientId,
    client_secret: provider.clientSecret,
    refresh_token: await provider.issueRefreshToken(),
  }
  await agent.store('CRM', JSON.stringify(root), { policy: oauth2 })
})

async function serve(): Promise<ServerProcess> {
  const server = await startServer(env)
  servers.push(server)
  return server
}

/** Both processes; a test that ends one starts another. */
const pair = () => servers.slice(-2) as [ServerProcess, ServerProcess]
const sql = () => stage.app.connection.sql
const callOn = ({ resolver }: ServerProcess, token = agent.token) =>
  resolveAs(resolver, token, {
    target_url: stage.url('/', LOCAL),
    headers: { authorization: 'Bearer SVC_SECRET_CRM' },
  })
const refreshTokens = () => provider.requests.map((one) => one.parameters.get('refresh_token'))
const expire = async () => {
  await sql()`update derived_states set expires_at = now() where workspace_id = ${agent.workspaceId}`
  await bump()
}
const bump = () =>
  sql()`update workspaces set policy_version = policy_version + 1 where id = ${agent.workspaceId}`
const endLease = () => sql()`update derived_states set lease_until = now() - interval '1 second'
  where workspace_id = ${agent.workspaceId}`
const readState = async () => {
  const [row] = await sql()<
    { generation: string; sent_at: Date | null; lease_id: string | null }[]
  >`
    select generation, sent_at, lease_id, failed_code from derived_states
    where workspace_id = ${agent.workspaceId}`
  return row
}

/** Updates of `derived_states` under a condition wait in the database until the gate opens. */
async function closeGate(condition: string) {
  const held = postgres({
    host: env.DB_HOST ?? '',
    user: 'cloakroom',
    database: env.DB_NAME ?? '',
    max: 1,
  })
  await held`select pg_advisory_lock(4711)`
  await sql().unsafe(`create or replace function wait_at_gate() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(4711); return new; end $$`)
  await sql().unsafe(`create trigger gate before update on derived_states
    for each row when (${condition}) execute function wait_at_gate()`)
  return {
    /** The backends that wait. */
    waiting: () =>
      until(async () => {
        const rows = await sql()<{ pid: number }[]>`
          select pid from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`
        return rows.length > 0 && rows.map(({ pid }) => pid)
      }),
    open: async () => {
      await held.end()
      await sql()`drop trigger gate on derived_states`
    },
  }
}
const ON_MARK = 'old.sent_at is null and new.sent_at is not null'
const ON_RESULT = 'old.generation <> new.generation'

test('50 parallel calls at expiry in two processes cause exactly one renewal', async () => {
  const [one, two] = pair()
  expect(await callOn(one)).toMatchObject({ status: 200 })
  expect(await callOn(two)).toMatchObject({ status: 200 })
  expect(provider.requests).toHaveLength(1)
  await expire()
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) => callOn(at % 2 === 0 ? one : two)),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
  expect(provider.requests).toHaveLength(2)
}, 30_000)

test.each(['grace', 'strict'] as const)(
  'after a kill between the answer and its write, the next process recovers or reports a lost token (rotation: %s)',
  async (rotation) => {
    provider.setFault({ rotation })
    const [, victim] = pair()
    const gate = await closeGate(ON_RESULT)
    callOn(victim).catch(() => {})
    const [pid = 0] = await gate.waiting()
    victim.kill('SIGKILL')
    await victim.exited
    servers.pop()
    await sql()`select pg_terminate_backend(${pid})`
    await gate.open()
    expect(await readState()).toMatchObject({ generation: expect.anything(), failed_code: null })
    expect((await readState())?.sent_at).not.toBeNull()
    await endLease()
    const restarted = await serve()
    const answer = await callOn(restarted)
    expect(new Set(refreshTokens()).size).toBe(1)
    expect(provider.requests).toHaveLength(2)
    if (rotation === 'grace') return expect(answer).toMatchObject({ status: 200 })
    expect(answer).toMatchObject({ status: 409, body: { error_code: 'reconnect_required' } })
    expect((answer.body as { message: string }).message).toContain('may have contained')
  },
  30_000,
)

test('a process that stalls before it sends returns its lease, and then renews once', async () => {
  const [one] = pair()
  const gate = await closeGate(ON_MARK)
  const calling = callOn(one)
  await gate.waiting()
  one.kill('SIGSTOP')
  await gate.open()
  await until(async () => (await readState())?.sent_at)
  await stall()
  one.kill('SIGCONT')
  expect(await calling).toMatchObject({ status: 200 })
  expect(provider.requests).toHaveLength(1)
  expect(await readState()).toMatchObject({ sent_at: null, lease_id: null })
}, 30_000)

test('a process that stalls longer than its lease sends no refresh token that another has used', async () => {
  const [one, two] = pair()
  const gate = await closeGate(ON_MARK)
  const calling = callOn(one)
  await gate.waiting()
  one.kill('SIGSTOP')
  await gate.open()
  await until(async () => (await readState())?.sent_at)
  await endLease()
  expect(await callOn(two)).toMatchObject({ status: 200 })
  await stall()
  one.kill('SIGCONT')
  expect(await calling).toMatchObject({ status: 200 })
  expect(provider.requests).toHaveLength(1)
  await expire()
  expect(await callOn(one)).toMatchObject({ status: 200 })
  const used = refreshTokens()
  expect(new Set(used).size).toBe(used.length)
}, 30_000)

/** A request that the provider holds back until `release`. */
function holdRequest() {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  provider.setFault({ holdRequest: promise })
  return {
    arrived: () => until(() => provider.requests.length === 1),
    release,
  }
}

test('a late success replaces the failure of the process that took over', async () => {
  const [one, two] = pair()
  const held = holdRequest()
  const calling = callOn(one)
  await held.arrived()
  await endLease()
  provider.setFault({ holdRequest: null, answer: cannedAnswers.invalidGrant })
  expect(await callOn(two)).toMatchObject({ status: 409 })
  provider.clearFaults()
  held.release()
  expect(await calling).toMatchObject({ status: 200 })
  expect(await readState()).toMatchObject({ failed_code: null, sent_at: null })
  expect(await callOn(two)).toMatchObject({ status: 200 })
  expect(provider.requests).toHaveLength(2)
}, 30_000)

test('a sent renewal is stored after the caller disconnected, the token was revoked and the server stops', async () => {
  const [one, two] = pair()
  const other = await agent.issue()
  await agent.provision(other)
  const held = holdRequest()
  const leaving = new AbortController()
  const calling = fetch(`${two.resolver}/v1/resolve`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      target_url: stage.url('/', LOCAL),
      headers: { authorization: 'Bearer SVC_SECRET_CRM' },
    }),
  }).catch(() => null)
  await held.arrived()
  leaving.abort()
  await calling
  await agent.revoke()
  two.kill('SIGTERM')
  await until(() => two.output().includes('SIGTERM'))
  held.release()
  expect(await two.exited).toBe(0)
  servers.pop()
  expect(await readState()).toMatchObject({ failed_code: null, lease_id: null, sent_at: null })
  expect(await callOn(one, other.text)).toMatchObject({ status: 200 })
  expect(provider.requests).toHaveLength(1)
  await serve()
}, 30_000)

/** Changes during a call that waits for another process's renewal, which then fails. */
const removals: [string, string, () => Promise<unknown>][] = [
  ['a revoked token', 'invalid_token', () => agent.revoke()],
  ['a removed host', 'domain_blocked', () => agent.disallow(provider.host)],
  [
    'a removed grant',
    'key_not_provisioned',
    async () => {
      await sql()`delete from token_envelopes where token_id = ${agent.tokenId}`
      await bump()
    },
  ],
]
test.each(removals)(
  'no further renewal begins after %s',
  async (_, code, remove) => {
    const [one, two] = pair()
    const held = holdRequest()
    const first = callOn(one)
    await held.arrived()
    const second = callOn(two)
    await remove()
    provider.setFault({ holdRequest: null, answer: cannedAnswers.broken })
    held.release()
    for (const { body } of await Promise.all([first, second]))
      expect(body).toMatchObject({ error_code: code })
    await sql()`update derived_states set retry_at = null where workspace_id = ${agent.workspaceId}`
    expect((await callOn(one)).body).toMatchObject({ error_code: code })
    expect(provider.requests).toHaveLength(1)
  },
  30_000,
)
