// tier: quick
import { beforeAll, expect, test } from 'bun:test'
import { createProject } from '../../../src/features/projects/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { expectRefusal } from '../../support/failure.ts'
import { envelopeFor, type Person, registerPerson } from '../../support/people.ts'
import { openTeam, type Team } from '../../support/teams.ts'

let app: TestApp
let team: Team
let admin: Person
let projectId: string

beforeAll(async () => {
  app = await sharedApp()
  team = await openTeam(app)
  admin = await team.join('admin')
  const body = { name: 'web', workspace_id: team.workspaceId }
  projectId = (await team.owner.api.call(createProject, { body })).id
})

const post = (body: unknown, person: Person = admin) =>
  ['POST', `/api/projects/${projectId}/invite/`, { token: person.token, body }] as const

test('the answer has the role of each member, and null for others', async () => {
  const [member, invited] = [await team.join('member'), await registerPerson(app, 'invited')]
  await team.invite(invited, 'member')
  const members = [member.email.toUpperCase(), admin.email, invited.email, 'nobody@people.example']
  const { status, body } = await app.call(...post({ members }))
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      status: 'success',
      data: [
        { email: member.email, status: 'already_member', role: 'member' },
        { email: admin.email, status: 'already_member', role: 'admin' },
        { email: invited.email, status: 'not_a_member', role: null },
        { email: 'nobody@people.example', status: 'not_a_member', role: null },
      ],
    },
  })
})

test('an invitation through a project invites to the workspace, under either path', async () => {
  const paths = [`${projectId}/invite/`, `${team.workspaceId}/web/invite/`]
  for (const path of paths) {
    const person = await registerPerson(app, 'newcomer')
    const encrypted_workspace_key = await envelopeFor(person, team)
    const invite = { email: person.email, role: 'read_only', encrypted_workspace_key }
    const { status, body } = await app.call('POST', `/api/projects/${path}`, {
      token: admin.token,
      body: { invites: [invite, { ...invite, email: admin.email }] },
    })
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        status: 'success',
        data: [
          { email: person.email, status: 'invited', role: 'read_only' },
          { email: admin.email, status: 'already_member', role: 'admin' },
        ],
      },
    })
    expect(await recordedChanges(app, team.workspaceId)).toContain(`member.invited ${person.email}`)
  }
})

test('an invitation through a project follows the rules of the members endpoint', async () => {
  const person = await registerPerson(app, 'newcomer')
  const encrypted_workspace_key = await envelopeFor(person, team)
  const invite = { email: person.email, role: 'member', encrypted_workspace_key }
  await expectRefusal(app, [...post({ invites: [{ ...invite, role: 'owner' }] })], 'forbidden')
  await expectRefusal(app, [...post({ invites: [invite], epoch: 2 })], 'epoch_conflict')
  await expectRefusal(app, [...post({ invites: [invite, invite] })], 'validation_error', {
    fields: [{ path: 'invites.1.email', message: 'is given twice' }],
  })
})

test.each([
  [{ members: [] }, 'members', 'must have a number of entries of at least 1'],
  [{ members: ['none'] }, 'members.0', 'must be a valid email'],
  [{ members: ['A@b.example', 'a@b.example'] }, 'members', 'names an address twice'],
  [{ members: ['a@b.example'], role: 'owner' }, 'role', 'is not a field of this request'],
])('an invitation through a project rejects the body %j', async (body, path, message) => {
  await expectRefusal(app, [...post(body)], 'validation_error', { fields: [{ path, message }] })
})
