// tier: quick
/** GET /v1/credentials/ lists the secrets that a live token may name, without values, and is recorded at intervals. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { formatSealedToken, parseToken } from '../../src/core/crypto/token.ts'
import { unprovisionAgentToken } from '../../src/features/agents/contract.ts'
import { summariseAudit } from '../../src/features/audit/contract.ts'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { type Answer, callJson } from '../support/app.ts'
import { marked } from '../support/canary.ts'

const VALUE = marked('never-shown-in-a-list')

let stage: Stage
beforeAll(async () => {
  stage = await sharedStage()
})
afterAll(() => stage.stop())

const ask = (token: string): Promise<Answer> =>
  callJson(stage.app.resolver, 'GET', '/v1/credentials/', { token })

async function namesOf(token: string): Promise<string[]> {
  const { status, body } = await ask(token)
  expect(status).toBe(200)
  return (body as { name: string; environment: string }[]).map(
    ({ name, environment }) => `${environment}/${name}`,
  )
}

async function recordsOf({ tokenId }: Agent) {
  await stage.app.flushAudit()
  return stage.app.connection.sql`
    select * from audit_logs where token_id = ${tokenId} order by timestamp`
}

test('credentials lists each name with its purpose, and null for a missing one', async () => {
  const agent = await createAgentWithToken(stage, { ofProject: true })
  await agent.store('PLAIN', VALUE)
  await agent.store('NARROW', VALUE, {
    policy: {
      allowed_domains: ['api.example.com'],
      allowed_methods: ['POST'],
      allowed_paths: ['/v1/'],
      allowed_headers: ['x-key'],
      allowed_locations: ['header'],
      allowed_operations: ['query:viewer'],
      read_only: true,
      description: 'Charges cards',
    },
  })
  await agent.store('SETTING', 'eu-west-1', { policy: { sensitive: false } })
  const place = { project_id: agent.projectId, environment: 'development' }
  const unbound = {
    ...place,
    description: null,
    allowed_domains: null,
    allowed_methods: null,
    allowed_paths: null,
    allowed_locations: null,
    allowed_operations: null,
    read_only: null,
    approval: null,
  }
  const answer = await ask(agent.token)
  expect([answer.status, answer.body]).toEqual([
    200,
    [
      {
        name: 'NARROW',
        ...place,
        description: 'Charges cards',
        allowed_domains: ['api.example.com'],
        allowed_methods: ['POST'],
        allowed_paths: ['/v1/'],
        allowed_locations: ['header'],
        allowed_operations: ['query:viewer'],
        read_only: true,
        approval: null,
      },
      { name: 'PLAIN', ...unbound },
      { name: 'SETTING', ...unbound },
    ],
  ])
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('ratelimit')).not.toBeNull()
})

test('credentials answers the same without the final slash, and with an empty list if there are none', async () => {
  const agent = await createAgentWithToken(stage)
  for (const path of ['/v1/credentials/', '/v1/credentials']) {
    const { status, body } = await callJson(stage.app.resolver, 'GET', path, { token: agent.token })
    expect([status, body]).toEqual([200, []])
  }
  const head = await fetch(`${stage.app.resolver}/v1/credentials/`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${agent.token}` },
  })
  expect(head.status).toBe(200)
})

describe('the secrets that a token may name', () => {
  test('the secrets that a token may name are those with a key that was granted to it, up to date', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { FIRST: VALUE } })
    const other = await agent.addProject('other')
    await agent.store('THERE', VALUE, { projectId: other })
    await agent.store('LATER', VALUE, { environment: 'production' })
    expect(await namesOf(agent.token)).toEqual(['development/FIRST'])
    await agent.provision(undefined, other)
    await agent.provision(undefined, agent.projectId, 'production')
    expect(await namesOf(agent.token)).toEqual([
      'development/FIRST',
      'production/LATER',
      'development/THERE',
    ])
    await agent.person.api.call(unprovisionAgentToken, {
      params: {
        workspace_id: agent.workspaceId,
        registration_id: agent.registrationId,
        token_id: agent.tokenId,
      },
      query: { project_id: other, environment: 'development' },
    })
    await agent.store('NEW', VALUE)
    expect(await namesOf(agent.token)).toEqual([
      'development/FIRST',
      'production/LATER',
      'development/NEW',
    ])
  })

  test('the secrets of other agents, or of a workspace that was rekeyed since, are not listed', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { MINE: VALUE } })
    const other = await createAgentWithToken(stage, { secrets: { THEIRS: VALUE } })
    expect(await namesOf(agent.token)).toEqual(['development/MINE'])
    expect(await namesOf(other.token)).toEqual(['development/THEIRS'])
    const { sql } = stage.app.connection
    await sql`update workspaces set epoch = epoch + 1 where id = ${agent.workspaceId}`
    expect(await namesOf(agent.token)).toEqual([])
  })

  test('the listed secrets stay within the scope of the token, whatever envelopes it has', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { HERE: VALUE } })
    await agent.store('FAR', VALUE, { environment: 'production' })
    const bound = await agent.issue({ environment: 'development' })
    await agent.provision(bound)
    const { sql } = stage.app.connection
    await sql`
      insert into token_envelopes (token_id, workspace_id, project_id, environment, epoch, envelope)
      select token_id, workspace_id, project_id, 'production', epoch, envelope
      from token_envelopes where token_id = ${bound.id}`
    expect(await namesOf(bound.text)).toEqual(['development/HERE'])
  })
})

test('credentials rejects the sealed form of a token, like every path of the resolver', async () => {
  const agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE } })
  const sealed = formatSealedToken(
    agent.tokenId,
    parseToken(agent.token)?.secret ?? new Uint8Array(),
  )
  expect(await ask(sealed)).toMatchObject({ status: 403, body: { error_code: 'scope_required' } })
})

describe('the audit', () => {
  test('the audit records once a minute that a token listed, and no names', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE }, ofProject: true })
    await Promise.all([ask(agent.token), ask(agent.token), ask(agent.token)])
    stage.app.clock.advance(59_000)
    await ask(agent.token)
    const records = await recordsOf(agent)
    expect(records).toEqual([
      expect.objectContaining({
        action: 'credentials.listed',
        source: 'resolver',
        decision: 'allowed',
        status_code: 200,
        workspace_id: agent.workspaceId,
        registration_id: agent.registrationId,
        project_id: agent.projectId,
        credential_ref: null,
        injection_style: null,
        target_url: null,
        method: null,
      }),
    ] as never)
    stage.app.clock.advance(2_000)
    await ask(agent.token)
    expect((await recordsOf(agent)).length).toBe(2)
  })

  test('the audit distinguishes listed, used and read, and counts only requests', async () => {
    const agent = await createAgentWithToken(stage, {
      secrets: { KEY: VALUE },
      capabilities: ['use', 'read'],
    })
    const { token } = agent
    await ask(token)
    await agent.resolve({ target_url: stage.url('/'), headers: { 'x-key': 'SVC_SECRET_KEY' } })
    const body = { project_id: agent.projectId, environment: 'development' }
    await callJson(stage.app.resolver, 'POST', '/api/workloads/env/', { token, body })
    const records = await recordsOf(agent)
    expect(
      records.map(({ action, target_domain, credential_ref }) => [
        action,
        target_domain !== null,
        credential_ref,
      ]),
    ).toEqual([
      ['credentials.listed', false, null],
      [null, true, 'KEY'],
      ['credentials.read', false, 'KEY'],
    ])
    const query = { workspace_id: agent.workspaceId }
    const { totals } = await agent.person.api.call(summariseAudit, { query })
    expect(totals.requests).toBe(2)
    const since = new Date(Date.now() - 60_000).toISOString()
    const recent = await agent.person.api.call(summariseAudit, { query: { ...query, since } })
    expect(recent.totals.requests).toBe(2)
  })

  test('an audit that cannot be written delays the list until it can', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE } })
    const { sql } = stage.app.connection
    await sql`alter table audit_journal rename to audit_journal_away`
    const refused = await ask(agent.token)
    await sql`alter table audit_journal_away rename to audit_journal`
    expect(refused).toMatchObject({ status: 503, body: { error_code: 'audit_unavailable' } })
    expect(JSON.stringify(refused.body)).not.toContain('KEY')
    expect(await namesOf(agent.token)).toEqual(['development/KEY'])
    expect((await recordsOf(agent)).length).toBe(1)
  })
})
