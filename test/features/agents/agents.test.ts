// tier: quick
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq, type SQL, sql } from 'drizzle-orm'
import { fromBase64, toBase64 } from '../../../src/core/crypto/encoding.ts'
import {
  deriveVerifier,
  type ParsedToken,
  parseToken,
  tokenKeyPair,
} from '../../../src/core/crypto/token.ts'
import type { FaultCode, FieldFault } from '../../../src/core/fault.ts'
import { tokens, tokenUses } from '../../../src/database/schema/index.ts'
import {
  deleteAgent,
  getAgent,
  listAgents,
  registerAgent,
} from '../../../src/features/agents/contract.ts'
import { listAuditLogs } from '../../../src/features/audit/contract.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { contentOf, expectFailure } from '../../support/failure.ts'
import { openProject, type ProjectTeam } from '../../support/project.ts'
import { clientMadeToken, envelopeTo, storedAgents } from './stored.ts'

let app: TestApp
let team: ProjectTeam
let foreign: ProjectTeam

beforeAll(async () => {
  app = await startTestApp()
  team = await openProject(app)
  foreign = await openProject(app)
})
afterAll(() => app.stop())

const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

function agentsPath({ workspaceId }: { workspaceId: string } = team) {
  return `/api/workspaces/${workspaceId}/agents/`
}

function projectPath(projectId = team.projectId, workspaceId = team.workspaceId) {
  return `/api/workspaces/${workspaceId}/projects/${projectId}/agents/`
}

function call(method: string, path: string, body?: unknown, token = team.owner.token) {
  return app.call(method, path, { token, body })
}

async function register(name: string, rest: Record<string, unknown> = {}) {
  const params = { workspace_id: team.workspaceId }
  return team.owner.api.call(registerAgent, { params, body: { name, ...rest } })
}

/** Nobody without the SECRET_KEY can alter the stored verifier. */
function matches(token: ParsedToken, row?: { verifier: Uint8Array }) {
  const identity = { kind: 'agt', id: token.id, ownerId: team.workspaceId } as const
  return app.pepper.matchVerifier(identity, deriveVerifier(token), row?.verifier ?? null)
}

/** The call must fail with this error, and leave both workspaces unchanged. */
async function expectRefused(
  act: () => ReturnType<typeof call>,
  code: FaultCode,
  details?: { message?: string; fields?: FieldFault[] },
) {
  const before = await contentOf(app)
  expectFailure(await act(), code, details)
  expect(await contentOf(app)).toEqual(before)
}

/** The audit's records of an agent, by its id, oldest first. */
async function recordedOf(agentId: string) {
  const query = { workspace_id: team.workspaceId, agent_id: agentId }
  const records = await team.owner.api.list(listAuditLogs, { query })
  return records.map(({ action }) => action).reverse()
}

describe('registering', () => {
  test('a registration returns the agent and its first token, which is shown only once', async () => {
    const answer = await call('POST', agentsPath(), { name: 'deploy bot' })
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        status: 'success',
        data: {
          agent: {
            id: expect.any(String),
            name: 'deploy bot',
            project_id: null,
            token_count: 1,
            active_token_count: 1,
            last_used_at: null,
            created_at: moment,
          },
          token: expect.stringMatching(/^svc_agt_[0-9A-Za-z]{71}$/),
          token_id: expect.any(String),
          public_key: expect.any(String),
          capabilities: ['use'],
        },
      },
    ])
    const { audit } = await storedAgents(app, team.workspaceId)
    expect(audit.slice(-2)).toEqual(['agent.created deploy bot', 'token.issued deploy bot/default'])
  })

  test('a token is stored as a verifier and the public half of its key', async () => {
    const { token, token_id, public_key } = await register('verified', { label: 'first' })
    const parsed = parseToken(token ?? '')
    if (!parsed) throw new Error('the token does not parse')
    const stored = await storedAgents(app, team.workspaceId)
    const row = stored.tokens.find(({ id }) => id === token_id)
    expect(parsed.id).toBe(token_id)
    expect(matches(parsed, row)).toBe('current')
    const { publicKey } = tokenKeyPair(parsed.id, parsed.secret)
    expect([toBase64(publicKey), toBase64(row?.publicKey ?? new Uint8Array())]).toEqual([
      public_key,
      public_key,
    ])
    expect(JSON.stringify(stored)).not.toContain(token ?? '')
  })

  test('a project’s agent holds tokens of that project', async () => {
    const answer = await call('POST', projectPath(), { name: 'scoped', environment: 'staging' })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ data: { agent: { project_id: team.projectId } } })
    const { tokens } = await storedAgents(app, team.workspaceId)
    expect(tokens.at(-1)).toMatchObject({
      kind: 'agent',
      projectId: team.projectId,
      environment: 'staging',
      expiresInDays: 90,
    })
  })

  test('a registration accepts a token that the client made, with its envelopes, and never receives its secret', async () => {
    const made = clientMadeToken()
    const envelopes = [await envelopeTo(team, made)]
    const issued = await register('sealed', { token: { ...made.sent, envelopes } })
    expect(issued).toMatchObject({
      token: null,
      token_id: made.id,
      public_key: made.sent.public_key,
    })
    const stored = await storedAgents(app, team.workspaceId)
    const row = stored.tokens.find(({ id }) => id === made.id)
    const parsed = parseToken(made.text)
    expect(parsed && matches(parsed, row)).toBe('current')
    const blob = stored.envelopes.find(({ tokenId }) => tokenId === made.id)?.envelope
    const raw = fromBase64(envelopes[0]?.envelope ?? '') ?? new Uint8Array([1])
    expect(Buffer.from(blob ?? []).includes(raw)).toBe(false)
    expect(stored.audit.slice(-3)).toEqual([
      'agent.created sealed',
      'token.issued sealed/default',
      'token.provisioned sealed/default',
    ])
  })

  test("a token's expiry is computed by the clock of the database", async () => {
    const days = async (given: Record<string, unknown>) => {
      const { token_id } = await register(`expiry ${JSON.stringify(given)}`, given)
      const [row] = await app.connection.db
        .select({
          days: sql<
            number | null
          >`extract(epoch from ${tokens.expiresAt} - ${tokens.createdAt})::float / 86400`,
          given: tokens.expiresInDays,
        })
        .from(tokens)
        .where(eq(tokens.id, token_id))
      return row
    }
    app.clock.advance(86_400_000)
    expect(await days({})).toEqual({ days: 90, given: 90 })
    expect(await days({ expires_in_days: 1 })).toEqual({ days: 1, given: 1 })
    expect(await days({ expires_in_days: 3650 })).toEqual({ days: 3650, given: 3650 })
    expect(await days({ expires_in_days: null })).toEqual({ days: null, given: null })
    app.clock.advance(-86_400_000)
  })
})

describe('names', () => {
  test('agent names are unique within their scope while the agent exists', async () => {
    const { agent } = await register('twin')
    const taken = { message: 'An agent with this name already exists.' }
    await expectRefused(() => call('POST', agentsPath(), { name: 'twin' }), 'already_exists', taken)
    // An agent of the whole workspace is usable in the project too.
    await expectRefused(
      () => call('POST', projectPath(), { name: 'twin' }),
      'already_exists',
      taken,
    )
    const params = { workspace_id: team.workspaceId, registration_id: agent.id }
    await team.owner.api.call(deleteAgent, { params })
    expect((await call('POST', projectPath(), { name: 'twin' })).status).toBe(201)
    for (const path of [projectPath(), agentsPath()]) {
      await expectRefused(() => call('POST', path, { name: 'twin' }), 'already_exists', taken)
    }
    const other = `/api/workspaces/${team.workspaceId}/projects/${await team.addProject('twins')}/agents/`
    expect((await call('POST', other, { name: 'twin' })).status).toBe(201)
  })

  test('one of two concurrent registrations of a name succeeds', async () => {
    const answers = await Promise.all([
      call('POST', agentsPath(), { name: 'racing' }),
      call('POST', agentsPath(), { name: 'racing' }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  })

  test.each(['a\u0000b', 'a\nb', 'a\u001b[31m', 'a\u202eb', 'a\u2066b', 'a\ufeffb', 'a\ud800'])(
    'agent names with invisible characters are rejected: %j',
    async (name) => {
      const fields = [{ path: 'name', message: 'must not contain control characters' }]
      await expectRefused(() => call('POST', agentsPath(), { name }), 'validation_error', {
        fields,
      })
    },
  )

  test('agent names that are blank, too long or not text are rejected', async () => {
    const cases: [unknown, string][] = [
      ['', 'must have a length of at least 1'],
      ['  ', 'must not be blank'],
      ['a'.repeat(101), 'must have a length of at most 100'],
      ['a'.repeat(65_536), 'must have a length of at most 100'],
      [7, 'must be of type string'],
      [undefined, 'is required'],
    ]
    for (const [name, message] of cases) {
      const fields = [{ path: 'name', message }]
      // An empty text is blank as well as short: both errors are reported.
      const all = name === '' ? [...fields, { path: 'name', message: 'must not be blank' }] : fields
      await expectRefused(() => call('POST', agentsPath(), { name }), 'validation_error', {
        fields: all,
      })
    }
  })

  test('agent names may be any text that people write, except steps in a path', async () => {
    for (const name of ['a/b', '...', '100 %', 'ein Bot für später', '🤖']) {
      expect((await register(name)).agent.name).toBe(name)
    }
    for (const name of ['.', '..', '%2F', 'a%2fb', '..%5C']) {
      await expectRefused(() => call('POST', agentsPath(), { name }), 'validation_error', {
        fields: [{ path: 'name', message: 'must not be . or ..' }],
      })
    }
  })
})

describe('bodies', () => {
  test.each([
    ['0', 'must be at least 1'],
    ['-1', 'must be at least 1'],
    ['1.5', 'must be of type int'],
    ['"7"', 'must be of type number'],
    ['1e400', 'must be of type number'],
    ['3651', 'must be at most 3650'],
    ['true', 'must be of type number'],
    ['[]', 'must be of type number'],
  ])('registrations reject %s days until expiry', async (days, message) => {
    const before = await storedAgents(app, team.workspaceId)
    const response = await fetch(`${app.controlPlane}${agentsPath()}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${team.owner.token}`,
      },
      body: `{"name":"days","expires_in_days":${days}}`,
    })
    const answer = { status: response.status, body: await response.json() }
    expectFailure(answer, 'validation_error', { fields: [{ path: 'expires_in_days', message }] })
    expect(await storedAgents(app, team.workspaceId)).toEqual(before)
  })

  test('registrations reject fields that are unknown or malformed', async () => {
    const unknown = 'is not a field of this request'
    const cases: [Record<string, unknown>, string, string][] = [
      [{ id: Bun.randomUUIDv7() }, 'id', unknown],
      [{ role: 'owner' }, 'role', unknown],
      [{ workspace_id: team.workspaceId }, 'workspace_id', unknown],
      [{ project_id: team.projectId }, 'project_id', unknown],
      [{ label: 'a\nb' }, 'label', 'must not contain control characters'],
      [{ label: 'a'.repeat(101) }, 'label', 'must have a length of at most 100'],
      [
        { environment: 'Prod' },
        'environment',
        'must be at most 32 lower-case letters, digits, _ and -, and begin with a letter',
      ],
      [{ token: 'svc_agt_' }, 'token', 'must be of type object'],
    ]
    for (const [rest, path, message] of cases) {
      const body = { name: 'bodies', ...rest }
      await expectRefused(() => call('POST', agentsPath(), body), 'validation_error', {
        fields: [{ path, message }],
      })
    }
  })

  test('registrations reject client-made tokens that are malformed', async () => {
    const { sent } = clientMadeToken()
    const cases: [Record<string, unknown>, string, string][] = [
      [{ id: 'x' }, 'token.id', 'must be a UUID'],
      [{ verifier: 'QR==' }, 'token.verifier', 'must be canonical base64 with padding'],
      [{ verifier: 'QUJD' }, 'token.verifier', 'must encode exactly 32 bytes'],
      [{ public_key: 'QUJD' }, 'token.public_key', 'must encode exactly 32 bytes'],
      [{ secret: 'x' }, 'token.secret', 'is not a field of this request'],
      [{ envelopes: {} }, 'token.envelopes', 'must be of type array'],
    ]
    for (const [change, path, message] of cases) {
      const body = { name: 'malformed', token: { ...sent, ...change } }
      await expectRefused(() => call('POST', agentsPath(), body), 'validation_error', {
        fields: [{ path, message }],
      })
    }
  })

  test('registrations reject an existing token ID, here or elsewhere, with the agent', async () => {
    const { token_id } = await register('taker')
    const taken = { message: 'The token ID is already used.' }
    const body = { name: 'taken', token: { ...clientMadeToken().sent, id: token_id } }
    await expectRefused(() => call('POST', agentsPath(), body), 'already_exists', taken)
    await expectRefused(
      () => call('POST', agentsPath(foreign), body, foreign.owner.token),
      'already_exists',
      taken,
    )
  })

  test('registrations reject envelopes of a foreign project, alone and beside own ones, with the agent', async () => {
    const made = clientMadeToken()
    const own = await envelopeTo(team, made)
    for (const project_id of [foreign.projectId, Bun.randomUUIDv7()]) {
      for (const envelopes of [[{ ...own, project_id }], [own, { ...own, project_id }]]) {
        const body = { name: 'foreign', token: { ...made.sent, envelopes } }
        await expectRefused(() => call('POST', agentsPath(), body), 'not_found')
      }
    }
  })

  test('registrations reject envelopes of another epoch or outside the token’s scope, with the agent', async () => {
    const made = clientMadeToken()
    const old = await envelopeTo(team, made, { epoch: 2 })
    const body = (envelope: unknown) => ({
      name: 'refused',
      environment: 'production',
      token: { ...made.sent, envelopes: [envelope] },
    })
    const production = { ...old, environment: 'production' }
    await expectRefused(() => call('POST', agentsPath(), body(production)), 'epoch_conflict', {
      fields: [{ path: 'token.envelopes.0.epoch', message: 'is not the current epoch' }],
    })
    const message = 'is outside the scope of the token'
    await expectRefused(() => call('POST', agentsPath(), body(old)), 'validation_error', {
      fields: [{ path: 'token.envelopes.0.environment', message }],
    })
    const second = await team.addProject('second')
    const elsewhere = { ...production, project_id: second }
    await expectRefused(() => call('POST', projectPath(), body(elsewhere)), 'validation_error', {
      fields: [{ path: 'token.envelopes.0.project_id', message }],
    })
  })
})

describe('lists', () => {
  test('lists have all agents of the workspace, or those of one project, in pages', async () => {
    const lister = await openProject(app)
    const { token } = lister.owner
    const names = ['one', 'two', 'three', 'four', 'five']
    for (const name of names) {
      const path =
        name === 'two' ? projectPath(lister.projectId, lister.workspaceId) : agentsPath(lister)
      expect((await call('POST', path, { name }, token)).status).toBe(201)
    }
    const all = await lister.owner.api.list(listAgents, {
      params: { workspace_id: lister.workspaceId },
      query: { limit: 2 },
    })
    expect(all.map(({ name }) => name)).toEqual(names)
    const path = projectPath(lister.projectId, lister.workspaceId)
    const inProject = await call('GET', path, undefined, token)
    expect([inProject.status, inProject.body]).toEqual([
      200,
      { status: 'success', data: [all[1]], pagination: { next_cursor: null } },
    ])
  })

  test('lists count tokens and active tokens, by the clock of the database', async () => {
    const { agent, token_id } = await register('tally')
    const path = `${agentsPath()}${agent.id}/`
    for (const label of ['second', 'third']) await call('POST', `${path}tokens/`, { label })
    const { db } = app.connection
    await db.update(tokens).set({ expiresAt: sql`now()` }).where(eq(tokens.id, token_id))
    await db
      .insert(tokenUses)
      .values({ tokenId: token_id, lastUsedAt: new Date('2026-01-02T03:04:05.678Z') })
    const expected = {
      ...agent,
      token_count: 3,
      active_token_count: 2,
      last_used_at: '2026-01-02T03:04:05.678Z',
    }
    const one = await call('GET', path)
    expect([one.status, one.body]).toEqual([200, { status: 'success', data: expected }])
    const params = { workspace_id: team.workspaceId }
    const all = await team.owner.api.list(listAgents, { params })
    expect(all.find(({ id }) => id === agent.id)).toEqual(expected)
  })

  test('lists count the newest 100 tokens and the active ones, and report that there are more', async () => {
    const { agent } = await register('rotated')
    const path = `${agentsPath()}${agent.id}/`
    const add = (count: number, state: SQL) =>
      app.connection.db.execute(sql`
        insert into tokens (id, workspace_id, kind, agent_id, label, capabilities, verifier, public_key, created_at, revoked_at, expires_at)
        select gen_random_uuid(), workspace_id, kind, agent_id, label, capabilities, verifier, public_key, created_at - interval '1 day', ${state}
        from (select * from tokens where agent_id = ${agent.id} limit 1) as one, generate_series(1, ${count}::int)`)
    const tally = async () => (await call('GET', path)).body
    const expected = (counts: object) => ({ status: 'success', data: { ...agent, ...counts } })
    await add(99, sql`now(), null`)
    expect(await tally()).toEqual(expected({ token_count: 100, active_token_count: 1 }))
    await add(1, sql`null, now()`)
    const more = { token_count: 100, has_more_tokens: true }
    expect(await tally()).toEqual(expected({ ...more, active_token_count: 1 }))
    await add(60, sql`null, null`)
    await add(60, sql`null, now() + interval '1 hour'`)
    const active = { token_count: 121, active_token_count: 121, has_more_tokens: true }
    expect(await tally()).toEqual(expected(active))
  })

  test('lists have the later of the uses that this version and an older one stored', async () => {
    const { agent, token_id } = await register('used by two versions')
    const { db } = app.connection
    const path = `${agentsPath()}${agent.id}/`
    const [early, late] = [
      new Date('2026-01-02T03:04:05.678Z'),
      new Date('2026-01-02T03:04:06.789Z'),
    ]
    await db.insert(tokenUses).values({ tokenId: token_id, lastUsedAt: late })
    const shown = async () => {
      const [one, list] = [await call('GET', path), await call('GET', `${path}tokens/`)]
      const { data } = list.body as { data: { last_used_at: string }[] }
      return [(one.body as { data: { last_used_at: string } }).data, ...data].map(
        ({ last_used_at }) => new Date(last_used_at),
      )
    }
    expect(await shown()).toEqual([late, late])
    await db.update(tokens).set({ lastUsedAt: late }).where(eq(tokens.id, token_id))
    await db.update(tokenUses).set({ lastUsedAt: early }).where(eq(tokenUses.tokenId, token_id))
    expect(await shown()).toEqual([late, late])
    await db.delete(tokenUses).where(eq(tokenUses.tokenId, token_id))
    expect(await shown()).toEqual([late, late])
  })

  test('lists reject the cursor of another list', async () => {
    const { body } = await call('GET', `${agentsPath()}?limit=1`)
    const { next_cursor } = (body as { pagination: { next_cursor: string } }).pagination
    const answer = await call('GET', `${projectPath()}?cursor=${next_cursor}`)
    expectFailure(answer, 'validation_error', {
      fields: [{ path: 'cursor', message: 'is not a cursor of this list' }],
    })
  })
})

describe('deleting', () => {
  test('a deletion revokes all tokens immediately, deletes their envelopes and keeps the rows', async () => {
    const made = clientMadeToken()
    const envelopes = [await envelopeTo(team, made)]
    const { agent } = await register('leaving', { label: 'a', token: { ...made.sent, envelopes } })
    const path = `${agentsPath()}${agent.id}/`
    await call('POST', `${path}tokens/`, { label: 'b' })
    const answer = await call('DELETE', path)
    expect([answer.status, answer.body]).toEqual([200, { status: 'success' }])
    const stored = await storedAgents(app, team.workspaceId)
    expect(stored.agents.find(({ id }) => id === agent.id)?.deletedAt).toBeInstanceOf(Date)
    const left = stored.tokens.filter(({ agentId }) => agentId === agent.id)
    expect(left.map(({ revokedAt }) => revokedAt instanceof Date)).toEqual([true, true])
    expect(stored.envelopes.filter(({ tokenId }) => tokenId === made.id)).toEqual([])
    expect(stored.audit.slice(-3, -2)).toEqual(['agent.deleted leaving'])
    expect(stored.audit.slice(-2).sort()).toEqual([
      'token.revoked leaving/a',
      'token.revoked leaving/b',
    ])
    expect(await recordedOf(agent.id)).toEqual([
      'agent.created',
      'token.issued',
      'token.provisioned',
      'token.issued',
      'agent.deleted',
      'token.revoked',
      'token.revoked',
    ])
  })

  test('a deletion hides the agent and its tokens', async () => {
    const { agent } = await register('hidden')
    const path = `${agentsPath()}${agent.id}/`
    await call('DELETE', path)
    for (const [method, below] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', 'tokens/'],
      ['POST', 'tokens/'],
    ] as const) {
      await expectRefused(() => call(method, `${path}${below}`), 'not_found')
    }
    const all = await team.owner.api.list(listAgents, {
      params: { workspace_id: team.workspaceId },
    })
    expect(all.map(({ id }) => id)).not.toContain(agent.id)
  })
})

describe('access by role', () => {
  test('people outside the workspace get 404, whatever they name and combine', async () => {
    const { agent } = await register('private')
    const stranger = foreign.owner.token
    const [own, theirs] = [agentsPath(foreign), agentsPath()]
    const attempts: [string, string, unknown?][] = [
      ['GET', theirs],
      ['POST', theirs, { name: 'intruder' }],
      ['GET', `${theirs}${agent.id}/`],
      ['DELETE', `${theirs}${agent.id}/`],
      ['GET', `${own}${agent.id}/`],
      ['DELETE', `${own}${agent.id}/`],
      ['GET', `${own}${Bun.randomUUIDv7()}/`],
      ['GET', `${own}agent/`],
      ['GET', projectPath()],
      ['POST', projectPath(), { name: 'intruder' }],
      ['GET', projectPath(team.projectId, foreign.workspaceId)],
      ['POST', projectPath(team.projectId, foreign.workspaceId), { name: 'intruder' }],
      ['GET', projectPath(foreign.projectId, team.workspaceId)],
      ['POST', projectPath(foreign.projectId, team.workspaceId), { name: 'intruder' }],
      ['POST', projectPath(Bun.randomUUIDv7(), foreign.workspaceId), { name: 'intruder' }],
      ['POST', projectPath('api', foreign.workspaceId), { name: 'intruder' }],
    ]
    for (const [method, path, body] of attempts) {
      await expectRefused(() => call(method, path, body, stranger), 'not_found')
    }
  })

  test('a foreign tenant is 404 before the body is read', async () => {
    const path = projectPath(team.projectId, foreign.workspaceId)
    const answer = await call('POST', path, { nonsense: true }, foreign.owner.token)
    expectFailure(answer, 'not_found')
  })

  test('admins manage agents; members and readers cannot list them', async () => {
    const { agent } = await register('managed')
    const admin = await team.join('admin')
    const params = { workspace_id: team.workspaceId, registration_id: agent.id }
    expect(await admin.api.call(getAgent, { params })).toMatchObject({ name: 'managed' })
    for (const role of ['member', 'read_only'] as const) {
      const { token } = await team.join(role)
      const attempts: [string, string, unknown?][] = [
        ['GET', agentsPath()],
        ['POST', agentsPath(), { name: role }],
        ['GET', projectPath()],
        ['POST', projectPath(), { name: role }],
        ['GET', `${agentsPath()}${agent.id}/`],
        ['DELETE', `${agentsPath()}${agent.id}/`],
      ]
      for (const [method, path, body] of attempts) {
        await expectRefused(() => call(method, path, body, token), 'forbidden')
      }
    }
  })

  test('requests without a session are 401, and so are agent tokens', async () => {
    const { token } = await register('agent at the door')
    expectFailure(await app.call('GET', agentsPath()), 'invalid_token')
    expectFailure(await app.call('POST', agentsPath(), { body: 'unread' }), 'invalid_token')
    expectFailure(await app.call('GET', agentsPath(), { token: token ?? '' }), 'invalid_token')
  })
})
