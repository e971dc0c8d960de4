// tier: quick
import { beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { openMemberEnvelope } from '../../../src/core/crypto/envelope.ts'
import {
  allowlistEntries,
  memberships,
  projects,
  secrets,
  workspaces,
} from '../../../src/database/schema/index.ts'
import { listWorkspacesEndpoint } from '../../../src/features/workspaces/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { expectFailure, expectRefusal } from '../../support/failure.ts'
import { envelopeFor, type Person, registerPerson } from '../../support/people.ts'
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

/** A body that creates a workspace, and the key that only the test knows. */
async function newWorkspace(owner: Person) {
  const place = { workspaceId: Bun.randomUUIDv7(), workspaceKey: new Uint8Array(32).fill(9) }
  return {
    ...place,
    body: {
      id: place.workspaceId,
      name: 'Design',
      encrypted_workspace_key: await envelopeFor(owner, place),
    },
  }
}

describe('creating', () => {
  test('a creation returns 201 with the workspace, owned by the caller, and records it', async () => {
    const owner = await registerPerson(app)
    const { body, workspaceId } = await newWorkspace(owner)
    const answer = await app.call('POST', '/api/workspaces/', { token: owner.token, body })
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 201,
      body: {
        status: 'success',
        data: {
          id: workspaceId,
          name: 'Design',
          type: 'shared',
          role: 'owner',
          status: 'active',
          encrypted_workspace_key: body.encrypted_workspace_key,
          epoch: 1,
          rekey_required: false,
          ...timestamps,
          invites: [],
        },
      },
    })
    expect(await recordedChanges(app, workspaceId)).toEqual(['workspace.created Design'])
  })

  test('a creation invites the first members in the same step', async () => {
    const owner = await registerPerson(app)
    const { body, ...place } = await newWorkspace(owner)
    const encrypted_workspace_key = await envelopeFor(stranger, place)
    const invite = { email: stranger.email, role: 'admin', encrypted_workspace_key }
    const invites = [
      invite,
      { ...invite, email: owner.email },
      { ...invite, email: 'nobody@people.example' },
    ]
    const answer = await app.call('POST', '/api/workspaces/', {
      token: owner.token,
      body: { ...body, invites },
    })
    expect(answer).toMatchObject({
      status: 201,
      body: {
        data: {
          invites: [
            { email: stranger.email, status: 'invited' },
            { email: owner.email, status: 'already_member' },
            { email: 'nobody@people.example', status: 'user_not_found' },
          ],
        },
      },
    })
    expect(await recordedChanges(app, place.workspaceId)).toEqual([
      'workspace.created Design',
      `member.invited ${stranger.email}`,
    ])
  })

  test('a creation stores the envelope sealed once more', async () => {
    const { body, workspaceId } = await newWorkspace(stranger)
    await app.call('POST', '/api/workspaces/', { token: stranger.token, body })
    const [row] = await app.connection.db
      .select()
      .from(memberships)
      .where(eq(memberships.workspaceId, workspaceId))
    const sent = Buffer.from(body.encrypted_workspace_key, 'base64')
    expect(Buffer.from(row?.encryptedWorkspaceKey ?? []).includes(sent.subarray(0, 16))).toBe(false)
  })

  test('a creation generates an ID if the client has chosen none', async () => {
    const answer = await app.call('POST', '/api/workspaces/', {
      token: stranger.token,
      body: { name: 'No id', encrypted_workspace_key: 'AAAA' },
    })
    expect(answer).toMatchObject({ status: 201, body: { data: { id: expect.any(String) } } })
  })

  test('a creation rejects an existing ID, also of another person, and changes nothing there', async () => {
    const { body } = await newWorkspace(stranger)
    for (const id of [team.workspaceId, stranger.workspaceId, team.workspaceId.toUpperCase()]) {
      await expectRefusal(
        app,
        ['POST', '/api/workspaces/', { token: stranger.token, body: { ...body, id } }],
        'already_exists',
        { message: 'The workspace ID is already used.' },
      )
    }
  })

  test('a creation with an invalid invitation creates no workspace', async () => {
    const { body } = await newWorkspace(stranger)
    const good = { email: team.owner.email, role: 'member', encrypted_workspace_key: 'AAAA' }
    const invites = [good, { ...good, email: 'x@y.example', role: 'god' }]
    await expectRefusal(
      app,
      ['POST', '/api/workspaces/', { token: stranger.token, body: { ...body, invites } }],
      'validation_error',
      {
        fields: [
          {
            path: 'invites.1.role',
            message: 'must be one of owner, admin, member, read_only',
          },
        ],
      },
    )
  })

  const key = 'encrypted_workspace_key'
  test.each([
    [{ name: 'x' }, key, 'is required'],
    [{ name: 'x', [key]: '' }, key, 'must not be empty'],
    [{ name: 'x', [key]: 'AAA' }, key, 'must be canonical base64 with padding'],
    [{ name: 'x', [key]: 'AAB=' }, key, 'must be canonical base64 with padding'],
    [
      { name: 'x', [key]: Buffer.alloc(4097).toString('base64') },
      key,
      'must encode at most 4096 bytes',
    ],
    [{ [key]: 'AAAA' }, 'name', 'is required'],
    [{ name: ' ', [key]: 'AAAA' }, 'name', 'must not be blank'],
    [{ name: 'a\nb', [key]: 'AAAA' }, 'name', 'must not contain control characters'],
    [{ name: 'a\u202eb', [key]: 'AAAA' }, 'name', 'must not contain control characters'],
    [{ name: 'a'.repeat(300), [key]: 'AAAA' }, 'name', 'must have a length of at most 100'],
    [{ name: 'x', [key]: 'AAAA', id: 'mine' }, 'id', 'must be a UUID'],
    [{ name: 'x', [key]: 'AAAA', type: 'personal' }, 'type', 'is not a field of this request'],
  ])('the creation of a workspace rejects the body %j', async (body, path, message) => {
    await expectRefusal(
      app,
      ['POST', '/api/workspaces/', { token: stranger.token, body }],
      'validation_error',
      { fields: [{ path, message }] },
    )
  })

  test('a creation is 401 before its body is read', async () => {
    await expectRefusal(app, ['POST', '/api/workspaces/', { body: { name: 7 } }], 'invalid_token')
  })
})

describe('listing', () => {
  test('the list shows a person their workspaces with the envelopes that they can open', async () => {
    const person = await registerPerson(app)
    const second = await openTeam(app, person)
    const listed = await person.api.call(listWorkspacesEndpoint, {})
    expect(listed.map(({ id, type, role, status }) => ({ id, type, role, status }))).toEqual([
      { id: person.workspaceId, type: 'personal', role: 'owner', status: 'active' },
      { id: second.workspaceId, type: 'shared', role: 'owner', status: 'active' },
    ])
    const place = {
      workspaceId: second.workspaceId,
      recipientPublicKey: person.publicKey,
      epoch: 1,
    }
    const envelope = listed[1]?.encrypted_workspace_key ?? ''
    expect(await openMemberEnvelope(place, person.privateKey, envelope)).toEqual(
      second.workspaceKey,
    )
  })

  test('pages', async () => {
    const person = await registerPerson(app)
    await openTeam(app, person)
    await openTeam(app, person)
    const all = await person.api.list(listWorkspacesEndpoint, { query: { limit: 1 } })
    const whole = await person.api.call(listWorkspacesEndpoint, {})
    expect(all).toEqual(whole)
    expect(whole).toHaveLength(3)
  })

  test('the list rejects a cursor of another list', async () => {
    const { token } = team.owner
    await team.join('member')
    const { body } = await app.call('GET', `/api/workspaces/${team.workspaceId}/members/?limit=1`, {
      token,
    })
    const { next_cursor } = (body as { pagination: { next_cursor: string } }).pagination
    await expectRefusal(
      app,
      ['GET', `/api/workspaces/?cursor=${next_cursor}`, { token }],
      'validation_error',
      { fields: [{ path: 'cursor', message: 'is not a cursor of this list' }] },
    )
  })
})

describe('one workspace', () => {
  const path = () => `/api/workspaces/${team.workspaceId}/`

  test('one workspace is shown to its members in their role', async () => {
    const reader = await team.join('read_only')
    const { status, body } = await app.call('GET', path(), { token: reader.token })
    expect(status).toBe(200)
    expect(body).toMatchObject({ data: { id: team.workspaceId, role: 'read_only', epoch: 1 } })
  })

  test('one workspace is renamed by admins, and the change is recorded', async () => {
    const admin = await team.join('admin')
    const body = { name: 'Renamed' }
    const answer = await app.call('PATCH', path(), { token: admin.token, body })
    expect(answer).toMatchObject({ status: 200, body: { data: { name: 'Renamed' } } })
    expect(await recordedChanges(app, team.workspaceId)).toContain('workspace.renamed Renamed')
  })

  test.each([
    [{}, 'name', 'is required'],
    [{ name: 'a\u001b' }, 'name', 'must not contain control characters'],
    [{ name: 'x', epoch: 7 }, 'epoch', 'is not a field of this request'],
  ])('one workspace is not renamed by %j', async (body, field, message) => {
    await expectRefusal(
      app,
      ['PATCH', path(), { token: team.owner.token, body }],
      'validation_error',
      { fields: [{ path: field, message }] },
    )
  })

  test('one workspace is neither renamed nor deleted by members and readers', async () => {
    for (const role of ['member', 'read_only'] as const) {
      const { token } = await team.join(role)
      await expectRefusal(app, ['PATCH', path(), { token, body: { name: 7 } }], 'forbidden')
      await expectRefusal(app, ['DELETE', path(), { token }], 'forbidden')
    }
    const { token } = await team.join('admin')
    await expectRefusal(app, ['DELETE', path(), { token }], 'forbidden')
  })

  test.each(['GET', 'PATCH', 'DELETE'])(
    '%s is 404 to strangers and invited people',
    async (method) => {
      const invited = await registerPerson(app, 'invited')
      await team.invite(invited, 'owner')
      const body = method === 'PATCH' ? { name: 'Mine' } : undefined
      for (const { token } of [stranger, invited])
        await expectRefusal(app, [method, path(), { token, body }], 'not_found')
      const { token } = stranger
      for (const id of [Bun.randomUUIDv7(), 'none'])
        await expectRefusal(app, [method, `/api/workspaces/${id}/`, { token, body }], 'not_found')
    },
  )
})

describe('deleting', () => {
  test('a deletion removes everything of the workspace except its record', async () => {
    const { db } = app.connection
    const owner = await registerPerson(app)
    const { workspaceId } = await openTeam(app, owner)
    const projectId = Bun.randomUUIDv7()
    await db.insert(projects).values({ id: projectId, workspaceId, name: 'web' })
    const sealed = new Uint8Array(64)
    const environment = 'production'
    await db.insert(secrets).values({ workspaceId, projectId, environment, key: 'A', sealed })
    await db.insert(allowlistEntries).values({ workspaceId, domain: 'api.example.com' })
    const answer = await app.call('DELETE', `/api/workspaces/${workspaceId}/`, {
      token: owner.token,
    })
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: { status: 'success' },
    })
    const left = await Promise.all([
      db.$count(workspaces, eq(workspaces.id, workspaceId)),
      db.$count(memberships, eq(memberships.workspaceId, workspaceId)),
      db.$count(projects, eq(projects.workspaceId, workspaceId)),
      db.$count(secrets, eq(secrets.workspaceId, workspaceId)),
      db.$count(allowlistEntries, eq(allowlistEntries.workspaceId, workspaceId)),
    ])
    expect(left).toEqual([0, 0, 0, 0, 0])
    expect((await recordedChanges(app, workspaceId)).at(-1)).toBe('workspace.deleted Team')
    const again = await app.call('DELETE', `/api/workspaces/${workspaceId}/`, {
      token: owner.token,
    })
    expectFailure(again, 'not_found')
  })

  test('the personal workspace is never deleted', async () => {
    const { token, workspaceId } = stranger
    await expectRefusal(app, ['DELETE', `/api/workspaces/${workspaceId}/`, { token }], 'conflict', {
      message: 'A personal workspace cannot be deleted.',
    })
  })
})

test('a workspace with a key that was altered in the database is listed without it, and the others are unaffected', async () => {
  const owner = await registerPerson(app)
  const { body, workspaceId } = await newWorkspace(owner)
  const answer = await app.call('POST', '/api/workspaces/', { token: owner.token, body })
  expect(answer.status).toBe(201)
  const keys = async () =>
    Object.fromEntries(
      (await app.as(owner.token).list(listWorkspacesEndpoint, {})).map((each) => [
        each.id,
        each.encrypted_workspace_key,
      ]),
    )
  const before = await keys()
  await app.connection.db
    .update(memberships)
    .set({ encryptedWorkspaceKey: Buffer.alloc(80) })
    .where(eq(memberships.workspaceId, workspaceId))
  expect(await keys()).toEqual({ ...before, [workspaceId]: null })
  const shown = await app.call('GET', `/api/workspaces/${workspaceId}/`, { token: owner.token })
  expect(shown).toMatchObject({ status: 200, body: { data: { encrypted_workspace_key: null } } })
  const login = { email: owner.email, password: owner.password }
  expect(await app.call('POST', '/api/auth/login/', { body: login })).toMatchObject({ status: 200 })
})
