// tier: all
/**
 * docs/deploy/postgresql_roles.sql on a real PostgreSQL: the resolver's user does exactly a resolver's work, and the
 * control plane's user changes no schema. docs/guides/database-users.md lists the resolver's privileges.
 */
import { expect } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Entry } from '../../src/audit/entry.ts'
import { AuditTrail } from '../../src/audit/trail.ts'
import { storeRefused } from '../../src/audit/write_records.ts'
import { OuterLayer } from '../../src/core/crypto/outer_layer.ts'
import { openLog } from '../../src/core/log.ts'
import {
  createNoticeTarget,
  deleteNoticeTarget,
  testNoticeTarget,
} from '../../src/features/notices/contract.ts'
import { tokenActions } from '../../src/http/endpoint.ts'
import { MAX_ROW_BYTES } from '../../src/operator/backup/rows.ts'
import { writeReport } from '../../src/operator/report.ts'
import { Leases } from '../../src/renewal/leases.ts'
import { scriptOf } from '../docs/blocks.ts'
import {
  type Agent,
  createAgentWithToken,
  openStage,
  resolveAs,
  type Stage,
} from '../support/agent.ts'
import { callJson, startTestApp, type TestApp } from '../support/app.ts'
import { HELD, heldStage } from '../support/approvals.ts'
import { type Collector, startCollector } from '../support/collector.ts'
import { sharedCluster, type TestDatabase } from '../support/database.ts'
import { forwardAs } from '../support/forward.ts'
import { databaseVariables, partitionAudit, runAsAdministrator } from '../support/prepared.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import { answerOf } from '../support/upstream.ts'
import { RESOLVER_PRIVILEGES } from './resolver_privileges.ts'

const { afterAll, beforeAll, describe, test } = requires('postgresql')

const ROLES_FILE = join(import.meta.dir, '../../docs/deploy/postgresql_roles.sql')
const PAGE = join(import.meta.dir, '../../docs/guides/database-users.md')

const ROW_LOCKS = ['key share', 'share', 'no key update', 'update']
const TABLE_LOCKS = [
  ...['access share', 'row exclusive', 'share update exclusive', 'share'],
  ...['share row exclusive', 'exclusive', 'access exclusive'],
]

let socketDir: string
let database: string
let stage: Stage
let resolver: TestApp
let agent: Agent
let collector: Collector
const silent = openLog('error', () => {})
/** As each of the three users. */
let owner: postgres.Sql
let control: postgres.Sql
let asResolver: postgres.Sql

const variables = (user: string) => ({ ...databaseVariables(socketDir, database), DB_USER: user })
const given = (user: string): TestDatabase => ({ env: variables(user), remove: () => {} })
const connect = (user: string) =>
  postgres({ host: socketDir, user, database, max: 2, onnotice: () => {} })

async function applyRoles(): Promise<void> {
  const script = scriptOf('docs/guides/database-users.md', 'roles')
  const given = script.replace('-d cloakroom', `-d ${database}`)
  await runAsAdministrator(await sharedCluster(), database, given)
}

/** Ends the resolver user's sessions, settings and connections as the page does, and allows new ones. */
async function lockOut(whileLocked = async () => {}): Promise<void> {
  const statements = scriptOf('docs/guides/database-users.md', 'lockout')
  const administrator = connect('cloakroom')
  const sent = statements.replace('in database cloakroom', `in database ${database}`)
  for (const statement of sent.trim().split('\n')) await administrator.unsafe(statement)
  await whileLocked()
  await applyRoles()
  await administrator`alter role cloakroom_resolver login`
  await administrator.end()
}

beforeAll(async () => {
  const { socketDir: place, createDatabase } = await sharedCluster()
  socketDir = place
  database = await createDatabase()
  // Tables that another user created: the script gives them to the owner.
  await (await startTestApp({}, { database: given('cloakroom') })).stop()
  await applyRoles()
  collector = startCollector()
  const rates = {
    RATE_TOKEN: '100000/1',
    RATE_API: '100000/1',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
  }
  stage = await openStage({ env: { ...variables('cloakroom_control'), ...rates } })
  resolver = await startTestApp(
    {
      ROLE: 'resolver',
      ADMIN_PORT: '0',
      RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
      RESOLVER_CA_FILE: stage.caFile,
      RESOLVER_HOSTS: `${new URL(stage.url('/')).hostname}=127.0.0.1`,
      ...rates,
    },
    { database: given('cloakroom_resolver') },
  )
  agent = await createAgentWithToken(stage, {
    secrets: { KEY: 'the value of a key' },
    capabilities: ['use', 'read'],
  })
  owner = connect('cloakroom_owner')
  control = connect('cloakroom_control')
  asResolver = connect('cloakroom_resolver')
}, 60_000)
afterAll(async () => {
  for (const sql of [owner, control, asResolver]) await sql?.end()
  await resolver?.stop()
  await stage?.stop()
  await collector?.stop()
})

const call = () => ({ target_url: stage.url('/'), headers: { 'X-Key': 'SVC_SECRET_KEY' } })
const bearer = () => ({ headers: { authorization: `Bearer ${agent.token}` } })

describe("the resolver's database user", () => {
  test("the resolver's user does all work of a resolver: calls, forwarding, delivery, lists, links, health, metrics", async () => {
    const { resolver: origin } = resolver
    expect((await resolveAs(origin, agent.token, call())).status).toBe(200)
    const app = { ...stage.app, resolver: origin }
    const headers = { 'x-key': 'SVC_SECRET_KEY' }
    const forwarded = await forwardAs({ ...stage, app }, agent, '/', { headers })
    expect(forwarded.status).toBe(200)
    const environment = { project_id: agent.projectId, environment: agent.environment }
    const delivered = await callJson(origin, 'POST', '/api/workloads/env/', {
      token: agent.token,
      body: environment,
    })
    expect(delivered.status).toBe(200)
    for (const path of [
      '/healthz',
      '/v1/allowlist',
      '/v1/credentials/',
      '/v1/links/',
      '/v1/shapes/',
      '/api/workloads/version/',
      '/api/workloads/token/',
    ])
      expect([path, (await fetch(`${origin}${path}`, bearer())).status]).toEqual([path, 200])
    const figures = await (await fetch(`${resolver.admin}/metrics`)).text()
    expect(figures).toContain('cloakroom_database_up 1')
    expect(problemsIn(resolver)).toEqual([])
  })

  test("the resolver's user has traces, gauges of readable tables only, and a report", async () => {
    await resolver.tracer?.flush()
    collector.spans.length = 0
    expect((await resolveAs(resolver.resolver, agent.token, call())).status).toBe(200)
    await resolver.tracer?.flush()
    const names = collector.spans.map(({ name }) => name)
    for (const name of ['POST /v1/resolve', 'decide', 'audit write', 'call'])
      expect(names).toContain(name)
    await owner`update instance set backed_up_at = now()`
    const figures = await (await fetch(`${resolver.admin}/metrics`)).text()
    expect(figures).toMatch(/^cloakroom_tokens_expiring \d/m)
    expect(figures).toMatch(/^cloakroom_database_size_bytes \d/m)
    expect(figures).not.toMatch(/^cloakroom_backup_last_timestamp_seconds\b/m)
    const path = await writeReport({
      ...resolver,
      log: openLog('info', () => {}),
      problems: () => [],
    })
    const report = JSON.parse(readFileSync(path ?? '', 'utf8'))
    rmSync(path ?? '')
    expect(report).toMatchObject({
      settings: { ROLE: 'resolver', SECRET_KEY: '[redacted]' },
      database: { kind: 'postgresql', connections: expect.any(Array) },
    })
    expect(report.database.migrations.length).toBeGreaterThan(10)
    expect(problemsIn(resolver)).toEqual([])
  })

  test("the resolver's user records token actions, before and after, and records that the database rejects", async () => {
    const held = Promise.withResolvers<void>()
    stage.upstream.on('/held', async (_, wire) => {
      await held.promise
      wire.write(answerOf(200, {}, 'late'))
    })
    const slow = resolveAs(resolver.resolver, agent.token, {
      ...call(),
      target_url: stage.url('/held'),
    })
    const recorded = async () => {
      await resolver.flushAudit()
      const rows = await owner`select status_code from audit_logs where target_path = '/held'`
      return rows.map(({ status_code }) => status_code)
    }
    await until(async () => (await recorded()).length > 0)
    expect(await recorded()).toEqual([null])
    held.resolve()
    expect((await slow).status).toBe(200)
    expect(await recorded()).toEqual([200])
    const [token] =
      await owner`select last_used_at from token_uses where token_id = ${agent.tokenId}`
    expect(token?.last_used_at).not.toBeNull()
    expect(problemsIn(resolver)).toEqual([])
    const entry = { id: Bun.randomUUIDv7() } as Entry
    const refused = { entry, conclusion: entry, unconfirmed: null }
    await storeRefused(asResolver, refused, { code: '22021', emptied: [Bun.randomUUIDv7()] })
    expect(await owner`select 1 from audit_refused where id = ${entry.id}`).toHaveLength(1)
  })

  test("the resolver's user queues the notice of a rejected call and sends it", async () => {
    const { api } = agent.person
    const params = { workspace_id: agent.workspaceId }
    const { id } = await api.call(createNoticeTarget, {
      params,
      body: { type: 'webhook', url: stage.url('/notice'), events: ['call.refused'] },
    })
    const refused = { ...call(), target_url: 'https://elsewhere.example/' }
    expect((await resolveAs(resolver.resolver, agent.token, refused)).status).toBe(403)
    await until(async () => {
      const [row] = await owner`select status from notices where target_id = ${id}`
      return row?.status === 'delivered'
    })
    const [notice] = stage.upstream.received.filter(({ path }) => path === '/notice')
    expect(JSON.parse(Buffer.from(notice?.body ?? '').toString())).toMatchObject({
      event: 'call.refused',
      host: 'elsewhere.example',
      code: 'domain_blocked',
    })
    await api.call(testNoticeTarget, { params: { ...params, target_id: id }, body: {} })
    // The control plane wakes the resolver, and has no sender itself.
    await until(() => stage.upstream.received.filter(({ path }) => path === '/notice').length === 2)
    await api.call(deleteNoticeTarget, { params: { ...params, target_id: id } })
    expect(problemsIn(resolver)).toEqual([])
  })

  test("the resolver's user requests an approval, expires it, uses its release, and stores proposals", async () => {
    const held = await heldStage({ ...stage, app: { ...stage.app, resolver: resolver.resolver } })
    await held.store('HELD', 'a value that a member releases', HELD)
    const once = { target_url: stage.url('/'), headers: { 'X-Key': 'SVC_SECRET_HELD' } }
    const over = await held.request(once)
    await owner`update approvals set expires_at = now() where id = ${over}`
    const id = await held.request(once)
    await held.release(id)
    const version = async () => {
      const [row] =
        await owner`select policy_version from workspaces where id = ${held.project.workspaceId}`
      return row?.policy_version
    }
    const before = await version()
    expect(await held.resolve(once)).toMatchObject({ status: 200, body: { status_code: 200 } })
    expect((await held.approval(id)).status).toBe('used')
    expect((await held.approval(over)).status).toBe('expired')
    expect(await version()).toBe(before)
    const own = { headers: { authorization: `Bearer ${held.token.text}` } }
    expect((await fetch(`${resolver.resolver}/v1/approvals/${id}`, own)).status).toBe(200)
    const proposed = () =>
      callJson(resolver.resolver, 'POST', '/v1/proposals', {
        token: held.token.text,
        body: { reason: 'to deploy', hosts: ['deploy.example'] },
      })
    const first = await proposed()
    expect(first.status).toBe(201)
    const { id: proposal } = first.body as { id: string }
    await owner`update proposals set expires_at = now() where id = ${proposal}`
    expect((await proposed()).body).toMatchObject({ id: proposal, status: 'open' })
    expect(problemsIn(resolver)).toEqual([])
  })

  test("the resolver's user makes no decision about an approval, and reverts none", async () => {
    const { workspaceId } = agent
    const add = async (status: string, usedBy: string | null = null) => {
      const id = Bun.randomUUIDv7()
      await owner`insert into approvals (id, workspace_id, token_id, agent, digest, host, method, secrets, status,
          requested_at, expires_at, used_by)
        values (${id}, ${workspaceId}, ${agent.tokenId}, 'bot', ${id}, 'api.example.com', 'GET', '[]', ${status},
          now(), now() + interval '10 minutes', ${usedBy})`
      return id
    }
    const pending = await add('pending')
    const released = await add('released')
    const used = await add('used', Bun.randomUUIDv7())
    const denied = await add('denied')
    const code = (error: { code: string }) => error.code
    const outcomes = await Promise.all([
      asResolver`update approvals set status = 'released' where id = ${pending}`.catch(code),
      asResolver`update approvals set status = 'expired' where id = ${pending}`.catch(code),
      asResolver`update approvals set status = 'pending' where id = ${denied}`.catch(code),
      asResolver`update approvals set status = 'released' where id = ${used}`.catch(code),
      asResolver`update approvals set used_by = null where id = ${used}`.catch(code),
      asResolver`update approvals set details = 'x' where id = ${pending}`.catch(code),
      asResolver`delete from approvals where id = ${pending}`.catch(code),
      asResolver`delete from approvals where id = ${released}`.catch(code),
    ])
    expect(new Set<unknown>(outcomes)).toEqual(new Set(['23514']))
    await owner`delete from approvals where workspace_id = ${workspaceId}`
  })

  test('the resolver receives notice of a revoke, and applies it without a notice too', async () => {
    const other = await agent.issue()
    await agent.provision(other)
    expect((await resolveAs(resolver.resolver, other.text, call())).status).toBe(200)
    await agent.revoke(other.id)
    expect((await resolveAs(resolver.resolver, other.text, call())).status).toBe(401)
    expect(problemsIn(resolver)).toEqual([])
  })

  const refused = [
    'select email from users',
    'select id from sessions',
    'select verifier from session_tokens',
    'select credential_id from passkeys',
    'select encrypted_workspace_key from memberships',
    'select value from secret_versions',
    'select agent_id from audit_logs',
    'delete from audit_logs',
    "update audit_logs set agent_id = 'another'",
    'update audit_logs set timestamp = now()',
    "update audit_logs set decision = 'blocked' where status_code is not null",
    "update audit_logs set decision = 'blocked' where id in (select id from audit_logs)",
    "update audit_logs set decision = 'perhaps' where id in (select id from audit_logs)",
    'truncate audit_logs',
    "update audit_refused set intent = ''",
    'select intent from audit_refused',
    'insert into audit_deltas select * from audit_deltas',
    'select agent_id from audit_changes',
    'delete from audit_changes',
    'insert into audit_terms (term, bucket) values (1, now())',
    'select * from failed_attempts',
    'delete from derived_states',
    "update derived_states set key = 'ANOTHER'",
    "update approvals set scope = '{}'",
    "update approvals set envelopes = ''",
    'update approvals set muted_until = null',
    'insert into approvals (id, status) values (gen_random_uuid(), null)',
    "update proposals set status = 'accepted'",
    "update proposals set hosts = '[]'",
    'delete from proposals',
    'delete from notices',
    "update notices set body = '{}'",
    'update notices set target_id = workspace_id',
    "update notice_targets set secret = ''",
    'select created_by from notice_targets',
    'insert into notice_targets (id) values (gen_random_uuid())',
    'delete from notice_targets',
    'delete from rate_limits',
    'update rate_limits set full_at = 0',
    'delete from token_rates',
    'update tokens set revoked_at = null',
    'update tokens set last_used_at = now()',
    'delete from token_uses',
    'delete from token_days',
    'update tokens set limits = null',
    'update tokens set expires_at = null',
    "update tokens set verifier = ''",
    'insert into tokens (id) values (gen_random_uuid())',
    'delete from tokens',
    'update token_envelopes set epoch = 1',
    'update secrets set policy = null',
    "insert into allowlist_entries (id, workspace_id, domain) select gen_random_uuid(), id, 'evil.example' from workspaces",
    'update workspaces set policy_version = 1',
    'update workspaces set updated_at = now()',
    'delete from audit_deltas',
    'delete from cloakroom_migrations',
    'create table mine (id int)',
    'alter table users add column mine int',
    'alter table audit_logs disable trigger all',
    'set role cloakroom_owner',
    'copy users to stdout',
  ]
  test.each(refused)('PostgreSQL rejects it: %s', async (statement) => {
    const code = await asResolver.unsafe(statement).then(
      () => 'done',
      (error) => error.code,
    )
    expect(code).toBe('42501')
  })

  /** A record that the resolver's user may store, with other values. */
  const recordWith = (values: Record<string, unknown>) => ({
    id: Bun.randomUUIDv7(),
    workspace_id: agent.workspaceId,
    timestamp: new Date().toISOString(),
    recorded_at: new Date().toISOString(),
    source: 'resolver',
    identity_level: 'agent',
    agent_id: 'bot',
    token_id: agent.tokenId,
    decision: 'allowed',
    ...values,
  })
  const insert = (values: Record<string, unknown>) =>
    asResolver`insert into audit_logs
        select * from json_populate_record(null::audit_logs, ${JSON.stringify(recordWith(values))}::text::json)`.then(
      () => 'done',
      (error) => error.code,
    )

  const forged: [what: string, values: Record<string, unknown>][] = [
    ['a change by a person', { source: 'control_plane', identity_level: 'user' }],
    ['what a person did', { identity_level: 'user', agent_id: 'ada@example.com' }],
    ['the id of a person', { user_id: Bun.randomUUIDv7() }],
    ['what a client reports', { source: 'client', client_id: '1' }],
    ['a source that there is not', { source: 'bogus' }],
    ['no token', { token_id: null }],
    ['a resource', { resource: { id: null, type: 'member', name: 'mallory' } }],
    ['an action of people', { action: 'member.removed' }],
    ['a decision that there is not', { decision: 'perhaps' }],
    ['another time of recording', { recorded_at: '2026-01-01T00:00:00Z' }],
    ['no end of time', { timestamp: 'infinity' }],
  ]
  test.each(forged)('a forged record of the resolver is rejected: %s', async (_, values) => {
    expect(await insert(values)).toBe('23514')
  })

  test.each([null, ...tokenActions])('a record of a token action is stored: %s', async (action) => {
    expect(await insert({ action })).toBe('done')
  })

  test('no row that the resolver stores is longer than backups accept', async () => {
    const long = '\u0001'.repeat(8 * 1024 * 1024)
    const code = ({ code }: { code: string }) => code
    const outcomes = await Promise.all([
      insert({ reason: long }),
      asResolver`insert into audit_journal (id, live, intents) values (${Bun.randomUUIDv7()}, '1', ${long})`.catch(
        code,
      ),
      asResolver`insert into audit_refused (id, code, intent) values (${Bun.randomUUIDv7()}, '1', ${long})`.catch(
        code,
      ),
    ])
    expect(outcomes).toEqual(['23514', '23514', '23514'])
    const open = Bun.randomUUIDv7()
    expect(await insert({ id: open, decision: 'error' })).toBe('done')
    const outcome = asResolver`update audit_logs set reason = ${long}, status_code = 1 where id = ${open}`
    expect(await outcome.catch(code)).toBe('42501')
    const text = readFileSync(ROLES_FILE, 'utf8')
    const bounds = [...text.matchAll(/octet_length\(NEW::text\) > (\d+)/g)]
    expect(bounds.map(([, bound]) => Number(bound) < MAX_ROW_BYTES)).toEqual(Array(8).fill(true))
  })

  test('the resolver leases derived credentials and stores their states, which raises the policy version', async () => {
    const { workspaceId, projectId, environment, tokenId } = agent
    const place = { workspaceId, projectId, environment, key: 'KEY' }
    const leases = new Leases(asResolver, OuterLayer.parse(stage.app.config.ENCRYPTION_KEY))
    const versionNow = async () => {
      const [row] =
        await asResolver`select policy_version from workspaces where id = ${workspaceId}`
      return Number(row?.policy_version)
    }
    const policyVersion = await versionNow()
    const taken = (generation: number, version: number) =>
      leases.takeLease(place, { leaseMs: 30_000, generation, tokenId, policyVersion: version })
    const lease = await taken(0, policyVersion)
    if (lease.kind !== 'taken') throw new Error(lease.kind)
    const now = await leases.extendLease(place, lease.leaseId, 300_000)
    const stored = await leases.storeState(place, {
      expectedGeneration: lease.generation,
      sealedState: new Uint8Array(40),
      derivedAt: (now ?? 0) - 61_000,
      expiresInMs: 3_600_000,
    })
    expect([stored, await versionNow()]).toEqual([true, policyVersion + 1])
    expect(await leases.expireCredential(place, lease.generation + 1)).toBe(true)
    const again = await taken(lease.generation + 1, policyVersion + 1)
    if (again.kind !== 'taken') throw new Error(again.kind)
    const failure = { code: 'refused', isFinal: true, retryAfterS: null, mayHaveLost: false }
    const of = { expectedGeneration: again.generation, leaseId: again.leaseId }
    expect(await leases.storeFailure(place, { ...failure, ...of })).not.toBeNull()
    const long = asResolver`update derived_states set state = ${Buffer.alloc(5_000_000)}`
    expect(await long.catch(({ code }: { code: string }) => code)).toBe('23514')
    await agent.store('KEY', 'the value of a key')
    expect((await taken(again.generation, await versionNow())).kind).toBe('taken')
    await owner`delete from derived_states`
  })

  test('a very long journal entry that is no intent is kept truncated', async () => {
    const [id, long] = [Bun.randomUUIDv7(), '\u0001'.repeat(4 * 1024 * 1024)]
    await asResolver`insert into audit_journal (id, live, intents, recorded_at)
        values (${id}, '1', ${long}, now() - interval '1 hour')`
    const trail = new AuditTrail(asResolver, silent)
    await trail.adopt(10)
    await trail.close(0)
    const kept =
      await owner`select octet_length(intent) as length from audit_refused where id = ${id}`
    expect([...kept]).toEqual([{ length: 1_048_576 }])
  })

  test('a forged intent in the journal becomes no record, and delays no others', async () => {
    const [id, intents] = [Bun.randomUUIDv7(), JSON.stringify([{ id: 'x', proof: 1 }])]
    await asResolver`insert into audit_journal (id, live, intents, recorded_at)
        values (${id}, '1', ${intents}, now() - interval '1 hour')`
    expect((await resolveAs(resolver.resolver, agent.token, call())).status).toBe(200)
    const trail = new AuditTrail(asResolver, silent)
    await trail.adopt(10)
    await trail.close(0)
    expect(await owner`select 1 from audit_journal where id = ${id}`).toHaveLength(0)
    expect(await owner`select 1 from audit_refused where id = ${id}`).toHaveLength(1)
  })

  test('the resolver locks all rows that it may, and delays no revoke and no change of members', async () => {
    const other = await agent.issue()
    await agent.provision(other)
    expect((await resolveAs(resolver.resolver, other.text, call())).status).toBe(200)
    const tables =
      (await owner`select relname from pg_class where relnamespace = 'public'::regnamespace
        and relkind in ('r', 'p') order by 1`) as unknown as { relname: string }[]
    const thief = connect('cloakroom_resolver')
    await using _ = { [Symbol.asyncDispose]: () => thief.end({ timeout: 0 }) }
    const session = await thief.reserve()
    await session`begin`
    const does = (statement: string) => attempt(session, statement)
    const locked: Record<string, string[]> = {}
    for (const { relname } of tables) {
      const locks = await locksOf(relname, does)
      if (locks.length > 0) locked[relname] = locks
    }
    expect(locked).toEqual({
      approvals: [...ROW_LOCKS, ...TABLE_LOCKS],
      audit_journal: TABLE_LOCKS,
      audit_logs: [...ROW_LOCKS, 'row exclusive'],
      audit_refused: ['row exclusive'],
      cloakroom_migrations: ['access share'],
      derived_states: [...ROW_LOCKS, 'access share'],
      live_processes: [...ROW_LOCKS, 'access share', 'row exclusive'],
      token_calls: [...ROW_LOCKS, ...TABLE_LOCKS],
      token_days: [...ROW_LOCKS, 'access share', 'row exclusive'],
      token_rates: [...ROW_LOCKS, 'access share', 'row exclusive'],
      notices: [...ROW_LOCKS, 'access share'],
      proposals: [...ROW_LOCKS, 'access share', 'row exclusive'],
      token_uses: [...ROW_LOCKS, 'access share', 'row exclusive'],
    })
    const written = [
      'insert into token_uses select id, now() from tokens on conflict (token_id) do update set last_used_at = now()',
      `insert into audit_logs select * from json_populate_record(null::audit_logs, '${JSON.stringify(recordWith({}))}')`,
    ]
    for (const statement of written) expect(await does(statement)).toBeNull()
    await agent.revoke(other.id)
    await agent.allow('one.more.example')
    await agent.disallow('one.more.example')
    await agent.store('KEY', 'another value of a key')
    await lockOut(async () => {
      expect((await resolveAs(resolver.resolver, agent.token, call())).status).toBe(503)
      await expect(connect('cloakroom_resolver')`select 1`).rejects.toMatchObject({ code: '28000' })
      await control`select 1`
    })
    // The resolver's sessions ended too: 503 until it has new ones.
    await until(
      async () => (await resolveAs(resolver.resolver, agent.token, call())).status !== 503,
    )
    expect((await resolveAs(resolver.resolver, other.text, call())).status).toBe(401)
    expect((await resolveAs(resolver.resolver, agent.token, call())).status).toBe(200)
    await resolver.flushAudit()
    stage.app.logs.length = 0
    resolver.logs.length = 0
  })

  test('the resolver waits for a lock at most five seconds, and so do scheduled tasks of the control plane', async () => {
    for (const sql of [asResolver, control])
      expect(await sql`show lock_timeout`).toEqual([{ lock_timeout: '5s' }] as never)
  })

  test('the resolver decides while its workspace is written to continuously, and does not lock it', async () => {
    const busy = await createAgentWithToken(stage, { secrets: { KEY: 'the value of a key' } })
    const writing = { on: true }
    const writers = [1, 2].map(async (writer) => {
      while (writing.on) await busy.store(`WRITTEN_${writer}`, 'another value')
    })
    const statuses: number[] = []
    for (let number = 0; number < 10; number += 1)
      statuses.push((await resolveAs(resolver.resolver, busy.token, call())).status)
    writing.on = false
    await Promise.all(writers)
    expect(statuses).toEqual(statuses.map(() => 200))
    expect(problemsIn(resolver)).toEqual([])
  })

  test("each table's privileges are the expected ones, and docs/guides/database-users.md lists them", async () => {
    expect(await privilegesIn(owner)).toEqual(RESOLVER_PRIVILEGES)
    const listed = Object.entries(RESOLVER_PRIVILEGES).map(([table, may]) => [table, verbsOf(may)])
    expect(accessOf(readFileSync(PAGE, 'utf8'))).toEqual(Object.fromEntries(listed))
  })
})

describe("the control plane's user", () => {
  test("the control plane's user is no superuser, and PostgreSQL rejects its changes of the schema", async () => {
    const [role] =
      await control`select rolsuper, rolcreatedb, rolcreaterole from pg_roles where rolname = current_user`
    expect({ ...role }).toEqual({ rolsuper: false, rolcreatedb: false, rolcreaterole: false })
    for (const statement of [
      'create table mine (id int)',
      'alter table users add column mine int',
      'drop table users',
    ])
      await expect(control.unsafe(statement)).rejects.toMatchObject({ code: '42501' })
    expect((await callJson(stage.app.controlPlane, 'GET', '/api/status/health/')).status).toBe(200)
    expect(problemsIn(stage.app)).toEqual([])
  })
})

describe('a session that keeps a lock of tokens', () => {
  test('a session that holds a lock on tokens delays a revoke by seconds only: 503, and the log names its user', async () => {
    const other = await agent.issue()
    const keeper = connect('cloakroom_control')
    await using _ = { [Symbol.asyncDispose]: () => keeper.end({ timeout: 0 }) }
    const session = await keeper.reserve()
    const [{ pid } = { pid: 0 }] = await session`select pg_backend_pid() as pid`
    await session`begin`
    await session`select id from tokens for update`
    const refusal = await agent.revoke(other.id).catch((error) => error)
    expect([refusal.status, refusal.code]).toEqual([503, 'unavailable'])
    const lines = problemsIn(stage.app).filter((line) =>
      line.includes('changes are blocked by locks'),
    )
    expect(lines.map((line) => JSON.parse(line).sessions)).toContain(`${pid} of cloakroom_control`)
    await session`rollback`
    await agent.revoke(other.id)
    stage.app.logs.length = 0
  })
})

describe('postgresql_roles.sql', () => {
  test('the script may be run again, also after an upgrade with a new table', async () => {
    const before = await privilegesIn(owner)
    await owner`create table of_a_later_version (id int)`
    await owner`alter table users add column of_a_later_version int`
    await expect(asResolver`select * from of_a_later_version`).rejects.toMatchObject({
      code: '42501',
    })
    expect(await control`select * from of_a_later_version`).toHaveLength(0)
    await applyRoles()
    await expect(asResolver`select * from of_a_later_version`).rejects.toMatchObject({
      code: '42501',
    })
    expect(await control`select * from of_a_later_version`).toHaveLength(0)
    await owner`drop table of_a_later_version`
    await owner`alter table users drop column of_a_later_version`
    expect(await privilegesIn(owner)).toEqual(before)
    expect((await resolveAs(resolver.resolver, agent.token, call())).status).toBe(200)
  })

  test("the resolver user's own settings are removed by the commands of docs/guides/database-users.md", async () => {
    const applied = async () => {
      const sql = connect('cloakroom_resolver')
      const [{ search_path = '' } = {}] = await sql`show search_path`
      await sql.end()
      return search_path
    }
    const usual = await applied()
    await asResolver.unsafe(
      `alter role cloakroom_resolver in database ${database} set search_path = nowhere`,
    )
    expect(await applied()).toBe('nowhere')
    await lockOut()
    expect(await applied()).toBe(usual)
  })
})

describe('audit_partitions.sql', () => {
  test('objects stay with the owner when users are removed, and the resolver keeps its privileges', async () => {
    const rights = () => owner`
        select attname, has_column_privilege('cloakroom_resolver', attrelid, attname, 'select') as reads,
          has_column_privilege('cloakroom_resolver', attrelid, attname, 'update') as writes
        from pg_attribute where attrelid = 'audit_logs'::regclass and attnum > 0 order by attname`
    const before = await rights()
    await partitionAudit(await sharedCluster(), database)
    // Also before the script of the users is run again, in any partition.
    const ofAPerson = {
      id: '01b00000-0000-7000-8000-000000000000',
      workspace_id: agent.workspaceId,
      timestamp: new Date().toISOString(),
      recorded_at: new Date().toISOString(),
      source: 'resolver',
      identity_level: 'user',
      agent_id: 'ada@example.com',
      decision: 'allowed',
    }
    await expect(
      asResolver`insert into audit_logs
          select * from json_populate_record(null::audit_logs, ${JSON.stringify(ofAPerson)}::text::json)`,
    ).rejects.toMatchObject({ code: '23514', message: 'not a record of what a token did' })
    await applyRoles()
    expect(await rights()).toEqual(before)
    expect((await resolveAs(resolver.resolver, agent.token, call())).status).toBe(200)
    // Like a migration does.
    await owner`alter table audit_logs add column of_a_later_version int`
    await owner`alter table audit_logs drop column of_a_later_version`
    const [{ strangers } = {}] = await owner`
        select count(*)::int as strangers from pg_class
        where relname like 'audit%' and relkind in ('r', 'p') and relowner <> 'cloakroom_owner'::regrole`
    expect(strangers).toBe(0)
  })
})

describe('an older schema', () => {
  test('a resolver does not migrate an older schema: it names the control plane, which does', async () => {
    const { createDatabase } = await sharedCluster()
    const empty = { ...databaseVariables(socketDir, await createDatabase()) }
    const start = (env: Record<string, string>) =>
      startTestApp(env, { database: { env: empty, remove: () => {} } })
    await expect(start({ ROLE: 'resolver' })).rejects.toThrow(
      /no tables yet.*start a control plane/,
    )
    const sql = postgres({
      host: socketDir,
      user: 'cloakroom',
      database: empty.DB_NAME ?? '',
      max: 1,
    })
    expect(await sql`select 1 from pg_class where relname = 'cloakroom_migrations'`).toHaveLength(0)
    await (await start({ ROLE: 'control-plane' })).stop()
    await (await start({ ROLE: 'resolver' })).stop()
    await sql`delete from cloakroom_migrations where name = (select max(name) from cloakroom_migrations)`
    await expect(start({ ROLE: 'resolver' })).rejects.toThrow(/needs 1 migrations/)
    await sql.end()
  })
})

function problemsIn({ logs }: TestApp): string[] {
  return logs.filter((line) => /"level":"(warning|error)"/.test(line))
}

/** Within a transaction: `null` on success, otherwise PostgreSQL's code. */
async function attempt(session: postgres.ReservedSql, statement: string): Promise<string | null> {
  await session`savepoint before`
  try {
    await session.unsafe(statement)
    return null
  } catch (error) {
    await session`rollback to before`
    return (error as { code: string }).code
  }
}

/** Takes and holds all possible locks of a table and its rows, and reports which were granted. */
async function locksOf(
  table: string,
  does: (statement: string) => Promise<string | null>,
): Promise<string[]> {
  const given: string[] = []
  for (const lock of ROW_LOCKS)
    if (!(await does(`select 1 from ${table} for ${lock}`))) given.push(lock)
  for (const mode of TABLE_LOCKS)
    if (!(await does(`lock table ${table} in ${mode} mode`))) given.push(mode)
  return given
}

/** Privileges by table, with the columns if a privilege does not cover all of them. */
async function privilegesIn(sql: postgres.Sql): Promise<Record<string, string>> {
  const rows = await sql<{ table: string; may: string }[]>`
    select c.relname as "table", coalesce(string_agg(p.what, ', ' order by p.what), '') as may
    from pg_class c left join lateral (
      select privilege || case when count(*) filter (where not allowed) = 0 then ''
        else ' (' || string_agg(name, ', ' order by name) filter (where allowed) || ')' end as what
      from (values ('SELECT'), ('INSERT'), ('UPDATE')) as privileges(privilege)
      cross join lateral (select attname as name, has_column_privilege('cloakroom_resolver', c.oid, attnum, privilege) as allowed
        from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as columns
      group by privilege having bool_or(allowed)
      union all
      select privilege from unnest(array['DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) as privilege
      where has_table_privilege('cloakroom_resolver', c.oid, privilege)
    ) as p on true
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') group by 1 order by 1`
  return Object.fromEntries(rows.map(({ table, may }) => [table, may]))
}

const VERBS: [privilege: string, verb: string][] = [
  ['SELECT', 'read'],
  ['INSERT', 'add'],
  ['UPDATE', 'change'],
  ['DELETE', 'delete'],
]

/** Privileges in the words of the page. */
function verbsOf(privileges: string): string {
  const verbs = VERBS.filter(([privilege]) => privileges.includes(privilege)).map(
    ([, verb]) => verb,
  )
  return verbs.join(', ') || 'none'
}

/** Access by table, in the table of the page with the heading "Tables". */
function accessOf(page: string): Record<string, string> {
  const [, rows = ''] = page.split(/^\| Tables \|.*\n\|[-|]+\n/m)
  const cells = rows.split('\n').flatMap((row) => {
    const [, tables = '', access = ''] = /^\| ([^|]*) \| ([^|]*) \|/.exec(row) ?? []
    return [...tables.matchAll(/`(\w+)`/g)].map(([, table = '']) => [table, access])
  })
  return Object.fromEntries(cells)
}
