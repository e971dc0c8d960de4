// tier: quick
/**
 * A small request causes neither a large one nor much work (protocol 6.2): names and placeholders are counted before
 * any is looked up, bytes before any is inserted.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  type Agent,
  createAgentWithToken,
  expectRefused,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'

let stage: Stage
let agent: Agent

const SOME = Object.fromEntries(
  Array.from({ length: 17 }, (_, at) => [`KEY_${at}`, marked(`value-of-key-${at}`)]),
)

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: SOME })
  await agent.store('BIG', 'b'.repeat(60_000), {
    policy: { allowed_locations: ['json', 'header'] },
  })
}, 30_000)
afterAll(() => stage.stop())

const placeholders = (count: number, name: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => `SVC_SECRET_${name(at)}`)

function header(values: readonly string[]) {
  return { target_url: stage.url('/'), headers: { 'X-Keys': values.join(',') } }
}

function json(values: readonly string[]) {
  return {
    target_url: stage.url('/'),
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(values),
  }
}

/** Rejected without much memory, and with a small record. */
async function expectSmall(body: unknown, message: string) {
  const before = process.memoryUsage().rss
  const record = await expectRefused(stage, agent, body, 'validation_error', message)
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
  const names = String(record.credential_ref ?? '').split(',')
  expect(names.length).toBeLessThanOrEqual(16)
  expect(JSON.stringify(record).length).toBeLessThan(4_000)
}

const MANY = 'A call can have at most 64 placeholders.'

test('4,000 placeholders of a 60 kB secret in 68 kB of JSON are rejected', async () => {
  await expectSmall(json(placeholders(4_000, () => 'BIG')), MANY)
})

test('200,000 unknown names in one header are rejected before any is looked up', async () => {
  await expectSmall(header(placeholders(200_000, (at) => `N${at}`)), MANY)
})

test('17 names are rejected, and the record holds 16', async () => {
  const body = header(placeholders(17, (at) => `KEY_${at}`))
  const message = 'A call can use at most 16 different secrets.'
  const record = await expectRefused(stage, agent, body, 'validation_error', message)
  expect(String(record.credential_ref).split(',')).toHaveLength(16)
})

test('16 names in 64 places are inserted', async () => {
  const answer = await agent.resolve(header(placeholders(64, (at) => `KEY_${at % 16}`)))
  expect(answer.status).toBe(200)
  expect(stage.upstream.received.at(-1)?.header('x-keys')).toContain(SOME.KEY_15 ?? '')
})

test('more than 128 KiB in total, or 64 KiB in headers, is rejected before insertion', async () => {
  const all = json(placeholders(3, () => 'BIG'))
  await expectSmall(all, 'The secrets of the call exceed 128 KiB in total.')
  const two = header(placeholders(2, () => 'BIG'))
  await expectSmall(two, 'The secrets in headers exceed 64 KiB in total.')
  expect((await agent.resolve(json(placeholders(2, () => 'BIG')))).status).toBe(200)
  expect((await agent.resolve(header(placeholders(1, () => 'BIG')))).status).toBe(200)
})

test('a body that only mentions placeholders, however often, is sent unchanged', async () => {
  const spoken = json(placeholders(5_000, (at) => `KEY_${at}`))
  expect((await agent.resolve(spoken)).status).toBe(200)
  expect(Buffer.from(stage.upstream.received.at(-1)?.body ?? []).toString()).toBe(spoken.body)
})
