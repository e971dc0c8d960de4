// tier: quick, both databases in test:all
/** A filter finds the records in the audit, and no trace of deleted ones. */
import { beforeAll, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { readConfig } from '../../../src/core/config/config.ts'
import { migrate, migrations } from '../../../src/database/migrations/migrate.ts'
import { type Database, openDatabase } from '../../../src/database/open.ts'
import { auditLogs } from '../../../src/database/schema/index.ts'
import { listAuditLogs } from '../../../src/features/audit/contract.ts'
import { foldDeltas } from '../../../src/features/audit/upkeep.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { freshDatabase } from '../../support/database.ts'
import { openTeam, type Team } from '../../support/teams.ts'

let app: TestApp
let team: Team

beforeAll(async () => {
  app = await sharedApp()
  team = await openTeam(app)
})

type Row = typeof auditLogs.$inferInsert & { id: string }
type Asked = Partial<
  Record<
    'agent_id' | 'domain' | 'method' | 'credential' | 'project_id' | 'environment' | 'decision',
    string
  >
> & { status_code?: number; since?: string; until?: string }

const START = Date.UTC(2026, 0, 30, 20)
const [AGENT, TOKEN, PROJECT] = [Bun.randomUUIDv7(), Bun.randomUUIDv7(), Bun.randomUUIDv7()]

/** Ten seconds, in steps that put several into one bucket and several records into one step. */
const moments = fc.integer({ min: 0, max: 200 }).map((n) => new Date(START + n * 50))

const rows = fc.record({
  timestamp: moments,
  agentId: fc.constantFrom('bot', 'Bot', 'c\\i', AGENT),
  registrationId: fc.constantFrom(AGENT, null),
  tokenId: fc.constantFrom(TOKEN, AGENT, null),
  projectId: fc.constantFrom(PROJECT, null),
  environment: fc.constantFrom('production', 'staging', null),
  method: fc.constantFrom('GET', 'POST', null),
  targetDomain: fc.constantFrom('a.example.com', 'b.example.com', null),
  credentialRef: fc.constantFrom('A', 'B', 'A,B', 'A,A', 'AB', null),
  statusCode: fc.constantFrom(200, 404, null),
  decision: fc.constantFrom('allowed' as const, 'blocked' as const, 'error' as const, null),
})

const maybe = <T>(...values: T[]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 })
const filters = fc.record({
  agent_id: maybe('bot', 'Bot', 'c\\i', AGENT, TOKEN, 'nobody', 'bot,Bot', `nobody,${TOKEN},c\\i`),
  project_id: maybe(PROJECT),
  environment: maybe('production', 'staging'),
  method: maybe('GET', 'POST'),
  domain: maybe('a.example.com', 'c.example.com', 'a.example.com,b.example.com'),
  credential: maybe('A', 'B', 'AB', 'C', 'AB,B'),
  status_code: maybe(200, 404, 500),
  decision: maybe('allowed', 'blocked', 'error'),
  since: fc.option(
    moments.map((at) => at.toISOString()),
    { nil: undefined },
  ),
  until: fc.option(
    moments.map((at) => at.toISOString()),
    { nil: undefined },
  ),
})

function isMeant(row: Row, asked: Asked): boolean {
  const isAny = (names: string | undefined, values: readonly (string | null | undefined)[]) =>
    names === undefined || names.split(',').some((name) => values.includes(name))
  return (
    isAny(asked.agent_id, [row.agentId, row.registrationId, row.tokenId]) &&
    isAny(asked.credential, (row.credentialRef ?? '').split(',')) &&
    isAny(asked.domain, [row.targetDomain]) &&
    [
      [asked.project_id, row.projectId],
      [asked.environment, row.environment],
      [asked.method, row.method],
      [asked.decision, row.decision],
      [asked.status_code, row.statusCode],
    ].every(([wanted, value]) => wanted === undefined || wanted === value) &&
    (asked.since === undefined || row.timestamp >= new Date(asked.since)) &&
    (asked.until === undefined || row.timestamp < new Date(asked.until))
  )
}

/** Places of a term, by workspace, in the way that any reader would derive them from the records. */
const expected = sql`
  select distinct audit_term(workspace_id, field, value) as term, audit_bucket(timestamp) as bucket
  from audit_logs cross join lateral audit_fields_of(source, agent_id, registration_id, token_id, project_id,
    environment, method, target_domain, credential_ref, status_code, action)`

/** Terms that are missing in `audit_terms`, or left over in it. */
const differencesIn = async (db: Database) =>
  db.execute(sql`
    (select term, bucket from (${expected}) as a except select term, bucket from audit_terms)
    union all (select term, bucket from audit_terms except select term, bucket from (${expected}) as b)`)

type Given = readonly Omit<Row, 'id' | 'workspaceId' | 'source' | 'identityLevel'>[]

function recorded(workspaceId: string, given: Given) {
  return given.map((row) => ({
    ...row,
    id: Bun.randomUUIDv7(),
    workspaceId,
    source: 'resolver' as const,
    identityLevel: 'agent' as const,
  }))
}

async function store(db: Database, workspaceId: string, given: Given) {
  const made = recorded(workspaceId, given)
  const half = Math.ceil(made.length / 2)
  for (const part of [made.slice(0, half), made.slice(half)])
    if (part.length > 0) await db.insert(auditLogs).values(part)
  return made
}

/** Stores into an older version's table, which lacks current columns. */
async function storeBefore(db: Database, workspaceId: string, given: Given) {
  const columnOf = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const made = recorded(workspaceId, given).map((row) =>
    Object.fromEntries(Object.entries(row).map(([key, value]) => [columnOf(key), value])),
  )
  const names = sql.raw(Object.keys(made[0] ?? {}).join(', '))
  await db.execute(sql`insert into audit_logs (${names})
    select ${names} from jsonb_populate_recordset(null::audit_logs, ${JSON.stringify(made)}::jsonb)`)
}

test('any filters list the records that any reader would find, in order, on pages of any size', async () => {
  const { db } = app.connection
  const { workspaceId } = team
  await fc.assert(
    fc.asyncProperty(
      fc.array(rows, { maxLength: 60 }),
      fc.array(filters, { minLength: 4, maxLength: 4 }),
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom('newest', 'oldest'),
      async (given, askedFor, limit, first) => {
        const all = await store(db, workspaceId, given)
        const order = ({ timestamp, id }: Row) => `${timestamp.toISOString()} ${id}`
        all.sort((a, b) => (order(a) < order(b) ? 1 : -1))
        for (const { since = new Date(START).toISOString(), until, ...asked } of askedFor) {
          const end = until ?? new Date(START + 60_000).toISOString()
          const known = Object.fromEntries(
            Object.entries({ ...asked, since, until: end }).filter(
              ([, value]) => value !== undefined,
            ),
          )
          const query = { workspace_id: workspaceId, limit, order: first, ...known }
          const found = await team.owner.api.list(listAuditLogs, { query })
          const meant = all.filter((row) => isMeant(row, known)).map(({ id }) => id)
          expect(found.map(({ id }) => id)).toEqual(first === 'oldest' ? meant.reverse() : meant)
        }
        await db.delete(auditLogs).where(eq(auditLogs.source, 'resolver'))
        expect([...(await differencesIn(db))]).toEqual([])
      },
    ),
    { numRuns: 12 },
  )
}, 60_000)

test('a list of one decision reads only the hours with requests of that decision', async () => {
  const { db } = app.connection
  const { workspaceId } = await openTeam(app, team.owner)
  const at = (hours: number) => new Date(START - hours * 3_600_000)
  const rowAt = (hours: number, decision: 'allowed' | 'blocked') => ({
    ...{ timestamp: at(hours), agentId: 'bot', decision },
  })
  const given = Array.from({ length: 60 }, (_, hours) =>
    rowAt(hours, hours % 20 === 3 ? 'blocked' : 'allowed'),
  )
  const all = await store(db, workspaceId, given)
  await foldDeltas(db)
  all.push(...(await store(db, workspaceId, [rowAt(70, 'blocked')])))
  const query = { workspace_id: workspaceId, decision: 'blocked', limit: 2 } as const
  const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id)
  const refused = all.filter(({ decision }) => decision === 'blocked').map(({ id }) => id)
  for (const filter of [{}, { agent_id: 'bot' }]) {
    const list = (order: 'newest' | 'oldest') =>
      team.owner.api.list(listAuditLogs, { query: { ...query, ...filter, order } })
    expect(idsOf(await list('newest'))).toEqual(refused)
    expect(idsOf(await list('oldest'))).toEqual(refused.toReversed())
  }
})

test('more than ten names in one filter are rejected', async () => {
  const agents = (count: number) => Array.from({ length: count }, (_, n) => `bot-${n}`).join(',')
  const list = (agent_id: string) =>
    team.owner.api.call(listAuditLogs, { query: { workspace_id: team.workspaceId, agent_id } })
  expect(await list(agents(10))).toEqual([])
  await expect(list(agents(11))).rejects.toThrow('may have at most 10 names')
})

test('a term is deleted with the last record of its time, and not before', async () => {
  const { db } = app.connection
  const row = { timestamp: new Date(START), agentId: 'bot', method: 'PATCH' }
  const [first, second] = await store(db, team.workspaceId, [row, row])
  const query = { workspace_id: team.workspaceId, method: 'PATCH' }
  const found = async () =>
    (await team.owner.api.list(listAuditLogs, { query })).map(({ id }) => id)
  for (const [gone, left] of [
    [first, [second?.id ?? '']],
    [second, []],
  ] as const) {
    await db.delete(auditLogs).where(eq(auditLogs.id, gone?.id ?? ''))
    expect(await found()).toEqual([...left])
    expect([...(await differencesIn(db))]).toEqual([])
  }
})

test('an outcome that is added later is found by its status', async () => {
  const { db } = app.connection
  const row = { timestamp: new Date(START), agentId: 'bot', statusCode: null }
  const [open] = await store(db, team.workspaceId, [row])
  await db
    .update(auditLogs)
    .set({ statusCode: 418 })
    .where(eq(auditLogs.id, open?.id ?? ''))
  const query = { workspace_id: team.workspaceId, status_code: 418 }
  const found = await team.owner.api.list(listAuditLogs, { query })
  expect(found.map(({ id }) => id)).toEqual([open?.id ?? ''])
  expect([...(await differencesIn(db))]).toEqual([])
})

test('an upgrade makes earlier records searchable', async () => {
  const database = await freshDatabase()
  const keys = {
    SECRET_KEY: 'k'.repeat(36),
    ENCRYPTION_KEY: Buffer.alloc(32).toString('base64url'),
  }
  const connection = await openDatabase(
    readConfig({ ...database.env, ...keys }, () => keys),
    () => {},
  )
  await migrate(connection.sql, migrations.slice(0, 10))
  await storeBefore(connection.db, Bun.randomUUIDv7(), fc.sample(rows, 50))
  await migrate(connection.sql)
  expect([...(await differencesIn(connection.db))]).toEqual([])
  const [row] = await connection.sql`select count(*)::int as terms from audit_terms`
  expect(row?.terms).toBeGreaterThan(50)
  await connection.close()
  database.remove()
})
