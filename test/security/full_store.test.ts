// tier: all
/**
 * Every answer is bounded in bytes (protocol 2): a walk of all contracts that read, over a workspace that holds many of
 * everything. What strangers can add, and products of two numbers, must not make an answer grow. On PostgreSQL the rows that
 * each answer takes are counted before and after the store grows: cost follows the page, not the store. No answer keeps another
 * tenant waiting while it is made.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { listAllEndpoints } from '../../src/dev/all_endpoints.ts'
import { login } from '../../src/features/accounts/contract.ts'
import { issueAgentToken, listAgentTokens } from '../../src/features/agents/contract.ts'
import { summariseAudit } from '../../src/features/audit/contract.ts'
import { createProject, showCoverage } from '../../src/features/projects/contract.ts'
import { listWorkspacesEndpoint } from '../../src/features/workspaces/contract.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import {
  DEVELOPMENT_KEYS,
  fillStore,
  growStore,
  INVITATIONS,
  RECORDS,
  type Store,
} from '../support/full_store.ts'
import { readCost, startProbe } from '../support/metered/probe.ts'
import { type Person, registerPerson } from '../support/people.ts'
import { requires } from '../support/requires.ts'
import { countRowsRead } from '../support/rows_read.ts'

/** A third of the size that clients accept of any answer (16 MiB), and far above a page of these. */
const MOST_BYTES = 5 * 1_048_576
/** The longest page, and the longest list of names in a response without pages. */
const MOST_ENTRIES = 1_000

const onPostgres = requires('postgresql')

let app: TestApp
let owner: Person
let guest: Person
let params: Record<string, string>
let store: Store

beforeAll(async () => {
  app = await sharedApp()
  await registerPerson(app, 'first')
  owner = await registerPerson(app, 'owner')
  guest = await registerPerson(app, 'guest')
  const { workspaceId } = owner
  const { id: projectId } = await owner.api.call(createProject, {
    body: { name: 'large', workspace_id: workspaceId },
  })
  const agent = Bun.randomUUIDv7()
  params = {
    workspace_id: workspaceId,
    project_id: projectId,
    project: projectId,
    project_name: 'large',
    registration_id: agent,
    key: 'KEY_1',
    environment: 'development',
    email: owner.email,
    member: owner.userId,
  }
  store = { app, workspaceId, projectId, agent, people: [owner.userId, guest.userId] }
  await fillStore(store)
}, 60_000)

/** Queries that some contracts demand. */
const QUERIES: Record<string, Record<string, string>> = {
  'projects.diff': { from: 'development', to: 'e1' },
  'audit.calls': { credential: 'KEY_1', since: '7d' },
}

/** Contracts with a response that is a stream or a file, or that need a resource which this store lacks. */
const reading = listAllEndpoints()
  .flatMap(({ surface, endpoints }) => (surface === 'control-plane' ? endpoints : []))
  .filter(
    ({ method, access, mediaType, raw }: Endpoint & { raw?: unknown }) =>
      method === 'GET' && !mediaType && !raw && ['member', 'session'].includes(access.kind),
  )

async function read(endpoint: Endpoint): Promise<{ status: number; text: string }> {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(params[name] ?? Bun.randomUUIDv7()),
  )
  const named =
    endpoint.path.includes('{workspace_id}') || endpoint.path.includes('{project')
      ? {}
      : { workspace_id: params.workspace_id ?? '' }
  const query = { ...named, ...(endpoint.paged ? { limit: '500' } : {}), ...QUERIES[endpoint.name] }
  const search = endpoint.query ? `?${new URLSearchParams(query)}` : ''
  const response = await fetch(`${app.controlPlane}${path}${search}`, {
    headers: { authorization: `Bearer ${owner.token}` },
  })
  return { status: response.status, text: await response.text() }
}

function longestArray(value: unknown): number {
  if (Array.isArray(value)) return Math.max(value.length, ...value.map(longestArray))
  if (value === null || typeof value !== 'object') return 0
  return Math.max(0, ...Object.values(value).map(longestArray))
}

/** Endpoints whose cost may follow the store, each with the reason. */
const FOLLOWS_THE_STORE: Record<string, string> = {
  'audit.calls': 'reads the newest 10,000 calls of a secret, more than this store has',
  'audit.usage': 'reads the newest 100,000 requests, more than this store has',
}

/** Requests by the name of their endpoint. One is a write that counts against a quota: revoked tokens pile up beside active ones. */
const acts = new Map<string, () => Promise<unknown>>([
  ...reading.map((endpoint) => [endpoint.name, () => read(endpoint)] as const),
  ['agents.tokens.issue', issueOne],
])

/** Background work, of which there is more in a longer request on a busy machine, adds to some counts. */
async function countLowest(act: () => Promise<unknown>, times: number): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY
  for (let time = 1; time <= times; time += 1)
    lowest = Math.min(lowest, await countRowsRead(app.connection.sql, act))
  return lowest
}

async function issueOne(): Promise<void> {
  const { workspace_id = '', registration_id = '' } = params
  const body = { label: `label ${Bun.randomUUIDv7()}` }
  await owner.api.call(issueAgentToken, { params: { workspace_id, registration_id }, body })
}

/** Additional counts before a finding: a real growth appears in each of them. */
const RECOUNTS = 10
/** Additional rows that another plan, or a page of other rows, may take. */
const TOLERANCE = 200
/** Folding leaves dead index entries until a vacuum that no other snapshot holds back. The store grows by 60,000 counts. */
const TOLERANCES: Record<string, number> = { 'audit.summary': 10_000 }

describe('an answer stays within its bounds', () => {
  test.each(reading.map((endpoint) => [endpoint.name, endpoint] as const))(
    '%s',
    async (_, endpoint) => {
      const { status, text } = await read(endpoint)
      // 422: the ciphertexts are not sealed.
      expect([200, 403, 404, 422]).toContain(status)
      expect(text.length).toBeLessThan(MOST_BYTES)
      expect(longestArray(JSON.parse(text))).toBeLessThanOrEqual(MOST_ENTRIES)
    },
  )

  test('most of the walk finds rows to read', async () => {
    const statuses = await Promise.all(
      reading.map(async (endpoint) => [endpoint.name, (await read(endpoint)).status] as const),
    )
    const found = statuses.filter(([, status]) => status === 200).map(([name]) => name)
    for (const name of [
      'projects.coverage',
      'projects.diff',
      'projects.environments',
      'agents.tokens.list',
      'audit.summary',
      'audit.calls',
      'workspaces.list',
      'secrets.list',
    ])
      expect(found).toContain(name)
  })
})

test('a login returns active workspaces only, however many invitations strangers send', async () => {
  const { email, password } = owner
  const answer = await app.as().call(login, { body: { email, password } })
  expect(answer.workspaces.map(({ id }) => id)).toEqual([owner.workspaceId])
  const all = await owner.api.list(listWorkspacesEndpoint, {})
  expect(all.filter(({ status }) => status === 'invited')).toHaveLength(INVITATIONS)
})

test('pages that end early lose no token', async () => {
  const { workspace_id = '', registration_id = '' } = params
  const listed = await owner.api.list(listAgentTokens, {
    params: { workspace_id, registration_id },
  })
  expect(new Set(listed.map(({ id }) => id)).size).toBe(500)
  expect(listed.every(({ provisioned }) => provisioned.length === 30)).toBe(true)
})

test('coverage lists each name once over its pages', async () => {
  const names = new Set<string>()
  let cursor: string | null = null
  do {
    const query: { limit: number; cursor?: string } = {
      limit: 150,
      ...(cursor === null ? {} : { cursor }),
    }
    const { data, next } = await owner.api.page(showCoverage, {
      params: { project_id: params.project_id ?? '' },
      query,
    })
    for (const { key } of data.keys) names.add(key)
    cursor = next
  } while (cursor !== null)
  expect(names.size).toBe(DEVELOPMENT_KEYS)
})

test('an account with many invitations is deleted, and each is declined on record', async () => {
  const body = { current_password: guest.password }
  const answer = await app.call('POST', '/api/auth/delete-account/', { token: guest.token, body })
  expect(answer.status).toBe(200)
  await app.flushAudit()
  const [declined] = await app.connection.sql`
    select count(*)::int as rows from audit_logs where user_id = ${guest.userId} and action = 'member.declined'`
  const [rekeys] = await app.connection.sql`
    select count(*)::int as rows from workspaces where id::text like '00000000-0000-7000-8000-%' and rekey_required`
  expect([declined?.rows, rekeys?.rows]).toEqual([INVITATIONS, INVITATIONS])
})

test('a summary of more names than its limit is marked, and its totals are exact', async () => {
  const query = { workspace_id: store.workspaceId }
  const { totals, by_day, by_domain, is_whole } = await owner.api.call(summariseAudit, { query })
  expect(is_whole).toBe(false)
  expect(totals.requests).toBe(RECORDS)
  expect(by_day.reduce((sum, { count }) => sum + count, 0)).toBe(RECORDS)
  expect(by_domain.length).toBe(MOST_ENTRIES)
})

onPostgres.test(
  'no endpoint takes more rows from the database when the store has grown beyond its page',
  async () => {
    const before = new Map<string, number>()
    for (const [name, act] of acts) before.set(name, await countLowest(act, 2))
    await growStore(store)
    const growth: string[] = []
    for (const [name, act] of acts) {
      if (name in FOLLOWS_THE_STORE) continue
      const first = before.get(name) ?? 0
      const most = first + (TOLERANCES[name] ?? TOLERANCE)
      let rows = await countLowest(act, 2)
      if (rows > most) rows = Math.min(rows, await countLowest(act, RECOUNTS))
      if (rows > most) growth.push(`${name}: ${first} rows, then ${rows}`)
    }
    expect(growth).toEqual([])
  },
  300_000,
)

/** Four times the cost of the most expensive answer here, 50,000 entries of coverage; most take less than 10 ms. */
const MAX_STALL_MS = 200
/** The collector runs at random times. */
const ATTEMPTS = 3

/** The most processor time between two turns of the event loop: a busy machine adds nothing to it. */
async function stallOf(endpoint: Endpoint, small: Person): Promise<number> {
  readCost()
  const [, beside] = await Promise.all([read(endpoint), small.api.list(listWorkspacesEndpoint, {})])
  expect(beside).toHaveLength(1)
  return readCost().stallMs
}

onPostgres.test(
  'no endpoint keeps the calls of a small tenant waiting while it reads the full store',
  async () => {
    const small = await registerPerson(app, 'small')
    startProbe()
    const stalls: [name: string, ms: number][] = []
    for (const endpoint of reading) {
      let stall = Number.POSITIVE_INFINITY
      for (let attempt = 1; attempt <= ATTEMPTS && stall >= MAX_STALL_MS; attempt += 1)
        stall = await stallOf(endpoint, small)
      stalls.push([endpoint.name, stall])
    }
    expect(stalls.filter(([, ms]) => ms >= MAX_STALL_MS)).toEqual([])
  },
  120_000,
)
