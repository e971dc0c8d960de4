// tier: quick, both databases in test:all
/**
 * Each limit at its edge, by the application's clock: a call over the limit gets 429 with the wait, has no
 * effect, and passes once the wait is over. No caller spends another caller's limit.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { formatToken } from '../../src/core/crypto/token.ts'
import { adviceFor } from '../../src/http/advice.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { type Answer, callJson } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { logInAs, newApplicant, registerPerson, registrationOf } from '../support/people.ts'

const CRON_SECRET = 'a secret of the scheduler'
const LIMITS = {
  RATE_REGISTER: '12/3600',
  RATE_LOGIN: '20/600',
  RATE_API: '30/600',
  RATE_TOKEN: '3/600',
}

let stage: Stage
let networks = 0

beforeAll(async () => {
  stage = await openStage({ env: { ...LIMITS, CRON_SECRET, TRUSTED_PROXIES: '127.0.0.0/8' } })
}, 60_000)
afterAll(() => stage.stop())

/** Headers of a caller from its own network. */
function fromSomewhere(): Record<string, string> {
  networks += 1
  return { 'x-forwarded-for': `198.51.100.${networks}` }
}

/** Uses up a limit of `count`. Returns the first call over it. */
async function spend(count: number, call: () => Promise<Answer>): Promise<Answer> {
  for (let number = 1; number <= count; number += 1)
    expect({ number, status: (await call()).status }).not.toEqual({ number, status: 429 })
  return call()
}

const failure = {
  status: 'failure',
  error_code: 'rate_limited',
  message: 'Too many requests. Wait and retry.',
  ...adviceFor('rate_limited'),
  request_id: expect.any(String),
}

/** Compares the whole error. Returns the seconds to wait. */
function expectRefused(
  { status, body, headers }: Answer,
  limit: string,
  expected: unknown,
): number {
  const [count, seconds] = limit.split('/').map(Number)
  expect({ status, body }).toEqual({ status: 429, body: expected })
  const wait = Number(headers.get('retry-after'))
  expect(wait).toBeGreaterThan(0)
  expect(wait).toBeLessThanOrEqual(Math.ceil((seconds ?? 0) / (count ?? 1)))
  expect(headers.get('ratelimit')).toBe(`"default";r=0;t=${wait}`)
  expect(headers.get('ratelimit-policy')).toBe(`"default";q=${count};w=${seconds}`)
  return wait
}

/** After the wait the same call is no longer rejected. */
async function expectPatienceHelps(wait: number, call: () => Promise<Answer>): Promise<void> {
  stage.app.clock.advance(wait * 1000)
  expect((await call()).status).not.toBe(429)
}

async function countUsers(): Promise<number> {
  const [row] = await stage.app.connection.sql`select count(*)::int as n from users`
  return row?.n
}

describe('per network', () => {
  test('registrations are limited per network by RATE_REGISTER', async () => {
    const headers = fromSomewhere()
    const valid = await registrationOf(newApplicant('latecomer'))
    const register = (body: unknown = {}, more = headers) =>
      stage.app.call('POST', '/api/auth/register/', { body, headers: more })
    const before = await countUsers()
    await spend(12, register)
    const refused = await register(valid)
    const wait = expectRefused(refused, LIMITS.RATE_REGISTER, failure)
    expect(await countUsers()).toBe(before)
    const elsewhere = await register(valid, fromSomewhere())
    expect(elsewhere.status).toBe(201)
    expect(elsewhere.headers.get('ratelimit')).toStartWith('"default";r=11;t=')
    await expectPatienceHelps(wait, register)
  })

  test('logins and all other checks of a secret are limited per network by RATE_LOGIN together', async () => {
    const headers = fromSomewhere()
    const paths = ['prelogin', 'login', 'refresh', 'recover/begin', 'recover']
    const ask = (path: string, more = headers) =>
      stage.app.call('POST', `/api/auth/${path}/`, { body: {}, headers: more })
    let turn = 0
    await spend(20, () => ask(paths[turn++ % paths.length] ?? ''))
    let wait = 0
    for (const path of paths) wait = expectRefused(await ask(path), LIMITS.RATE_LOGIN, failure)
    expect((await ask('login', fromSomewhere())).status).toBe(422)
    await expectPatienceHelps(wait, () => ask('login'))
  })

  test('the scheduler is limited per network by RATE_LOGIN, so that its secret is not guessed', async () => {
    const headers = fromSomewhere()
    const compute = (token: string) =>
      stage.app.call('POST', '/telemetry/internal/compute-metrics/', { token, headers })
    const wait = expectRefused(
      await spend(20, () => compute('a guess')),
      LIMITS.RATE_LOGIN,
      failure,
    )
    expectRefused(await compute(CRON_SECRET), LIMITS.RATE_LOGIN, failure)
    await expectPatienceHelps(wait, () => compute(CRON_SECRET))
  })
})

describe('per session and person', () => {
  test('the control plane is limited per session by RATE_API', async () => {
    const person = await registerPerson(stage.app, 'busy')
    const me = (token = person.token) => stage.app.call('GET', '/api/users/me/', { token })
    const first = await me()
    expect(first.headers.get('ratelimit')).toStartWith('"default";r=29;t=')
    expect(first.headers.get('ratelimit-policy')).toBe('"default";q=30;w=600')
    const wait = expectRefused(await spend(29, me), LIMITS.RATE_API, failure)
    const write = await stage.app.call('POST', '/api/projects/', {
      token: person.token,
      body: { name: 'never', workspace_id: person.workspaceId },
    })
    expectRefused(write, LIMITS.RATE_API, failure)
    const [made] = await stage.app.connection.sql`
      select count(*)::int as n from projects where workspace_id = ${person.workspaceId}`
    expect(made?.n).toBe(0)
    const { token } = await logInAs(stage.app, person)
    expect((await me(token)).status).toBe(200)
    await expectPatienceHelps(wait, me)
  })

  test('public key requests are limited by RATE_LOGIN, over all sessions of a person', async () => {
    const person = await registerPerson(stage.app, 'curious')
    const { token } = await logInAs(stage.app, person)
    let turn = 0
    const lookUp = () =>
      stage.app.call('GET', `/api/users/nobody-${turn}@example.com/public-key/`, {
        token: turn++ % 2 ? person.token : token,
      })
    const wait = expectRefused(await spend(20, lookUp), LIMITS.RATE_LOGIN, failure)
    const other = await registerPerson(stage.app, 'other')
    const path = `/api/users/${person.email}/public-key/`
    expect((await stage.app.call('GET', path, { token: other.token })).status).toBe(200)
    await expectPatienceHelps(wait, lookUp)
  })
})

describe('per token', () => {
  const tooMany = {
    error_code: 'rate_limited',
    message: failure.message,
    ...adviceFor('rate_limited'),
  }
  const createAgent = () =>
    createAgentWithToken(stage, {
      secrets: { KEY: marked('the value') },
      ofProject: true,
      capabilities: ['use', 'read'],
    })
  const call = () => ({ target_url: stage.url('/'), headers: { 'X-Key': 'SVC_SECRET_KEY' } })
  const deliver = ({ token, environment }: Agent, origin: string) =>
    callJson(origin, 'POST', '/api/workloads/env/', { token, body: { environment } })

  test('calls, deliveries on both listeners and reports are limited per token by RATE_TOKEN together', async () => {
    const agent = await createAgent()
    const { controlPlane, resolver } = stage.app
    const first = await agent.resolve(call())
    expect(first.status).toBe(200)
    expect(first.headers.get('ratelimit')).toBe('"default";r=2;t=200')
    expect(first.headers.get('ratelimit-policy')).toBe('"default";q=3;w=600')
    const report = () =>
      stage.app.call('POST', '/api/internal/audit/logs/', {
        token: agent.token,
        body: { timestamp: new Date().toISOString(), method: 'GET', target_domain: 'a.example' },
      })
    expect((await report()).status).toBe(201)
    await deliver(agent, resolver)
    const [sent, recorded] = [stage.upstream.bytes, await countLogs(agent)]
    const wait = expectRefused(await agent.resolve(call()), LIMITS.RATE_TOKEN, tooMany)
    expectRefused(await deliver(agent, resolver), LIMITS.RATE_TOKEN, tooMany)
    expectRefused(await deliver(agent, controlPlane), LIMITS.RATE_TOKEN, failure)
    expectRefused(await report(), LIMITS.RATE_TOKEN, failure)
    expect(stage.upstream.bytes).toBe(sent)
    expect(await countLogs(agent)).toBe(recorded)
    await expectPatienceHelps(wait, () => agent.resolve(call()))
  })

  test('a delivery has the remaining count', async () => {
    const agent = await createAgent()
    await agent.resolve(call())
    const { status, headers } = await deliver(agent, stage.app.controlPlane)
    expect(status).toBe(200)
    expect(headers.get('ratelimit')).toBe('"default";r=1;t=400')
  })

  test("the body of a call over the limit is not read, and a wrong secret uses none of its token's rate", async () => {
    const agent = await createAgent()
    for (let guess = 0; guess < 10; guess += 1)
      expect((await agent.resolve(call())).status === 429).toBe(guess >= 3)
    const broken = await agent.resolve('{ this is no JSON')
    expectRefused(broken, LIMITS.RATE_TOKEN, tooMany)
    const other = await createAgent()
    const forged = formatToken('agt', other.tokenId, new Uint8Array(32).fill(1))
    for (let guess = 0; guess < 10; guess += 1) {
      const answer = await callJson(stage.app.resolver, 'POST', '/v1/resolve', {
        token: forged,
        body: call(),
      })
      expect(answer.status).toBe(401)
    }
    expect((await other.resolve(call())).status).toBe(200)
  })

  async function countLogs({ workspaceId }: Agent): Promise<number> {
    await stage.app.flushAudit()
    const [row] = await stage.app.connection.sql`
      select count(*)::int as n from audit_logs
      where workspace_id = ${workspaceId} and source <> 'control_plane'`
    return row?.n
  }
})
