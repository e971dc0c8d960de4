// tier: all
/** kill -9 during work: changes acknowledged over HTTP exist after the next start. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Program, startProgram } from '../binary/executable.ts'
import {
  type AgentToken,
  type Customer,
  createAgent,
  enrol,
  readAudit,
} from '../binary/independent_client.ts'
import { allow, openScene, resolveAs, type Scene } from '../binary/scene.ts'
import { marked } from '../support/canary.ts'
import { until } from '../support/until.ts'

const ROUNDS = 3
const WRITERS = 4
const CALLERS = 2

let scene: Scene
let program: Program
let customer: Customer
/** Has the agent in a separate workspace, because each write makes the workspace's calls check again. */
let agentOwner: Customer
let agent: AgentToken

/** Acknowledged by the server: names of new secrets, last values of old ones, paths of calls. */
const created = new Set<string>()
const counters = new Map<string, { acknowledged: number; tried: number }>()
const called = new Set<string>()

beforeAll(async () => {
  scene = await openScene()
  Object.assign(scene.env, { RATE_API: '1000000/1', RATE_TOKEN: '1000000/1' })
  program = await startProgram({ env: scene.env })
  customer = await enrol(program.controlPlane)
  agentOwner = await enrol(program.controlPlane)
  await agentOwner.upload({ API_KEY: marked('sk_live_crash') })
  await allow(scene, agentOwner)
  agent = await createAgent(agentOwner)
}, 60_000)
afterAll(async () => {
  program.signal('SIGKILL')
  await program.ended
  await scene.close()
})

/** Writes until the server is gone. An error before that fails the test. */
async function write(round: number, writer: number, isAlive: () => boolean): Promise<void> {
  const counter = `COUNTER_${writer}`
  for (let count = 1; isAlive(); count += 1) {
    const key = `KEY_${round}_${writer}_${count}`
    const value = round * 100_000 + count
    counters.set(counter, { acknowledged: counters.get(counter)?.acknowledged ?? 0, tried: value })
    await customer.upload({ [key]: key, [counter]: String(value) })
    created.add(key)
    counters.set(counter, { acknowledged: value, tried: value })
  }
}

async function call(round: number, caller: number, isAlive: () => boolean): Promise<void> {
  for (let count = 1; isAlive(); count += 1) {
    const path = `/${round}/${caller}/${count}`
    await resolveAs(agent, program.resolver, scene.url(path))
    called.add(path)
  }
}

/** Works from several sides and kills the server once enough was acknowledged. */
async function workAndKill(round: number): Promise<void> {
  let alive = true
  const isAlive = () => alive
  const before = created.size + called.size
  const workers = [
    ...Array.from({ length: WRITERS }, (_, writer) => write(round, writer, isAlive)),
    ...Array.from({ length: CALLERS }, (_, caller) => call(round, caller, isAlive)),
  ].map((work) =>
    work.catch((error) => {
      if (alive) throw error
    }),
  )
  const kill = async () => {
    const enough = 40 + 25 * round
    const isEnough = () =>
      created.size + called.size >= before + enough &&
      created.size > round * 10 &&
      called.size > round * 5
    await until(isEnough, { stepMs: 1 })
    alive = false
    program.signal('SIGKILL')
    await program.ended
  }
  await Promise.all([...workers, kill()])
}

async function listKeys(): Promise<Set<string>> {
  const keys = new Set<string>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = `limit=500${cursor && `&cursor=${cursor}`}`
    const page = await customer.call('GET', `/api/secrets/${customer.projectId}/?${query}`)
    for (const { key } of page.data as { key: string }[]) keys.add(key)
    cursor = (page.pagination as { next_cursor: string | null }).next_cursor
  }
  return keys
}

test(`${ROUNDS} kills lose no acknowledged secret and no acknowledged call`, async () => {
  for (let round = 1; round <= ROUNDS; round += 1) {
    await workAndKill(round)
    program = await startProgram({ env: scene.env })
    customer.moveTo(program.controlPlane)
    agentOwner.moveTo(program.controlPlane)

    const kept = await listKeys()
    expect([...created].filter((key) => !kept.has(key))).toEqual([])
    for (const [counter, { acknowledged, tried }] of counters) {
      // A secret whose server was killed before the first acknowledgement may exist or not.
      if (acknowledged === 0 && !kept.has(counter)) continue
      const value = Number(await customer.download(counter))
      expect(value).toBeGreaterThanOrEqual(acknowledged)
      expect(value).toBeLessThanOrEqual(tried)
    }
    const audited = (await readAudit(agentOwner)).map(({ target_path }) => target_path)
    expect([...called].filter((path) => !audited.includes(path))).toEqual([])
    expect(audited.length).toBe(new Set(audited).size)
    // Every call that reached the API was in the audit first, also an unanswered one.
    const reached = scene.upstream.received.map(({ path }) => path)
    expect(reached.filter((path) => !audited.includes(path))).toEqual([])
  }
  expect(created.size).toBeGreaterThan(ROUNDS * 10)
  expect(called.size).toBeGreaterThan(ROUNDS * 5)
}, 240_000)

test('a secret is written whole or not at all: every stored secret opens', async () => {
  const kept = [...(await listKeys())].filter((key) => key.startsWith('KEY_'))
  for (const key of kept.slice(-50)) expect(await customer.download(key)).toBe(key)
}, 60_000)
