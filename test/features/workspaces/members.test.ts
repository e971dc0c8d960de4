// tier: quick, both databases always
import { beforeAll, describe, expect, test } from 'bun:test'
import { toBase64 } from '../../../src/core/crypto/encoding.ts'
import { openMemberEnvelope } from '../../../src/core/crypto/envelope.ts'
import type { Role } from '../../../src/core/grant.ts'
import {
  getWorkspace,
  listMembers,
  listWorkspacesEndpoint,
} from '../../../src/features/workspaces/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { type Call, expectRefusal } from '../../support/failure.ts'
import { envelopeFor, type Person, registerPerson } from '../../support/people.ts'
import { openTeam, type Team } from '../../support/teams.ts'

let app: TestApp
let team: Team
let admin: Person
let stranger: Person

beforeAll(async () => {
  app = await sharedApp()
  team = await openTeam(app)
  admin = await team.join('admin')
  stranger = await registerPerson(app, 'stranger')
})

const timestamps = { created_at: expect.any(String), updated_at: expect.any(String) }
const members = (id = '', { workspaceId }: Team = team) =>
  `/api/workspaces/${workspaceId}/members/${id}`

async function inviteOf(person: Person, role: Role, { workspaceId, workspaceKey }: Team = team) {
  const encrypted_workspace_key = await envelopeFor(person, { workspaceId, workspaceKey })
  return { email: person.email, role, encrypted_workspace_key }
}

function invite(actor: Person, body: unknown): Call {
  return ['POST', members(), { token: actor.token, body }]
}

function setRole(actor: Person, target: Person, role: Role, of: Team = team): Call {
  return ['PATCH', members(`${target.userId}/`, of), { token: actor.token, body: { role } }]
}

function remove(actor: Person, target: Person, of: Team = team): Call {
  return ['DELETE', members(`${target.userId}/`, of), { token: actor.token }]
}

async function roleOf(person: Person, { owner, workspaceId }: Team = team) {
  const params = { workspace_id: workspaceId }
  const listed = await owner.api.list(listMembers, { params })
  return listed.find(({ user_id }) => user_id === person.userId)?.role ?? null
}

describe('listing', () => {
  test('the list shows readers the members and invitations, page by page', async () => {
    const small = await openTeam(app)
    const reader = await small.join('read_only')
    const invited = await registerPerson(app, 'invited')
    await small.invite(invited, 'admin')
    const params = { workspace_id: small.workspaceId }
    const listed = await reader.api.list(listMembers, { params, query: { limit: 1 } })
    const shown = (person: Person, role: Role, status: string) => ({
      id: expect.any(String),
      user_id: person.userId,
      email: person.email,
      name: 'Test Person',
      role,
      status,
      public_key: toBase64(person.publicKey),
      signing_key: null,
      ...timestamps,
    })
    const expected = [
      shown(invited, 'admin', 'invited'),
      shown(small.owner, 'owner', 'active'),
      shown(reader, 'read_only', 'active'),
    ]
    expect(listed).toEqual(expected.sort((a, b) => (a.email < b.email ? -1 : 1)) as never)
  })
})

describe('inviting', () => {
  test('an invitation answers for each address in order, with 201 if any person was invited', async () => {
    const person = await registerPerson(app)
    const entry = await inviteOf(person, 'member')
    const answer = await app.call(
      ...invite(admin, {
        invites: [
          { ...entry, email: 'nobody@people.example' },
          { ...entry, email: person.email.toUpperCase() },
          { ...entry, email: team.owner.email },
        ],
        epoch: 1,
      }),
    )
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 201,
      body: {
        status: 'success',
        data: [
          { email: 'nobody@people.example', status: 'user_not_found' },
          { email: person.email, status: 'invited' },
          { email: team.owner.email, status: 'already_member' },
        ],
      },
    })
    const changes = await recordedChanges(app, team.workspaceId)
    expect(changes.at(-1)).toBe(`member.invited ${person.email}`)
  })

  test('an invitation answers 200 and writes nothing if no person was invited', async () => {
    const before = await recordedChanges(app, team.workspaceId)
    const answer = await app.call(...invite(admin, await inviteOf(team.owner, 'member')))
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: { status: 'success', data: [{ email: team.owner.email, status: 'already_member' }] },
    })
    expect(await recordedChanges(app, team.workspaceId)).toEqual(before)
    expect(await roleOf(team.owner)).toBe('owner')
  })

  test('an invited person receives the envelope and the name, and nothing inside', async () => {
    const person = await registerPerson(app)
    await team.invite(person, 'member')
    const listed = await person.api.call(listWorkspacesEndpoint, {})
    const invitation = listed.find(({ id }) => id === team.workspaceId)
    expect(invitation).toMatchObject({ name: 'Team', status: 'invited' })
    const place = {
      workspaceId: team.workspaceId,
      recipientPublicKey: person.publicKey,
      epoch: 1,
    }
    const envelope = invitation?.encrypted_workspace_key ?? ''
    expect(await openMemberEnvelope(place, person.privateKey, envelope)).toEqual(team.workspaceKey)
  })

  test('an invitation replaces a pending one, with role and envelope', async () => {
    const person = await registerPerson(app)
    await team.invite(person, 'member')
    const entry = { ...(await inviteOf(person, 'admin')), encrypted_workspace_key: 'AAAA' }
    const answer = await app.call(...invite(admin, entry))
    expect(answer).toMatchObject({ status: 201, body: { data: [{ status: 'invited' }] } })
    const listed = await person.api.call(listWorkspacesEndpoint, {})
    expect(listed.find(({ id }) => id === team.workspaceId)).toMatchObject({
      status: 'invited',
      role: 'admin',
      encrypted_workspace_key: 'AAAA',
    })
  })

  test('an invitation rejects a stale epoch', async () => {
    const entry = await inviteOf(stranger, 'member')
    await expectRefusal(app, invite(admin, { ...entry, epoch: 2 }), 'epoch_conflict')
    await expectRefusal(app, invite(admin, { invites: [entry], epoch: 2 }), 'epoch_conflict')
  })

  test('an invitation above the own role is forbidden, for the whole batch', async () => {
    const [one, two] = [await registerPerson(app), await registerPerson(app)]
    const batch = { invites: [await inviteOf(one, 'member'), await inviteOf(two, 'owner')] }
    await expectRefusal(app, invite(admin, batch), 'forbidden')
    await team.invite(one, 'owner')
    await expectRefusal(app, invite(admin, await inviteOf(one, 'member')), 'forbidden')
    for (const role of ['member', 'read_only'] as const) {
      const actor = await team.join(role)
      await expectRefusal(app, invite(actor, await inviteOf(two, 'read_only')), 'forbidden')
      await expectRefusal(app, invite(actor, { nonsense: true }), 'forbidden')
    }
  })

  const entry = { email: 'a@people.example', role: 'member', encrypted_workspace_key: 'AAAA' }
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ ...entry, email: `p${at}@people.example` }))
  const roleList = 'must be one of owner, admin, member, read_only'
  test.each<[string, unknown, string, string]>([
    ['an empty batch', { invites: [] }, 'invites', 'must have a number of entries of at least 1'],
    ['101', { invites: many(101) }, 'invites', 'must have a number of entries of at most 100'],
    [
      'one bad among 100',
      { invites: many(100).with(57, { ...entry, role: 'root' }) },
      'invites.57.role',
      roleList,
    ],
    [
      'an address twice, in other case',
      { invites: [entry, { ...entry, email: 'A@People.Example' }] },
      'invites.1.email',
      'is given twice',
    ],
    ['no address', { ...entry, email: 'none' }, 'email', 'must be a valid email'],
    [
      'an endless address',
      { ...entry, email: `${'a'.repeat(250)}@b.example` },
      'email',
      'must have a length of at most 254',
    ],
    ['an unknown role', { ...entry, role: 'root' }, 'role', roleList],
    [
      'an envelope that is no base64',
      { ...entry, encrypted_workspace_key: 'A===' },
      'encrypted_workspace_key',
      'must be canonical base64 with padding',
    ],
    ['a status', { ...entry, status: 'active' }, 'status', 'is not a field of this request'],
    ['nothing', {}, 'invites', 'is required'],
  ])('an invitation rejects %s', async (_, body, path, message) => {
    await expectRefusal(app, invite(admin, body), 'validation_error', {
      fields: [{ path, message }],
    })
  })
})

describe('answering an invitation', () => {
  const answer = (person: Person, verb: 'accept' | 'decline', body?: unknown): Call => [
    'POST',
    `/api/workspaces/${team.workspaceId}/${verb}/`,
    { token: person.token, body },
  ]

  test.each([undefined, {}])('accepting with the body %j makes a member', async (body) => {
    const person = await registerPerson(app)
    await team.invite(person, 'member')
    expect(await app.call(...answer(person, 'accept', body))).toMatchObject({
      status: 200,
      body: {
        status: 'success',
        data: { id: team.workspaceId, status: 'active', role: 'member' },
      },
    })
    expect((await recordedChanges(app, team.workspaceId)).at(-1)).toBe(
      `member.accepted ${person.email}`,
    )
    const params = { workspace_id: team.workspaceId }
    expect(await person.api.call(getWorkspace, { params })).toMatchObject({ role: 'member' })
  })

  test('declining removes the invitation and requests a rekey', async () => {
    const own = await openTeam(app)
    const person = await registerPerson(app)
    await own.invite(person, 'member')
    const path = `/api/workspaces/${own.workspaceId}/decline/`
    const declined = await app.call('POST', path, { token: person.token })
    expect({ status: declined.status, body: declined.body }).toEqual({
      status: 200,
      body: { status: 'success' },
    })
    const listed = await person.api.call(listWorkspacesEndpoint, {})
    expect(listed.map(({ id }) => id)).toEqual([person.workspaceId])
    const params = { workspace_id: own.workspaceId }
    expect(await own.owner.api.call(getWorkspace, { params })).toMatchObject({
      rekey_required: true,
    })
    expect((await recordedChanges(app, own.workspaceId)).at(-1)).toBe(
      `member.declined ${person.email}`,
    )
    await expectRefusal(app, ['POST', path, { token: person.token }], 'not_found')
  })

  test.each(['accept', 'decline'] as const)('%s is 404 without an invitation', async (verb) => {
    await expectRefusal(app, answer(stranger, verb), 'not_found')
    await expectRefusal(app, answer(admin, verb), 'not_found')
    const { token } = stranger
    for (const id of [Bun.randomUUIDv7(), 'none'])
      await expectRefusal(app, ['POST', `/api/workspaces/${id}/${verb}/`, { token }], 'not_found')
  })

  test.each(['accept', 'decline'] as const)('%s accepts no fields in its body', async (verb) => {
    const person = await registerPerson(app)
    await team.invite(person, 'member')
    await expectRefusal(app, answer(person, verb, { role: 'owner' }), 'validation_error', {
      fields: [{ path: 'role', message: 'is not a field of this request' }],
    })
  })
})

describe('roles', () => {
  test('roles are changed by ID or by address, and recorded', async () => {
    const person = await team.join('member')
    const byId = await app.call(...setRole(admin, person, 'read_only'))
    expect({ status: byId.status, body: byId.body }).toEqual({
      status: 200,
      body: {
        status: 'success',
        data: {
          id: expect.any(String),
          user_id: person.userId,
          email: person.email,
          name: 'Test Person',
          role: 'read_only',
          status: 'active',
          public_key: toBase64(person.publicKey),
          signing_key: null,
          ...timestamps,
        },
      },
    })
    const path = members(`${encodeURIComponent(person.email.toUpperCase())}/`)
    const byAddress = await app.call('PATCH', path, { token: admin.token, body: { role: 'admin' } })
    expect(byAddress).toMatchObject({ status: 200, body: { data: { role: 'admin' } } })
    expect((await recordedChanges(app, team.workspaceId)).slice(-2)).toEqual([
      `member.role_changed ${person.email}`,
      `member.role_changed ${person.email}`,
    ])
  })

  test('ownership is transferred by owners, and recorded', async () => {
    const own = await openTeam(app)
    const heir = await own.join('member')
    await expectRefusal(app, setRole(own.owner, own.owner, 'admin', own), 'last_owner')
    expect((await app.call(...setRole(own.owner, heir, 'owner', own))).status).toBe(200)
    expect((await app.call(...setRole(own.owner, own.owner, 'member', own))).status).toBe(200)
    expect(await roleOf(heir, { ...own, owner: heir })).toBe('owner')
    expect((await recordedChanges(app, own.workspaceId)).slice(-2)).toEqual([
      `workspace.ownership_transferred ${heir.email}`,
      `member.role_changed ${own.owner.email}`,
    ])
  })

  test('an invited owner does not count as one', async () => {
    const own = await openTeam(app)
    await own.invite(stranger, 'owner')
    await expectRefusal(app, setRole(own.owner, own.owner, 'admin', own), 'last_owner')
    await expectRefusal(app, remove(own.owner, own.owner, own), 'last_owner')
  })

  test('a change to the same role changes nothing', async () => {
    const before = await recordedChanges(app, team.workspaceId)
    expect((await app.call(...setRole(admin, admin, 'admin'))).status).toBe(200)
    expect(await recordedChanges(app, team.workspaceId)).toEqual(before)
  })

  test('admins can change neither owners nor the other admins', async () => {
    const other = await team.join('admin')
    await expectRefusal(app, setRole(admin, team.owner, 'admin'), 'forbidden')
    await expectRefusal(app, setRole(admin, other, 'member'), 'forbidden')
    await expectRefusal(app, setRole(admin, admin, 'owner'), 'forbidden')
  })

  test('members and readers can change no role, and get the error before their body is read', async () => {
    for (const role of ['member', 'read_only'] as const) {
      const actor = await team.join(role)
      await expectRefusal(app, setRole(actor, actor, 'read_only'), 'forbidden')
      const path = members(`${actor.userId}/`)
      await expectRefusal(app, ['PATCH', path, { token: actor.token, body: 7 }], 'forbidden')
    }
  })

  test('one of two owners who demote each other concurrently remains', async () => {
    const own = await openTeam(app)
    const second = await own.join('member')
    await app.call(...setRole(own.owner, second, 'owner', own))
    const answers = await Promise.all([
      app.call(...setRole(own.owner, second, 'member', own)),
      app.call(...setRole(second, own.owner, 'member', own)),
    ])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const params = { workspace_id: own.workspaceId }
    const listed = await own.owner.api.list(listMembers, { params })
    expect(listed.filter(({ role }) => role === 'owner')).toHaveLength(1)
  })

  test.each([
    [{ role: 'root' }, 'role', 'must be one of owner, admin, member, read_only'],
    [{}, 'role', 'must be one of owner, admin, member, read_only'],
    [{ role: 'member', status: 'active' }, 'status', 'is not a field of this request'],
  ])('a change of a role rejects the body %j', async (body, path, message) => {
    const call: Call = ['PATCH', members(`${admin.userId}/`), { token: team.owner.token, body }]
    await expectRefusal(app, call, 'validation_error', { fields: [{ path, message }] })
  })
})

describe('removing', () => {
  test('a removal ends the access immediately, requests a rekey, and is recorded', async () => {
    const own = await openTeam(app)
    const person = await own.join('member')
    const answer = await app.call(...remove(own.owner, person, own))
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: { status: 'success' },
    })
    const path = `/api/workspaces/${own.workspaceId}/`
    await expectRefusal(app, ['GET', path, { token: person.token }], 'not_found')
    expect(await app.call('GET', path, { token: own.owner.token })).toMatchObject({
      body: { data: { rekey_required: true } },
    })
    expect((await recordedChanges(app, own.workspaceId)).at(-1)).toBe(
      `member.removed ${person.email}`,
    )
    await expectRefusal(app, remove(own.owner, person, own), 'not_found')
  })

  test('a removal withdraws an invitation, by address', async () => {
    const person = await registerPerson(app)
    await team.invite(person, 'member')
    const path = members(`${person.email}/`)
    expect((await app.call('DELETE', path, { token: admin.token })).status).toBe(200)
    await expectRefusal(
      app,
      ['POST', `/api/workspaces/${team.workspaceId}/accept/`, { token: person.token }],
      'not_found',
    )
  })

  test.each(['admin', 'member', 'read_only'] as const)('%s may leave', async (role) => {
    const person = await team.join(role)
    expect((await app.call(...remove(person, person))).status).toBe(200)
    expect((await recordedChanges(app, team.workspaceId)).at(-1)).toBe(
      `member.left ${person.email}`,
    )
  })

  test('the last owner stays, also in the personal workspace', async () => {
    const own = await openTeam(app)
    await own.join('admin')
    await expectRefusal(app, remove(own.owner, own.owner, own), 'last_owner')
    const personal = { ...own, workspaceId: own.owner.workspaceId }
    await expectRefusal(app, remove(own.owner, own.owner, personal), 'last_owner')
  })

  test('one of two owners who leave concurrently remains', async () => {
    const own = await openTeam(app)
    const second = await own.join('member')
    await app.call(...setRole(own.owner, second, 'owner', own))
    const answers = await Promise.all([
      app.call(...remove(own.owner, own.owner, own)),
      app.call(...remove(second, second, own)),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('no member can remove a person with a higher role', async () => {
    const [other, member, reader] = [
      await team.join('admin'),
      await team.join('member'),
      await team.join('read_only'),
    ]
    await expectRefusal(app, remove(admin, team.owner), 'forbidden')
    await expectRefusal(app, remove(admin, other), 'forbidden')
    await expectRefusal(app, remove(member, reader), 'forbidden')
    await expectRefusal(app, remove(reader, member), 'forbidden')
  })

  test('a removal is 404 for people outside the workspace', async () => {
    const { token } = admin
    const nobody = ['none', Bun.randomUUIDv7(), stranger.userId, stranger.email, '%00', 'a%2Fb']
    for (const named of nobody) {
      await expectRefusal(app, ['DELETE', members(`${named}/`), { token }], 'not_found')
      const body = { role: 'member' }
      await expectRefusal(app, ['PATCH', members(`${named}/`), { token, body }], 'not_found')
    }
    await expectRefusal(app, remove(stranger, admin), 'not_found')
    await expectRefusal(app, ['DELETE', members(`${admin.userId}/`)], 'invalid_token')
  })
})
