// tier: quick, both databases in test:all
/** The deletion of an account: what is deleted with it, what stays, and when it is rejected. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  acceptInvitation,
  changeMemberRole,
  listMembers,
} from '../../../src/features/workspaces/contract.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Person, registerPerson } from '../../support/people.ts'
import { openTeam } from '../../support/teams.ts'
import { refusal, refusedField, said, writesNothing } from './support.ts'

const DELETE = '/api/auth/delete-account/'

let app: TestApp
let founder: Person
beforeAll(async () => {
  // The first person of an installation owns it, so this file has its own app.
  app = await startTestApp()
  // The first account owns the installation.
  founder = await registerPerson(app, 'founder')
})
afterAll(() => app.stop())

const end = ({ token, password }: Person, current_password = password) =>
  app.call('POST', DELETE, { token, body: { current_password } })
const countOf = async (table: string, column: string, value: string) => {
  const { sql } = app.connection
  const [row] = await sql`
    select count(*)::int as rows from ${sql(table)} where ${sql(column)} = ${value}`
  return row?.rows
}
const recordsOf = async (person: Person) => {
  await app.flushAudit()
  const rows = await app.connection.sql`
    select action, workspace_id, resource->>'name' as name from audit_logs
    where user_id = ${person.userId} and action in ('member.left', 'member.declined', 'workspace.deleted')
    order by action`
  return rows.map(({ action, workspace_id, name }) => ({ action, workspace_id, name }))
}
const needsRekey = async (workspaceId: string) => {
  const [row] = await app.connection.sql`
    select rekey_required from workspaces where id = ${workspaceId}`
  return row?.rekey_required
}

test('a deleted account loses its sessions and its personal workspace, on record', async () => {
  const person = await registerPerson(app, 'leaving')
  const { workspaceId: personal } = person
  expect((await end(person)).status).toBe(200)
  expect((await app.call('GET', '/api/users/me/', { token: person.token })).status).toBe(401)
  expect(
    await Promise.all([
      countOf('users', 'id', person.userId),
      countOf('sessions', 'user_id', person.userId),
      countOf('workspaces', 'id', personal),
      countOf('memberships', 'user_id', person.userId),
    ]),
  ).toEqual([0, 0, 0, 0])
  expect(await recordsOf(person)).toEqual([
    { action: 'workspace.deleted', workspace_id: personal, name: 'Personal' },
  ])
  const { email, password } = person
  const again = await app.call('POST', '/api/auth/login/', { body: { email, password } })
  expect(said(again)).toEqual(refusal('invalid_credentials'))
  expect((await registerPerson(app, 'other')).email).not.toBe(email)
})

test('a wrong password deletes nothing, so a stolen session cannot delete the account', async () => {
  const person = await registerPerson(app, 'robbed')
  const answer = await writesNothing(app, () => end(person, 'not the password'))
  expect(said(answer)).toEqual(refusedField('current_password', 'is wrong'))
  expect((await app.call('GET', '/api/users/me/', { token: person.token })).status).toBe(200)
})

describe('a shared workspace', () => {
  test('a shared workspace is left, needs a new key, and keeps its contents', async () => {
    const team = await openTeam(app)
    const member = await team.join('member')
    const { workspaceId: personal } = member
    expect((await end(member)).status).toBe(200)
    const members = await team.owner.api.list(listMembers, {
      params: { workspace_id: team.workspaceId },
    })
    expect(members.map(({ email }) => email)).toEqual([team.owner.email])
    expect(await needsRekey(team.workspaceId)).toBe(true)
    expect(await recordsOf(member)).toEqual([
      { action: 'member.left', workspace_id: team.workspaceId, name: member.email },
      { action: 'workspace.deleted', workspace_id: personal, name: 'Personal' },
    ])
  })

  test('the only owner of shared workspaces cannot delete the account, and the error lists these workspaces', async () => {
    const first = await openTeam(app)
    const second = await openTeam(app, first.owner)
    await first.join('admin')
    const answer = await writesNothing(app, () => end(first.owner))
    const ids = [first.workspaceId, second.workspaceId].sort()
    expect(said(answer)).toEqual(
      refusal('last_owner', {
        message:
          'Some workspaces would have no owner. Make another member an owner, or delete them.',
        fields: ids.map((path) => ({ path, message: 'Team' })),
      }),
    )
  })

  test('a shared workspace with another owner is left; an invited owner does not count', async () => {
    const team = await openTeam(app)
    const heir = await registerPerson(app, 'heir')
    await team.invite(heir, 'owner')
    expect((await end(team.owner)).status).toBe(409)
    const params = { workspace_id: team.workspaceId }
    await heir.api.call(acceptInvitation, { params })
    expect((await end(team.owner)).status).toBe(200)
    const member = { params: { ...params, member: heir.email }, body: { role: 'admin' as const } }
    expect(heir.api.call(changeMemberRole, member)).rejects.toMatchObject({ code: 'last_owner' })
  })

  test('an open invitation to a shared workspace is declined', async () => {
    const team = await openTeam(app)
    const invited = await registerPerson(app, 'invited')
    await team.invite(invited, 'member')
    expect((await end(invited)).status).toBe(200)
    expect(await recordsOf(invited)).toMatchObject([
      { action: 'member.declined', workspace_id: team.workspaceId },
      { action: 'workspace.deleted' },
    ])
    expect(await needsRekey(team.workspaceId)).toBe(true)
  })
})

test('one of two owners who delete their accounts concurrently stays', async () => {
  const team = await openTeam(app)
  const other = await team.join('owner')
  const statuses = await Promise.all([end(team.owner), end(other)])
  expect(statuses.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('the owner of the installation cannot delete the account', async () => {
  const answer = await writesNothing(app, () => end(founder))
  expect(said(answer)).toEqual(
    refusal('conflict', {
      message: 'This account owns the server and is its only owner.',
    }),
  )
})
