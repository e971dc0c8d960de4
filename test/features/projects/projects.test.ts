// tier: quick
import { beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import {
  agents,
  projects,
  secrets,
  tokenEnvelopes,
  tokens,
} from '../../../src/database/schema/index.ts'
import { register } from '../../../src/features/accounts/contract.ts'
import { createProject, listProjects } from '../../../src/features/projects/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { expectFailure, expectRefusal } from '../../support/failure.ts'
import {
  logInAs,
  newApplicant,
  type Person,
  registerPerson,
  registrationOf,
} from '../../support/people.ts'
import { openTeam, type Team } from '../../support/teams.ts'

let app: TestApp
let team: Team
let stranger: Person

beforeAll(async () => {
  app = await sharedApp()
  team = await openTeam(app)
  stranger = await registerPerson(app, 'stranger')
})

const timestamps = { created_at: expect.any(String), updated_at: expect.any(String) }

function inTeam(person: Person) {
  return { token: person.token, headers: { 'x-workspace-id': team.workspaceId } }
}

async function makeProject(name: string, { workspaceId, owner }: Team = team): Promise<string> {
  const body = { name, workspace_id: workspaceId }
  return (await owner.api.call(createProject, { body })).id
}

describe('creating', () => {
  test('a creation returns 201 with the whole project and records it', async () => {
    const answer = await app.call('POST', '/api/projects/', {
      ...inTeam(team.owner),
      body: { name: 'billing', description: 'Invoices' },
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      status: 'success',
      data: {
        id: expect.any(String),
        name: 'billing',
        description: 'Invoices',
        workspace_id: team.workspaceId,
        workspace_name: 'Team',
        role: 'owner',
        ...timestamps,
      },
    })
    expect(await recordedChanges(app, team.workspaceId)).toContain('project.created billing')
  })

  test('a creation uses the personal workspace by default', async () => {
    const project = await stranger.api.call(createProject, { body: { name: 'mine' } })
    expect(project.workspace_id).toBe(stranger.workspaceId)
  })

  test('a creation uses the workspace of the header before the query, and of the query before the body', async () => {
    const body = { name: 'from-header', workspace_id: team.owner.workspaceId }
    const path = `/api/projects/?workspace_id=${team.owner.workspaceId}`
    const byHeader = await app.call('POST', path, { ...inTeam(team.owner), body })
    expect(byHeader.body).toMatchObject({ data: { workspace_id: team.workspaceId } })
    const byQuery = await app.call('POST', `/api/projects/?workspace_id=${team.workspaceId}`, {
      token: team.owner.token,
      body: { ...body, name: 'from-query' },
    })
    expect(byQuery.body).toMatchObject({ data: { workspace_id: team.workspaceId } })
  })

  test('a creation rejects a name that exists in the workspace', async () => {
    await makeProject('twice')
    await expectRefusal(
      app,
      ['POST', '/api/projects/', { ...inTeam(team.owner), body: { name: 'twice' } }],
      'already_exists',
      { message: 'The workspace already has a project with this name.' },
    )
  })

  test('another workspace can use the same project name', async () => {
    await makeProject('common')
    const other = await openTeam(app, stranger)
    expect(await makeProject('common', other)).toBeString()
  })

  const pattern =
    'must be 2 to 63 lower-case letters, digits, _ and -, and begin with a letter or a digit'
  test.each([
    ['', pattern],
    ['a', pattern],
    ['..', pattern],
    ['a/b', pattern],
    ['Upper', pattern],
    ['-dash', pattern],
    ['nul\0', pattern],
    ['line\n', pattern],
    ['abc\u202e', pattern],
    ['__proto__', pattern],
    ['a'.repeat(64), pattern],
    ['a'.repeat(300), pattern],
    ['environments', 'is a reserved name'],
    ['secrets', 'is a reserved name'],
    ['invite', 'is a reserved name'],
    ['workload-tokens', 'is a reserved name'],
    ['01a1fc3d-a7a4-76c2-8b9b-f4621da8cf5a', 'must not look like an ID'],
  ])('a project rejects the name %j', async (name, message) => {
    await expectRefusal(
      app,
      ['POST', '/api/projects/', { ...inTeam(team.owner), body: { name } }],
      'validation_error',
      { fields: [{ path: 'name', message }] },
    )
  })

  test.each([
    [{}, [{ path: 'name', message: 'is required' }]],
    [{ name: 7 }, [{ path: 'name', message: 'must be of type string' }]],
    [
      { name: 'ok-name', description: 'a\u001b[31mred' },
      [{ path: 'description', message: 'must not contain control characters' }],
    ],
    [
      { name: 'ok-name', description: 'x'.repeat(1001) },
      [{ path: 'description', message: 'must have a length of at most 1000' }],
    ],
    [
      { name: 'ok-name', id: 'x', role: 'owner' },
      [
        { path: 'id', message: 'is not a field of this request' },
        { path: 'role', message: 'is not a field of this request' },
      ],
    ],
  ])('refuses the body %j', async (body, fields) => {
    await expectRefusal(
      app,
      ['POST', '/api/projects/', { ...inTeam(team.owner), body }],
      'validation_error',
      { fields },
    )
  })

  test('a creation hides a foreign workspace, wherever it is named', async () => {
    const { workspaceId } = stranger
    const { token } = team.owner
    const body = { name: 'intruder' }
    for (const call of [
      ['POST', '/api/projects/', { token, body, headers: { 'x-workspace-id': workspaceId } }],
      ['POST', `/api/projects/?workspace_id=${workspaceId}`, { token, body }],
      ['POST', '/api/projects/', { token, body: { ...body, workspace_id: workspaceId } }],
      ['POST', '/api/projects/', { token, body, headers: { 'x-workspace-id': 'none' } }],
    ] as const) {
      await expectRefusal(app, [...call], 'not_found')
    }
  })

  test('a creation requires a workspace if the person has no personal one and several others', async () => {
    const guest = await registerPerson(app, 'guest')
    const { token } = guest
    await app.connection.sql`update workspaces set type = 'shared' where id = ${guest.workspaceId}`
    await openTeam(app, guest)
    await expectRefusal(
      app,
      ['POST', '/api/projects/', { token, body: { name: 'nowhere' } }],
      'validation_error',
      {
        fields: [
          { path: 'X-Workspace-Id', message: 'is required: name the workspace in this header' },
        ],
      },
    )
  })

  test("a guest's project is never created in another person's personal workspace", async () => {
    const host = await registerPerson(app, 'host')
    const guest = await registerPerson(app, 'guest')
    await app.connection
      .sql`update memberships set workspace_id = ${host.workspaceId}, role = 'member'
        where user_id = ${guest.userId}`
    await openTeam(app, guest)
    const answer = await app.call('POST', '/api/projects/', {
      token: guest.token,
      body: { name: 'astray' },
    })
    expect(answer.status).toBe(422)
  })
})

describe('listing', () => {
  test('the list has the projects of all own workspaces by name, in pages, and no others', async () => {
    const person = await registerPerson(app, 'lister')
    const second = await openTeam(app, person)
    const personal = { ...second, workspaceId: person.workspaceId }
    await makeProject('zebra', personal)
    await makeProject('apple', personal)
    await makeProject('mango', second)
    await makeProject('apple', second)
    const names: string[] = []
    let cursor = ''
    do {
      const { body } = await app.call('GET', `/api/projects/?workspace_id=all&limit=1${cursor}`, {
        token: person.token,
      })
      const page = body as {
        data: { name: string; workspace_id: string }[]
        pagination: { next_cursor: string | null }
      }
      expect(page.data).toHaveLength(1)
      names.push(...page.data.map(({ name }) => name))
      cursor = page.pagination.next_cursor ? `&cursor=${page.pagination.next_cursor}` : ''
    } while (cursor)
    expect(names).toEqual(['apple', 'apple', 'mango', 'zebra'])
  })

  test('the list has only the workspace that the query or the header names', async () => {
    const person = await registerPerson(app, 'lister')
    const second = await openTeam(app, person)
    await makeProject('here', second)
    await makeProject('there', { ...second, workspaceId: person.workspaceId })
    const query = { workspace_id: second.workspaceId }
    const listed = await person.api.call(listProjects, { query })
    expect(listed.map(({ name }) => name)).toEqual(['here'])
    const { body } = await app.call('GET', '/api/projects/', {
      token: person.token,
      headers: { 'x-workspace-id': person.workspaceId },
    })
    expect(body).toMatchObject({ data: [{ name: 'there' }] })
  })

  test('the default workspace is the personal one', async () => {
    const person = await registerPerson(app, 'lister')
    await makeProject('elsewhere', await openTeam(app, person))
    await makeProject('own', { ...team, owner: person, workspaceId: person.workspaceId })
    const listed = async (query: string, headers = {}) => {
      const { body } = await app.call('GET', `/api/projects/${query}`, {
        token: person.token,
        headers,
      })
      return (body as { data: { name: string }[] }).data.map(({ name }) => name)
    }
    expect(await listed('')).toEqual(['own'])
    expect(await listed('?workspace_id=all')).toEqual(['elsewhere', 'own'])
    const header = { 'x-workspace-id': person.workspaceId }
    expect(await listed('?workspace_id=all', header)).toEqual(['elsewhere', 'own'])
  })

  test('a list requires a workspace if there is no default', async () => {
    const applicant = newApplicant('guest')
    const { workspace: _, ...body } = await registrationOf(applicant)
    await app.as().call(register, { body })
    const guest = await logInAs(app, applicant)
    const path = '/api/projects/'
    const refusal = {
      fields: [
        { path: 'X-Workspace-Id', message: 'is required: name the workspace in this header' },
      ],
    }
    await expectRefusal(app, ['GET', path, { token: guest.token }], 'validation_error', refusal)
    const all = await app.call('GET', `${path}?workspace_id=all`, { token: guest.token })
    expect([all.status, all.body]).toEqual([
      200,
      { status: 'success', data: [], pagination: { next_cursor: null } },
    ])
  })

  test('a list hides a foreign workspace', async () => {
    const { token } = stranger
    await expectRefusal(
      app,
      ['GET', `/api/projects/?workspace_id=${team.workspaceId}`, { token }],
      'not_found',
    )
  })

  test.each([
    ['limit=0', 'limit', 'must be at least 1'],
    ['limit=501', 'limit', 'must be at most 500'],
    ['cursor=AAAA', 'cursor', 'is not a cursor of this list'],
    ['limit=1&limit=2', 'limit', 'is given twice'],
    ['workspace_id=mine', 'workspace_id', 'must be a UUID'],
    ['colour=red', 'colour', 'is not a field of this request'],
  ])('a list rejects the query %s', async (query, path, message) => {
    await expectRefusal(
      app,
      ['GET', `/api/projects/?${query}`, { token: stranger.token }],
      'validation_error',
      { fields: [{ path, message }] },
    )
  })

  test('a list shows nothing of a workspace with a pending invitation', async () => {
    const invited = await registerPerson(app, 'invited')
    await makeProject('unseen')
    await team.invite(invited, 'admin')
    for (const query of [{}, { workspace_id: 'all' as const }]) {
      expect(await invited.api.call(listProjects, { query })).toEqual([])
    }
    await expectRefusal(
      app,
      ['GET', `/api/projects/?workspace_id=${team.workspaceId}`, { token: invited.token }],
      'not_found',
    )
  })
})

describe('one project', () => {
  test('one project is found under its workspace and name, under its name, and under its ID', async () => {
    const id = await makeProject('shown')
    const { token } = team.owner
    const paths = [
      `/api/projects/${team.workspaceId}/shown/`,
      `/api/projects/${team.workspaceId.toUpperCase()}/shown`,
      '/api/projects/shown/',
      `/api/projects/${id}/`,
      `/api/projects/${id.toUpperCase()}/`,
    ]
    for (const path of paths) {
      const { status, body } = await app.call('GET', path, inTeam(team.owner))
      expect(status).toBe(200)
      expect(body).toMatchObject({ status: 'success', data: { id, name: 'shown', role: 'owner' } })
    }
    expectFailure(await app.call('GET', '/api/projects/shown/', { token }), 'not_found')
  })

  test('one project is renamed and described, and its other fields stay', async () => {
    const id = await makeProject('before')
    const answer = await app.call('PATCH', `/api/projects/${team.workspaceId}/before/`, {
      token: team.owner.token,
      body: { name: 'after' },
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ data: { id, name: 'after', description: '' } })
    const described = await app.call('PATCH', `/api/projects/${id}/`, {
      token: team.owner.token,
      body: { description: 'Later' },
    })
    expect(described.body).toMatchObject({ data: { id, name: 'after', description: 'Later' } })
    const changes = await recordedChanges(app, team.workspaceId)
    expect(changes.filter((change) => change === 'project.updated after')).toHaveLength(2)
  })

  test('one project keeps its name if the new one is in use', async () => {
    await makeProject('taken')
    await makeProject('free')
    await expectRefusal(
      app,
      ['PATCH', '/api/projects/free/', { ...inTeam(team.owner), body: { name: 'taken' } }],
      'already_exists',
      { message: 'The workspace already has a project with this name.' },
    )
  })

  test('one project is unchanged by an empty change', async () => {
    const id = await makeProject('still')
    const before = await recordedChanges(app, team.workspaceId)
    const { status } = await app.call('PATCH', `/api/projects/${id}/`, {
      token: team.owner.token,
      body: {},
    })
    expect(status).toBe(200)
    expect(await recordedChanges(app, team.workspaceId)).toEqual(before)
  })

  const byName = (name: string) => `/api/projects/${team.workspaceId}/${name}/`
  test.each(['GET', 'PATCH', 'DELETE'])('%s rejects an invalid project name', async (method) => {
    const body = method === 'PATCH' ? { description: 'x' } : undefined
    const fields = [
      {
        path: 'project_name',
        message:
          'must be 2 to 63 lower-case letters, digits, _ and -, and begin with a letter or a digit',
      },
    ]
    for (const name of ['%00', 'a%2Fb', '%E2%80%AE', 'a'.repeat(300)]) {
      const call = [method, byName(name), { token: team.owner.token, body }] as const
      await expectRefusal(app, [...call], 'validation_error', { fields })
    }
  })

  test('one project is changed by members, deleted by admins, and neither by readers', async () => {
    const [admin, member, reader] = [
      await team.join('admin'),
      await team.join('member'),
      await team.join('read_only'),
    ]
    const id = await makeProject('guarded')
    const path = `/api/projects/${id}/`
    const patch = (person: Person) =>
      ['PATCH', path, { token: person.token, body: { description: 'x' } }] as const
    expect((await app.call(...patch(member))).status).toBe(200)
    await expectRefusal(app, [...patch(reader)], 'forbidden')
    const post = { ...inTeam(reader), body: { name: 'by-reader' } }
    await expectRefusal(app, ['POST', '/api/projects/', post], 'forbidden')
    for (const person of [member, reader])
      await expectRefusal(app, ['DELETE', path, { token: person.token }], 'forbidden')
    expect(await app.call('DELETE', path, { token: admin.token })).toMatchObject({
      status: 200,
      body: { status: 'success' },
    })
  })
})

describe('deleting', () => {
  test('a deletion removes secrets, agents, tokens and grants of the project, and leaves those of other projects', async () => {
    const { db } = app.connection
    const { workspaceId } = team
    const gone = await makeProject('gone')
    const stays = await makeProject('stays')
    const sealed = new Uint8Array(64)
    const envelopesOf: Record<string, string[]> = {}
    for (const projectId of [gone, stays]) {
      const key = 'API_KEY'
      await db
        .insert(secrets)
        .values({ workspaceId, projectId, environment: 'production', key, sealed })
      const agentId = Bun.randomUUIDv7()
      await db.insert(agents).values({ id: agentId, workspaceId, projectId, name: 'bot' })
      const [scoped, wide] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
      const capabilities = ['use'] as const
      const token = { workspaceId, label: 'ci', capabilities, verifier: sealed, publicKey: sealed }
      await db.insert(tokens).values([
        { ...token, id: scoped, kind: 'agent', agentId, projectId },
        { ...token, id: wide, kind: 'agent' },
      ])
      const envelope = { workspaceId, projectId, environment: 'production', epoch: 1 }
      await db.insert(tokenEnvelopes).values([
        { ...envelope, tokenId: scoped, envelope: sealed },
        { ...envelope, tokenId: wide, envelope: sealed },
      ])
      envelopesOf[projectId] = [scoped, wide]
    }

    const answer = await app.call('DELETE', `/api/projects/${gone}/`, { token: team.owner.token })
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: { status: 'success' },
    })

    const alive = async (projectId: string) => ({
      projects: await db.$count(projects, eq(projects.id, projectId)),
      secrets: await db.$count(secrets, eq(secrets.projectId, projectId)),
      grants: await db.$count(tokenEnvelopes, eq(tokenEnvelopes.projectId, projectId)),
      agents: (await db.select().from(agents).where(eq(agents.projectId, projectId))).map(
        ({ deletedAt }) => deletedAt === null,
      ),
      tokens: (await db.select().from(tokens).where(eq(tokens.projectId, projectId))).map(
        ({ revokedAt }) => revokedAt === null,
      ),
    })
    expect(await alive(gone)).toEqual({
      projects: 0,
      secrets: 0,
      grants: 0,
      agents: [false],
      tokens: [false],
    })
    expect(await alive(stays)).toEqual({
      projects: 1,
      secrets: 1,
      grants: 2,
      agents: [true],
      tokens: [true],
    })
    const [, wide] = envelopesOf[gone] ?? []
    const [row] = await db
      .select()
      .from(tokens)
      .where(eq(tokens.id, wide ?? ''))
    expect(row?.revokedAt).toBeNull()
    expect((await recordedChanges(app, workspaceId)).slice(-3).sort()).toEqual([
      'agent.deleted bot',
      'project.deleted gone',
      'token.revoked bot/ci',
    ])
  })

  test('a second deletion is 404', async () => {
    const id = await makeProject('once')
    const call = ['DELETE', `/api/projects/${id}/`, { token: team.owner.token }] as const
    expect((await app.call(...call)).status).toBe(200)
    await expectRefusal(app, [...call], 'not_found')
  })
})
