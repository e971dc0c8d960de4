// tier: quick
/** The links of a signed workspace decide who belongs to it, and that it continues; the rows are a copy. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Role } from '../../../src/core/grant.ts'
import { createProject } from '../../../src/features/projects/contract.ts'
import { declineInvitation } from '../../../src/features/workspaces/contract.ts'
import type { SignedText } from '../../../src/sigchain/index.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { type Call, expectRefusal } from '../../support/failure.ts'
import { envelopeFor, type Person, registerPerson } from '../../support/people.ts'
import {
  personOf,
  type SignedPerson,
  type SignedWorkspace,
  signedAccount,
  signedWorkspace,
} from '../../support/signed.ts'

let app: TestApp
let ada: SignedPerson
let bob: SignedPerson
let workspace: SignedWorkspace

beforeAll(async () => {
  app = await sharedApp()
  ada = await signedAccount(app, 'ada')
  bob = await signedAccount(app, 'bob')
  workspace = await signedWorkspace(app, ada)
})

const at = (rest: string) => `/api/workspaces/${workspace.workspaceId}/${rest}`
const withLink = (link?: SignedText) => (link ? { body: { link } } : {})
const OTHER_SAYING = { message: 'The link differs from the request.' }

const put = (people: [SignedPerson, Role][], signer = ada) => {
  const members = people.map(([person, role]) => ({ ...personOf(person), role }))
  return workspace.link('members.put', { members }, signer)
}
const removed = (people: SignedPerson[], signer = ada) =>
  workspace.link('members.removed', { user_ids: people.map(({ userId }) => userId) }, signer)

async function inviting(people: [Person, Role][], link?: SignedText, path = at('members/')) {
  const invites = people.map(async ([person, role]) => ({
    email: person.email,
    role,
    encrypted_workspace_key: await envelopeFor(person, workspace),
  }))
  const body = { invites: await Promise.all(invites), ...(link && { link }) }
  return ['POST', path, { token: ada.token, body }] satisfies Call
}
const giving = (person: Person, role: Role, link?: SignedText, by: Person = ada): Call => [
  'PATCH',
  at(`members/${person.userId}/`),
  { token: by.token, body: { role, ...(link && { link }) } },
]
const removing = (person: Person, link?: SignedText, by: Person = ada): Call => [
  'DELETE',
  at(`members/${person.userId}/`),
  { token: by.token, ...withLink(link) },
]
const declining = (person: Person, link?: SignedText): Call => [
  'POST',
  at('decline/'),
  { token: person.token, ...withLink(link) },
]

const roleOf = async ({ userId }: Person) => (await workspace.chain()).members.get(userId)?.role

async function mustRekey(): Promise<boolean> {
  const { sql } = app.connection
  const id = workspace.workspaceId
  const [row] = await sql`select rekey_required from workspaces where id = ${id}`
  await sql`update workspaces set rekey_required = false where id = ${id}`
  return row?.rekey_required
}

describe('an invitation', () => {
  test('an invitation requires one link, which names exactly the invited people', async () => {
    const plain = await registerPerson(app, 'plain')
    const nobody = { ...plain, email: 'nobody@people.example' }
    const people: [Person, Role][] = [
      [ada, 'admin'],
      [bob, 'member'],
      [plain, 'member'],
      [nobody, 'member'],
    ]
    await expectRefusal(app, await inviting(people), 'link_required')
    const carol = await signedAccount(app, 'carol')
    for (const wrong of [
      [[bob, 'admin']],
      [
        [bob, 'member'],
        [carol, 'member'],
      ],
    ] as [SignedPerson, Role][][])
      await expectRefusal(
        app,
        await inviting(people, await put(wrong)),
        'link_refused',
        OTHER_SAYING,
      )
    const answer = await app.call(...(await inviting(people, await put([[bob, 'member']]))))
    expect(answer).toMatchObject({
      status: 201,
      body: {
        data: [
          { email: ada.email, status: 'already_member' },
          { email: bob.email, status: 'invited' },
          { email: plain.email, status: 'no_signing_key' },
          { email: nobody.email, status: 'user_not_found' },
        ],
      },
    })
    expect(await roleOf(bob)).toBe('member')
  })

  test('an invitation returns the links to the invited person, who counts in the chain before accepting', async () => {
    const links = await app.call('GET', at('links/'), { token: bob.token })
    expect(links).toMatchObject({ status: 200, body: { data: [{ seq: 1 }, { seq: 2 }] } })
  })

  test('a second invitation of an invited person is another link', async () => {
    const call = await inviting([[bob, 'admin']], await put([[bob, 'admin']]))
    expect((await app.call(...call)).status).toBe(201)
    expect(await roleOf(bob)).toBe('admin')
  })

  test('an invitation without any new person needs no link', async () => {
    const answer = await app.call(...(await inviting([[ada, 'admin']])))
    expect(answer).toMatchObject({ status: 200, body: { data: [{ status: 'already_member' }] } })
  })

  test('an invitation through a project follows the same rules', async () => {
    const dan = await signedAccount(app, 'dan')
    const body = { name: 'api', workspace_id: workspace.workspaceId }
    const { id } = await ada.api.call(createProject, { body })
    const path = `/api/projects/${id}/invite/`
    await expectRefusal(app, await inviting([[dan, 'member']], undefined, path), 'link_required')
    const link = await put([[dan, 'member']])
    expect((await app.call(...(await inviting([[dan, 'member']], link, path)))).status).toBe(201)
    expect(await roleOf(dan)).toBe('member')
  })

  test('an invitation is declined with a link of the invited person', async () => {
    const byAda = await removed([bob])
    const message = 'The link is not signed with the account keys of this session.'
    await expectRefusal(app, declining(bob, byAda), 'link_refused', { message })
    const stranger = await signedAccount(app, 'stranger')
    await expectRefusal(app, declining(stranger), 'not_found')
    const link = await removed([bob], bob)
    await bob.api.call(declineInvitation, {
      params: { workspace_id: workspace.workspaceId },
      body: { link },
    })
    expect(await roleOf(bob)).toBeUndefined()
  })

  test("a stranger's invitation is declined without a link, too", async () => {
    const vic = await signedAccount(app, 'vic')
    await workspace.invite(vic, 'admin')
    expect((await app.call(...declining(vic))).status).toBe(200)
    await expectRefusal(app, declining(vic), 'not_found')
    expect((await app.call(...removing(vic, await removed([vic])))).status).toBe(200)
    expect(await roleOf(vic)).toBeUndefined()
  })
})

describe('a member', () => {
  test('a member gets another role by a link', async () => {
    const eve = await workspace.join('member')
    await expectRefusal(app, giving(eve, 'admin'), 'link_required')
    const wrong = await put([[eve, 'read_only']])
    await expectRefusal(app, giving(eve, 'admin', wrong), 'link_refused', OTHER_SAYING)
    const answer = await app.call(...giving(eve, 'admin', await put([[eve, 'admin']])))
    expect(answer).toMatchObject({ status: 200, body: { data: { role: 'admin' } } })
    expect(await roleOf(eve)).toBe('admin')
    expect((await app.call(...giving(eve, 'admin'))).status).toBe(200)
    await mustRekey()
    await app.call(...giving(eve, 'read_only', await put([[eve, 'read_only']])))
    expect(await mustRekey()).toBe(true)
  })

  test('a member is removed, and leaves, by a link', async () => {
    const [fay, gus] = [await workspace.join('member'), await workspace.join('member')]
    await expectRefusal(app, removing(fay), 'link_required')
    const both = await removed([fay, gus])
    await expectRefusal(app, removing(fay, both), 'link_refused', OTHER_SAYING)
    await mustRekey()
    expect((await app.call(...removing(fay, await removed([fay])))).status).toBe(200)
    expect(await mustRekey()).toBe(true)
    expect((await app.call(...removing(gus, await removed([gus], gus), gus))).status).toBe(200)
    expect([await roleOf(fay), await roleOf(gus)]).toEqual([undefined, undefined])
    const recorded = await recordedChanges(app, workspace.workspaceId)
    expect(recorded.slice(-2)).toEqual([`member.removed ${fay.email}`, `member.left ${gus.email}`])
  })

  test('a member who is the last owner remains one', async () => {
    await expectRefusal(app, giving(ada, 'admin', await put([[ada, 'admin']])), 'last_owner')
    await expectRefusal(app, removing(ada, await removed([ada])), 'last_owner')
    const heir = await signedAccount(app, 'heir')
    const invited = await inviting([[heir, 'owner']], await put([[heir, 'owner']]))
    expect((await app.call(...invited)).status).toBe(201)
    // The chain counts invited people, who might decline, so an owner who has joined must remain.
    await expectRefusal(app, giving(ada, 'admin', await put([[ada, 'admin']])), 'last_owner')
    await expectRefusal(app, removing(ada, await removed([ada])), 'last_owner')
    const link = await removed([heir])
    expect((await app.call(...removing(heir, link))).status).toBe(200)
  })

  test('a member without a row can still be removed from the chain', async () => {
    const hal = await workspace.join('member')
    const { sql } = app.connection
    await sql`delete from memberships where user_id = ${hal.userId}`
    await expectRefusal(app, removing(hal), 'link_required')
    expect((await app.call(...removing(hal, await removed([hal])))).status).toBe(200)
    expect(await roleOf(hal)).toBeUndefined()
  })

  test('a member that only a row names is removed without a link', async () => {
    const ivy = await signedAccount(app, 'ivy')
    const { sql } = app.connection
    await sql`insert into memberships (id, workspace_id, user_id, role, status, encrypted_workspace_key)
      select gen_random_uuid(), workspace_id, ${ivy.userId}, 'admin', 'active', encrypted_workspace_key
      from memberships where workspace_id = ${workspace.workspaceId} and user_id = ${ada.userId}`
    expect((await app.call(...removing(ivy))).status).toBe(200)
    await expectRefusal(app, ['GET', at(''), { token: ivy.token }], 'not_found')
  })
})

describe('the workspace', () => {
  test('the workspace is renamed without a link, because links sign no names', async () => {
    const body = { name: 'Renamed' }
    expect((await app.call('PATCH', at(''), { token: ada.token, body })).status).toBe(200)
  })

  test('the workspace gets a new key by a link', async () => {
    const own = await signedWorkspace(app, ada)
    const path = `/api/workspaces/${own.workspaceId}/rekey/`
    const key_commitment = Buffer.alloc(32, 3).toString('base64')
    const member = {
      user_id: ada.userId,
      encrypted_workspace_key: await envelopeFor(ada, { ...own, epoch: 2 }),
    }
    const rekeying = (link?: SignedText): Call => [
      'POST',
      path,
      {
        token: ada.token,
        body: { epoch: 2, members: [member], tokens: [], secrets: [], ...(link && { link }) },
      },
    ]
    await expectRefusal(app, rekeying(), 'link_required')
    const link = await own.link('epoch.advanced', { epoch: 2, key_commitment })
    expect(await app.call(...rekeying(link))).toMatchObject({
      status: 200,
      body: { data: { epoch: 2 } },
    })
    expect(await own.chain()).toMatchObject({ epoch: 2, keyCommitment: key_commitment })
  })

  test('the workspace gives its new key to the members of the chain, whatever the rows contain', async () => {
    const own = await signedWorkspace(app, ada)
    const [lost, added] = [await own.join('member'), await signedAccount(app, 'added')]
    const { sql } = app.connection
    const id = own.workspaceId
    await sql`insert into memberships (id, workspace_id, user_id, role, status, encrypted_workspace_key)
      select gen_random_uuid(), ${id}, ${added.userId}, 'owner', 'active', encrypted_workspace_key
      from memberships where workspace_id = ${id} and user_id = ${ada.userId}`
    await sql`delete from memberships where user_id = ${lost.userId} and workspace_id = ${id}`
    const key_commitment = Buffer.alloc(32, 3).toString('base64')
    const link = await own.link('epoch.advanced', { epoch: 2, key_commitment })
    const rekeying = async (...people: SignedPerson[]): Promise<Call> => {
      const members = people.map(async (person) => ({
        user_id: person.userId,
        encrypted_workspace_key: await envelopeFor(person, { ...own, epoch: 2 }),
      }))
      const sealed = { members: await Promise.all(members), tokens: [], secrets: [] }
      const body = { epoch: 2, link, ...sealed }
      return ['POST', `/api/workspaces/${id}/rekey/`, { token: ada.token, body }]
    }
    await expectRefusal(app, await rekeying(ada, lost, added), 'not_found')
    const fields = [{ path: `members.${lost.userId}`, message: 'is missing' }]
    await expectRefusal(app, await rekeying(ada), 'validation_error', { fields })
    expect((await app.call(...(await rekeying(ada, lost)))).status).toBe(200)
    const [row] = await sql`select role, status from memberships
      where user_id = ${lost.userId} and workspace_id = ${id}`
    expect(row).toMatchObject({ role: 'member', status: 'invited' })
  })

  test('the workspace is deleted by a link of an owner', async () => {
    const own = await signedWorkspace(app, ada)
    const path = `/api/workspaces/${own.workspaceId}/`
    const deleting = (link?: SignedText): Call => [
      'DELETE',
      path,
      { token: ada.token, ...withLink(link) },
    ]
    await expectRefusal(app, deleting(), 'link_required')
    const other = await workspace.link('workspace.deleted', {})
    const message = 'The link was rejected: link 2 is refused: it belongs to another workspace.'
    await expectRefusal(app, deleting(other), 'link_refused', { message })
    expect((await app.call(...deleting(await own.link('workspace.deleted', {})))).status).toBe(200)
    await expectRefusal(app, ['GET', path, { token: ada.token }], 'not_found')
  })
})

describe('an account', () => {
  const deleting = (person: SignedPerson): Call => [
    'POST',
    '/api/auth/delete-account/',
    { token: person.token, body: { current_password: person.password } },
  ]

  test('an account is not deleted while it is in a signed workspace, which is named', async () => {
    const jan = await workspace.join('member')
    await expectRefusal(app, deleting(jan), 'conflict', {
      message: 'Some workspaces are signed. Leave or delete them first with your signature.',
      fields: [{ path: workspace.workspaceId, message: 'Renamed' }],
    })
    await app.call(...removing(jan, await removed([jan], jan), jan))
    expect((await app.call(...deleting(jan))).status).toBe(200)
  })
})

test('a database that lies about the chain makes links fail', async () => {
  const own = await signedWorkspace(app, ada)
  const link = await own.link('allowlist.changed', { add: ['a.example'], remove: [] })
  const { sql } = app.connection
  await sql`update workspace_links set statement = replace(statement, 'owner', 'admin'),
    signature = decode(repeat('00', 64), 'hex') where workspace_id = ${own.workspaceId}`
  const path = `/api/workspaces/${own.workspaceId}/allowlist/`
  const body = { domain: 'a.example', link }
  const message =
    'The stored data of this signed workspace does not match its signatures. link 1 is refused: its signature is invalid.'
  await expectRefusal(app, ['POST', path, { token: ada.token, body }], 'unverified_state', {
    message,
  })
})
