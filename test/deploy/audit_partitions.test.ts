// tier: all
/** The audit in partitions by month, which docs/deploy/audit_partitions.sql creates from a table with records. */
import { expect } from 'bun:test'
import { join } from 'node:path'
import postgres from 'postgres'
import { registerAgent } from '../../src/features/agents/contract.ts'
import {
  listAuditLogs,
  recordAuditLogs,
  summariseAudit,
} from '../../src/features/audit/contract.ts'
import { expireLogs } from '../../src/features/audit/upkeep.ts'
import { tablesOf } from '../../src/operator/backup/rows.ts'
import { scriptOf } from '../docs/blocks.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { preparedDatabase, sharedCluster } from '../support/database.ts'
import { partitionAudit } from '../support/prepared.ts'
import { requires } from '../support/requires.ts'
import { openTeam, type Team } from '../support/teams.ts'
import { watched } from '../support/watched.ts'

const { afterAll, beforeAll, describe, test } = requires('postgresql')

const REPORT = {
  timestamp: '2026-01-31T10:00:00.000Z',
  method: 'GET',
  target_domain: 'a.example.com',
}
const HOST = 'b.example.com'

describe('an audit in partitions', () => {
  let app: TestApp
  let sql: postgres.Sql
  let team: Team
  let token: string
  let database: string
  let before: unknown
  let columns: unknown

  const report = (id: string) =>
    app.call('POST', recordAuditLogs.path, { token, body: { ...REPORT, id } })
  const seen = async () => {
    const query = { workspace_id: team.workspaceId }
    return {
      records: await team.owner.api.list(listAuditLogs, { query }),
      summary: await team.owner.api.call(summariseAudit, { query }),
    }
  }
  const tables = () => sql.begin((tx) => tablesOf(tx))
  /** The name of the partition the given number of months from now. */
  const partition = async (ahead: number) => {
    const [row] = await sql`
        select to_char(audit_partitions.month_of(now()) + make_interval(months => ${ahead}), '"m"YYYY_MM') as name`
    return String(row?.name)
  }
  /** A bot's call whose record has an ID of that month. Returns its partition, or null if it is rejected. */
  const store = async (ahead: number, bot: string, { clientId = '', daysAgo = 0 } = {}) => {
    const [row] = await sql`
        insert into audit_logs (id, workspace_id, timestamp, recorded_at, source, identity_level, agent_id,
          target_domain, decision, status_code, client_id)
        select (left(audit_partitions.first_id(
            audit_partitions.month_of(now()) + make_interval(months => ${ahead}))::text, 13)
            || right(gen_random_uuid()::text, 23))::uuid,
          ${team.workspaceId}, timestamptz '2026-02-01 00:00:00Z', now() - make_interval(days => ${daysAgo}),
          'resolver', 'agent', ${bot}, ${HOST}, 'allowed', 200, nullif(${clientId}, '')
        on conflict do nothing returning tableoid::regclass::text as place`
    return row ? String(row.place).replace('audit_partitions.', '') : null
  }
  const callsOf = async (bot: string) => {
    const query = { workspace_id: team.workspaceId, agent_id: bot }
    const listed = await team.owner.api.list(listAuditLogs, { query })
    const { by_agent } = (await seen()).summary
    return {
      listed: listed.length,
      counted: by_agent.find(({ agent_id }) => agent_id === bot)?.count ?? 0,
    }
  }

  beforeAll(async () => {
    const prepared = await preparedDatabase()
    database = prepared.env.DB_NAME ?? ''
    app = await startTestApp({}, { database: prepared })
    sql = app.connection.sql
    team = await openTeam(app)
    const params = { workspace_id: team.workspaceId }
    const agent = await team.owner.api.call(registerAgent, { params, body: { name: 'reporter' } })
    token = agent.token ?? ''
    expect((await report('first')).status).toBe(201)
    await sql`grant insert, select (id, decision) on audit_logs to pg_monitor`
    before = await seen()
    columns = await tables()
    await partitionAudit(await sharedCluster(), database)
  })
  afterAll(() => app?.stop())

  test('an audit in partitions keeps earlier records and foreign privileges', async () => {
    expect(await seen()).toEqual(before as never)
    const [row] = await sql`
        select relkind, array_to_string(array(select privilege_type from aclexplode(relacl)
          where grantee = 'pg_monitor'::regrole), ' ') as rights,
          (select string_agg(format('%s %s', privilege_type, attname), ', ' order by attnum)
            from pg_attribute, aclexplode(attacl)
            where attrelid = 'audit_logs'::regclass and grantee = 'pg_monitor'::regrole) as columns
        from pg_class where oid = 'audit_logs'::regclass`
    expect(row).toEqual({ relkind: 'p', rights: 'INSERT', columns: 'SELECT id, SELECT decision' })
  })

  test('a backup sees one audit table with the same columns, and none of the added objects', async () => {
    expect(await tables()).toEqual(columns as never)
  })

  test('each month has its partition, and records of other months are in the default one', async () => {
    expect(await store(0, 'now')).toBe('before')
    expect(await store(1, 'next')).toBe(await partition(1))
    expect(await store(2, 'after next')).toBe(await partition(2))
    expect(await store(120, 'far')).toBe('others')
    expect(await callsOf('after next')).toEqual({ listed: 1, counted: 1 })
    const [{ added } = {}] =
      await sql`select audit_partitions.add_months(current_date + 365) as added`
    expect(added).toBe(0)
  })

  test('a client id is never accepted twice, whatever partition its record is in', async () => {
    const again = await report('first')
    expect(again.body).toMatchObject({ data: { created: 0, duplicates: 1 } })
    const [reported] = await sql`select client_id from audit_logs where client_id like '%first'`
    expect(await store(3, 'repeats', { clientId: String(reported?.client_id) })).toBeNull()
    expect(await store(3, 'repeats', { clientId: 'second' })).toBe(await partition(3))
    expect(await store(4, 'repeats', { clientId: 'second' })).toBeNull()
    expect(await callsOf('repeats')).toEqual({ listed: 1, counted: 1 })
  })

  test('retention by rows deletes old records and no row of another partition', async () => {
    await store(5, 'old', { daysAgo: 31 })
    await store(6, 'young')
    const [{ alike } = {}] = await sql`
        select count(distinct ctid) = 1 as alike from audit_logs where agent_id in ('old', 'young')`
    expect(alike).toBe(true)
    expect(await expireLogs(app.connection.db, 30)).toBe(1)
    expect(await callsOf('old')).toEqual({ listed: 0, counted: 0 })
    expect(await callsOf('young')).toEqual({ listed: 1, counted: 1 })
  })

  test('a detached month disappears from lists, summaries, filters and client ids, and other months stay', async () => {
    await store(7, 'detached', { clientId: 'third' })
    await store(7, 'shared')
    await store(8, 'shared')
    const name = await partition(7)
    await sql.unsafe(`call audit_partitions.detach('${name}')`)
    expect(await callsOf('detached')).toEqual({ listed: 0, counted: 0 })
    expect(await callsOf('shared')).toEqual({ listed: 1, counted: 1 })
    expect(await callsOf('young')).toEqual({ listed: 1, counted: 1 })
    const terms = sql`select 1 from audit_terms where term = audit_term(${team.workspaceId}::uuid, 'agent', 'detached')`
    expect(await terms).toHaveLength(0)
    const kept = await sql.unsafe(
      `select agent_id from audit_partitions.detached_${name} order by 1`,
    )
    expect(kept.map(({ agent_id }) => agent_id)).toEqual(['detached', 'shared'])
    expect(await store(9, 'again', { clientId: 'third' })).toBe(await partition(9))
    expect(await store(7, 'late')).toBe('others')
  })

  test('an interrupted detach is completed by the next one', async () => {
    await store(10, 'interrupted')
    const name = await partition(10)
    await sql.unsafe(`alter table audit_logs detach partition audit_partitions.${name}`)
    expect(await callsOf('interrupted')).toEqual({ listed: 0, counted: 1 })
    await sql.unsafe(`call audit_partitions.detach('${name}')`)
    expect(await callsOf('interrupted')).toEqual({ listed: 0, counted: 0 })
  })

  test("the audit's own tests pass on a partitioned audit", async () => {
    const files = ['audit/journal', 'features/audit/reads', 'features/audit/summary']
    const { TEST_CLUSTER, ...env } = process.env
    const child = watched(
      Bun.spawn(
        [process.execPath, 'test', '--timeout', '120000', ...files.map((file) => `test/${file}`)],
        {
          cwd: join(import.meta.dir, '../..'),
          env: { ...env, TEST_AUDIT: 'partitioned' },
          stdout: 'pipe',
          stderr: 'pipe',
        },
      ),
    )
    const report = await new Response(child.stderr).text()
    expect([await child.exited, / 0 fail$/m.test(report)]).toEqual([0, true])
  }, 300_000)
})

test("the page's statements add the months until 2030, and detach everything before the conversion", async () => {
  const { env } = await preparedDatabase()
  const { DB_HOST: host = '', DB_NAME: name = '', DB_USER: user = '' } = env
  const sql = postgres({ host, database: name, user, max: 1 })
  await sql`insert into audit_logs (id, workspace_id, timestamp, recorded_at, source, identity_level, agent_id, decision)
    values (${Bun.randomUUIDv7()}, gen_random_uuid(), now(), now(), 'resolver', 'agent', 'bot', 'allowed')`
  await partitionAudit(await sharedCluster(), name)
  const partitions = () => sql`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit_logs'::regclass`
  expect((await partitions()).map(({ name }) => name)).toContain('audit_partitions.before')
  for (const statement of scriptOf('docs/guides/scaling.md', 'months').trim().split('\n'))
    await sql.unsafe(statement)
  const names = (await partitions()).map(({ name }) => name)
  expect(names).toContain('audit_partitions.m2030_12')
  expect(names).not.toContain('audit_partitions.before')
  expect(await sql`select 1 from audit_logs`).toHaveLength(0)
  expect(await sql`select 1 from audit_partitions.detached_before`).toHaveLength(1)
  await sql.end()
}, 60_000)
