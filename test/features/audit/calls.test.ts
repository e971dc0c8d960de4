// tier: quick, both databases in test:all
import { beforeAll, expect, test } from 'bun:test'
import { objectionToRecorded, type Style } from '../../../src/core/policy/policy_check.ts'
import { auditLogs } from '../../../src/database/schema/index.ts'
import { summariseCalls } from '../../../src/features/audit/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import type { Person } from '../../support/people.ts'
import { openTeam } from '../../support/teams.ts'

let app: TestApp
let reader: Person
let workspaceId: string
const PROJECT = Bun.randomUUIDv7()

type Stored = Partial<typeof auditLogs.$inferInsert>
const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000)
const CHARGES = 'https://api.example.com/v1/charges'

const call = (fields: Stored = {}) => ({
  workspaceId,
  timestamp: ago(1),
  source: 'resolver' as const,
  identityLevel: 'agent' as const,
  agentId: 'bot',
  projectId: PROJECT,
  environment: 'production',
  method: 'POST',
  targetUrl: CHARGES,
  targetDomain: 'api.example.com',
  credentialRef: 'KEY',
  injectionStyle: 'header',
  decision: 'allowed' as const,
  statusCode: 200,
  ...fields,
})

beforeAll(async () => {
  app = await sharedApp()
  const team = await openTeam(app)
  workspaceId = team.workspaceId
  reader = await team.join('read_only')
  const other = await openTeam(app)
  await app.connection.db.insert(auditLogs).values([
    ...Array.from({ length: 3 }, () => call()),
    call({ timestamp: ago(2), method: 'GET' }),
    call({
      timestamp: ago(3),
      credentialRef: 'OTHER,KEY,KEY',
      injectionStyle: 'query,header,json',
    }),
    call({ timestamp: ago(4), decision: 'blocked', reason: 'policy_blocked' }),
    // None of these is a call of the secret in these seven days.
    call({ timestamp: ago(24 * 8) }),
    call({ credentialRef: 'OTHER' }),
    call({ method: null, targetUrl: null, action: 'credentials.read', injectionStyle: 'env' }),
    call({
      source: 'control_plane',
      method: null,
      targetUrl: null,
      action: 'secret.read',
      injectionStyle: null,
    }),
    call({ workspaceId: other.workspaceId }),
  ])
})

const calls = (more: object = {}) =>
  reader.api.call(summariseCalls, {
    query: { workspace_id: workspaceId, credential: 'KEY', ...more },
  })

type Kind = Awaited<ReturnType<typeof calls>>['kinds'][number]

test("the list of calls has the hosts, places and counts of a value's use in the last seven days", async () => {
  const kind = (fields: Partial<Kind>): Kind => ({
    method: 'POST',
    target_url: CHARGES,
    style: 'header',
    decision: 'allowed',
    count: 1,
    last_at: expect.any(String),
    ...fields,
  })
  const { kinds, ...rest } = await calls()
  expect(rest).toEqual({ calls: 6, is_whole: true })
  expect(kinds[0]).toEqual(kind({ count: 4 }))
  expect(kinds.slice(1)).toHaveLength(3)
  expect(kinds).toEqual(
    expect.arrayContaining([
      kind({ method: 'GET' }),
      kind({ style: 'json' }),
      kind({ decision: 'blocked' }),
    ]),
  )
})

test('a draft of a policy is judged on calls like the resolver would judge it', async () => {
  const { kinds } = await calls()
  const blocked = kinds
    .filter(({ decision }) => decision !== 'blocked')
    .flatMap((kind) => {
      const made = { ...kind, style: kind.style as Style }
      const objection = objectionToRecorded({ allowed_methods: ['POST'] }, made)
      return objection ? [[objection.rule, kind.count]] : []
    })
  expect(blocked.sort()).toEqual([
    ['allowed_locations', 1],
    ['allowed_methods', 1],
  ])
})

test('the list of calls is narrowed to a project, an environment and a time', async () => {
  expect(await calls({ project_id: Bun.randomUUIDv7() })).toEqual({
    kinds: [],
    calls: 0,
    is_whole: true,
  })
  expect(await calls({ environment: 'staging' })).toMatchObject({ calls: 0 })
  expect(await calls({ since: '90m' })).toMatchObject({ calls: 3 })
})

test('the list of calls reads the newest ten thousand calls at most, and reports the limit', async () => {
  const many = Array.from({ length: 2_000 }, () =>
    call({ credentialRef: 'BUSY', timestamp: ago(5) }),
  )
  for (let n = 0; n < 6; n += 1)
    await app.connection.db
      .insert(auditLogs)
      .values(many.map((row) => ({ ...row, timestamp: ago(5 + n) })))
  const { kinds, ...rest } = await calls({ credential: 'BUSY' })
  expect(rest).toEqual({ calls: 10_000, is_whole: false })
  expect(kinds).toHaveLength(1)
})
