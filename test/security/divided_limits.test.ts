// tier: all
/** Limits of the whole application that two processes on one PostgreSQL each count. */
import { expect } from 'bun:test'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { preparedDatabase, type TestDatabase } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'

const LIMIT = 60
const RATES = { RATE_TOKEN: `${LIMIT}/36000`, RATE_API: `${LIMIT}/36000` }

const { test, beforeAll, afterAll } = requires('postgresql')

let database: TestDatabase
let stage: Stage
let second: TestApp
let agent: Agent

beforeAll(async () => {
  database = await preparedDatabase()
  stage = await openStage({ env: { ...RATES, ...database.env } })
  agent = await createAgentWithToken(stage, { secrets: { KEY: 'the value of a key' } })
  second = await startTestApp(RATES, { database })
}, 60_000)
afterAll(async () => {
  await second?.stop()
  await stage?.stop()
  database.remove()
})

const asToken = (app: TestApp) => ask(app.resolver, '/v1/allowlist', agent.token)
const asPerson = (app: TestApp) => ask(app.controlPlane, '/api/workspaces/', agent.person.token)

const ways: [string, (app: TestApp) => Promise<Response>][] = [
  ['a token gets no more calls', asToken],
  ['a session gets no more requests', asPerson],
]
test.each(ways)('%s from two processes than its limit', async (_, way) => {
  // The first one detects the second at its next heartbeat.
  for (const app of [stage.app, second])
    await until(async () => quotaOf(await way(app)) === LIMIT / 2, { stepMs: 200 })
  let passed = 0
  for (const app of [stage.app, second]) while ((await way(app)).status === 200) passed += 1
  expect(passed).toBeLessThanOrEqual(LIMIT)
  expect((await way(second)).status).toBe(429)
})

function ask(origin: string, path: string, token: string): Promise<Response> {
  return fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } })
}

function quotaOf(response: Response): number {
  return Number(/q=(\d+)/.exec(response.headers.get('ratelimit-policy') ?? '')?.[1])
}
