// tier: all, both databases in test:all
/** An intent in the journal becomes a record, once, whatever happens to the process that wrote it. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type postgres from 'postgres'
import { groupOf, readGroups, writeGroup } from '../../src/audit/journal.ts'
import { AuditTrail, type Entry } from '../../src/audit/trail.ts'
import { readConfig } from '../../src/core/config/config.ts'
import { openLog } from '../../src/core/log.ts'
import { migrate, migrations } from '../../src/database/migrations/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import { scriptOf } from '../docs/blocks.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { freshDatabase } from '../support/database.ts'
import { effort } from '../support/effort.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'

let stage: Stage
let agent: Agent
let sql: postgres.Sql
let version: number
const logged: string[] = []
const log = openLog('warning', (line) => logged.push(line))
const trails: AuditTrail[] = []

beforeAll(async () => {
  stage = await openStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_journal') } })
  sql = stage.app.connection.sql
})
beforeEach(async () => {
  const [row] = await sql`select policy_version from workspaces where id = ${agent.workspaceId}`
  version = Number(row?.policy_version)
})
afterAll(async () => {
  for (const trail of trails) await trail.close(0)
  await stage.stop()
})

/** Writes as another process. */
function openTrail(): AuditTrail {
  const trail = new AuditTrail(sql, log)
  trails.push(trail)
  return trail
}

function entryOf(more: Partial<Entry> = {}): Entry {
  return {
    id: Bun.randomUUIDv7(),
    workspace_id: agent.workspaceId,
    policy_version: version,
    token_id: agent.tokenId,
    registration_id: agent.registrationId,
    agent_id: 'agent',
    identity_level: 'agent',
    timestamp: new Date(),
    project_id: agent.projectId,
    environment: 'development',
    method: 'GET',
    target_url: 'https://a.example.com/it%27s',
    target_path: '/it%27s',
    target_domain: 'a.example.com',
    credential_ref: 'KEY',
    injection_style: 'header',
    unfilled: null,
    approval_id: null,
    decision: 'allowed',
    reason: null,
    refused_by: null,
    status_code: null,
    duration_ms: null,
    redacted: null,
    action: null,
    ...more,
  }
}

const outcomeOf = ({ id }: Entry) => ({
  id,
  decision: 'allowed' as const,
  reason: null,
  status_code: 201,
  duration_ms: 7,
  redacted: true,
})

async function recordsOf(...entries: Entry[]) {
  const rows = await Promise.all(
    entries.map(
      ({ id }) => sql`select id, decision, reason, status_code, redacted from audit_logs
        where id = ${id}`,
    ),
  )
  return rows.flatMap((found) => found.map((row) => ({ ...row })))
}

const journaled = async () =>
  (await readGroups(sql, null)).flatMap(({ intents }) => intents.map(({ entry }) => entry.id))

const open = ({ id }: Entry) => ({
  id,
  decision: 'allowed',
  reason: null,
  status_code: null,
  redacted: null,
})
const ended = ({ id }: Entry) => ({ ...open({ id } as Entry), status_code: 201, redacted: true })

test('an intent is in the journal until its record is written', async () => {
  const [trail, entry] = [openTrail(), entryOf()]
  expect(await trail.record(entry)).toBe('recorded')
  expect(await journaled()).toContain(entry.id)
  trail.conclude(outcomeOf(entry))
  await trail.flush()
  expect(await recordsOf(entry)).toEqual([ended(entry)])
  expect(await journaled()).not.toContain(entry.id)
})

test('a record has every field of its entry', async () => {
  const [trail, entry] = [openTrail(), entryOf()]
  await trail.record(entry)
  trail.conclude(outcomeOf(entry))
  await trail.flush()
  const [row] = await sql`select * from audit_logs where id = ${entry.id}`
  const { policy_version, timestamp, ...fields } = { ...entry, ...outcomeOf(entry) }
  expect(row).toMatchObject({ ...fields, source: 'resolver', user_id: null, resource: null })
  expect(new Date(row?.timestamp)).toEqual(timestamp)
})

test('records of one batch that differ in one field each keep their own value', async () => {
  const [trail, first] = [openTrail(), entryOf()]
  const different: Partial<Entry> = {
    registration_id: null,
    agent_id: 'other "agent" \\',
    identity_level: 'workload',
    timestamp: new Date(1_763_800_000_123),
    project_id: null,
    environment: 'production',
    method: 'POST',
    target_url: 'https://a.example.com/{other},"path"',
    target_path: '/{other},"path"',
    target_domain: 'b.example.com',
    credential_ref: 'KEY,OTHER',
    injection_style: 'header,body',
    action: 'credentials.read',
  }
  const others = Object.entries(different).map(([field, value]) => entryOf({ [field]: value }))
  const entries = [first, ...others, entryOf()]
  await Promise.all(entries.map((entry) => trail.record(entry)))
  for (const entry of entries) trail.conclude(outcomeOf(entry))
  await trail.flush()
  for (const entry of entries) {
    const [row] = await sql`select * from audit_logs where id = ${entry.id}`
    const { policy_version, timestamp, ...fields } = { ...entry, ...outcomeOf(entry) }
    expect(row).toMatchObject(fields)
    expect(new Date(row?.timestamp)).toEqual(timestamp)
  }
})

test('intents are read from the journal the way they were written', async () => {
  const entries = [
    entryOf(),
    entryOf({
      ...outcomeOf(entryOf()),
      reason: '"odd" \\ \n',
      refused_by: { secret: 'KEY', rule: 'allowed_paths' },
      method: null,
    }),
  ]
  const { id, intents } = await writeGroup(sql, groupOf(entries))
  expect(await readGroups(sql, null)).toEqual([{ id, intents }])
  expect(intents.map(({ entry }) => entry)).toEqual(entries)
  await openTrail().adopt(null)
})

test('an upgrade records the intents that the previous release left in the journal', async () => {
  const { policy_version, reason, status_code, duration_ms, redacted, ...entry } = entryOf()
  const intents = JSON.stringify([{ ...entry, policy_version, proof: 1 }])
  await sql`insert into audit_journal (id, live, intents) values (${Bun.randomUUIDv7()}, '1', ${intents})`
  await openTrail().adopt(null)
  expect(await recordsOf(entry as Entry)).toEqual([open(entry as Entry)])
  expect(await journaled()).toEqual([])
})

test('intents that an ended process left are recorded by another one, once, without their outcome', async () => {
  const [gone, entries] = [openTrail(), [entryOf(), entryOf(), entryOf()]]
  await Promise.all(entries.map((entry) => gone.record(entry)))
  const [one, two] = [openTrail(), openTrail()]
  await Promise.all([one.adopt(null), two.adopt(null), one.adopt(null)])
  expect(await recordsOf(...entries)).toEqual(entries.map(open))
  expect(await journaled()).toEqual([])
})

test('a recent intent belongs to a live process', async () => {
  const [trail, entry] = [openTrail(), entryOf()]
  await trail.record(entry)
  await openTrail().adopt(10)
  expect(await recordsOf(entry)).toEqual([])
  await sql`update audit_journal set recorded_at = recorded_at - interval '11 seconds'`
  await openTrail().adopt(10)
  expect(await recordsOf(entry)).toEqual([open(entry)])
})

test('the outcome of a call is recorded in the end, even if another process considered its process dead', async () => {
  const [trail, entry] = [openTrail(), entryOf()]
  await trail.record(entry)
  await openTrail().adopt(null)
  trail.conclude(outcomeOf(entry))
  await trail.flush()
  expect(await recordsOf(entry)).toEqual([ended(entry)])
})

test('an intent that is still in the journal does not remove a recorded outcome', async () => {
  const [trail, entry] = [openTrail(), entryOf()]
  await trail.record(entry)
  const [row] = await sql`select * from audit_journal where intents like ${`%${entry.id}%`}`
  trail.conclude(outcomeOf(entry))
  await trail.flush()
  await sql`insert into audit_journal ${sql({ ...row })}`
  await openTrail().adopt(null)
  expect(await recordsOf(entry)).toEqual([ended(entry)])
  expect(await journaled()).toEqual([])
})

test('intents of a group without a live token or with an old policy are never recorded', async () => {
  const trail = openTrail()
  const [good, old, unknown] = [
    entryOf(),
    entryOf({ policy_version: version - 1 }),
    entryOf({ token_id: Bun.randomUUIDv7() }),
  ]
  const verdicts = await Promise.all([good, old, unknown].map((entry) => trail.record(entry)))
  expect(verdicts).toEqual(['recorded', 'stale', 'stale'])
  await openTrail().adopt(null)
  await trail.flush()
  expect(await recordsOf(good, old, unknown)).toEqual([open(good)])
})

test('an intent alone in its group is stored only for a live token of its workspace and the current policy', async () => {
  const trail = openTrail()
  const stale = [
    entryOf({ policy_version: version - 1 }),
    entryOf({ token_id: Bun.randomUUIDv7() }),
    entryOf({ workspace_id: Bun.randomUUIDv7() }),
  ]
  for (const entry of stale) expect(await trail.record(entry)).toBe('stale')
  const expired = entryOf()
  await sql`update tokens set expires_at = 'epoch' where id = ${agent.tokenId}`
  expect(await trail.record(expired)).toBe('stale')
  await sql`update tokens set expires_at = null where id = ${agent.tokenId}`
  const good = entryOf()
  expect(await trail.record(good)).toBe('recorded')
  await trail.flush()
  expect(await recordsOf(...stale, expired, good)).toEqual([open(good)])
})

test('a record that the database rejects delays no other, and is kept whole, once', async () => {
  const [trail, good] = [openTrail(), Array.from({ length: 5 }, () => entryOf())]
  const bad = entryOf({ target_path: 'NUL \0' })
  const all = [...good.slice(0, 3), bad, ...good.slice(3)]
  await Promise.all(all.map((entry) => trail.record(entry)))
  for (const entry of all) trail.conclude(outcomeOf(entry))
  await trail.flush()
  expect(await recordsOf(...good)).toEqual(good.map(ended))
  expect(await recordsOf(bad)).toEqual([])
  const [refused] = await sql`select code, intent from audit_refused where id = ${bad.id}`
  expect(refused?.code).toMatch(/^22/)
  const { timestamp, ...fields } = { ...bad, ...outcomeOf(bad) }
  expect(JSON.parse(refused?.intent)).toEqual({
    ...fields,
    timestamp: timestamp.toISOString(),
    proof: 1,
  })
  const complaints = () =>
    logged.filter((line) => line.includes('an audit record cannot be stored'))
  expect(complaints()).toHaveLength(1)
  expect(await journaled()).not.toContain(bad.id)
  await openTrail().adopt(null)
  expect(complaints()).toHaveLength(1)
})

test('an unreadable row of the journal delays no other: it is kept with the rejected ones, counted and logged once', async () => {
  const entry = entryOf()
  const whole = { ...entry, proof: 1 }
  const rows = [
    ...['garbage', '', '5', '{}', '[]', '[null]', '[["id"],5]'],
    JSON.stringify([{ ...whole, id: 'none' }]),
    JSON.stringify([{ ...whole, registration_id: `${Bun.randomUUIDv7()},${Bun.randomUUIDv7()}` }]),
    JSON.stringify([{ ...whole, identity_level: 'user' }]),
    JSON.stringify([{ ...whole, decision: 'perhaps' }]),
    JSON.stringify([{ ...whole, action: 'member.removed' }]),
    JSON.stringify([{ ...whole, timestamp: 'yesterday' }]),
    JSON.stringify([{ ...whole, proof: 2 }]),
  ].map((intents) => ({ id: Bun.randomUUIDv7(), live: '1', intents }))
  await sql`insert into audit_journal ${sql(rows)}`
  await openTrail().record(entry)
  let refused = 0
  const observer = { onDecision() {}, onWrite() {}, onRefused: () => void refused++ }
  const trail = new AuditTrail(sql, log, observer)
  trails.push(trail)
  await trail.adopt(null)
  expect(await recordsOf(entry)).toEqual([open(entry)])
  expect([...(await sql`select 1 from audit_journal`)]).toEqual([])
  expect(refused).toBe(rows.length)
  for (const { id, live, intents } of rows) {
    const [kept] = await sql`select code, intent from audit_refused where id = ${id}`
    expect([kept?.code, JSON.parse(kept?.intent)]).toEqual(['22032', { live, intents }])
    expect(logged.filter((line) => line.includes(id))).toHaveLength(1)
  }
  await trail.adopt(null)
  expect(refused).toBe(rows.length)
  await sql`delete from audit_refused`
})

test('two intents with one id in the journal do not delay the others', async () => {
  const [entry, other] = [entryOf(), entryOf()]
  const intents = JSON.stringify([1, 2].map(() => ({ ...entry, proof: 1 })))
  await sql`insert into audit_journal (id, live, intents) values (${Bun.randomUUIDv7()}, '1', ${intents})`
  await openTrail().record(other)
  await openTrail().adopt(null)
  expect(await recordsOf(entry, other)).toEqual([open(entry), open(other)])
  expect(await journaled()).toEqual([])
})

test('an intent in the journal gives no outcome to a record that is not of a call', async () => {
  const entry = entryOf()
  await sql`insert into audit_logs (id, workspace_id, timestamp, source, identity_level, agent_id, decision)
    values (${entry.id}, ${entry.workspace_id}, now(), 'control_plane', 'user', 'ada@example.com', 'allowed')`
  const intents = JSON.stringify([{ ...entry, ...outcomeOf(entry), decision: 'blocked', proof: 1 }])
  await sql`insert into audit_journal (id, live, intents) values (${Bun.randomUUIDv7()}, '1', ${intents})`
  await openTrail().adopt(null)
  expect(await recordsOf(entry)).toEqual([open(entry)])
  expect(await journaled()).toEqual([])
})

test('a rejected record that gets its outcome later is kept with it, and the first one is not rewritten', async () => {
  const [trail, bad] = [openTrail(), entryOf({ target_path: 'NUL \0' })]
  await trail.record(bad)
  await trail.flush()
  trail.conclude(outcomeOf(bad))
  await trail.flush()
  const rows = await sql`select id, intent from audit_refused where intent like ${`%${bad.id}%`}`
  const statuses = rows.map(({ id, intent }) => [id === bad.id, JSON.parse(intent).status_code])
  expect(statuses.toSorted()).toEqual([
    [false, null],
    [true, 201],
  ])
  await sql`delete from audit_refused`
})

test('a rejected intent is retried when it is moved back into the journal', async () => {
  const [trail, bad] = [openTrail(), entryOf({ target_path: 'NUL \0' })]
  await trail.record(bad)
  trail.conclude(outcomeOf(bad))
  await trail.flush()
  const again = scriptOf('docs/guides/monitoring.md', 'refused')
  // A later release that no longer records such a path.
  await sql`update audit_refused set intent = replace(intent, '\\u0000', '') where id = ${bad.id}`
  await sql.unsafe(again)
  await openTrail().adopt(null)
  expect(await recordsOf(bad)).toEqual([ended(bad)])
  expect([...(await sql`select 1 from audit_refused where id = ${bad.id}`)]).toEqual([])
})

test('a call that takes longer than a second is listed without its outcome, then with it', async () => {
  const arrived = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  stage.upstream.on('/long', async (_, wire) => {
    arrived.resolve()
    await release.promise
    wire.write(answerOf(202, {}))
  })
  const called = agent.resolve({ target_url: stage.url('/long') })
  await arrived.promise
  const find = async () =>
    sql`select status_code from audit_logs where target_path = '/long'`.then((rows) => [...rows])
  await until(async () => (await find()).length > 0)
  expect(await find()).toEqual([{ status_code: null }])
  release.resolve()
  await called
  await stage.app.flushAudit()
  expect(await find()).toEqual([{ status_code: 202 }])
})

test('a person who lists the audit sees their latest actions', async () => {
  const { api } = agent.person
  const query = { workspace_id: agent.workspaceId, limit: 1 }
  for (let count = 0; count < 5; count += 1) {
    const { headers } = await agent.resolve({ target_url: stage.url('/seen') })
    const [newest] = await api.list(listAuditLogs, { query })
    expect(newest).toMatchObject({ id: headers.get('x-request-id') ?? '', status_code: 200 })
  }
})

test('an upgrade loses no record', async () => {
  const database = await freshDatabase()
  const keys = {
    SECRET_KEY: 'k'.repeat(36),
    ENCRYPTION_KEY: Buffer.alloc(32).toString('base64url'),
  }
  const config = readConfig({ ...database.env, ...keys }, () => keys)
  const connection = await openDatabase(config, () => {})
  await migrate(connection.sql, migrations.slice(0, 7))
  await connection.sql`
    insert into audit_logs (id, workspace_id, timestamp, source, identity_level, agent_id, decision, status_code, client_id)
    select gen_random_uuid(), gen_random_uuid(), now(), 'resolver', 'agent', 'a', 'allowed',
      case when n % 3 > 0 then 200 + n end, case when n % 2 = 0 then 'client ' || n end
    from generate_series(1, 100) as n`
  const content = () =>
    connection.sql`select md5(string_agg((to_jsonb(a) - 'refused_by' - 'unfilled' - 'approval_id')::text, '|' order by id)) as all from audit_logs a`
  const deltas = () => connection.sql`select sum(requests)::int as sum from audit_deltas`
  const before = [...(await content()), ...(await deltas())]
  expect(await migrate(connection.sql)).toBe(migrations.length - 7)
  expect([...(await content()), ...(await deltas())]).toEqual(before)
  await connection.close()
  database.remove()
})

test('the journal takes no more space after many calls than after a few', async () => {
  const trail = openTrail()
  const sizes: number[] = []
  const rounds = effort(5, 8)
  // Each round would add as much as the first if no space were returned.
  for (let round = 0; round < rounds; round += 1) {
    for (let count = 0; count < 2_000; count += 100) {
      const groups = Array.from({ length: 100 }, () => groupOf([entryOf({ status_code: 200 })]))
      for (const written of await Promise.all(groups.map((group) => writeGroup(sql, group))))
        trail.hold(written)
    }
    await trail.flush()
    const [row] = await sql`select pg_total_relation_size('audit_journal')::int as bytes`
    sizes.push(Number(row?.bytes))
    // Real time: the trail vacuums its journal on its own timer and reports nothing.
    await Bun.sleep(300)
  }
  expect(sizes.at(-1)).toBeLessThan((rounds / 2) * Number(sizes[0]))
})
