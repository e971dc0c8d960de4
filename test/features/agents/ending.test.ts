// tier: quick
/** The tokens of an administrator who leaves: tokens that are not signed again in the same call end. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { wrapKeys } from '../../../src/client/account/account_keys.ts'
import { userKey } from '../../../src/client/account/keys.ts'
import { replaceKeys } from '../../../src/features/accounts/contract.ts'
import { issueWorkloadToken, listWorkloadTokens } from '../../../src/features/agents/contract.ts'
import { changeMemberRole, removeMember } from '../../../src/features/workspaces/contract.ts'
import { extend, identityOf, proveKeys, type SignedText } from '../../../src/sigchain/index.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { expectRefusal } from '../../support/failure.ts'
import { envelopeFor } from '../../support/people.ts'
import { openProject } from '../../support/project.ts'
import { personOf, type SignedPerson } from '../../support/signed.ts'
import {
  clientMade,
  envelopeOf,
  grantOf,
  type Minted,
  mint,
  type SignedProject,
  signedProject,
} from '../../support/statements.ts'

let app: TestApp
let project: SignedProject
let admin: SignedPerson
/** The admin's two, and the owner's. */
let tokens: [Minted, Minted, Minted]

beforeAll(async () => {
  app = await sharedApp()
})

const inProject = () => ({ project_id: project.projectId })
const labels = ['kept', 'gone', 'owned'] as const

beforeEach(async () => {
  project = await signedProject(app)
  admin = await project.join('admin')
  tokens = [mint(), mint(), mint()]
  for (const [at, token] of tokens.entries()) {
    const signer = at === 2 ? project.owner : admin
    const body = {
      token: await clientMade(project, token, { label: labels[at] ?? '' }, { signer }),
    }
    await signer.api.call(issueWorkloadToken, { params: inProject(), body })
  }
})

const demotion = () =>
  project.link('members.put', { members: [{ ...personOf(admin), role: 'member' }] })
const removal = () => project.link('members.removed', { user_ids: [admin.userId] })

/** The grant of the kept token, signed by the owner who has the link. */
async function kept(link: SignedText) {
  const chain = await extend(await project.chain(), [link])
  const after = { ...project, chain: async () => chain }
  const [token] = tokens
  return {
    token_id: token.id,
    grant: await grantOf(after, token, { label: 'kept' }),
    envelopes: [await envelopeOf(after, token)],
  }
}

const signerOf = ({ statement = '' }: { statement?: string | undefined }) =>
  JSON.parse(statement).signer

async function listed() {
  const list = await project.owner.api.list(listWorkloadTokens, { params: inProject() })
  return Object.fromEntries(
    list.map(({ label, status, grant, provisioned }) => [
      label,
      status === 'active' && grant ? [signerOf(grant), provisioned.map(signerOf)] : null,
    ]),
  )
}

const params = () => ({ workspace_id: project.workspaceId, member: admin.userId })
const path = () => `/api/workspaces/${project.workspaceId}/members/${admin.userId}/`

describe('a demoted administrator', () => {
  test("a demoted administrator's tokens end, except those that are signed again", async () => {
    const link = await demotion()
    const body = { role: 'member' as const, link, grants: [await kept(link)] }
    await project.owner.api.call(changeMemberRole, { params: params(), body })
    const { userId } = project.owner
    const mine = [userId, [userId]]
    expect(await listed()).toEqual({ kept: mine, gone: null, owned: mine })
    const recorded = await recordedChanges(app, project.workspaceId)
    expect(JSON.stringify(recorded)).toContain('token.revoked')
    const left = await app.connection.sql`
      select token_id from token_envelopes where workspace_id = ${project.workspaceId}`
    expect(left.map(({ token_id }) => token_id)).not.toContain(tokens[1].id)
  })

  test('a demotion to another role that may sign grants ends no token', async () => {
    const before = await listed()
    const members = [{ ...personOf(admin), role: 'owner' as const }]
    const link = await project.link('members.put', { members })
    const call = { role: 'owner', link, grants: [await kept(link)] }
    await expectRefusal(
      app,
      ['PATCH', path(), { token: project.owner.token, body: call }],
      'link_refused',
      { fields: [{ path: 'grants', message: 'this change ends no grants' }] },
    )
    const body = { role: 'owner' as const, link }
    await project.owner.api.call(changeMemberRole, { params: params(), body })
    expect(await listed()).toEqual(before)
  })
})

describe('a removed administrator', () => {
  test("a removed administrator's tokens end, except those that are signed again", async () => {
    await project.owner.api.call(removeMember, {
      params: params(),
      body: { link: await removal() },
    })
    const { userId } = project.owner
    expect(await listed()).toEqual({ kept: null, gone: null, owned: [userId, [userId]] })
  })

  test('a removal with grants that state more, or for an ended token, is rejected', async () => {
    const link = await removal()
    const good = await kept(link)
    const send = (entry: object) =>
      ['DELETE', path(), { token: project.owner.token, body: { link, grants: [entry] } }] as [
        string,
        string,
        object,
      ]
    const wider = await grantOf(project, tokens[0], { label: 'kept', capabilities: ['read'] })
    await expectRefusal(app, send({ ...good, grant: wider }), 'link_refused', {
      fields: [
        {
          path: 'grants.0.grant',
          message: 'it differs from the previous grant: create a new token instead',
        },
      ],
    })
    await expectRefusal(app, send({ ...good, token_id: mint().id }), 'not_found')
    const { grant: _, ...without } = good
    await expectRefusal(app, send(without), 'not_found')
    await project.owner.api.call(removeMember, { params: params(), body: { link, grants: [good] } })
    expect((await listed()).kept).toEqual([project.owner.userId, [project.owner.userId]])
  })

  test("a removed administrator's envelopes for other people's tokens are deleted", async () => {
    const [, , owned] = tokens
    const given = await envelopeOf(project, owned, 'development', { signer: admin })
    const place = `/api/projects/${project.projectId}/workload-tokens/${owned.id}/envelopes/`
    const call = await app.call('PUT', place, { token: admin.token, body: [given] })
    expect(call.status).toBe(200)
    expect((await listed()).owned).toEqual([project.owner.userId, [admin.userId]])
    await project.owner.api.call(removeMember, {
      params: params(),
      body: { link: await removal() },
    })
    expect((await listed()).owned).toEqual([project.owner.userId, []])
  })
})

test('an administrator with new keys keeps the tokens that are signed again with them', async () => {
  const { owner } = project
  const seed = new Uint8Array(randomBytes(32))
  const identity = await identityOf(seed)
  const publicKey = new Uint8Array(Buffer.from(identity.public_key, 'base64'))
  const keys = { seed, privateKey: identity.privateKey, publicKey }
  const changed = { ...owner, ...keys, identity }
  const { signing_key, public_key } = identity
  const link = await project.link('keys.rotated', { signing_key, public_key })
  const chain = await extend(await project.chain(), [link])
  const after = { ...project, owner: changed, chain: async () => chain }
  const entryOf = async (place: { workspaceId: string; workspaceKey: Uint8Array }) => ({
    workspace_id: place.workspaceId,
    encrypted_workspace_key: await envelopeFor(changed, place),
  })
  const [, , owned] = tokens
  const grant = await grantOf(after, owned, { label: 'owned' })
  const grants = [{ token_id: owned.id, grant, envelopes: [await envelopeOf(after, owned)] }]
  const body = {
    ...{ current_password: owner.password, signing_key, public_key },
    key_proof: await proveKeys(identity, owner.email),
    encrypted_private_key: await wrapKeys('account', userKey(owner.masterKey), keys),
    workspaces: [await entryOf(owner), { ...(await entryOf(project)), link, grants }],
  }
  await owner.api.call(replaceKeys, { body })
  const [{ statement = '' } = {}] = await app.connection.sql`
    select statement from token_grants where token_id = ${owned.id}`
  expect(statement).toBe(grant.statement)
  expect(await listed()).toMatchObject({ owned: [owner.userId, [owner.userId]] })
  expect((await listed()).gone).toEqual([admin.userId, [admin.userId]])
})

test('a plain workspace accepts no grants with a demotion', async () => {
  const plain = await openProject(app)
  const colleague = await plain.join('admin')
  const at = `/api/workspaces/${plain.workspaceId}/members/${colleague.userId}/`
  const body = { role: 'member', grants: [{ token_id: mint().id }] }
  await expectRefusal(app, ['PATCH', at, { token: plain.owner.token, body }], 'link_refused', {
    fields: [{ path: 'grants', message: 'this change ends no grants' }],
  })
})
