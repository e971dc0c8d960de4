// tier: quick
/** A workspace is signed by its first link, which creates it, and by the version of its ID. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { listLinks } from '../../../src/features/links/contract.ts'
import { replay, type SignedText } from '../../../src/sigchain/index.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { type Call, expectRefusal } from '../../support/failure.ts'
import { envelopeFor, registerPerson } from '../../support/people.ts'
import {
  firstLink,
  type SignedPerson,
  signedAccount,
  signedApplicant,
  signedId,
  signedWorkspace,
} from '../../support/signed.ts'

let app: TestApp
let ada: SignedPerson

beforeAll(async () => {
  app = await sharedApp()
  ada = await signedAccount(app, 'ada')
})

const OTHER_SAYING = 'The link differs from the request.'

const newPlace = (workspaceId = signedId()) => ({
  workspaceId,
  workspaceKey: new Uint8Array(randomBytes(32)),
})

async function bodyOf(place: ReturnType<typeof newPlace>, link?: SignedText) {
  const encrypted_workspace_key = await envelopeFor(ada, place)
  return { id: place.workspaceId, name: 'Signed', encrypted_workspace_key, ...(link && { link }) }
}

const creating = (body: unknown, token = ada.token): Call => [
  'POST',
  '/api/workspaces/',
  { token, body },
]
const create = (body: unknown) => app.call(...creating(body))
const refused = (message: string) => ({ message })

async function countOf(workspaceId: string): Promise<number> {
  const { sql } = app.connection
  const [row] = await sql`
    select (select count(*) from workspaces where id = ${workspaceId})
      + (select count(*) from workspace_links where workspace_id = ${workspaceId}) as count`
  return Number(row?.count)
}

describe('a workspace made with a first link', () => {
  test('a workspace with a first link is signed, and returns the link to its members unchanged', async () => {
    const place = newPlace()
    const link = await firstLink(ada, place)
    const answer = await create(await bodyOf(place, link))
    expect(answer).toMatchObject({ status: 201, body: { data: { id: place.workspaceId } } })
    const params = { workspace_id: place.workspaceId }
    const links = await ada.api.call(listLinks, { params })
    expect(links).toEqual([{ seq: 1, ...link }])
    const chain = await replay(place.workspaceId, links)
    expect(chain.members.get(ada.userId)).toMatchObject({ role: 'owner', email: ada.email })
  })

  test('a workspace with a first link cannot invite anyone yet', async () => {
    const place = newPlace()
    const invites = [{ email: 'b@people.example', role: 'member', encrypted_workspace_key: 'AQ==' }]
    const body = { ...(await bodyOf(place, await firstLink(ada, place))), invites }
    const message = 'must be empty with a link: each invitation needs a separate link'
    const fields = [{ path: 'invites', message }]
    await expectRefusal(app, creating(body), 'validation_error', { fields })
  })
})

describe('a rejected first link creates nothing:', () => {
  test('an id of version 8 without a link', async () => {
    const place = newPlace()
    await expectRefusal(app, creating(await bodyOf(place)), 'link_required')
  })

  test('a link for an id of another version, or for none', async () => {
    const link = await firstLink(ada, newPlace())
    const place = newPlace(Bun.randomUUIDv7())
    const body = await bodyOf(place, link)
    const { id: _, ...without } = body
    const reason = refused('The ID of a signed workspace must be a UUID of version 8.')
    for (const sent of [body, without])
      await expectRefusal(app, creating(sent), 'link_refused', reason)
  })

  test('a link of another workspace, of another founder, or with a signature of somebody else', async () => {
    const place = newPlace()
    const bob = await signedAccount(app, 'bob')
    const own = await firstLink(ada, place)
    const signedByBob = await firstLink({ ...ada, identity: bob.identity }, place)
    const other = newPlace()
    const notLike = (why: string) => `The link was rejected: link 1 is refused: ${why}.`
    const wrong: [SignedText, string][] = [
      [await firstLink(ada, other), notLike('it belongs to another workspace')],
      [await firstLink(bob, place), OTHER_SAYING],
      [signedByBob, OTHER_SAYING],
      [await firstLink({ ...ada, email: 'else@people.example' }, place), OTHER_SAYING],
      [{ ...own, signature: signedByBob.signature }, notLike('its signature is invalid')],
      [{ ...own, statement: ` ${own.statement}` }, notLike('it is malformed')],
    ]
    for (const [link, message] of wrong) {
      const call = creating(await bodyOf(place, link))
      await expectRefusal(app, call, 'link_refused', refused(message))
    }
    expect((await create(await bodyOf(place, own))).status).toBe(201)
  })

  test('a link by a person without a signing key', async () => {
    const plain = await registerPerson(app)
    const place = newPlace()
    const link = await firstLink({ ...plain, identity: ada.identity }, place)
    const call = creating(await bodyOf(place, link), plain.token)
    await expectRefusal(app, call, 'link_refused', refused(OTHER_SAYING))
  })
})

describe('a registration with a signed personal workspace', () => {
  async function registration(userId: string) {
    const { applicant, body } = await signedApplicant('new')
    const place = { ...newPlace(), workspaceKey: applicant.workspaceKey }
    const link = await firstLink({ ...applicant, userId }, place)
    const encrypted_workspace_key = await envelopeFor(applicant, place)
    const workspace = { id: place.workspaceId, name: 'Own', encrypted_workspace_key, link }
    return { ...body, user_id: userId, workspace }
  }
  const registering = (body: unknown): Call => ['POST', '/api/auth/register/', { body }]

  test('a registration with a signed personal workspace takes the user ID that the link names', async () => {
    const userId = Bun.randomUUIDv7()
    const body = await registration(userId)
    expect(await app.call(...registering(body))).toMatchObject({
      status: 201,
      body: { data: { user: { id: userId }, workspace: { id: body.workspace.id } } },
    })
    expect(await countOf(body.workspace.id)).toBe(2)
  })

  test('a registration rejects an existing user ID, and names it as the reason', async () => {
    const call = registering(await registration(ada.userId))
    await expectRefusal(app, call, 'already_exists', refused('The user ID is already used.'))
  })

  test('a registration rejects a link that names another user, and creates no account', async () => {
    const { user_id: _, ...body } = await registration(Bun.randomUUIDv7())
    await expectRefusal(app, registering(body), 'link_refused', refused(OTHER_SAYING))
  })
})

describe('links', () => {
  test('links are read from a given number on, by members only', async () => {
    const { workspaceId } = await signedWorkspace(app, ada)
    const path = `/api/workspaces/${workspaceId}/links/`
    const read = (query = '') => app.call('GET', path + query, { token: ada.token })
    expect(await read()).toMatchObject({ status: 200, body: { data: [{ seq: 1 }] } })
    expect(await read('?after=1')).toMatchObject({ status: 200, body: { data: [] } })
    expect(await read('?after=-1')).toMatchObject({ status: 422 })
    const { token } = await registerPerson(app)
    await expectRefusal(app, ['GET', path, { token }], 'not_found')
  })

  test('a plain workspace has no links', async () => {
    const path = `/api/workspaces/${ada.workspaceId}/links/`
    const answer = await app.call('GET', path, { token: ada.token })
    expect(answer).toMatchObject({ status: 200, body: { data: [] } })
  })
})
