// tier: all
/** Two processes on one PostgreSQL share a token's limits: calls exactly, bytes and model tokens within one call. */
import { expect } from 'bun:test'
import type { TokenLimits } from '../../src/core/token_limits.ts'
import {
  type Agent,
  createAgentWithToken,
  openStage,
  resolveAs,
  type Stage,
} from '../support/agent.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { preparedDatabase, type TestDatabase } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'

const { test, beforeAll, afterAll } = requires('postgresql')

let database: TestDatabase
let stage: Stage
let second: TestApp
let agent: Agent

beforeAll(async () => {
  database = await preparedDatabase()
  stage = await openStage({ env: database.env })
  agent = await createAgentWithToken(stage, { secrets: { KEY: 'the value of a key' } })
  const networks = { RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32', RESOLVER_CA_FILE: stage.caFile }
  const lookup = async () => [{ address: '127.0.0.1', ttl: 0 }]
  second = await startTestApp(networks, { database, lookup })
}, 60_000)
afterAll(async () => {
  await second?.stop()
  await stage?.stop()
  database.remove()
})

async function limited(limits: Partial<TokenLimits>) {
  const issued = await agent.issue({ limits })
  await agent.provision(issued)
  const call = (app: TestApp, path = '/x') =>
    resolveAs(app.resolver, issued.text, {
      target_url: stage.url(path),
      headers: { 'x-key': 'SVC_SECRET_KEY' },
    })
  return { ...issued, call }
}

const processes = () => [stage.app, second]
const passed = (answers: readonly { status: number }[]) =>
  answers.filter(({ status }) => status === 200).length

test.each<[string, Partial<TokenLimits>]>([
  ['a day', { calls_per_day: 7 }],
  ['a minute', { calls_per_minute: 7 }],
])('calls of %s are rejected beyond the limit, whichever process has them', async (_, limits) => {
  const token = await limited(limits)
  const calls = Array.from({ length: 10 }, () => processes().map((app) => token.call(app))).flat()
  const answers = await Promise.all(calls)
  expect(passed(answers)).toBe(7)
  const codes = answers.flatMap(({ status, body }) =>
    status === 200 ? [] : [(body as { error_code: string }).error_code],
  )
  expect(new Set(codes)).toEqual(new Set(['budget_exceeded']))
})

test('no more calls run concurrently than the limit, in two processes together', async () => {
  const token = await limited({ concurrent_calls: 3 })
  const held = Promise.withResolvers<void>()
  let running = 0
  stage.upstream.on('/held', async (_, wire) => {
    running += 1
    await held.promise
    wire.write(answerOf(200, { 'content-type': 'application/json' }, '{}'))
  })
  const calls = Array.from({ length: 6 }, () =>
    processes().map((app) => token.call(app, '/held')),
  ).flat()
  let refused = 0
  for (const call of calls)
    void call.then(({ status }) => {
      refused += status === 429 ? 1 : 0
    })
  await until(() => refused === 9)
  expect(running).toBe(3)
  held.resolve()
  expect(passed(await Promise.all(calls))).toBe(3)
  for (let turn = 0; turn < 5; turn++)
    for (const app of processes()) expect((await token.call(app)).status).toBe(200)
})

test.each<[string, Partial<TokenLimits>]>([
  ['bytes', { bytes_per_day: 250 }],
  ['model tokens', { model_tokens_per_day: 250 }],
])('%s of a day stop both processes with the call that crosses the limit', async (_, limits) => {
  const token = await limited(limits)
  const usage = '{"usage":{"total_tokens":100}}'.padEnd(100)
  stage.upstream.on('/usage', answerOf(200, { 'content-type': 'application/json' }, usage))
  const statuses: number[] = []
  for (let turn = 0; turn < 3; turn++)
    for (const app of processes()) statuses.push((await token.call(app, '/usage')).status)
  expect(statuses).toEqual([200, 200, 200, 429, 429, 429])
})

test("places of an ended process's calls are free again when their lease ends", async () => {
  const token = await limited({ concurrent_calls: 1 })
  const { sql } = stage.app.connection
  await sql`insert into token_calls (call_id, token_id, until)
    values (${Bun.randomUUIDv7()}, ${token.id}, clock_timestamp() + interval '30 seconds')`
  expect((await token.call(second)).status).toBe(429)
  second.clock.advance(31_000)
  expect((await token.call(second)).status).toBe(200)
})
