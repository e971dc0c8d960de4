// tier: all
/**
 * The cost of a request to each endpoint for PostgreSQL, compared with the record in request_costs.json: statements,
 * round trips, rows and bytes. It fails for a request that costs more, and for a record that is far too high.
 * To record again: `RECORD_COSTS=true bun run test --all request_costs`. The commit message gives the reason why a number grew.
 *
 * The first two requests do not count, because statements are prepared then. Background work may add to the others, so
 * the lowest numbers count, when several requests had them. An endpoint is left out if the role matrix has no accepted
 * request to it.
 */
import { expect } from 'bun:test'
import { join } from 'node:path'
import { systemTimers, type Timers } from '../../src/core/async/timers.ts'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import { markdownTable } from '../bench/measure.ts'
import { rows } from '../security/matrix_rows.ts'
import { buildWorld, type World } from '../security/matrix_world.ts'
import { openStage, type Stage } from '../support/agent.ts'
import { sharedCluster } from '../support/database.ts'
import { CRON_SECRET, makeOrder } from '../support/metered/order.ts'
import { requires } from '../support/requires.ts'
import { COSTS, startWireMeter, type WireCost, type WireMeter } from '../support/wire_meter.ts'
import { type Call, cases } from './request_cases.ts'

const { test, beforeAll, afterAll } = requires('postgresql')

const FILE = join(import.meta.dir, 'request_costs.json')
const isRecording = process.env.RECORD_COSTS === 'true'
const WARMING = 2
/**
 * The number of measured requests. It is constant, because each leaves data that a later request lists. The first
 * ones on another connection have its statements prepared.
 */
const MEASURED = 8
/** On a busy machine requests take more round trips: each is measured until its lowest numbers appear twice. */
const MOST_MEASURED = 40
/** Figures that are equal for each request, unless something else happens meanwhile. */
const COUNTED = ['statements', 'transaction', 'round trips'] as const
/** How much more a request may transfer than recorded: ids and numbers vary in length. */
const MAX_MORE_BYTES = 1.1
/**
 * How many more rows a request may take on a busy machine: what was measured before it took more requests, which left more
 * to list, and the records of one moment are spread over several buckets of the audit.
 */
const MAX_MORE_ROWS = 3
/** A record above this share of the cost is out of date. */
const MAX_STALE = 1.2
const PLENTY = '1000000/1'
/** The number of letters of a statement that a failure shows. */
const SHOWN = 100
/** It never ends. */
const ENDLESS = ['audit.watch']

type Measured = { cost: WireCost; texts: string[] }
/** Requests that were made because the machine is busy. */
let repeated = 0
/** Makes one request ready. */
type Prepare = () => Promise<Call> | Call

/** Repeated work, such as moving records, belongs to no request. */
const withoutBackground: Timers = {
  setTimer: (...given) => systemTimers.setTimer(...given),
  setRepeating: () => ({ cancel: () => {}, restart: () => {} }),
  sleep: (ms) => systemTimers.sleep(ms),
}

let meter: WireMeter
let stage: Stage

beforeAll(async () => {
  meter = await startWireMeter((await sharedCluster()).socketDir)
  const rates = ['RATE_REGISTER', 'RATE_LOGIN', 'RATE_API', 'RATE_TOKEN'].map((name) => [
    name,
    PLENTY,
  ])
  const env = { ...Object.fromEntries(rates), ...meter.env, CRON_SECRET }
  stage = await openStage({ env, timers: withoutBackground })
})
afterAll(async () => {
  await stage.stop()
  meter.stop()
})

test('no request runs more database statements than recorded', async () => {
  const measured = new Map<string, Measured>()
  const requests = await listRequests()
  await stage.app.flushAudit()
  for (const [name, prepare] of requests) measured.set(name, await measure(prepare))
  const names = [...measured.keys()].sort()
  const costs = new Map(names.map((name) => [name, (measured.get(name) as Measured).cost]))
  process.stdout.write(`${tableOf(costs)}\n`)
  if (isRecording) await Bun.write(FILE, fileOf(costs))
  const recorded = new Map<string, number[]>(Object.entries(await Bun.file(FILE).json()))
  expect([...recorded.keys()]).toEqual(names)
  const findings = names.flatMap((name) => {
    const { cost, texts } = measured.get(name) as Measured
    const found = compare(recorded.get(name) ?? [], cost)
    const statements = texts.map((text) => text.trim().slice(0, SHOWN))
    return found.length > 0 ? [{ name, found, statements }] : []
  })
  expect(findings).toEqual([])
  // Half a minute alone: a busy machine takes many times as long.
}, 900_000)

/** The endpoints of a resource share a workspace, and read-only ones run first, because rows accumulate. */
async function listRequests(): Promise<[string, Prepare][]> {
  // It registers first, so its owner is the owner of the installation.
  const first = await buildWorld(stage.app, { isStaffed: false })
  const worlds = new Map<string, World>()
  const worldOf = async ({ name }: Endpoint) => {
    const [resource = ''] = name.split('.')
    const isOwnersOnly = rows[name]?.expect?.other_owner === 403
    const world = isOwnersOnly ? first : worlds.get(resource)
    const found = world ?? (await buildWorld(stage.app, { isStaffed: false }))
    worlds.set(resource, found)
    return found
  }
  const served = listAllEndpoints().flatMap(({ surface, endpoints }) =>
    endpoints.map((endpoint) => ({ endpoint, surface })),
  )
  const reads = served.filter(({ endpoint }) => endpoint.method === 'GET')
  const writes = served.filter(({ endpoint }) => endpoint.method !== 'GET')
  const listed = new Map<string, Prepare>()
  for (const { endpoint, surface } of [...reads, ...writes]) {
    const row = rows[endpoint.name]
    if (!row || row.through || ENDLESS.includes(endpoint.name)) continue
    const isOnBoth = listed.has(endpoint.name)
    const world = await worldOf(endpoint)
    const name = isOnBoth ? `${endpoint.name}, ${surface}` : endpoint.name
    listed.set(name, () => makeOrder({ endpoint, surface }, world))
  }
  for (const [name, open] of Object.entries(cases)) listed.set(name, await open(stage))
  return [...listed]
}

async function measure(prepare: Prepare): Promise<Measured> {
  for (let run = 0; run < WARMING; run += 1) await makeOne(prepare)
  const counted: Measured[] = []
  while (counted.length < MOST_MEASURED) {
    counted.push(await makeOne(prepare))
    const lowest = lowestOf(counted.map(({ cost }) => cost))
    const [one, another] = counted.filter(({ cost }) =>
      COUNTED.every((field) => cost[field] === lowest[field]),
    )
    if (counted.length < MEASURED || !one || !another) continue
    repeated += counted.length - MEASURED
    return { ...one, cost: lowest }
  }
  throw new Error('the numbers differ with each request')
}

async function makeOne(prepare: Prepare): Promise<Measured> {
  const call = await prepare()
  return await meter.measure(() => send(call))
}

function lowestOf(costs: readonly WireCost[]): WireCost {
  const lowest = COSTS.map((what) => [what, Math.min(...costs.map((cost) => cost[what]))])
  return Object.fromEntries(lowest)
}

async function send({ method, url, token, headers, body }: Call): Promise<void> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`)
}

function compare(recorded: readonly number[], cost: WireCost): string[] {
  return COSTS.flatMap((what, index) => {
    const [was = 0, is] = [recorded[index], cost[what]]
    if (is > mostOf(what, was)) return [`${what}: ${is} instead of ${was}`]
    return was > is * MAX_STALE ? [`${what}: ${is} instead of ${was}, which can be recorded`] : []
  })
}

function mostOf(what: (typeof COSTS)[number], was: number): number {
  if (what === 'bytes') return was * MAX_MORE_BYTES
  return what === 'rows' && repeated > 0 ? was + MAX_MORE_ROWS : was
}

function tableOf(costs: ReadonlyMap<string, WireCost>): string {
  const lines = [...costs].map(([name, cost]) => [name, ...COSTS.map((what) => `${cost[what]}`)])
  return markdownTable(['endpoint', ...COSTS], lines)
}

/** One line per endpoint, with its numbers in the order of `COSTS`. */
function fileOf(costs: ReadonlyMap<string, WireCost>): string {
  const lines = [...costs].map(([name, cost]) => {
    const numbers = COSTS.map((what) => cost[what]).join(', ')
    return `  ${JSON.stringify(name)}: [${numbers}]`
  })
  return `{\n${lines.join(',\n')}\n}\n`
}
