// tier: quick, both databases in test:all
/**
 * Audit records that no version of this product writes, inserted by someone with a database user. They are omitted
 * with a line in the log, and the rest of the audit is read as if they did not exist.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  exportAudit,
  getAuditLog,
  listAuditLogs,
  summariseAudit,
  summariseCalls,
} from '../../src/features/audit/contract.ts'
import { foldDeltas } from '../../src/features/audit/upkeep.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { EventReader } from '../support/events.ts'
import { openTeam, type Team } from '../support/teams.ts'

let app: TestApp
let team: Team

beforeAll(async () => {
  app = await startTestApp()
  team = await openTeam(app)
})
afterAll(() => app.stop())

const ORDINARY = {
  timestamp: '2026-03-01T00:00:00Z',
  recorded_at: '2026-03-01T00:00:00Z',
  source: 'resolver',
  identity_level: 'agent',
  agent_id: 'bot',
  method: 'GET',
  target_url: 'https://api.example.com/',
  target_domain: 'api.example.com',
  credential_ref: 'KEY',
  injection_style: 'header',
  decision: 'allowed',
  status_code: 200,
  refused_by: null as object | null,
  unfilled: null as object | null,
  resource: null as object | null,
}

type Page = { data: { id: string }[]; pagination: { next_cursor: string | null } }

/** Inserts it like an attacker who may write to the table. */
async function forge(fields: Partial<typeof ORDINARY>): Promise<string> {
  const row = { id: Bun.randomUUIDv7(), workspace_id: team.workspaceId, ...ORDINARY, ...fields }
  await app.connection.sql`
    insert into audit_logs select * from json_populate_record(null::audit_logs, ${JSON.stringify(row)}::text::json)`
  return row.id
}

const forged: [what: string, fields: Partial<typeof ORDINARY>][] = [
  ['a source that there is not', { source: 'bogus' }],
  ['a level that there is not', { identity_level: 'x' }],
  ['a decision that there is not', { decision: 'perhaps' }],
  ['a resource without an id', { source: 'control_plane', resource: { type: 'member' } }],
  ['a refusal by nothing', { refused_by: {} }],
  ['an unknown place of a placeholder', { unfilled: [{ name: 'KEY', place: 'moon' }] }],
  ['a moment without an end', { timestamp: 'infinity' }],
  ['a moment before all others', { timestamp: '-infinity' }],
  ['a moment before Christ', { timestamp: '0044-03-15 BC' }],
  ['a year of five digits', { timestamp: '12026-03-01' }],
  ['an arrival without an end', { recorded_at: 'infinity' }],
]

test('an invalid record breaks neither list, export, live, summary nor counts: it is omitted and logged', async () => {
  const query = { workspace_id: team.workspaceId }
  const { owner } = team
  const good = await forge({})
  const ids: string[] = []
  for (const [, fields] of forged) ids.push(await forge(fields), await forge(fields))
  const last = await forge({ timestamp: new Date().toISOString() })

  for (const order of ['newest', 'oldest'] as const) {
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = new URLSearchParams({ ...query, order, limit: '1', ...(cursor && { cursor }) })
      const { status, body } = await app.call('GET', `${listAuditLogs.path}?${page}`, {
        token: owner.token,
      })
      expect(status).toBe(200)
      const { data, pagination } = body as Page
      seen.push(...data.map(({ id }) => id))
      cursor = pagination.next_cursor ?? undefined
    } while (cursor)
    expect(seen).toContain(good)
    expect(seen).toContain(last)
    expect(seen.filter((id) => ids.includes(id))).toEqual([])
  }
  const filtered = await owner.api.list(listAuditLogs, { query: { ...query, agent_id: 'bot' } })
  expect(filtered.map(({ id }) => id)).toEqual([last, good])

  const search = new URLSearchParams(query)
  const download = await fetch(`${app.controlPlane}${exportAudit.path}?${search}`, {
    headers: { authorization: `Bearer ${owner.token}` },
  })
  const lines = (await download.text()).trim().split('\n')
  const exported = lines.map((line) => JSON.parse(line).id)
  expect(exported).toContain(good)
  expect(exported.filter((id) => ids.includes(id))).toEqual([])

  for (const [n, id] of ids.entries()) {
    const path = getAuditLog.path.replace('{log_id}', id)
    const { status } = await app.call('GET', `${path}?${search}`, { token: owner.token })
    expect([forged[n >> 1]?.[0], status]).toEqual([forged[n >> 1]?.[0], 404])
    expect(app.logs.some((line) => line.includes('skipped') && line.includes(id))).toBe(true)
  }

  const calls = await owner.api.call(summariseCalls, {
    query: { ...query, credential: 'KEY', since: '0001-01-02T00:00:00Z' },
  })
  expect(calls.kinds.map(({ decision }) => decision)).toEqual(['allowed'])
  const before = await owner.api.call(summariseAudit, { query })
  await foldDeltas(app.connection.db)
  expect(await owner.api.call(summariseAudit, { query })).toEqual(before)
})

test('a live subscriber receives the valid records, and nothing of an invalid one', async () => {
  const response = await fetch(`${app.controlPlane}/api/workspaces/${team.workspaceId}/live/`, {
    headers: { authorization: `Bearer ${team.owner.token}` },
  })
  const events = new EventReader(response)
  const seen: string[] = []
  const odd: string[] = []
  for (const [, fields] of forged) odd.push(await forge(fields))
  const good = await forge({ timestamp: new Date().toISOString() })
  await events.find(({ id }) => {
    if (id) seen.push(id)
    return id === good
  })
  expect(seen.filter((id) => odd.includes(id))).toEqual([])
  await events.close()
})

test('a name of ten thousand characters does not stop the counts of all workspaces', async () => {
  const { sql, db } = app.connection
  const name = Array.from({ length: 300 }, () => Bun.randomUUIDv7()).join('')
  await forge({ agent_id: name, target_domain: name, credential_ref: name })
  await forge({ agent_id: 'another' })
  await foldDeltas(db)
  expect([...(await sql`select 1 from audit_deltas`)]).toEqual([])
  const query = { workspace_id: team.workspaceId }
  const { by_agent } = await team.owner.api.call(summariseAudit, { query })
  expect(by_agent.map(({ agent_id }) => agent_id)).toEqual(
    expect.arrayContaining(['another', name.slice(0, 500)]),
  )
})
