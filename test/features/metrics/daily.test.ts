// tier: quick, both databases in test:all
/** The daily figures: exact for their day, and the same however often they are computed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { FaultCode } from '../../../src/core/fault.ts'
import { auditLogs, userActivity } from '../../../src/database/schema/index.ts'
import { deleteAgent } from '../../../src/features/agents/contract.ts'
import { computeMissedDays } from '../../../src/features/metrics/compute.ts'
import {
  computeMetrics,
  type DailyRow,
  listMetrics,
} from '../../../src/features/metrics/contract.ts'
import { dayOf, daysUntil } from '../../../src/features/metrics/days.ts'
import { adviceFor } from '../../../src/http/advice.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../../support/agent.ts'
import { callJson, sharedApp, startTestApp } from '../../support/app.ts'
import { marked } from '../../support/canary.ts'
import { type Person, registerPerson } from '../../support/people.ts'
import { until } from '../../support/until.ts'

const CRON_SECRET = 'a secret of the scheduler'
const COMPUTE = '/telemetry/internal/compute-metrics/'
const DAY_MS = 86_400_000

let stage: Stage
/** Owns the installation. */
let owner: Person
let agent: Agent

beforeAll(async () => {
  stage = await openStage({ env: { CRON_SECRET } })
  owner = await registerPerson(stage.app, 'first')
  agent = await createAgentWithToken(stage, {
    secrets: { KEY: marked('the value') },
    ofProject: true,
    capabilities: ['use', 'read'],
  })
}, 60_000)
afterAll(() => stage.stop())

const today = () => dayOf(stage.app.clock.now())
const dayBefore = (days: number) => dayOf(stage.app.clock.now() - days * DAY_MS)

async function compute(days?: number): Promise<DailyRow[]> {
  const api = stage.app.as(CRON_SECRET)
  return (await api.call(computeMetrics, { body: days === undefined ? {} : { days } })).days
}

async function computeOne(day: string): Promise<DailyRow | undefined> {
  const rows = await compute(40)
  return rows.find(({ date }) => date === day)
}

describe('the metrics of a day', () => {
  test('the metrics of a day are exact for everything that happened today', async () => {
    const call = (path: string, more = {}) =>
      agent.resolve({
        target_url: stage.url(path),
        headers: { 'X-Key': 'SVC_SECRET_KEY' },
        ...more,
      })
    stage.upstream.on('/echo', (request, wire) => {
      const body = request.header('x-key') ?? ''
      wire.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    })
    for (let count = 0; count < 3; count += 1) expect((await call('/')).status).toBe(200)
    expect((await call('/echo')).body).toMatchObject({ redacted: true })
    expect((await call('/', { target_url: 'https://blocked.example/' })).status).toBe(403)
    expect((await call('/', { headers: { 'X-Key': 'SVC_SECRET_MISSING' } })).status).toBe(422)
    const { status } = await callJson(stage.app.resolver, 'POST', '/api/workloads/env/', {
      token: agent.token,
      body: { environment: agent.environment },
    })
    expect(status).toBe(200)
    await outcomesWritten()
    const [row] = await compute(1)
    expect(row).toEqual({
      date: today(),
      total_users: 2,
      new_users: 2,
      total_workspaces: 2,
      total_projects: 1,
      total_secrets: 1,
      total_agents: 1,
      active_tokens: 1,
      // The first person has registered and logged in, but sent no other request yet.
      dau: 1,
      wau: 1,
      mau: 1,
      resolver_calls: 6,
      resolver_blocked: 1,
      resolver_redacted: 1,
      resolver_errors: 1,
      active_agents: 1,
      resolver_p50_ms: expect.any(Number),
      resolver_p95_ms: expect.any(Number),
      workload_deliveries: 1,
      top_domains: [
        { domain: stage.authorityOf().split(':')[0] ?? '', calls: 5 },
        { domain: 'blocked.example', calls: 1 },
      ],
    })
  })

  test('the metrics of a day are the same however often they are computed, and no other row appears', async () => {
    const first = await compute(3)
    expect(await compute(3)).toEqual(first)
    expect(first.map(({ date }) => date)).toEqual(daysUntil(today(), 3))
    const [stored] = await stage.app.connection.sql`
      select count(*)::int as n, count(distinct date)::int as days from daily_metrics`
    expect(stored?.n).toBe(stored?.days)
  })

  test('the metrics of a day count each person once, in the day, the 7 days and the 30 days that end with it', async () => {
    const people = Array.from({ length: 6 }, () => Bun.randomUUIDv7())
    const seen = [
      [100, 0],
      [100, 1],
      [101, 0],
      [106, 2],
      [107, 3],
      [129, 4],
      [130, 5],
      [99, 5],
    ] as const
    await stage.app.connection.db
      .insert(userActivity)
      .values(seen.map(([ago, person]) => ({ day: dayBefore(ago), userId: people[person] ?? '' })))
    const row = (await compute(101)).at(-1)
    expect(row).toMatchObject({ date: dayBefore(100), dau: 2, wau: 3, mau: 5 })
  })

  test('the metrics of a day include the median and the 95th percentile of the durations; without a call both are empty', async () => {
    const day = dayBefore(50)
    await insertCalls(
      day,
      Array.from({ length: 100 }, (_, index) => ({ durationMs: index + 1 })),
    )
    await insertCalls(day, [{ durationMs: 9000, decision: 'error', reason: 'upstream_timeout' }])
    const rows = await compute(52)
    expect(rows.find(({ date }) => date === day)).toMatchObject({
      resolver_calls: 101,
      resolver_errors: 1,
      resolver_p50_ms: 50,
      resolver_p95_ms: 95,
    })
    expect(rows.find(({ date }) => date === dayBefore(51))).toMatchObject({
      resolver_calls: 0,
      resolver_p50_ms: null,
      resolver_p95_ms: null,
      top_domains: [],
    })
  })

  test('the metrics of a day begin at midnight UTC and end before the next one', async () => {
    const day = dayBefore(60)
    const next = dayBefore(59)
    await insertCalls(day, [{ timestamp: new Date(`${day}T00:00:00.000Z`) }])
    await insertCalls(day, [{ timestamp: new Date(`${day}T23:59:59.999Z`) }])
    await insertCalls(next, [{ timestamp: new Date(`${next}T00:00:00.000Z`) }])
    const rows = await compute(61)
    expect(rows.find(({ date }) => date === day)?.resolver_calls).toBe(2)
    expect(rows.find(({ date }) => date === next)?.resolver_calls).toBe(1)
  })

  test('the metrics of a day name ten domains at most, the most frequent first and then by name', async () => {
    const day = dayBefore(70)
    const calls = Array.from({ length: 12 }, (_, index) =>
      Array.from({ length: index < 2 ? 5 : 1 }, () => ({
        targetDomain: `d${String(index).padStart(2, '0')}.example`,
      })),
    ).flat()
    await insertCalls(day, calls)
    const row = (await compute(71)).at(-1)
    expect(row?.top_domains.slice(0, 3)).toEqual([
      { domain: 'd00.example', calls: 5 },
      { domain: 'd01.example', calls: 5 },
      { domain: 'd02.example', calls: 1 },
    ])
    expect(row?.top_domains).toHaveLength(10)
  })

  test("the metrics of a day count neither clients' own reports nor changes on the control plane", async () => {
    const day = dayBefore(80)
    await insertCalls(day, [{ source: 'client' }, { source: 'control_plane', decision: null }])
    expect((await compute(81)).at(-1)).toMatchObject({ date: day, resolver_calls: 0 })
  })
})

describe('a day in the past', () => {
  test('a day in the past has its state at its end: agents and tokens that were deleted later still count', async () => {
    const { connection, clock } = stage.app
    const leaving = await createAgentWithToken(stage, { ofProject: true })
    const params = {
      workspace_id: leaving.workspaceId,
      registration_id: leaving.registrationId,
    }
    await leaving.person.api.call(deleteAgent, { params })
    // Created ten days ago, deleted five days ago.
    const at = (days: number) => new Date(clock.now() - days * DAY_MS)
    await connection.db.execute(sql`
      update agents set created_at = ${at(10).toISOString()}::timestamptz,
        deleted_at = ${at(5).toISOString()}::timestamptz where id = ${leaving.registrationId}`)
    await connection.db.execute(sql`
      update tokens set created_at = ${at(10).toISOString()}::timestamptz,
        revoked_at = ${at(5).toISOString()}::timestamptz where agent_id = ${leaving.registrationId}`)
    const rows = await compute(12)
    const agents = rows.map(({ total_agents }) => total_agents)
    const tokens = rows.map(({ active_tokens }) => active_tokens)
    // The agent of the other tests is also counted today.
    expect(agents).toEqual([1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
    expect(tokens).toEqual(agents)
  })

  test('a day in the past does not count a token that had expired by its end', async () => {
    const { connection, clock } = stage.app
    const id = Bun.randomUUIDv7()
    const at = (days: number) => new Date(clock.now() - days * DAY_MS).toISOString()
    await connection.db.execute(sql`
      insert into tokens (id, workspace_id, kind, label, capabilities, verifier, public_key, created_at, expires_at)
      values (${id}, ${agent.workspaceId}, 'workload', 'x', '["read"]', '', '', ${at(33)}::timestamptz, ${at(31)}::timestamptz)`)
    const rows = await compute(35)
    expect(rows.slice(30).map(({ active_tokens }) => active_tokens)).toEqual([0, 0, 1, 1, 0])
    await connection.sql`delete from tokens where id = ${id}`
  })

  test('a day that is computed after its end keeps what retention and deletions remove later', async () => {
    const day = dayBefore(35)
    await insertCalls(day, [{ durationMs: 7 }, { durationMs: 8 }])
    const first = await computeOne(day)
    expect(first).toMatchObject({ resolver_calls: 2, resolver_p50_ms: 7 })
    await stage.app.connection.sql`delete from audit_logs where timestamp::date = ${day}::date`
    expect(await computeOne(day)).toEqual(first)
  })

  test('a day that was computed during its time is computed again after its end', async () => {
    const before = (await compute(1))[0]
    stage.app.clock.advance(DAY_MS)
    const [, after] = await compute(2)
    expect(after?.date).toBe(before?.date ?? '')
    expect(after).toMatchObject({ resolver_calls: before?.resolver_calls, dau: before?.dau })
    const [stored] = await stage.app.connection.sql`
      select computed_at >= date + 1 as final from daily_metrics where date = ${after?.date ?? ''}`
    expect(stored?.final).toBe(true)
    stage.app.clock.advance(-DAY_MS)
  })
})

describe('the schedule', () => {
  test('the schedule computes each whole day since the installation once, in one of several replicas', async () => {
    const app = await startTestApp()
    const { db } = app.connection
    const clock = { now: () => app.clock.now() + 3 * DAY_MS }
    const both = await Promise.all([
      computeMissedDays({ db, clock }),
      computeMissedDays({ db, clock }),
    ])
    const days = daysUntil(dayOf(clock.now() - DAY_MS), 3)
    expect(both.flat().sort()).toEqual([...days].sort())
    expect(await computeMissedDays({ db, clock })).toEqual([])
    await app.stop()
  })
})

describe('POST /telemetry/internal/compute-metrics/', () => {
  const post = (token: string | undefined, body?: unknown) =>
    stage.app.call('POST', COMPUTE, { token, body })
  const denied = (error_code: FaultCode) => ({
    status: 'failure',
    error_code,
    message: expect.any(String),
    ...adviceFor(error_code),
    request_id: expect.any(String),
  })

  test('the endpoint computes yesterday and today by default', async () => {
    expect((await compute()).map(({ date }) => date)).toEqual(daysUntil(today(), 2))
    const { status, body } = await post(CRON_SECRET)
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'success', data: { days: [{ date: today() }, {}] } })
  })

  test('the endpoint is 401 for anything but the secret, and computes nothing', async () => {
    await stage.app.connection.sql`delete from daily_metrics`
    const wrong = [
      undefined,
      CRON_SECRET.slice(0, -1),
      `${CRON_SECRET}x`,
      CRON_SECRET.toUpperCase(),
      ' ',
      owner.token,
      agent.token,
    ]
    for (const token of wrong) {
      const { status, body, headers } = await post(token, { days: 1 })
      expect({ token, status, body }).toEqual({ token, status: 401, body: denied('invalid_token') })
      expect(headers.get('www-authenticate')).toBe('Bearer')
    }
    const basic = await stage.app.call('POST', COMPUTE, {
      headers: { authorization: `Basic ${CRON_SECRET}` },
    })
    expect(basic.status).toBe(401)
    const [row] = await stage.app.connection.sql`select count(*)::int as n from daily_metrics`
    expect(row?.n).toBe(0)
  })

  test('the endpoint rejects other bodies', async () => {
    for (const days of [0, -1, 367, 1.5, '3', null]) {
      const { status, body } = await post(CRON_SECRET, { days })
      expect({ days, status }).toEqual({ days, status: 422 })
      expect(body).toEqual({
        ...denied('validation_error'),
        fields: [{ path: 'days', message: expect.any(String) }],
      })
    }
    expect((await post(CRON_SECRET, { day: 1 })).status).toBe(422)
  })

  test('the endpoint is 404 without CRON_SECRET, whatever secret is sent', async () => {
    const app = await sharedApp()
    for (const token of [undefined, '', 'undefined', CRON_SECRET]) {
      const { status, body } = await app.call('POST', COMPUTE, { token, body: { days: 1 } })
      expect({ status, body }).toEqual({ status: 404, body: denied('not_found') })
    }
  })
})

describe('GET /telemetry/metrics/', () => {
  const get = (token: string | undefined, query = '') =>
    stage.app.call('GET', `/telemetry/metrics/${query}`, { token })

  test('the list has the stored rows for the owner of the installation, newest first, page by page', async () => {
    const rows = await compute(5)
    const shown: DailyRow[] = []
    let cursor: string | null = null
    do {
      const query = { limit: 2, ...(cursor ? { cursor } : {}) }
      const { body } = await get(owner.token, `?${new URLSearchParams(query as never)}`)
      const page = body as { data: DailyRow[]; pagination: { next_cursor: string | null } }
      expect(page.data.length).toBeLessThanOrEqual(2)
      shown.push(...page.data)
      cursor = page.pagination.next_cursor
    } while (cursor)
    expect(shown.slice(0, 5)).toEqual(rows)
    expect(await owner.api.call(listMetrics, { query: { limit: 100 } })).toEqual(shown as never)
  })

  test('the list is 403 for all other people with a session, and 401 for others', async () => {
    expect(await get(agent.person.token)).toMatchObject({
      status: 403,
      body: { error_code: 'forbidden' },
    })
    for (const token of [undefined, agent.token, CRON_SECRET])
      expect((await get(token)).status).toBe(401)
  })

  test('the list rejects unknown parameters, after authentication', async () => {
    expect((await get(owner.token, '?since=2026-01-01')).status).toBe(422)
    expect((await get(owner.token, '?cursor=AAAA')).status).toBe(422)
    expect((await get(agent.person.token, '?since=2026-01-01')).status).toBe(403)
  })
})

type Call = Partial<typeof auditLogs.$inferInsert>

/** Records in the form that the resolver would have written on that day. */
async function insertCalls(day: string, calls: readonly Call[]): Promise<void> {
  const noon = new Date(`${day}T12:00:00.000Z`)
  await stage.app.connection.db.insert(auditLogs).values(
    calls.map((call) => ({
      workspaceId: agent.workspaceId,
      timestamp: noon,
      recordedAt: call.timestamp ?? noon,
      source: 'resolver' as const,
      identityLevel: 'agent' as const,
      agentId: 'somebody',
      injectionStyle: 'header',
      decision: 'allowed' as const,
      durationMs: 1,
      redacted: false,
      ...call,
    })),
  )
}

async function outcomesWritten(): Promise<void> {
  await until(async () => {
    await stage.app.flushAudit()
    const [row] = await stage.app.connection.sql`
      select count(*)::int as n from audit_logs where source = 'resolver' and status_code is null`
    return row?.n === 0
  })
}
