// tier: quick, both databases in test:all
import { beforeAll, describe, expect, test } from 'bun:test'
import { formatSealedToken, parseToken } from '../../../src/core/crypto/token.ts'
import {
  issueAgentToken,
  issueWorkloadToken,
  registerAgent,
  revokeAgentToken,
} from '../../../src/features/agents/contract.ts'
import {
  getAuditLog,
  listAuditLogs,
  recordAuditLogs,
} from '../../../src/features/audit/contract.ts'
import { createProject } from '../../../src/features/projects/contract.ts'
import { sharedApp, startTestApp, type TestApp } from '../../support/app.ts'
import { contentOf, expectFailure } from '../../support/failure.ts'
import { type Person, registerPerson } from '../../support/people.ts'
import { sendRaw } from '../../support/raw_http.ts'
import { openTeam, type Team } from '../../support/teams.ts'

let app: TestApp
let team: Team
let member: Person
let stranger: Person
let projectId: string
let foreignProject: string
let agent: { token: string; tokenId: string; registrationId: string; name: string }
let workload: { token: string; tokenId: string }

beforeAll(async () => {
  app = await sharedApp()
  team = await openTeam(app)
  member = await team.join('read_only')
  stranger = await registerPerson(app, 'stranger')
  const { api } = team.owner
  const params = { workspace_id: team.workspaceId }
  projectId = (await api.call(createProject, { body: { name: 'main', ...params } })).id
  foreignProject = (await stranger.api.call(createProject, { body: { name: 'main' } })).id
  const made = await api.call(registerAgent, { params, body: { name: 'reporter' } })
  agent = {
    token: made.token ?? '',
    tokenId: made.token_id,
    registrationId: made.agent.id,
    name: 'reporter',
  }
  const issued = await api.call(issueWorkloadToken, {
    params: { project_id: projectId },
    body: { label: 'ci', environment: 'production' },
  })
  workload = { token: issued.token ?? '', tokenId: issued.token_id }
})

const path = recordAuditLogs.path
const send = (body: unknown, token = agent.token, headers: Record<string, string> = {}) =>
  app.call('POST', path, { token, body, headers })

const base = {
  timestamp: '2026-01-31T10:00:00.000Z',
  method: 'GET',
  target_domain: 'a.example.com',
}
const without = (key: keyof typeof base) =>
  Object.fromEntries(Object.entries(base).filter(([name]) => name !== key))

async function storedAs(answer: { status: number; body: unknown }) {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 201,
    body: {
      status: 'success',
      data: { created: 1, duplicates: 0, ids: [expect.stringMatching(/^[0-9a-f-]{36}$/)] },
    },
  })
  const { ids } = (answer.body as { data: { ids: string[] } }).data
  return team.owner.api.call(getAuditLog, {
    params: { log_id: ids[0] ?? '' },
    query: { workspace_id: team.workspaceId },
  })
}

const everything = () =>
  team.owner.api.list(listAuditLogs, { query: { workspace_id: team.workspaceId } })

async function expectRefused(
  body: unknown,
  ...[code, details, token, headers]: [
    Parameters<typeof expectFailure>[1],
    Parameters<typeof expectFailure>[2]?,
    string?,
    Record<string, string>?,
  ]
) {
  const before = await contentOf(app)
  expectFailure(await send(body, token ?? agent.token, headers), code, details)
  expect(await contentOf(app)).toEqual(before)
}

describe('a record', () => {
  test('a record is stored completely, under the identity of the token', async () => {
    const stored = await storedAs(
      await send({
        id: 'whole',
        timestamp: '2026-01-31T11:00:00.5+01:00',
        method: 'post',
        target_url: 'https://API.example.com/v1/charges',
        status_code: 201,
        duration_ms: 12.4,
        redacted: true,
        credential_ref: 'STRIPE_KEY, OTHER',
        injection_style: 'header,json',
        project_id: projectId,
        environment: 'staging',
        decision: 'blocked',
        reason: 'budget',
        refused_by: { secret: 'OTHER', rule: 'allowed_locations' },
        unfilled: [{ name: 'KEY', place: 'query' }],
      }),
    )
    expect(stored).toEqual({
      id: stored.id,
      workspace_id: team.workspaceId,
      timestamp: '2026-01-31T10:00:00.500Z',
      recorded_at: expect.any(String),
      source: 'client',
      identity_level: 'agent',
      agent_id: 'reporter',
      registration_id: agent.registrationId,
      token_id: agent.tokenId,
      user_id: null,
      project_id: projectId,
      environment: 'staging',
      method: 'POST',
      target_url: 'https://api.example.com/v1/charges',
      target_path: '/v1/charges',
      target_domain: 'api.example.com',
      credential_ref: 'STRIPE_KEY,OTHER',
      injection_style: 'header,json',
      decision: 'blocked',
      reason: 'budget',
      refused_by: { secret: 'OTHER', rule: 'allowed_locations' },
      unfilled: [{ name: 'KEY', place: 'query' }],
      approval_id: null,
      status_code: 201,
      duration_ms: 12,
      redacted: true,
      action: null,
      resource: null,
      client_id: 'whole',
    })
  })

  test('a record with only the required fields is enough, and null counts as absent', async () => {
    const stored = await storedAs(
      await send({ ...base, id: null, status_code: null, reason: null }),
    )
    expect(stored).toMatchObject({
      target_url: null,
      target_path: null,
      target_domain: 'a.example.com',
      decision: 'allowed',
      status_code: null,
      client_id: null,
    })
  })

  test('a record that claims another workspace, agent, token or source is stored with the real one', async () => {
    const stored = await storedAs(
      await send({
        ...base,
        workspace_id: stranger.workspaceId,
        agent_id: 'somebody-else',
        registration_id: Bun.randomUUIDv7(),
        token_id: Bun.randomUUIDv7(),
        user_id: stranger.userId,
        identity_level: 'user',
        source: 'resolver',
        action: 'member.removed',
        recorded_at: '2020-01-01T00:00:00.000Z',
      }),
    )
    expect(stored).toMatchObject({
      workspace_id: team.workspaceId,
      agent_id: 'reporter',
      registration_id: agent.registrationId,
      token_id: agent.tokenId,
      user_id: null,
      identity_level: 'agent',
      source: 'client',
      action: null,
    })
    expect(stored.recorded_at > '2026').toBe(true)
  })

  test("a workload's record belongs to its project and environment, whatever the record claims", async () => {
    const stored = await storedAs(
      await send({ ...base, project_id: foreignProject, environment: 'staging' }, workload.token),
    )
    expect(stored).toMatchObject({
      identity_level: 'workload',
      agent_id: 'ci',
      registration_id: null,
      token_id: workload.tokenId,
      project_id: projectId,
      environment: 'production',
    })
  })

  test('a record of a sealed-only token is stored under the token that it was made from', async () => {
    const parsed = parseToken(agent.token)
    const sealed = formatSealedToken(parsed?.id ?? '', parsed?.secret ?? new Uint8Array())
    expect(await storedAs(await send(base, sealed))).toMatchObject({
      agent_id: 'reporter',
      token_id: agent.tokenId,
    })
  })

  test("a person's record belongs to the workspace that the header or the query names", async () => {
    const inHeader = await send(base, member.token, { 'x-workspace-id': team.workspaceId })
    const inQuery = await app.call('POST', `${path}?workspace_id=${team.workspaceId}`, {
      token: member.token,
      body: base,
    })
    for (const answer of [inHeader, inQuery])
      expect(await storedAs(answer)).toMatchObject({
        identity_level: 'user',
        agent_id: member.email,
        user_id: member.userId,
        token_id: null,
        registration_id: null,
      })
  })

  test.each([
    [
      'https://user:hunter2@a.example.com:8443/x?key=hunter2#hunter2',
      'https://a.example.com:8443/x',
    ],
    ['HTTP://A.example.com.?hunter2', 'http://a.example.com./'],
    ['wss://a.example.com/socket?t=hunter2', 'wss://a.example.com/socket'],
  ])('a record of %s contains nothing that may be a credential', async (target_url, shown) => {
    const stored = await storedAs(await send({ ...base, target_domain: undefined, target_url }))
    expect(stored).toMatchObject({ target_url: shown, target_domain: 'a.example.com' })
    const path = { ...base, target_path: '/a?key=hunter2' }
    expect(await storedAs(await send(path))).toMatchObject({ target_path: '/a' })
    const [dump] = await app.connection.sql`
      select count(*)::int as n from audit_logs a where a::text like '%hunter2%'`
    expect(dump?.n).toBe(0)
  })
})

describe('a batch', () => {
  test('a batch returns the IDs in its order, and a repeat is counted and not stored again', async () => {
    const batch = [
      { ...base, id: 'b-2' },
      { ...base },
      { ...base, id: 'b-1', status_code: 200 },
      { ...base, id: 'b-2' },
    ]
    const first = await send(batch)
    expect(first.body).toEqual({
      status: 'success',
      data: { created: 3, duplicates: 1, ids: expect.any(Array) },
    })
    const { ids } = (first.body as { data: { ids: string[] } }).data
    expect(ids[0]).toBe(ids[3] ?? '')
    expect(new Set(ids).size).toBe(3)
    const before = await everything()
    const again = await send([batch[2], batch[0]])
    expect({ status: again.status, body: again.body }).toEqual({
      status: 201,
      body: { status: 'success', data: { created: 0, duplicates: 2, ids: [ids[2], ids[0]] } },
    })
    expect(await everything()).toEqual(before)
  })

  test('a batch is accepted once more with a new token of the same agent', async () => {
    const record = { ...base, id: 'rotated' }
    await storedAs(await send(record))
    const { token } = await team.owner.api.call(issueAgentToken, {
      params: { workspace_id: team.workspaceId, registration_id: agent.registrationId },
      body: {},
    })
    expect((await send(record, token ?? '')).body).toMatchObject({
      data: { created: 0, duplicates: 1 },
    })
  })

  test('a batch of records with one id that arrive at the same time is stored once', async () => {
    const batches = Array.from({ length: 8 }, (_, n) =>
      Array.from({ length: 10 }, (_, m) => ({ ...base, id: `race-${n % 2 ? m : 9 - m}` })),
    )
    const answers = await Promise.all(batches.map((batch) => send(batch)))
    const data = answers.map(
      ({ body }) => (body as { data: { created: number; ids: string[] } }).data,
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201))
    expect(data.reduce((sum, { created }) => sum + created, 0)).toBe(10)
    expect(new Set(data.flatMap(({ ids }) => ids)).size).toBe(10)
  })

  test('a batch may have between one and a thousand records', async () => {
    const many = Array.from({ length: 1000 }, (_, n) => ({ ...base, id: `many-${n}` }))
    expect((await send(many)).body).toMatchObject({ data: { created: 1000, duplicates: 0 } })
    await expectRefused([...many, base], 'validation_error', {
      fields: [{ path: '', message: 'must have a number of entries of at most 1000' }],
    })
    await expectRefused([], 'validation_error', {
      fields: [{ path: '', message: 'must have a number of entries of at least 1' }],
    })
  })

  const clash = { message: 'A record has the ID of another record with different content.' }

  test('a batch with one known ID and other content is rejected completely', async () => {
    await storedAs(await send({ ...base, id: 'clash' }))
    for (const other of [{ method: 'POST' }, { timestamp: '2026-01-31T10:00:00.001Z' }])
      await expectRefused([{ ...base }, { ...base, id: 'clash', ...other }], 'conflict', clash)
  })

  test('a batch with one ID twice and different content is rejected completely', async () => {
    await expectRefused(
      [
        { ...base, id: 'twin' },
        { ...base, id: 'twin', method: 'PUT' },
      ],
      'conflict',
      clash,
    )
  })

  test("each reporter of a workspace has its own IDs, so that none uses up or reveals another's", async () => {
    const { token: rival } = await team.owner.api.call(registerAgent, {
      params: { workspace_id: team.workspaceId },
      body: { name: 'rival' },
    })
    const inWorkspace = { 'x-workspace-id': team.workspaceId }
    const reporters: [name: string, token: string, headers: Record<string, string>][] = [
      ['the rival, who takes the id first', rival ?? '', {}],
      ['the agent', agent.token, {}],
      ['the workload', workload.token, {}],
      ['the member', member.token, inWorkspace],
      ['the owner', team.owner.token, inWorkspace],
    ]
    const ids: string[] = []
    for (const [index, [reporter, token, headers]] of reporters.entries()) {
      const record = { ...base, id: 'guessed', status_code: 200 + index }
      // Other content, and then exactly the same content as the other reporters.
      for (const sent of [record, { ...base, id: 'equal' }]) {
        const stored = await storedAs(await send(sent, token, headers))
        expect([reporter, stored.client_id]).toEqual([reporter, sent.id])
        expect(stored.status_code).toBe('status_code' in sent ? record.status_code : null)
        ids.push(stored.id)
        const again = await send(sent, token, headers)
        expect(again.body).toMatchObject({
          data: { created: 0, duplicates: 1, ids: [stored.id] },
        })
      }
      await expectRefused({ ...record, method: 'PUT' }, 'conflict', clash, token, headers)
    }
    expect(new Set(ids).size).toBe(2 * reporters.length)
    // A later report changed none of the earlier records.
    const kept = (await everything()).filter(({ client_id }) => client_id === 'guessed')
    expect(new Set(kept.map(({ status_code }) => status_code))).toEqual(
      new Set([200, 201, 202, 203, 204]),
    )
  })

  test('client IDs of other workspaces are different IDs', async () => {
    await storedAs(await send({ ...base, id: 'shared' }))
    const answer = await send({ ...base, id: 'shared', method: 'PUT' }, stranger.token, {
      'x-workspace-id': stranger.workspaceId,
    })
    expect(answer.body).toMatchObject({ data: { created: 1 } })
  })
})

describe('rejected reports, which store nothing', () => {
  const control = 'must not contain control characters'
  const url = 'must be an absolute http, https, ws or wss URL'
  test.each([
    ['no timestamp', without('timestamp'), 'timestamp', 'is required'],
    ['no method', without('method'), 'method', 'is required'],
    [
      'no target',
      without('target_domain'),
      'target_domain',
      'is required unless target_url is given',
    ],
    [
      'an invalid day',
      { ...base, timestamp: '2026-02-30T00:00:00Z' },
      'timestamp',
      expect.any(String),
    ],
    ['a number as timestamp', { ...base, timestamp: 1 }, 'timestamp', expect.any(String)],
    [
      'the year 0',
      { ...base, timestamp: '0000-01-01T00:00:00Z' },
      'timestamp',
      'must be between the years 1 and 9999',
    ],
    ['a relative URL', { ...base, target_url: '/v1' }, 'target_url', url],
    ['a data URL', { ...base, target_url: 'data:text/plain,hunter2' }, 'target_url', url],
    [
      'a URL with a newline',
      { ...base, target_url: 'https://a.example.com/\n' },
      'target_url',
      control,
    ],
    [
      'a URL of 9000 characters',
      { ...base, target_url: `https://a/${'x'.repeat(9000)}` },
      'target_url',
      'must have a length of at most 8192',
    ],
    [
      'a URL that escapes make too long',
      { ...base, target_url: `https://a/${'é'.repeat(4000)}` },
      'target_url',
      url,
    ],
    [
      'a domain with a path',
      { ...base, target_domain: 'a/b' },
      'target_domain',
      'must be a host name',
    ],
    [
      'a domain with userinfo',
      { ...base, target_domain: 'u@a' },
      'target_domain',
      'must be a host name',
    ],
    ['a method with a space', { ...base, method: 'GET /' }, 'method', expect.any(String)],
    [
      'an ANSI escape in a name',
      { ...base, credential_ref: 'A\u001b[31m' },
      'credential_ref.0',
      control,
    ],
    ['a newline in the reason', { ...base, reason: 'a\nb' }, 'reason', control],
    [
      '64 KB of reason',
      { ...base, reason: 'x'.repeat(65_536) },
      'reason',
      'must have a length of at most 200',
    ],
    [
      'an id of 65 characters',
      { ...base, id: 'x'.repeat(65) },
      'id',
      'must have a length of at most 64',
    ],
    ['NUL in the id', { ...base, id: 'a\u0000' }, 'id', control],
    [
      'an unknown style',
      { ...base, injection_style: 'header,cookie' },
      'injection_style.1',
      expect.any(String),
    ],
    [
      'an unknown decision',
      { ...base, decision: 'maybe' },
      'decision',
      'must be one of allowed, blocked, error',
    ],
    ['a status of 1000', { ...base, status_code: 1000 }, 'status_code', 'must be at most 599'],
    ['a status as text', { ...base, status_code: '200' }, 'status_code', 'must be of type number'],
    ['a duration below zero', { ...base, duration_ms: -1 }, 'duration_ms', 'must be at least 0'],
    [
      'a huge duration',
      { ...base, duration_ms: 1e300 },
      'duration_ms',
      'must be at most 2147483647',
    ],
    [
      'an environment in capitals',
      { ...base, environment: 'PROD' },
      'environment',
      expect.any(String),
    ],
    ['a project that is no id', { ...base, project_id: 'main' }, 'project_id', expect.any(String)],
  ])('%s is 422', async (_, body, path, message) => {
    await expectRefused(body, 'validation_error', { fields: [{ path, message }] })
    await expectRefused([base, body], 'validation_error', {
      fields: [{ path: `1.${path}`, message }],
    })
  })

  test('a timestamp more than five minutes ahead is 422, and one below is not', async () => {
    const ahead = (ms: number) => new Date(app.clock.now() + ms).toISOString()
    const message = 'is more than 5 minutes in the future'
    await expectRefused({ ...base, timestamp: ahead(302_000) }, 'validation_error', {
      fields: [{ path: 'timestamp', message }],
    })
    await expectRefused([base, { ...base, timestamp: ahead(302_000) }], 'validation_error', {
      fields: [{ path: '1.timestamp', message }],
    })
    await storedAs(await send({ ...base, timestamp: ahead(290_000) }))
  })

  test('a project of another workspace is 404, alone and among own ones', async () => {
    await expectRefused({ ...base, project_id: foreignProject }, 'not_found')
    const mixed = [
      { ...base, project_id: projectId },
      { ...base, project_id: foreignProject },
    ]
    await expectRefused(mixed, 'not_found')
  })

  test('a missing token, a refresh token, and a revoked token are 401, whatever the body', async () => {
    const { token, token_id } = await team.owner.api.call(issueAgentToken, {
      params: { workspace_id: team.workspaceId, registration_id: agent.registrationId },
      body: {},
    })
    await storedAs(await send(base, token ?? ''))
    await team.owner.api.call(revokeAgentToken, {
      params: {
        workspace_id: team.workspaceId,
        registration_id: agent.registrationId,
        token_id,
      },
    })
    for (const wrong of [token ?? '', member.refresh, 'svc_agt_x'])
      await expectRefused(base, 'invalid_token', {}, wrong)
    expectFailure(await app.call('POST', path, { body: base }), 'invalid_token')
  })

  test('a member must name a workspace that they belong to', async () => {
    await expectRefused(
      base,
      'validation_error',
      {
        fields: [
          { path: 'X-Workspace-Id', message: 'is required: name the workspace in this header' },
        ],
      },
      member.token,
    )
    for (const id of [stranger.workspaceId, Bun.randomUUIDv7(), 'mine'])
      await expectRefused(base, 'not_found', {}, member.token, { 'x-workspace-id': id })
  })

  test('a body that is not JSON, of another type, or too large is rejected', async () => {
    const raw = (body: string, type = 'application/json') =>
      fetch(`${app.controlPlane}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${agent.token}`, 'content-type': type },
        body,
      }).then(async (response) => ({ status: response.status, body: await response.json() }))
    const before = await contentOf(app)
    expectFailure(await raw('[{]'), 'malformed_json')
    expectFailure(await raw('{"a":1,"a":2}'), 'malformed_json', {
      message: 'The request body has a duplicate key.',
    })
    expectFailure(await raw('{}', 'text/plain'), 'unsupported_media_type')
    // Rejected by its declared length, before a byte of the body arrives.
    const announced = await sendRaw(
      app.controlPlane,
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${agent.token}\r\nContent-Type: application/json\r\nContent-Length: 4194305\r\n\r\n`,
      { timeoutMs: 3000 },
    )
    expect(announced.statuses).toEqual([413])
    expect(announced.text).toContain('"error_code":"payload_too_large"')
    expect(await contentOf(app)).toEqual(before)
  })
})

test('reports are limited per token, with the resolver and delivery', async () => {
  const slow = await startTestApp({ RATE_TOKEN: '2/60' })
  const { owner, workspaceId } = await openTeam(slow)
  const made = await owner.api.call(registerAgent, {
    params: { workspace_id: workspaceId },
    body: { name: 'busy' },
  })
  const report = () => slow.call('POST', path, { token: made.token ?? '', body: base })
  expect([(await report()).status, (await report()).status]).toEqual([201, 201])
  const third = await report()
  expectFailure(third, 'rate_limited')
  expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0)
  await slow.stop()
})
