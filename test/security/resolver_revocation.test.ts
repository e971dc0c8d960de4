// tier: all, both databases in test:all
/**
 * A removed resource is gone once the removal is acknowledged, on every process, with warm caches and under load: no
 * request that starts afterwards may succeed.
 */
import { expect } from 'bun:test'
import { deleteAgent, unprovisionAgentToken } from '../../src/features/agents/contract.ts'
import { deleteProject } from '../../src/features/projects/contract.ts'
import { deleteSecret } from '../../src/features/secrets/contract.ts'
import {
  type Agent,
  createAgentWithToken,
  openStage,
  resolveAs,
  type Stage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { preparedDatabase } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'

const LOOPS = 32

/** One change, and the results of calls that start after it was acknowledged. */
type Change = {
  title: string
  act(agent: Agent, stage: Stage): Promise<unknown>
  after: { status: number; code: string }
}

const changes: Change[] = [
  {
    title: 'a revoked token',
    act: (agent) => agent.revoke(),
    after: { status: 401, code: 'invalid_token' },
  },
  {
    title: 'the token of a deleted agent',
    act: ({ person, workspaceId, registrationId }) =>
      person.api.call(deleteAgent, {
        params: { workspace_id: workspaceId, registration_id: registrationId },
      }),
    after: { status: 401, code: 'invalid_token' },
  },
  {
    title: 'a domain taken off the allowlist',
    act: (agent, stage) => agent.disallow(stage.authorityOf()),
    after: { status: 403, code: 'domain_blocked' },
  },
  {
    title: 'a removed grant',
    act: ({ person, workspaceId, registrationId, tokenId, projectId, environment }) =>
      person.api.call(unprovisionAgentToken, {
        params: {
          workspace_id: workspaceId,
          registration_id: registrationId,
          token_id: tokenId,
        },
        query: { project_id: projectId, environment },
      }),
    after: { status: 409, code: 'key_not_provisioned' },
  },
  {
    title: 'a deleted secret',
    act: ({ person, projectId, environment }) =>
      person.api.call(deleteSecret, {
        params: { project_id: projectId, key: 'KEY' },
        query: { environment },
      }),
    after: { status: 422, code: 'unknown_secret' },
  },
  {
    title: 'a secret whose policy became narrower',
    act: (agent) =>
      agent.store('KEY', marked('value-one'), { policy: { allowed_methods: ['POST'] } }),
    after: { status: 403, code: 'policy_blocked' },
  },
  {
    title: 'a deleted project',
    act: ({ person, workspaceId }) =>
      person.api.call(deleteProject, {
        params: { workspace_id: workspaceId, project_name: 'main' },
      }),
    after: { status: 422, code: 'unknown_secret' },
  },
]

type Seen = { startedAt: number; status: number; code: string | undefined; value: string | null }

/** Calls through all origins in turn, without a pause, until it gets the signal to end. */
async function hammer(stage: Stage, agent: Agent, origins: readonly string[]) {
  const seen: Seen[] = []
  let ended = false
  const call = { target_url: stage.url('/value'), headers: { 'X-Key': 'SVC_SECRET_KEY' } }
  const loops = Array.from({ length: LOOPS }, async (_, number) => {
    for (let round = number; !ended; round += 1) {
      const startedAt = performance.now()
      const answer = await resolveAs(origins[round % origins.length] ?? '', agent.token, call)
      const body = answer.body as { error_code?: string; headers?: Record<string, string> }
      const value = body.headers?.['x-value'] ?? null
      seen.push({ startedAt, status: answer.status, code: body.error_code, value })
    }
  })
  const awaitAnswers = async (count: number) => {
    const target = seen.length + count
    await until(() => seen.length >= target, { stepMs: 1 })
  }
  return {
    seen,
    awaitAnswers,
    end: async () => {
      ended = true
      await Promise.all(loops)
    },
  }
}

function describeExactness(
  { describe, test, beforeAll, afterAll }: ReturnType<typeof requires>,
  place: string,
  open: () => Promise<{ stage: Stage; others: Stage[] }>,
) {
  describe(place, () => {
    let stage: Stage
    let others: Stage[]
    beforeAll(async () => {
      ;({ stage, others } = await open())
      // The upstream returns a hash of its input, because the value itself would be redacted.
      stage.upstream.on('/value', (request, wire) => {
        const digest = Bun.hash(request.header('x-key') ?? '').toString(16)
        wire.write(answerOf(200, { 'x-value': digest }))
      })
    }, 30_000)
    afterAll(async () => {
      for (const other of others) await other.stop()
      await stage.stop()
    })
    const origins = () => [...others, stage].map(({ app }) => app.resolver)

    test.each(changes.map((change) => [change.title, change] as const))(
      'does not serve a request that starts after the acknowledgement: %s',
      async (_, { act, after }) => {
        const agent = await createAgentWithToken(stage, { secrets: { KEY: marked('value-one') } })
        const load = await hammer(stage, agent, origins())
        await load.awaitAnswers(3 * LOOPS)
        await act(agent, stage)
        const acknowledgedAt = performance.now()
        await load.awaitAnswers(3 * LOOPS)
        await load.end()
        const late = load.seen.filter(({ startedAt }) => startedAt > acknowledgedAt)
        expect(late.length).toBeGreaterThan(LOOPS)
        expect(new Set(late.map(({ status, code }) => `${status} ${code}`))).toEqual(
          new Set([`${after.status} ${after.code}`]),
        )
        expect(load.seen.filter(({ status }) => status === 200).length).toBeGreaterThan(LOOPS)
      },
    )

    test('a call uses the new value of a secret once it is acknowledged', async () => {
      const agent = await createAgentWithToken(stage, { secrets: { KEY: marked('value-0') } })
      const load = await hammer(stage, agent, origins())
      for (let version = 1; version <= 5; version += 1) {
        await load.awaitAnswers(2 * LOOPS)
        await agent.store('KEY', marked(`value-${version}`))
        const acknowledgedAt = performance.now()
        const before = load.seen.length
        await load.awaitAnswers(3 * LOOPS)
        const late = load.seen.slice(before).filter(({ startedAt }) => startedAt > acknowledgedAt)
        const expected = Bun.hash(marked(`value-${version}`)).toString(16)
        expect(late.length).toBeGreaterThan(LOOPS)
        expect(late.filter(({ value }) => value !== expected)).toEqual([])
      }
      await load.end()
      expect(load.seen.filter(({ status }) => status !== 200)).toEqual([])
    })

    test('an added permission applies immediately', async () => {
      const agent = await createAgentWithToken(stage, { domains: [] })
      const call = { target_url: stage.url('/value'), headers: { 'X-Key': 'SVC_SECRET_KEY' } }
      for (const origin of origins()) {
        expect((await agent.resolve(call, origin)).body).toMatchObject({
          error_code: 'domain_blocked',
        })
      }
      await agent.allow(stage.authorityOf())
      for (const origin of origins()) {
        expect((await agent.resolve(call, origin)).body).toMatchObject({
          error_code: 'unknown_secret',
        })
      }
      await agent.store('KEY', marked('value-one'))
      for (const origin of origins()) expect((await agent.resolve(call, origin)).status).toBe(200)
    })
  })
}

const RATE = { RATE_API: '100000/1', RATE_TOKEN: '100000/1', RATE_LOGIN: '100000/1' }

describeExactness(requires(), 'one process, the database under test', async () => ({
  stage: await openStage({ env: RATE }),
  others: [],
}))

describeExactness(
  requires('postgresql'),
  'two instances on one PostgreSQL, the change made through one of them',
  async () => {
    const { env: place } = await preparedDatabase()
    const env = { ...RATE, ...place }
    const stage = await openStage({ env })
    // Both instances use the same upstream and trust the same authority.
    const other = await openStage({ env: { ...env, RESOLVER_CA_FILE: stage.caFile } })
    return { stage, others: [other] }
  },
)
