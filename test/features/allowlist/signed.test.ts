// tier: quick
/** The links of a signed workspace define its allowlist; the rows are a copy. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { SignedText } from '../../../src/sigchain/index.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { recordedChanges } from '../../support/audit.ts'
import { type Call, expectRefusal } from '../../support/failure.ts'
import {
  type SignedPerson,
  type SignedWorkspace,
  signedAccount,
  signedBy,
  signedWorkspace,
} from '../../support/signed.ts'

let app: TestApp
let ada: SignedPerson
let workspace: SignedWorkspace

beforeAll(async () => {
  app = await sharedApp()
  ada = await signedAccount(app, 'ada')
  workspace = await signedWorkspace(app, ada)
})

const changed = (add: string[], remove: string[] = [], signer = ada) =>
  workspace.link('allowlist.changed', { add, remove }, signer)

function adding(domains: string[], link?: SignedText, { token } = ada): Call {
  const body = { domains, ...(link && { link }) }
  return ['POST', `/api/workspaces/${workspace.workspaceId}/allowlist/`, { token, body }]
}

function removing(domain: string, link?: SignedText, { token } = ada): Call {
  const path = `/api/workspaces/${workspace.workspaceId}/allowlist/${encodeURIComponent(domain)}/`
  return ['DELETE', path, { token, ...(link && { body: { link } }) }]
}

const chain = async () => [...(await workspace.chain()).allowlist].sort()
async function rows() {
  const { sql } = app.connection
  const id = workspace.workspaceId
  const found =
    await sql`select domain from allowlist_entries where workspace_id = ${id} order by 1`
  return found.map(({ domain }) => domain)
}

const OTHER_SAYING = { message: 'The link differs from the request.' }

describe('a domain', () => {
  test('a domain is added and removed with a link, in whatever order the link names them', async () => {
    const link = await changed(['b.example', 'a.example'])
    const added = await app.call(...adding(['a.example', 'b.example'], link))
    expect(added).toMatchObject({ status: 201, body: { data: [{}, {}] } })
    expect(await chain()).toEqual(['a.example', 'b.example'])
    expect(await rows()).toEqual(['a.example', 'b.example'])
    const removed = await app.call(...removing('a.example', await changed([], ['a.example'])))
    expect(removed.status).toBe(200)
    expect(await chain()).toEqual(['b.example'])
    expect(await rows()).toEqual(['b.example'])
    expect((await recordedChanges(app, workspace.workspaceId)).slice(-3)).toEqual([
      'allowlist.added a.example',
      'allowlist.added b.example',
      'allowlist.removed a.example',
    ])
  })

  test('a domain that exists already needs no link, and a link lists only new domains', async () => {
    expect((await app.call(...adding(['b.example']))).status).toBe(200)
    const link = await changed(['c.example'])
    expect((await app.call(...adding(['b.example', 'c.example'], link))).status).toBe(201)
    expect(await chain()).toEqual(['b.example', 'c.example'])
  })

  test('a domain named log is removed at the path of the log', async () => {
    expect((await app.call(...adding(['log'], await changed(['log'])))).status).toBe(201)
    expect((await app.call(...removing('log', await changed([], ['log'])))).status).toBe(200)
    expect(await chain()).not.toContain('log')
  })
})

describe('rejected links, which change and store nothing:', () => {
  test('a change without a link is rejected', async () => {
    await expectRefusal(app, adding(['new.example']), 'link_required')
    await expectRefusal(app, removing('b.example'), 'link_required')
  })

  test('a link with more, less or other content than the call is rejected', async () => {
    for (const link of [
      await changed(['new.example', 'more.example']),
      await changed(['else.example']),
      await changed(['new.example'], ['b.example']),
      await workspace.link('tokens.revoked', { token_ids: [workspace.workspaceId] }),
    ])
      await expectRefusal(app, adding(['new.example'], link), 'link_refused', OTHER_SAYING)
  })

  test('a link for a call that changes nothing is rejected', async () => {
    const link = await changed(['new.example'])
    await expectRefusal(app, adding(['b.example'], link), 'link_refused', OTHER_SAYING)
  })

  test('a link that another one has overtaken is rejected: its client reads the new links and signs again', async () => {
    const late = await changed(['late.example'])
    expect(
      (await app.call(...adding(['first.example'], await changed(['first.example'])))).status,
    ).toBe(201)
    await expectRefusal(app, adding(['late.example'], late), 'conflict')
    const again = await changed(['late.example'])
    expect((await app.call(...adding(['late.example'], again))).status).toBe(201)
  })

  test('a link signed by another admin than the one of the session is rejected', async () => {
    const bob = await workspace.join('admin')
    const message = 'The link is not signed with the account keys of this session.'
    const link = await changed(['new.example'])
    await expectRefusal(app, adding(['new.example'], link, bob), 'link_refused', { message })
    expect(
      (await app.call(...adding(['new.example'], await changed(['new.example'], [], bob), bob)))
        .status,
    ).toBe(201)
  })

  test('a link of a person whose account has newer keys than the chain is rejected', async () => {
    const bob = await workspace.join('admin')
    const other = await workspace.join('member')
    const { sql } = app.connection
    const message = 'The link is not signed with the account keys of this session.'
    for (const column of ['signing_key', 'public_key'] as const) {
      const putKeyOf = ({ identity }: SignedPerson) =>
        sql.unsafe(`update users set ${column} = $1 where id = $2`, [
          Buffer.from(identity[column], 'base64'),
          bob.userId,
        ])
      const domain = `${column.replace('_', '-')}.example`
      const call = adding([domain], await changed([domain], [], bob), bob)
      await putKeyOf(other)
      await expectRefusal(app, call, 'link_refused', { message })
      await putKeyOf(bob)
      expect((await app.call(...call)).status).toBe(201)
    }
  })

  test('a link by a member that only a row makes an admin is rejected', async () => {
    const eve = await workspace.join('member')
    const { sql } = app.connection
    await sql`update memberships set role = 'admin'
      where user_id = ${eve.userId} and workspace_id = ${workspace.workspaceId}`
    const before = await workspace.chain()
    const body = { add: ['evil.example'], remove: [] }
    const link = await signedBy(eve, before, { type: 'allowlist.changed', body })
    const message = `The link was rejected: link ${before.seq + 1} is refused: its signer does not have this right (only owners and admins can change the allowlist).`
    await expectRefusal(app, adding(['evil.example'], link, eve), 'link_refused', { message })
  })

  test('a link in a plain workspace is rejected', async () => {
    const body = { domains: ['a.example'], link: await changed(['a.example']) }
    const path = `/api/workspaces/${ada.workspaceId}/allowlist/`
    const message = 'The workspace is not signed and accepts no links.'
    await expectRefusal(app, ['POST', path, { token: ada.token, body }], 'link_refused', {
      message,
    })
  })
})

test('rows that differ from the links have no effect, and links repair them', async () => {
  const { sql } = app.connection
  const id = workspace.workspaceId
  await sql`insert into allowlist_entries (id, workspace_id, domain)
    values (${Bun.randomUUIDv7()}, ${id}, 'evil.example')`
  await sql`delete from allowlist_entries where workspace_id = ${id} and domain = 'b.example'`
  expect((await app.call(...removing('evil.example'))).status).toBe(200)
  const removed = await app.call(...removing('b.example', await changed([], ['b.example'])))
  expect(removed.status).toBe(200)
  expect(await chain()).toEqual(await rows())
})
