// tier: quick, both databases in test:all
import { beforeAll, expect, test } from 'bun:test'
import { eq, inArray } from 'drizzle-orm'
import fc from 'fast-check'
import { auditDeltas, auditLogs, auditRollups } from '../../../src/database/schema/index.ts'
import { listAuditLogs, summariseAudit } from '../../../src/features/audit/contract.ts'
import { expireLogs, foldDeltas } from '../../../src/features/audit/upkeep.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { registerPerson } from '../../support/people.ts'
import { openTeam, type Team } from '../../support/teams.ts'

let app: TestApp
let team: Team

beforeAll(async () => {
  app = await sharedApp()
  team = await openTeam(app)
})

type Row = typeof auditLogs.$inferInsert & { id: string }

const HOUR_MS = 3_600_000
const START = Date.UTC(2026, 0, 30, 20)

/** Three days around the turn of a month, in quarters of an hour. */
const moments = fc.integer({ min: 0, max: 72 * 4 }).map((n) => new Date(START + (n * HOUR_MS) / 4))

const rows = fc.record({
  timestamp: moments,
  agentId: fc.constantFrom('bot', 'ci', 'x'.repeat(200)),
  targetDomain: fc.constantFrom('a.example.com', 'b.example.com', null),
  credentialRef: fc.constantFrom('A', 'B', 'A,B', 'A,A', null),
  decision: fc.constantFrom('allowed' as const, 'blocked' as const, 'error' as const),
  redacted: fc.constantFrom(true, false, null),
  source: fc.constantFrom('resolver' as const, 'client' as const, 'control_plane' as const),
})

type Filters = { agent_id?: string; domain?: string; credential?: string; decision?: Decision }
type Decision = 'allowed' | 'blocked' | 'error'
type Range = { since?: string; until?: string }

const summaryOf = (workspaceId: string, query: Range & Filters = {}) =>
  team.owner.api.call(summariseAudit, { query: { workspace_id: workspaceId, ...query } })

const rangeOf = (since: Date | null, until: Date | null) => ({
  ...(since ? { since: since.toISOString() } : {}),
  ...(until ? { until: until.toISOString() } : {}),
})

/** The summary, counted directly from the records. */
function counted(
  all: readonly Row[],
  since: Date | null,
  until: Date | null,
  { agent_id, domain, credential, decision }: Filters = {},
) {
  const isAny = (names: string | undefined, values: readonly (string | null | undefined)[]) =>
    names === undefined || names.split(',').some((name) => values.includes(name))
  const inRange = all.filter(
    ({ timestamp, source }) =>
      source !== 'control_plane' &&
      (since === null || timestamp >= since) &&
      (until === null || timestamp < until),
  )
  const within = inRange.filter(
    (row) =>
      isAny(agent_id, [row.agentId]) &&
      isAny(domain, [row.targetDomain]) &&
      isAny(credential, row.credentialRef?.split(',') ?? []) &&
      isAny(decision, [row.decision]),
  )
  const isOfDecision = decision !== undefined && (agent_id ?? domain ?? credential) === undefined
  const tally = (keysOf: (row: Row) => readonly string[]) => {
    const counts = new Map<string, number>()
    for (const row of within)
      for (const key of new Set(keysOf(row))) counts.set(key, (counts.get(key) ?? 0) + 1)
    return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
  }
  const last = (agent: string) =>
    (isOfDecision ? inRange : within)
      .filter(({ agentId }) => agentId === agent)
      .map(({ timestamp }) => timestamp.toISOString())
      .sort()
      .at(-1) ?? ''
  const number = (test: (row: Row) => boolean) => within.filter(test).length
  return {
    totals: {
      requests: within.length,
      allowed: number(({ decision }) => decision === 'allowed'),
      blocked: number(({ decision }) => decision === 'blocked'),
      errors: number(({ decision }) => decision === 'error'),
      redacted: isOfDecision ? null : number(({ redacted }) => redacted === true),
    },
    by_agent: tally(({ agentId }) => [agentId]).map(([agent_id, count]) => ({
      agent_id,
      count,
      last_used_at: last(agent_id),
    })),
    by_domain: tally(({ targetDomain }) => (targetDomain ? [targetDomain] : [])).map(
      ([domain, count]) => ({ domain, count }),
    ),
    by_credential: tally(({ credentialRef }) => credentialRef?.split(',') ?? []).map(
      ([credential_ref, count]) => ({ credential_ref, count }),
    ),
    by_day: tally(({ timestamp }) => [timestamp.toISOString().slice(0, 10)])
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([date, count]) => {
        const ended = (wanted: Decision) =>
          number((row) => row.timestamp.toISOString().startsWith(date) && row.decision === wanted)
        const [allowed, blocked, errors] = [ended('allowed'), ended('blocked'), ended('error')]
        return { date, count, allowed, blocked, errors }
      }),
    is_whole: true,
  }
}

test('the summary is exact in any range, however much of it is folded, after changes and deletions', async () => {
  const { db } = app.connection
  const { workspaceId } = await openTeam(app, team.owner)
  // Records of the workspace's own creation are no requests.
  let stored: Row[] = []
  const step = fc.record({
    added: fc.array(rows, { minLength: 1, maxLength: 30 }),
    fold: fc.boolean(),
    outcome: fc.constantFrom('error' as const, 'allowed' as const),
    remove: fc.boolean(),
    ranges: fc.array(fc.tuple(fc.option(moments), fc.option(moments)), { maxLength: 4 }),
    filters: fc.constantFrom<Filters>(
      { agent_id: 'bot' },
      { agent_id: 'bot,ci', decision: 'blocked' },
      { domain: 'a.example.com', credential: 'A' },
      { credential: 'A,B' },
      { decision: 'blocked' },
      { decision: 'allowed' },
    ),
  })
  await fc.assert(
    fc.asyncProperty(step, async ({ added, fold, outcome, remove, ranges, filters }) => {
      const fresh = added.map((row) => ({
        ...row,
        id: Bun.randomUUIDv7(),
        workspaceId,
        identityLevel: 'agent' as const,
      }))
      await db.insert(auditLogs).values(fresh)
      stored.push(...fresh)
      if (fold) await foldDeltas(db)
      const changed = fresh.slice(0, 3).map(({ id }) => id)
      const change = { decision: outcome, redacted: true, statusCode: 200 }
      await db.update(auditLogs).set(change).where(inArray(auditLogs.id, changed))
      stored = stored.map((row) => (changed.includes(row.id) ? { ...row, ...change } : row))
      if (remove) {
        const [gone] = stored
        await db.delete(auditLogs).where(eq(auditLogs.id, gone?.id ?? ''))
        stored = stored.slice(1)
      }
      for (const [since, until] of [[null, null] as const, ...ranges]) {
        expect(await summaryOf(workspaceId, rangeOf(since, until))).toEqual(
          counted(stored, since, until),
        )
        const query = { ...rangeOf(since, until), ...filters }
        expect(await summaryOf(workspaceId, query)).toEqual(counted(stored, since, until, filters))
      }
    }),
    { numRuns: 25 },
  )
}, 60_000)

test('with an action, the summary counts the records of that action', async () => {
  const workspaceId = (await openTeam(app, team.owner)).workspaceId
  const query = { workspace_id: workspaceId, action: 'workspace.created' }
  const counts = async () => (await team.owner.api.call(summariseAudit, { query })).totals
  const records = () => team.owner.api.call(listAuditLogs, { query })
  expect((await counts()).requests).toBe((await records()).length)
  expect((await counts()).requests).toBeGreaterThan(0)
})

test('the summary counts each workspace separately', async () => {
  const stranger = await registerPerson(app, 'stranger')
  expect(await summaryOf(team.workspaceId)).toEqual(counted([], null, null))
  expect(
    await stranger.api.call(summariseAudit, { query: { workspace_id: stranger.workspaceId } }),
  ).toEqual(counted([], null, null))
})

test('retention deletes by the time of recording, in batches, and the counts follow', async () => {
  const { db } = app.connection
  const { workspaceId } = await openTeam(app, team.owner)
  const DAY_MS = 24 * HOUR_MS
  const make = (ageDays: number, timestamp: Date): Row => ({
    id: Bun.randomUUIDv7(),
    workspaceId,
    timestamp,
    recordedAt: new Date(Date.now() - ageDays * DAY_MS),
    source: 'client',
    identityLevel: 'agent',
    agentId: 'bot',
    decision: 'allowed',
    statusCode: 200,
  })
  const old = Array.from({ length: 2500 }, (_, n) => make(31, new Date(START + n)))
  const kept = [make(29, new Date(START - DAY_MS)), make(0, new Date(START - 400 * DAY_MS))]
  for (const batch of [old.slice(0, 1250), old.slice(1250), kept])
    await db.insert(auditLogs).values(batch)
  await foldDeltas(db)
  expect((await summaryOf(workspaceId)).totals.requests).toBe(2502)
  expect(await expireLogs(db, 30)).toBe(2500)
  expect(await summaryOf(workspaceId)).toEqual(counted(kept, null, null))
  expect(await expireLogs(db, 30)).toBe(0)
  await foldDeltas(db)
  expect(await summaryOf(workspaceId)).toEqual(counted(kept, null, null))
})

test('folding leaves no difference, and folding twice changes nothing', async () => {
  const { db } = app.connection
  await foldDeltas(db)
  expect(await db.select().from(auditDeltas)).toEqual([])
  expect(await foldDeltas(db)).toBe(0)
  const before = await db.select().from(auditRollups)
  await foldDeltas(db)
  expect(await db.select().from(auditRollups)).toEqual(before)
})
