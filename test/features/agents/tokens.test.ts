// tier: quick, both databases in test:all
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { and, eq, sql } from 'drizzle-orm'
import { toBase64 } from '../../../src/core/crypto/encoding.ts'
import { openTokenEnvelope } from '../../../src/core/crypto/envelope.ts'
import { OuterLayer } from '../../../src/core/crypto/outer_layer.ts'
import { environmentKey } from '../../../src/core/crypto/secret_value.ts'
import { parseToken } from '../../../src/core/crypto/token.ts'
import type { FaultCode, FieldFault } from '../../../src/core/fault.ts'
import { tokenEnvelopes, tokens, workspaces } from '../../../src/database/schema/index.ts'
import { registerAgent } from '../../../src/features/agents/contract.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { contentOf, expectFailure } from '../../support/failure.ts'
import { openProject, type ProjectTeam } from '../../support/project.ts'
import { clientMadeToken, envelopeTo, storedAgents } from './stored.ts'

let app: TestApp
let team: ProjectTeam
let foreign: ProjectTeam

beforeAll(async () => {
  app = await startTestApp({ RATE_API: '100000/1' })
  team = await openProject(app)
  foreign = await openProject(app)
})
afterAll(() => app.stop())

const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const NAME_RULE = 'must be at most 32 lower-case letters, digits, _ and -, and begin with a letter'

function call(method: string, path: string, body?: unknown, token = team.owner.token) {
  return app.call(method, path, { token, body })
}

/** Expects that the call is rejected and writes nothing. */
async function expectRefused(
  act: () => ReturnType<typeof call>,
  code: FaultCode,
  details?: { message?: string; fields?: FieldFault[] },
) {
  const before = await contentOf(app)
  expectFailure(await act(), code, details)
  expect(await contentOf(app)).toEqual(before)
}

type Listed = {
  data: { id: string; status: string; provisioned: unknown[]; capabilities: string[] }[]
  pagination: { next_cursor: string | null }
}

async function listed(path: string) {
  return (await call('GET', path)).body as Listed
}

let agents = 0

/** The tokens' path of a person's new agent. */
async function newAgentPath(owner: ProjectTeam) {
  agents += 1
  const { agent } = await owner.owner.api.call(registerAgent, {
    params: { workspace_id: owner.workspaceId },
    body: { name: `agent ${agents}` },
  })
  return `/api/workspaces/${owner.workspaceId}/agents/${agent.id}/tokens/`
}

async function workloadPath(owner: ProjectTeam) {
  agents += 1
  return `/api/projects/${await owner.addProject(`project-${agents}`)}/workload-tokens/`
}

const families = [
  { family: 'an agent', kind: 'agt', pathOf: newAgentPath, first: 1, given: ['use'] },
  { family: 'a workload', kind: 'wkl', pathOf: workloadPath, first: 0, given: ['use', 'read'] },
] as const

describe.each(families)('tokens of $family', ({ kind, pathOf, first, given }) => {
  let path: string
  beforeEach(async () => {
    path = await pathOf(team)
  })

  /** A token in the audit, which names the agent too. */
  const named = (label: string) => (kind === 'agt' ? `agent ${agents}/${label}` : label)
  /** The project that envelopes of these tokens may name. */
  const projectId = () => (kind === 'wkl' ? (path.split('/')[3] ?? '') : team.projectId)
  const issue = async (rest: Record<string, unknown> = {}) => {
    const made = clientMadeToken(kind)
    const body = {
      label: `made-${made.sent.id}`,
      environment: 'production',
      token: made.sent,
      ...rest,
    }
    expect((await call('POST', path, body)).status).toBe(201)
    return made
  }
  const envelopeFor = (made: Awaited<ReturnType<typeof issue>>, epoch = 1) =>
    envelopeTo(team, made, { projectId: projectId(), environment: 'production', epoch })

  test('tokens are issued once in full and then listed without the secret', async () => {
    const body = { label: 'ci', environment: 'production', expires_in_days: 7 }
    const answer = await call('POST', path, body)
    const shown = {
      label: 'ci',
      environment: 'production',
      expires_at: moment,
      capabilities: [...given],
    }
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        status: 'success',
        data: {
          token: expect.stringMatching(new RegExp(`^svc_${kind}_[0-9A-Za-z]{71}$`)),
          token_id: expect.any(String),
          public_key: expect.any(String),
          ...shown,
        },
      },
    ])
    const { token, token_id, public_key } = (answer.body as { data: Record<string, string> }).data
    expect(parseToken(token ?? '')?.id).toBe(token_id ?? '')
    const list = await call('GET', path)
    const { data, pagination } = list.body as Listed
    expect([list.status, data.length, pagination]).toEqual([200, first + 1, { next_cursor: null }])
    expect(data.at(-1)).toEqual({
      id: token_id ?? '',
      ...shown,
      status: 'active',
      expires_in_days: 7,
      revoked_at: null,
      last_used_at: null,
      created_at: moment,
      public_key,
      provisioned: [],
      hosts: null,
      limits: null,
      secrets: null,
    } as never)
    const { audit } = await storedAgents(app, team.workspaceId)
    expect(audit.at(-1)).toBe(`token.issued ${named('ci')}`)
  })

  test.each([[['use']], [['use', 'read']], [['read']]])(
    'tokens may %j if they are issued for it, by server or client',
    async (capabilities) => {
      const order = { environment: 'production', capabilities }
      for (const made of [undefined, clientMadeToken(kind).sent]) {
        const label = made ? 'made here' : 'made there'
        const answer = await call('POST', path, { ...order, label, token: made })
        expect(answer).toMatchObject({ status: 201, body: { data: { capabilities } } })
      }
      const { data } = (await call('GET', path)).body as Listed
      expect(data.slice(first).map((token) => token.capabilities)).toEqual([
        capabilities,
        capabilities,
      ])
    },
  )

  test.each([
    [[]],
    [['read', 'use']],
    [['use', 'use']],
    [['use', 'read', 'use']],
    [['write']],
    ['use'],
    [null],
    [[null]],
    [{}],
  ])('tokens are rejected with %j as their permissions', async (capabilities) => {
    const body = { label: 'ci', environment: 'production', capabilities }
    const before = await storedAgents(app, team.workspaceId)
    const answer = await call('POST', path, body)
    expect(answer).toMatchObject({ status: 422, body: { error_code: 'validation_error' } })
    const { fields } = answer.body as { fields: { path: string }[] }
    expect(fields.map(({ path: field }) => field.split('.')[0])).toContain('capabilities')
    expect(await storedAgents(app, team.workspaceId)).toEqual(before)
  })

  test('tokens are listed in complete pages, although clients choose their IDs', async () => {
    const ids = []
    for (let count = first; count < 5; count += 1) ids.push((await issue()).id)
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, pagination } = await listed(
        `${path}?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      seen.push(...data.map(({ id }) => id))
      cursor = pagination.next_cursor
    }
    expect(seen.slice(first)).toEqual(ids)
    expect(seen).toHaveLength(5)
  })

  test('tokens expire by the clock of the database', async () => {
    const { id } = await issue({ expires_in_days: 1 })
    const statuses = async () => (await listed(path)).data.at(-1)?.status
    app.clock.advance(2 * 86_400_000)
    expect(await statuses()).toBe('active')
    const past = { expiresAt: sql`now()` }
    await app.connection.db.update(tokens).set(past).where(eq(tokens.id, id))
    expect(await statuses()).toBe('expired')
  })

  test('tokens are revoked permanently, and a second time without a second record', async () => {
    const made = await issue()
    await call('PUT', `${path}${made.id}/envelopes/`, [await envelopeFor(made)])
    const answer = await call('DELETE', `${path}${made.id}/`)
    expect([answer.status, answer.body]).toEqual([200, { status: 'success' }])
    const once = await storedAgents(app, team.workspaceId)
    expect(once.audit.at(-1)).toBe(`token.revoked ${named(`made-${made.sent.id}`)}`)
    expect(once.envelopes.filter(({ tokenId }) => tokenId === made.id)).toEqual([])
    expect((await call('DELETE', `${path}${made.id}/`)).status).toBe(200)
    expect(await storedAgents(app, team.workspaceId)).toEqual(once)
    expect((await listed(path)).data.at(-1)).toMatchObject({
      status: 'revoked',
      revoked_at: moment,
      provisioned: [],
    } as never)
  })

  test('tokens receive envelopes under the outer layer that only they open', async () => {
    const made = await issue()
    const envelope = await envelopeFor(made)
    const answer = await call('PUT', `${path}${made.id}/envelopes/`, [envelope])
    const place = { project_id: projectId(), environment: 'production', epoch: 1 }
    expect([answer.status, answer.body]).toEqual([200, { status: 'success', data: [place] }])
    expect((await listed(path)).data.at(-1)?.provisioned).toEqual([place])
    const [row] = await app.connection.db
      .select()
      .from(tokenEnvelopes)
      .where(eq(tokenEnvelopes.tokenId, made.id))
    const outer = OuterLayer.parse(String(app.config.ENCRYPTION_KEY))
    const at = [{ uuid: made.id }, { uuid: projectId() }, { text: 'production' }]
    const column = 'token_envelopes.envelope'
    const blob = row?.envelope ?? new Uint8Array()
    const raw = await outer.open(column, team.workspaceId, at, blob)
    expect(raw && toBase64(raw)).toBe(envelope.envelope)
    const opened = await openTokenEnvelope(
      {
        workspaceId: team.workspaceId,
        tokenId: made.id,
        projectId: projectId(),
        environment: 'production',
        epoch: 1,
      },
      made.privateKey,
      raw ?? new Uint8Array(),
    )
    const key = environmentKey(team.workspaceKey, projectId(), 'production', 1)
    expect(opened && toBase64(opened)).toBe(toBase64(key))
    const moved = [{ uuid: Bun.randomUUIDv7() }, ...at.slice(1)]
    expect(await outer.open(column, team.workspaceId, moved, blob)).toBeNull()
  })

  test('tokens have one envelope for each environment, and a newer one replaces it', async () => {
    const made = await issue()
    const { db } = app.connection
    await call('PUT', `${path}${made.id}/envelopes/`, [await envelopeFor(made)])
    const here = eq(workspaces.id, team.workspaceId)
    await db.update(workspaces).set({ epoch: 2 }).where(here)
    const answer = await call('PUT', `${path}${made.id}/envelopes/`, [await envelopeFor(made, 2)])
    await db.update(workspaces).set({ epoch: 1 }).where(here)
    expect(answer.body).toEqual({
      status: 'success',
      data: [{ project_id: projectId(), environment: 'production', epoch: 2 }],
    })
  })

  test('tokens lose an envelope, once', async () => {
    const made = await issue()
    const at = `${path}${made.id}/envelopes/`
    await call('PUT', at, [await envelopeFor(made)])
    const taken = `${at}?project_id=${projectId()}&environment=production`
    const answer = await call('DELETE', taken)
    expect([answer.status, answer.body]).toEqual([200, { status: 'success' }])
    expect((await listed(path)).data.at(-1)?.provisioned).toEqual([])
    const { audit } = await storedAgents(app, team.workspaceId)
    expect(audit.at(-1)).toBe(`token.grant_removed ${named(`made-${made.sent.id}`)}`)
    await expectRefused(() => call('DELETE', taken), 'not_found')
  })

  test('tokens receive no envelope when revoked or expired', async () => {
    const [revoked, expired] = [await issue(), await issue()]
    await call('DELETE', `${path}${revoked.id}/`)
    const past = { expiresAt: sql`now()` }
    await app.connection.db.update(tokens).set(past).where(eq(tokens.id, expired.id))
    for (const made of [revoked, expired]) {
      const body = [await envelopeFor(made)]
      await expectRefused(() => call('PUT', `${path}${made.id}/envelopes/`, body), 'conflict', {
        message: 'The token is revoked or expired.',
      })
    }
  })

  test('tokens reject envelopes of foreign projects, alone and beside own ones', async () => {
    const made = await issue()
    const own = await envelopeFor(made)
    for (const project_id of [foreign.projectId, Bun.randomUUIDv7()]) {
      for (const body of [[{ ...own, project_id }], [own, { ...own, project_id }]]) {
        await expectRefused(() => call('PUT', `${path}${made.id}/envelopes/`, body), 'not_found')
      }
    }
    const taken = `${path}${made.id}/envelopes/?project_id=${foreign.projectId}&environment=production`
    await expectRefused(() => call('DELETE', taken), 'not_found')
  })

  test('tokens reject envelopes outside their scope or of another epoch, with all beside them', async () => {
    const made = await issue()
    const own = await envelopeFor(made)
    const put = (body: unknown) => () => call('PUT', `${path}${made.id}/envelopes/`, body)
    await expectRefused(put([own, { ...own, environment: 'staging' }]), 'validation_error', {
      fields: [{ path: '1.environment', message: 'is outside the scope of the token' }],
    })
    for (const epoch of [2, 65_535]) {
      await expectRefused(put([{ ...own, epoch }]), 'epoch_conflict', {
        fields: [{ path: '0.epoch', message: 'is not the current epoch' }],
      })
    }
  })

  test('tokens reject malformed envelopes', async () => {
    const made = await issue()
    const own = await envelopeFor(made)
    const other = Uint8Array.fromBase64(own.envelope)
    other[0] = 2
    const unknown = 'is not a field of this request'
    const cases: [Record<string, unknown>, string, string][] = [
      [{ envelope: other.toBase64() }, 'envelope', 'must be an envelope of version 1'],
      [{ envelope: other.subarray(1).toBase64() }, 'envelope', 'must encode exactly 81 bytes'],
      [{ envelope: 'QR==' }, 'envelope', 'must be canonical base64 with padding'],
      [{ epoch: 0 }, 'epoch', 'must be at least 1'],
      [{ epoch: 65_536 }, 'epoch', 'must be at most 65535'],
      [{ epoch: '1' }, 'epoch', 'must be of type number'],
      [{ environment: 'Prod' }, 'environment', NAME_RULE],
      [{ project_id: 'api' }, 'project_id', 'must be a UUID'],
      [{ token_id: made.id }, 'token_id', unknown],
    ]
    for (const [change, field, message] of cases) {
      const body = [{ ...own, ...change }]
      const put = () => call('PUT', `${path}${made.id}/envelopes/`, body)
      const answer = await put()
      expect((answer.body as { fields: FieldFault[] }).fields).toContainEqual({
        path: `0.${field}`,
        message,
      })
      expectFailure(answer, 'validation_error', {
        fields: (answer.body as { fields: FieldFault[] }).fields,
      })
    }
    const twice = () => call('PUT', `${path}${made.id}/envelopes/`, [own, own])
    await expectRefused(twice, 'validation_error', {
      fields: [{ path: '1', message: 'is given twice' }],
    })
    const many = Array.from({ length: 501 }, (_, i) => ({ ...own, environment: `e${i}` }))
    for (const [body, message] of [
      [[], 'must have a number of entries of at least 1'],
      [many, 'must have a number of entries of at most 500'],
      [own, 'must be of type array'],
    ] as const) {
      await expectRefused(
        () => call('PUT', `${path}${made.id}/envelopes/`, body),
        'validation_error',
        { fields: [{ path: '', message }] },
      )
    }
  })

  test('tokens remove an envelope only by its full name', async () => {
    const made = await issue()
    const at = `${path}${made.id}/envelopes/`
    const cases: [string, string, string][] = [
      ['?environment=production', 'project_id', 'is required'],
      [`?project_id=${projectId()}`, 'environment', 'is required'],
      [`?project_id=api&environment=production`, 'project_id', 'must be a UUID'],
      [`?project_id=${projectId()}&environment=%2F`, 'environment', NAME_RULE],
    ]
    for (const [query, field, message] of cases) {
      await expectRefused(() => call('DELETE', `${at}${query}`), 'validation_error', {
        fields: [{ path: field, message }],
      })
    }
  })

  test('tokens are not found under another holder, and stay active', async () => {
    const made = await issue()
    const body = [await envelopeFor(made)]
    const query = `?project_id=${projectId()}&environment=production`
    const others = [await pathOf(team), await pathOf(foreign)]
    for (const [other, token] of [
      [others[0] ?? '', team.owner.token],
      [others[1] ?? '', foreign.owner.token],
      [path, foreign.owner.token],
      [others[1] ?? '', team.owner.token],
    ] as const) {
      const attempts: [string, string, unknown?][] = [
        ['DELETE', `${other}${made.id}/`],
        ['PUT', `${other}${made.id}/envelopes/`, body],
        ['DELETE', `${other}${made.id}/envelopes/${query}`],
      ]
      for (const [method, at, sent] of attempts) {
        await expectRefused(() => call(method, at, sent, token), 'not_found')
      }
    }
    for (const id of [Bun.randomUUIDv7(), 'x', 'made']) {
      await expectRefused(() => call('DELETE', `${path}${id}/`), 'not_found')
    }
    expect((await listed(path)).data.at(-1)).toMatchObject({
      id: made.id,
      status: 'active',
    } as never)
  })

  test('tokens are managed by admins only', async () => {
    const made = await issue()
    const body = [await envelopeFor(made)]
    const query = `?project_id=${projectId()}&environment=production`
    const attempts: [string, string, unknown?][] = [
      ['GET', path],
      ['POST', path, { label: 'x', environment: 'production' }],
      ['DELETE', `${path}${made.id}/`],
      ['PUT', `${path}${made.id}/envelopes/`, body],
      ['DELETE', `${path}${made.id}/envelopes/${query}`],
    ]
    for (const role of ['member', 'read_only'] as const) {
      const { token } = await team.join(role)
      for (const [method, at, sent] of attempts) {
        await expectRefused(() => call(method, at, sent, token), 'forbidden')
      }
    }
    for (const [method, at, sent] of attempts) {
      expectFailure(await app.call(method, at, { body: sent }), 'invalid_token')
    }
  })

  test('tokens are not issued under an existing ID, nor with unknown or malformed fields', async () => {
    const made = await issue()
    const order = { label: 'x', environment: 'production' }
    await expectRefused(
      () => call('POST', path, { ...order, token: made.sent }),
      'already_exists',
      { message: 'The token ID is already used.' },
    )
    const cases: [Record<string, unknown>, string, string][] = [
      [{ role: 'owner' }, 'role', 'is not a field of this request'],
      [{ id: made.id }, 'id', 'is not a field of this request'],
      [{ project_id: foreign.projectId }, 'project_id', 'is not a field of this request'],
      [{ label: 'a\u202e' }, 'label', 'must not contain control characters'],
      [{ environment: '..' }, 'environment', NAME_RULE],
      [{ expires_in_days: 0 }, 'expires_in_days', 'must be at least 1'],
      [{ expires_in_days: 3651 }, 'expires_in_days', 'must be at most 3650'],
    ]
    for (const [rest, field, message] of cases) {
      await expectRefused(() => call('POST', path, { ...order, ...rest }), 'validation_error', {
        fields: [{ path: field, message }],
      })
    }
  })
})

test('an agent’s token needs no body: its name is default and it lasts 90 days', async () => {
  const path = await newAgentPath(team)
  const answer = await call('POST', path)
  expect(answer.status).toBe(201)
  expect(answer.body).toMatchObject({ data: { label: 'default', environment: null } })
  expect((await listed(path)).data.at(-1)).toMatchObject({ expires_in_days: 90 } as never)
})

test('a workspace’s token may hold keys of several projects and environments', async () => {
  const path = await newAgentPath(team)
  const made = clientMadeToken()
  const second = await team.addProject('several')
  const places = [
    { projectId: team.projectId, environment: 'development' },
    { projectId: team.projectId, environment: 'production' },
    { projectId: second, environment: 'development' },
  ]
  const envelopes = await Promise.all(places.map((place) => envelopeTo(team, made, place)))
  await call('POST', path, { token: { ...made.sent, envelopes: envelopes.slice(0, 2) } })
  const answer = await call('PUT', `${path}${made.id}/envelopes/`, envelopes.slice(2))
  const expected = places.map(({ projectId: project_id, environment }) => ({
    project_id,
    environment,
    epoch: 1,
  }))
  expect(answer.body).toEqual({ status: 'success', data: expected })
  const [row] = await app.connection.db
    .select()
    .from(tokenEnvelopes)
    .where(and(eq(tokenEnvelopes.tokenId, made.id), eq(tokenEnvelopes.projectId, second)))
  expect(row?.workspaceId).toBe(team.workspaceId)
})

test('a workload’s token requires a label and an environment', async () => {
  const path = await workloadPath(team)
  for (const [body, field] of [
    [{ label: 'x' }, 'environment'],
    [{ environment: 'production' }, 'label'],
  ] as const) {
    await expectRefused(() => call('POST', path, body), 'validation_error', {
      fields: [{ path: field, message: 'is required' }],
    })
  }
  const nothing = { label: 'x', environment: null }
  await expectRefused(() => call('POST', path, nothing), 'validation_error', {
    fields: [{ path: 'environment', message: 'must be of type string' }],
  })
})

test('a deleted agent gets no token that outlives it', async () => {
  const path = await newAgentPath(team)
  const agent = path.replace(/tokens\/$/, '')
  await Promise.all([call('DELETE', agent), ...[1, 2, 3].map(() => call('POST', path, {}))])
  const stored = await storedAgents(app, team.workspaceId)
  const left = stored.tokens.filter(({ agentId }) => agent.includes(`/${agentId}/`))
  expect(left.length).toBeGreaterThan(0)
  expect(left.filter(({ revokedAt }) => revokedAt === null)).toEqual([])
})

test('a label that looks like an active one is rejected, and another one is not', async () => {
  const path = `/api/projects/${await team.addProject('alike')}/workload-tokens/`
  const issue = (label: string) => call('POST', path, { label, environment: 'production' })
  expect((await issue('same one')).status).toBe(201)
  const alike = ['same one ', 'same\u00a0one', 'same one\u00a0', 'sa\u200bme one', 'sa\u00adme one']
  for (const label of alike) {
    const { status } = await issue(label)
    expect({ label, status }).toEqual({ label, status: 409 })
  }
  for (const label of ['Same one', 'same  one', 'sameone']) {
    expect((await issue(label)).status).toBe(201)
  }
})

test("a workload's label is unique among its project's active tokens; agents may use one twice", async () => {
  const path = `/api/projects/${team.projectId}/workload-tokens/`
  const elsewhere = `/api/projects/${await team.addProject('labels')}/workload-tokens/`
  const order = { label: 'only one', environment: 'production' }
  const issue = (at: string) => call('POST', at, order)
  const { data } = (await issue(path)).body as { data: { token_id: string } }
  const message = 'The project already has an active token with this label.'
  for (const environment of ['production', 'staging'])
    await expectRefused(() => call('POST', path, { ...order, environment }), 'already_exists', {
      message,
    })
  expect((await issue(elsewhere)).status).toBe(201)
  await call('DELETE', `${path}${data.token_id}/`)
  expect((await issue(path)).status).toBe(201)
  await app.connection.sql`
    update tokens set expires_at = now() - interval '1 second'
    where label = 'only one' and project_id = ${team.projectId} and revoked_at is null`
  const racing = await Promise.all([issue(path), issue(path), issue(path)])
  expect(racing.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  const { agent } = await team.owner.api.call(registerAgent, {
    params: { workspace_id: team.workspaceId },
    body: { name: 'labelled', label: 'only one' },
  })
  const ofAgent = `/api/workspaces/${team.workspaceId}/agents/${agent.id}/tokens/`
  expect((await issue(ofAgent)).status).toBe(201)
})
