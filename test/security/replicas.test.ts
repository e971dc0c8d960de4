// tier: all
/**
 * Several processes on one database. A removal applies everywhere once it is acknowledged, with notices or without;
 * with notices, cached data is dropped soon after.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { revokeSession } from '../../src/features/accounts/contract.ts'
import { parseExposition, sumOf } from '../features/metrics/exposition.ts'
import {
  type Agent,
  createAgentWithToken,
  openStage,
  resolveAs,
  type Stage,
} from '../support/agent.ts'
import { callJson, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { preparedDatabase } from '../support/database.ts'
import { logInAs } from '../support/people.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'

const LOOPS = 16
const ENV = {
  ADMIN_PORT: '0',
  RATE_API: '100000/1',
  RATE_TOKEN: '100000/1',
  RATE_LOGIN: '100000/1',
}

type Seen = { startedAt: number; status: number; code: string | undefined }
type Ask = () => Promise<{ status: number; body: unknown }>

/** Sixteen loops that send requests without a pause until they get the signal to end. */
function hammer(ask: Ask) {
  const seen: Seen[] = []
  let ended = false
  const loops = Array.from({ length: LOOPS }, async () => {
    while (!ended) {
      const startedAt = performance.now()
      const { status, body } = await ask()
      seen.push({ startedAt, status, code: (body as { error_code?: string } | null)?.error_code })
    }
  })
  const awaitAnswers = async (count: number) => {
    const target = seen.length + count
    await until(() => seen.length >= target, { stepMs: 1 })
  }
  const end = async () => {
    ended = true
    await Promise.all(loops)
  }
  return { seen, awaitAnswers, end }
}

/** Nothing that starts after the acknowledgement succeeds, and it fails for the right reason. */
async function expectExact(ask: Ask, act: () => Promise<unknown>, code: string): Promise<void> {
  const load = hammer(ask)
  await load.awaitAnswers(3 * LOOPS)
  await act()
  const acknowledgedAt = performance.now()
  await load.awaitAnswers(3 * LOOPS)
  await load.end()
  const late = load.seen.filter(({ startedAt }) => startedAt > acknowledgedAt)
  expect(late.length).toBeGreaterThan(LOOPS)
  expect([...new Set(late.map((one) => one.code))]).toEqual([code])
  expect(load.seen.filter(({ status }) => status === 200).length).toBeGreaterThan(LOOPS)
}

async function entriesOf(app: TestApp, cache: string): Promise<number> {
  const text = await (await fetch(`${app.admin}/metrics`)).text()
  return sumOf(parseExposition(text), 'cloakroom_cache_entries', { cache })
}

/** Waits until the cache is empty; a test that waits too long fails. */
async function expectEmptied(app: TestApp): Promise<void> {
  for (const cache of ['tokens', 'snapshots', 'keys'])
    await until(async () => (await entriesOf(app, cache)) === 0)
}

/** Revocations that show the delay of a notice; cached for an hour without one. */
const KEPT = { KEY_CACHE_SECONDS: '3600' }

const call = (stage: Stage) => ({
  target_url: stage.url('/'),
  headers: { 'X-Key': 'SVC_SECRET_KEY' },
})

const changes: [string, (agent: Agent, stage: Stage) => Promise<unknown>][] = [
  ['a revoked token', (agent) => agent.revoke()],
  ['a domain taken off the allowlist', (agent, stage) => agent.disallow(stage.authorityOf())],
  ['a new value of a secret', (agent) => agent.store('KEY', 'another value')],
  ['a grant', (agent) => agent.provision(undefined, undefined, 'staging')],
]

describe('one process, the database under test', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage({ env: { ...ENV, ...KEPT } })
  }, 60_000)
  afterAll(() => stage.stop())

  test.each(changes)('a process immediately drops and wipes its cache: %s', async (_, act) => {
    const agent = await createAgentWithToken(stage, { secrets: { KEY: marked('the value') } })
    // A late notice of an earlier change drops it again.
    while ((await entriesOf(stage.app, 'keys')) < 1)
      expect((await agent.resolve(call(stage))).status).toBe(200)
    await act(agent, stage)
    await expectEmptied(stage.app)
  })

  test("a process keeps other workspaces' caches", async () => {
    const createAgent = () => createAgentWithToken(stage, { secrets: { KEY: marked('the value') } })
    const [one, two, last] = [await createAgent(), await createAgent(), await createAgent()]
    // Notices arrive in order: the one of its revocation after all that creating the others has sent.
    await last.resolve(call(stage))
    await last.revoke()
    await expectEmptied(stage.app)
    for (const agent of [one, two]) await agent.resolve(call(stage))
    expect(await entriesOf(stage.app, 'keys')).toBe(2)
    await one.revoke()
    await until(async () => (await entriesOf(stage.app, 'keys')) <= 1)
    // A second eviction would follow immediately, and its absence cannot be observed.
    await Bun.sleep(50)
    expect(await entriesOf(stage.app, 'keys')).toBe(1)
    await two.revoke()
    await expectEmptied(stage.app)
  })
})

{
  const { test, describe, beforeAll, afterAll } = requires('postgresql')

  describe('two instances on one PostgreSQL', () => {
    let stage: Stage
    let other: Stage

    beforeAll(async () => {
      const database = await preparedDatabase()
      const env = { ...ENV, ...KEPT, ...database.env }
      stage = await openStage({ env })
      other = await openStage({ env: { ...env, RESOLVER_CA_FILE: stage.caFile } })
    }, 60_000)
    afterAll(async () => {
      await other.stop()
      await stage.stop()
    })

    const createAgent = () => createAgentWithToken(stage, { secrets: { KEY: marked('the value') } })
    const askOther = (agent: Agent) => () => resolveAs(other.app.resolver, agent.token, call(stage))

    /** Ends the notice connections. Returns how many there were. */
    async function killListeners(): Promise<number> {
      const killed = await stage.app.connection.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen %'`
      return killed.length
    }

    test.each(changes)('the other instance drops its cache: %s', async (_, act) => {
      const agent = await createAgent()
      // A notice of the latest change may arrive after the first call, and empties the cache once more.
      do expect((await askOther(agent)()).status).toBe(200)
      while ((await entriesOf(other.app, 'keys')) === 0)
      await act(agent, stage)
      await expectEmptied(other.app)
    })

    test('each instance has one connection for notices', async () => {
      const [row] = await stage.app.connection.sql`
      select count(*)::int as n from pg_stat_activity
      where datname = current_database() and query ilike 'listen %'`
      expect(row?.n).toBe(2)
    })

    test('a session that one instance ends is over on the other', async () => {
      const { person } = await createAgent()
      const { token } = await logInAs(stage.app, person)
      const me = (origin: string) => callJson(origin, 'GET', '/api/users/me/', { token })
      const { sql } = stage.app.connection
      const [session] = await sql`
      select id from sessions where user_id = ${person.userId} order by id desc limit 1`
      await expectExact(
        () => me(other.app.controlPlane),
        () => person.api.call(revokeSession, { params: { session_id: session?.id } }),
        'invalid_token',
      )
    })

    test('revocations apply while the notice connections are killed repeatedly', async () => {
      for (const [act, code] of [
        [(agent: Agent) => agent.revoke(), 'invalid_token'],
        [(agent: Agent) => agent.disallow(stage.authorityOf()), 'domain_blocked'],
      ] as const) {
        const agent = await createAgent()
        let ended = false
        let killed = 0
        const killing = (async () => {
          while (!ended) {
            killed += await killListeners()
            // The listener needs a moment to connect again before it is killed again.
            await Bun.sleep(10)
          }
        })()
        await expectExact(askOther(agent), () => act(agent), code)
        ended = true
        await killing
        expect(killed).toBeGreaterThan(0)
      }
    }, 30_000)

    test('a broken notice connection reconnects, and data that changed meanwhile is dropped', async () => {
      const agent = await createAgent()
      expect((await askOther(agent)()).status).toBe(200)
      await killListeners()
      await expectEmptied(other.app)
      expect((await askOther(agent)()).status).toBe(200)
      await agent.revoke()
      await expectEmptied(other.app)
    }, 30_000)
  })
}
