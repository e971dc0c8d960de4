// tier: quick, both databases in test:all
import { beforeAll, describe, expect, test } from 'bun:test'
import { auditLogs } from '../../../src/database/schema/index.ts'
import { exportAudit, getAuditLog, listAuditLogs } from '../../../src/features/audit/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { expectFailure, expectRefusal } from '../../support/failure.ts'
import { type Person, registerPerson } from '../../support/people.ts'
import { openTeam, type Team } from '../../support/teams.ts'

let app: TestApp
let team: Team
let reader: Person
let stranger: Person
let workspaceId: string

const AGENT = Bun.randomUUIDv7()
const TOKEN = Bun.randomUUIDv7()
const PROJECT = Bun.randomUUIDv7()

type Stored = Partial<typeof auditLogs.$inferInsert>

/** The n-th record, on 1 March 2026 at n minutes past midnight. */
const record = (n: number, fields: Stored = {}) => ({
  id: Bun.randomUUIDv7(),
  workspaceId,
  timestamp: new Date(Date.UTC(2026, 2, 1, 0, n)),
  source: 'resolver' as const,
  identityLevel: 'agent' as const,
  agentId: 'bot',
  method: 'GET',
  targetDomain: 'api.example.com',
  decision: 'allowed' as const,
  statusCode: 200,
  ...fields,
})

const special: [name: string, query: Record<string, string | number>, fields: Stored][] = [
  ['project_id', { project_id: PROJECT }, { projectId: PROJECT }],
  ['environment', { environment: 'staging' }, { environment: 'staging' }],
  ['agent_id as a name', { agent_id: 'deployer' }, { agentId: 'deployer' }],
  ['agent_id as a registration', { agent_id: AGENT }, { registrationId: AGENT }],
  ['agent_id as a token', { agent_id: TOKEN }, { tokenId: TOKEN }],
  ['domain', { domain: 'Other.Example.com' }, { targetDomain: 'other.example.com' }],
  ['method', { method: 'delete' }, { method: 'DELETE' }],
  ['status_code', { status_code: 403 }, { statusCode: 403 }],
  ['action', { action: 'secret.read' }, { action: 'secret.read' }],
  ['credential', { credential: 'KEY' }, { credentialRef: 'KEY' }],
  ['credential among others', { credential: 'SECOND' }, { credentialRef: 'FIRST,SECOND,THIRD' }],
]

beforeAll(async () => {
  app = await sharedApp()
  team = await openTeam(app)
  workspaceId = team.workspaceId
  reader = await team.join('read_only')
  stranger = await registerPerson(app, 'stranger')
  const plain = Array.from({ length: 30 }, (_, n) => record(n))
  const odd = special.map(([, , fields], index) => record(40 + index, fields))
  await app.connection.db.insert(auditLogs).values([...plain, ...odd])
})

const get = (path: string, person: Person = reader) =>
  app.call('GET', `/api/audit/${path}`, { token: person.token })
const list = (query: Record<string, string | number> = {}) =>
  reader.api.list(listAuditLogs, { query: { workspace_id: workspaceId, ...query } })
const march = { since: '2026-03-01T00:00:00Z', until: '2026-03-02' }

describe('the list', () => {
  test('the list has every field of a record, and no others', async () => {
    const whole = {
      id: Bun.randomUUIDv7(),
      workspaceId,
      timestamp: new Date('2026-02-01T10:00:00.123Z'),
      recordedAt: new Date('2026-02-01T10:00:01.456Z'),
      source: 'client' as const,
      identityLevel: 'workload' as const,
      agentId: 'ci',
      registrationId: AGENT,
      tokenId: TOKEN,
      userId: reader.userId,
      projectId: PROJECT,
      environment: 'production',
      method: 'POST',
      targetUrl: 'https://api.example.com/v1',
      targetPath: '/v1',
      targetDomain: 'api.example.com',
      credentialRef: 'A,B',
      injectionStyle: 'header,query',
      unfilled: [{ name: 'C', place: 'json' as const }],
      approvalId: AGENT,
      decision: 'error' as const,
      reason: 'upstream_timeout',
      refusedBy: { secret: 'A', rule: 'allowed_paths' as const },
      statusCode: 504,
      durationMs: 30_000,
      redacted: true,
      clientId: 'call-1',
    }
    await app.connection.db.insert(auditLogs).values(whole)
    const shown = {
      id: whole.id,
      workspace_id: workspaceId,
      timestamp: '2026-02-01T10:00:00.123Z',
      recorded_at: '2026-02-01T10:00:01.456Z',
      source: 'client',
      identity_level: 'workload',
      agent_id: 'ci',
      registration_id: AGENT,
      token_id: TOKEN,
      user_id: reader.userId,
      project_id: PROJECT,
      environment: 'production',
      method: 'POST',
      target_url: 'https://api.example.com/v1',
      target_path: '/v1',
      target_domain: 'api.example.com',
      credential_ref: 'A,B',
      injection_style: 'header,query',
      unfilled: [{ name: 'C', place: 'json' }],
      approval_id: AGENT,
      decision: 'error',
      reason: 'upstream_timeout',
      refused_by: { secret: 'A', rule: 'allowed_paths' },
      status_code: 504,
      duration_ms: 30_000,
      redacted: true,
      action: null,
      resource: null,
      client_id: 'call-1',
    }
    const listed = await get(`logs/?workspace_id=${workspaceId}&until=2026-02-02`)
    expect(listed.body).toEqual({
      status: 'success',
      data: [shown],
      pagination: { next_cursor: null },
    })
    const single = await get(`logs/${whole.id}/?workspace_id=${workspaceId}`)
    expect(single.body).toEqual({ status: 'success', data: shown })
    const { db } = app.connection
    const { eq } = await import('drizzle-orm')
    await db.delete(auditLogs).where(eq(auditLogs.id, whole.id))
  })

  test('the list is newest first, also among records of one moment, and pages include each record once', async () => {
    const all = await list(march)
    expect(all).toHaveLength(41)
    const keys = all.map(({ timestamp, id }) => `${timestamp} ${id}`)
    expect(keys).toEqual([...keys].sort().reverse())
    for (const limit of [1, 7, 19, 40, 41]) expect(await list({ ...march, limit })).toEqual(all)
  })

  test('the list begins at the oldest record on request, and pages continue from there', async () => {
    for (const filter of [march, { ...march, agent_id: 'bot', status_code: 200 }]) {
      const oldest = (await list(filter)).toReversed()
      for (const limit of [3, 100]) {
        expect(await list({ ...filter, order: 'oldest', limit })).toEqual(oldest)
      }
    }
    const one = { workspace_id: workspaceId, limit: 1 }
    const { next } = await reader.api.page(listAuditLogs, { query: { ...one, order: 'oldest' } })
    expect(
      reader.api.page(listAuditLogs, { query: { ...one, cursor: next ?? '' } }),
    ).rejects.toThrow('cursor')
  })

  test('records of one moment are split between pages without loss', async () => {
    const moment = { timestamp: new Date('2026-04-01T00:00:00Z') }
    await app.connection.db
      .insert(auditLogs)
      .values(Array.from({ length: 7 }, () => record(0, moment)))
    const april = { since: '2026-04-01', until: '2026-04-02' }
    const ids = (await list({ ...april, limit: 3 })).map(({ id }) => id)
    expect(new Set(ids).size).toBe(7)
  })

  test.each(special)('the list filters by %s', async (_, query, fields) => {
    const found = await list({ ...march, ...query })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({
      project_id: fields.projectId ?? null,
      environment: fields.environment ?? null,
      agent_id: fields.agentId ?? 'bot',
      registration_id: fields.registrationId ?? null,
      token_id: fields.tokenId ?? null,
      target_domain: fields.targetDomain ?? 'api.example.com',
      method: fields.method ?? 'GET',
      status_code: fields.statusCode ?? 200,
    })
  })

  test('filters are combined, also with paging', async () => {
    const plain = { ...march, agent_id: 'bot', status_code: 200, domain: 'api.example.com' }
    expect(await list({ ...plain, limit: 4 })).toHaveLength(38)
    expect(await list({ ...plain, agent_id: AGENT })).toHaveLength(1)
    expect(await list({ ...plain, agent_id: TOKEN, method: 'GET' })).toHaveLength(1)
    expect(await list({ ...march, agent_id: AGENT, method: 'DELETE' })).toEqual([])
    expect(await list({ ...march, status_code: 403, method: 'DELETE' })).toEqual([])
    expect(await list({ ...march, status_code: 403, action: 'secret.read' })).toEqual([])
    expect(await list({ ...march, credential: 'FIRST', method: 'GET' })).toHaveLength(1)
    expect(await list({ ...march, credential: 'FIRST', agent_id: AGENT })).toEqual([])
    expect(await list({ ...march, credential: 'IRST' })).toEqual([])
    expect(await list({ ...march, credential: 'FIRST,OTHER' })).toHaveLength(1)
    expect(await list({ ...march, credential: 'OTHER,IRST' })).toEqual([])
  })

  test('since belongs to the range and until does not', async () => {
    const range = { since: '2026-03-01T00:05:00Z', until: '2026-03-01T01:10:00+01:00' }
    expect((await list(range)).map(({ timestamp }) => timestamp)).toEqual([
      '2026-03-01T00:09:00.000Z',
      '2026-03-01T00:08:00.000Z',
      '2026-03-01T00:07:00.000Z',
      '2026-03-01T00:06:00.000Z',
      '2026-03-01T00:05:00.000Z',
    ])
    expect(await list({ ...range, status_code: 200 })).toHaveLength(5)
  })

  test('an end of the range may be given as a duration before now', async () => {
    const moments = [
      record(0, { timestamp: new Date(Date.now() - 3_600_000), agentId: 'recent' }),
      record(0, { timestamp: new Date(Date.now() - 8 * 86_400_000), agentId: 'recent' }),
    ]
    await app.connection.db.insert(auditLogs).values(moments)
    const counts = async (query: Record<string, string>) =>
      (await list({ agent_id: 'recent', ...query })).length
    expect(await counts({})).toBe(2)
    expect(await counts({ since: '7d' })).toBe(1)
    expect(await counts({ since: '12h' })).toBe(1)
    expect(await counts({ since: '30m' })).toBe(0)
    expect(await counts({ since: '2w', until: '7d' })).toBe(1)
    const { body } = await get(`summary/?workspace_id=${workspaceId}&since=12h`)
    const { by_agent } = (body as { data: { by_agent: { agent_id: string; count: number }[] } })
      .data
    expect(by_agent).toContainEqual(expect.objectContaining({ agent_id: 'recent', count: 1 }))
  })

  test('a filter is data: no part of it becomes SQL or a pattern', async () => {
    for (const agent_id of ["' or 1=1 --", '%', 'bo_', "bot'; drop table audit_logs"])
      expect(await list({ agent_id })).toEqual([])
  })
})

describe('refusals', () => {
  const paths = ['logs/', `logs/${AGENT}/`, 'summary/', 'export/']

  test.each(paths)('%s without a workspace is 422 that names it', async (path) => {
    await expectRefusal(
      app,
      ['GET', `/api/audit/${path}`, { token: reader.token }],
      'validation_error',
      {
        fields: [{ path: 'workspace_id', message: 'is required' }],
      },
    )
  })

  test.each(paths)('%s accepts no header in place of the query', async (path) => {
    const headers = { 'x-workspace-id': workspaceId }
    const answer = await app.call('GET', `/api/audit/${path}`, { token: reader.token, headers })
    expectFailure(answer, 'validation_error', {
      fields: [{ path: 'workspace_id', message: 'is required' }],
    })
  })

  test('a record of another workspace is 404, like one that does not exist', async () => {
    const [own] = await list({ limit: 1 })
    const path = `logs/${own?.id}/?workspace_id=${stranger.workspaceId}`
    expectFailure(await get(path, stranger), 'not_found')
    expectFailure(await get(`logs/${Bun.randomUUIDv7()}/?workspace_id=${workspaceId}`), 'not_found')
    expectFailure(await get(`logs/first/?workspace_id=${workspaceId}`), 'not_found')
  })

  const moment = 'must be a time, a day or a duration: 2026-03-14, 7d, 12h'
  test.each([
    ['limit=0', 'limit', 'must be at least 1'],
    ['limit=501', 'limit', 'must be at most 500'],
    ['since=yesterday', 'since', moment],
    ['until=2026-13-01', 'until', moment],
    ['since=7y', 'since', moment],
    ['since=-7d', 'since', moment],
    ['action=a%0ab', 'action', 'must not contain control characters'],
    ['credential=a%0ab', 'credential', 'must not contain control characters'],
    ['since=0000-01-01T00:00:00Z', 'since', 'must be between the years 1 and 9999'],
    ['status_code=abc', 'status_code', 'must be a whole number, in digits only'],
    ['agent_id=%00', 'agent_id', 'must not contain control characters'],
    ['domain=a%0ab', 'domain', 'must not contain control characters'],
    ['method=GET%20', 'method', expect.any(String)],
    ['environment=Prod%27', 'environment', expect.any(String)],
    ['project_id=1', 'project_id', expect.any(String)],
    ['cursor=abc', 'cursor', 'is not a cursor of this list'],
    ['format=csv', 'format', 'is not a field of this request'],
  ])('%s is 422', async (query, path, message) => {
    const answer = await get(`logs/?workspace_id=${workspaceId}&${query}`)
    expectFailure(answer, 'validation_error', { fields: [{ path, message }] })
    expect(JSON.stringify(answer.body)).not.toContain('yesterday')
  })

  test('an export in another format is 422', async () => {
    const path = `export/?workspace_id=${workspaceId}&format=csv`
    expectFailure(await get(path, team.owner), 'validation_error', {
      fields: [{ path: 'format', message: 'must be one of jsonl' }],
    })
  })
})

describe('the export', () => {
  const download = (query = '', init: RequestInit = {}) =>
    fetch(`${app.controlPlane}${exportAudit.path}?workspace_id=${workspaceId}&${query}`, {
      headers: { authorization: `Bearer ${team.owner.token}` },
      ...init,
    })
  const linesOf = async (response: Response) =>
    (await response.text())
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))

  test('the export is the list as lines, with the same filters', async () => {
    expect(await linesOf(await download())).toEqual(await list())
    for (const [, query] of special) {
      const search = new URLSearchParams({ ...march, ...query } as Record<string, string>)
      expect(await linesOf(await download(`${search}`))).toEqual(await list({ ...march, ...query }))
    }
  })

  test('the export is an attachment that no cache stores', async () => {
    const { status, headers } = await download('format=jsonl', { method: 'GET' })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/x-ndjson')
    expect(headers.get('content-disposition')).toMatch(
      /^attachment; filename="audit-\d{4}-\d\d-\d\d\.jsonl"$/,
    )
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('the export of an empty audit is empty', async () => {
    expect(await (await download('until=2000-01-01')).text()).toBe('')
  })

  test('a record stays on one line, whatever its text', async () => {
    const agentId = 'a\nb\u001b[2J\u0085\u2028\u2029"\\\u007f'
    const row = record(0, { agentId, timestamp: new Date('2026-05-01T00:00:00Z') })
    await app.connection.db.insert(auditLogs).values(row)
    const text = await (await download('since=2026-05-01&until=2026-05-02')).text()
    expect(text.match(/[^\x20-\x7e\n]/g)).toBeNull()
    expect(text.split('\n')).toHaveLength(2)
    expect(JSON.parse(text)).toMatchObject({ agent_id: agentId })
  })

  test('the export continues over many pages, and ends when its reader disconnects', async () => {
    const many = Array.from({ length: 3000 }, (_, n) =>
      record(0, { timestamp: new Date(Date.UTC(2026, 5, 1, 0, 0, n)) }),
    )
    await app.connection.db.insert(auditLogs).values(many)
    const june = 'since=2026-06-01&until=2026-07-01'
    const lines = await linesOf(await download(june))
    expect(lines.map(({ id }) => id)).toEqual(many.map(({ id }) => id).reverse())

    const leaving = new AbortController()
    const response = await download(june, { signal: leaving.signal })
    const source = response.body?.getReader()
    expect((await source?.read())?.done).toBe(false)
    leaving.abort()
    expect((await get(`summary/?workspace_id=${workspaceId}`)).status).toBe(200)
  })

  test('a member who is removed gets no further pages of the export', async () => {
    const { exportLines } = await import('../../../src/features/audit/export.ts')
    const admin = await team.join('admin')
    const caller = {
      userId: admin.userId,
      email: admin.email,
      sessionId: '',
      isInstanceOwner: false,
    }
    const log = { debug() {}, info() {}, warning() {}, error() {} }
    const pages = exportLines({ db: app.connection.db, log }, caller, workspaceId, {})
    expect((await pages.next()).done).toBe(false)
    await app.call('DELETE', `/api/workspaces/${workspaceId}/members/${admin.userId}/`, {
      token: team.owner.token,
    })
    expect(await pages.next().catch((fault) => fault)).toMatchObject({ code: 'not_found' })
  })
})

test('reads leave no record behind', async () => {
  const before = await list()
  await reader.api.call(getAuditLog, {
    params: { log_id: before[0]?.id ?? '' },
    query: { workspace_id: workspaceId },
  })
  expect(await list()).toEqual(before)
})
