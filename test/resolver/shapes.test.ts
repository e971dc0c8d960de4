// tier: quick
/**
 * GET /v1/shapes/ returns to a live token the parts that stand-ins are made of, without any secret value, and is
 * recorded.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { formatSealedToken, parseToken } from '../../src/core/crypto/token.ts'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { type Answer, callJson } from '../support/app.ts'
import { marked } from '../support/canary.ts'

const VALUE = marked('sk_live_shape')
const SETTING = 'eu-west-1'

let stage: Stage
beforeAll(async () => {
  stage = await sharedStage()
})
afterAll(() => stage.stop())

const ask = (token: string, query = ''): Promise<Answer> =>
  callJson(stage.app.resolver, 'GET', `/v1/shapes/${query}`, { token })

type Shown = { name: string; project_id: string; environment: string; reason: string | null }

async function shownTo(token: string, query = ''): Promise<Shown[]> {
  const { status, body } = await ask(token, query)
  expect(status).toBe(200)
  return body as Shown[]
}

const namesOf = async (token: string, query = '') =>
  (await shownTo(token, query)).map(({ name, environment }) => `${environment}/${name}`)

async function recordsOf({ tokenId }: Agent) {
  await stage.app.flushAudit()
  return stage.app.connection.sql`
    select * from audit_logs where token_id = ${tokenId} order by timestamp`
}

test('the answer has the shape of each secret, or the reason for its absence, and none for settings', async () => {
  const agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE, LINES: 'one\ntwo' } })
  await agent.store('SETTING', SETTING, { policy: { sensitive: false } })
  await agent.store('UNUSED', VALUE, { policy: { allowed_locations: ['env'] } })
  await agent.store('REFERS', 'postgres://app:${KEY}@db/main', { policy: { references: true } })
  await agent.store('NARROW', VALUE, { policy: { allowed_locations: ['query'] } })
  const place = { project_id: agent.projectId, environment: 'development' }
  const none = { allowed_locations: null, shape: null, setting: null, reason: null }
  const shape = [{ text: 'sk_live_' }, { random: expect.any(String), length: VALUE.length - 8 }]
  const answer = await ask(agent.token)
  expect([answer.status, answer.body]).toEqual([
    200,
    [
      { ...none, ...place, name: 'KEY', shape },
      { ...none, ...place, name: 'LINES', reason: 'lines' },
      { ...none, ...place, name: 'NARROW', allowed_locations: ['query'], shape },
      { ...none, ...place, name: 'REFERS', reason: 'references' },
      { ...none, ...place, name: 'SETTING', reason: 'setting' },
      { ...none, ...place, name: 'UNUSED', allowed_locations: ['env'], reason: 'unused' },
    ],
  ])
  expect(JSON.stringify(answer.body)).not.toContain(SETTING)
  expect(answer.headers.get('cache-control')).toBe('no-store')
})

test('a token that may read gets the names of settings that may be variables, and no more of secrets', async () => {
  const agent = await createAgentWithToken(stage, {
    secrets: { KEY: VALUE },
    capabilities: ['use', 'read'],
  })
  await agent.store('SETTING', SETTING, { policy: { sensitive: false } })
  const kept = { sensitive: false as const, allowed_locations: ['header' as const] }
  await agent.store('KEPT', SETTING, { policy: kept })
  expect(await shownTo(agent.token)).toMatchObject([
    { name: 'KEPT', setting: null, reason: 'kept' },
    { name: 'KEY', setting: null, shape: [{ text: 'sk_live_' }, {}] },
    { name: 'SETTING', setting: SETTING, shape: null },
  ])
})

describe('the secrets that have shapes', () => {
  test('shapes cover the scope that the call names, or the usual one', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { FIRST: VALUE } })
    const other = await agent.addProject('other')
    await agent.store('THERE', VALUE, { projectId: other })
    await agent.store('LATER', VALUE, { environment: 'production' })
    await agent.provision(undefined, other)
    await agent.provision(undefined, agent.projectId, 'production')
    const of = (query: string) => namesOf(agent.token, query)
    expect(await of('')).toEqual(['development/FIRST', 'development/THERE'])
    expect(await of(`?project_id=${other}`)).toEqual(['development/THERE'])
    expect(await of('?environment=production')).toEqual(['production/LATER'])
  })

  test('shapes cover no secret without a key for the token, and none of another agent', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { MINE: VALUE } })
    await agent.store('LATER', VALUE, { environment: 'production' })
    expect(await namesOf(agent.token, '?environment=production')).toEqual([])
    const other = await createAgentWithToken(stage, { secrets: { THEIRS: VALUE } })
    expect(await namesOf(other.token)).toEqual(['development/THEIRS'])
    const { sql } = stage.app.connection
    await sql`
      update workspaces set epoch = epoch + 1, policy_version = policy_version + 1
      where id = ${other.workspaceId}`
    expect(await namesOf(other.token)).toEqual([])
    expect(await namesOf(agent.token)).toEqual(['development/MINE'])
  })

  test('a token cannot read the shapes of another scope, and the attempt is recorded', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE }, ofProject: true })
    const refused = await ask(agent.token, `?project_id=${crypto.randomUUID()}`)
    expect(refused).toMatchObject({ status: 403, body: { error_code: 'scope_required' } })
    expect(await recordsOf(agent)).toMatchObject([
      { action: 'shapes.read', decision: 'blocked', reason: 'scope_required' },
    ] as never)
    expect(await namesOf(agent.token)).toEqual(['development/KEY'])
  })
})

test('a policy that was altered in the database is ignored, and its secret has no shape', async () => {
  const agent = await createAgentWithToken(stage)
  await agent.store('KEY', VALUE, { policy: { allowed_locations: ['header'] } })
  const { sql } = stage.app.connection
  const forged = JSON.stringify({ sensitive: false })
  await sql`update secrets set policy = ${forged}::text::json where project_id = ${agent.projectId}`
  const reader = await agent.issue({ capabilities: ['use', 'read'] })
  await agent.provision(reader)
  for (const token of [agent.token, reader.text]) {
    expect(await shownTo(token)).toMatchObject([
      { name: 'KEY', allowed_locations: null, shape: null, setting: null, reason: 'unreadable' },
    ])
  }
})

test('a sealed token and a token that may not use get 403', async () => {
  const agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE } })
  const sealed = formatSealedToken(
    agent.tokenId,
    parseToken(agent.token)?.secret ?? new Uint8Array(),
  )
  expect(await ask(sealed)).toMatchObject({ status: 403, body: { error_code: 'scope_required' } })
  const reader = await agent.issue({ capabilities: ['read'] })
  const refused = await ask(reader.text)
  expect(refused).toMatchObject({ status: 403, body: { error_code: 'scope_required' } })
  expect(await namesOf(agent.token)).toEqual(['development/KEY'])
})

describe('the audit', () => {
  test('the audit has each reading with the names, and does not count it as a request', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE, OTHER: VALUE } })
    await ask(agent.token)
    await ask(agent.token, '?environment=production')
    expect(await recordsOf(agent)).toMatchObject([
      {
        action: 'shapes.read',
        source: 'resolver',
        decision: 'allowed',
        status_code: 200,
        environment: 'development',
        credential_ref: 'KEY,OTHER',
        injection_style: null,
        target_url: null,
        method: null,
      },
      { action: 'shapes.read', environment: 'production', credential_ref: null },
    ] as never)
  })

  test('an audit that cannot be written delays the shapes until it can', async () => {
    const agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE } })
    const { sql } = stage.app.connection
    await sql`alter table audit_journal rename to audit_journal_away`
    const refused = await ask(agent.token)
    await sql`alter table audit_journal_away rename to audit_journal`
    expect(refused).toMatchObject({ status: 503, body: { error_code: 'audit_unavailable' } })
    expect(await namesOf(agent.token)).toEqual(['development/KEY'])
  })
})
