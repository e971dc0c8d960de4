// tier: quick
/** Stopping a token is always permitted; with a link it survives changes of the database. */
import { beforeAll, expect, test } from 'bun:test'
import { agents, tokens } from '../../../src/database/schema/index.ts'
import type { SignedText } from '../../../src/sigchain/index.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { type Call, expectRefusal } from '../../support/failure.ts'
import {
  type SignedPerson,
  type SignedWorkspace,
  signedAccount,
  signedId,
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

/** An agent with the given number of tokens, as rows. */
async function createAgentWithTokens(count: number) {
  const { db } = app.connection
  const { workspaceId } = workspace
  const agentId = Bun.randomUUIDv7()
  await db.insert(agents).values({ id: agentId, workspaceId, name: agentId })
  const ids = Array.from({ length: count }, signedId)
  const bytes = new Uint8Array(32)
  const row = { workspaceId, kind: 'agent', agentId, capabilities: ['use'] } as const
  for (const id of ids)
    await db.insert(tokens).values({ ...row, id, label: id, verifier: bytes, publicKey: bytes })
  return { path: `/api/workspaces/${workspaceId}/agents/${agentId}/`, ids, id: ids[0] ?? '' }
}

const stopping = (path: string, link?: SignedText): Call => [
  'DELETE',
  path,
  { token: ada.token, ...(link && { body: { link } }) },
]
const revoked = (token_ids: string[]) => workspace.link('tokens.revoked', { token_ids })
const isRevoked = async (id: string) => (await workspace.chain()).revokedTokens.has(id)
const OTHER_SAYING = { message: 'The link differs from the request.' }

test('a token is revoked without a link, and afterwards with one', async () => {
  const { path, id } = await createAgentWithTokens(1)
  const ofToken = `${path}tokens/${id}/`
  expect((await app.call(...stopping(ofToken))).status).toBe(200)
  expect(await isRevoked(id)).toBe(false)
  expect((await app.call(...stopping(ofToken, await revoked([id])))).status).toBe(200)
  expect(await isRevoked(id)).toBe(true)
})

test('a link names the token of the call and no other', async () => {
  const { path, ids } = await createAgentWithTokens(2)
  const [one = '', other = ''] = ids
  for (const wrong of [[other], [one, other]]) {
    const call = stopping(`${path}tokens/${one}/`, await revoked(wrong))
    await expectRefusal(app, call, 'link_refused', OTHER_SAYING)
  }
  const otherPath = `${path}tokens/${signedId()}/`
  await expectRefusal(app, stopping(otherPath, await revoked([one])), 'not_found')
})

test('an agent is deleted with a link over all of its live tokens, or without', async () => {
  const { path, ids } = await createAgentWithTokens(2)
  const some = await revoked(ids.slice(1))
  await expectRefusal(app, stopping(path, some), 'link_refused', OTHER_SAYING)
  expect((await app.call(...stopping(path, await revoked(ids)))).status).toBe(200)
  expect(await Promise.all(ids.map(isRevoked))).toEqual([true, true])
  const other = await createAgentWithTokens(1)
  expect((await app.call(...stopping(other.path))).status).toBe(200)
})

test('an agent is deleted with a link over the tokens that no link has revoked, whatever rows return', async () => {
  const { path, ids } = await createAgentWithTokens(2)
  const [gone = '', left = ''] = ids
  await app.call(...stopping(`${path}tokens/${gone}/`, await revoked([gone])))
  await app.connection.sql`update tokens set revoked_at = null where id = ${gone}`
  expect((await app.call(...stopping(path, await revoked([left])))).status).toBe(200)
  expect(await isRevoked(left)).toBe(true)
})

test('a chain that does not verify prevents no revocation', async () => {
  const { path, id } = await createAgentWithTokens(1)
  const { sql } = app.connection
  await sql`update workspace_links set statement = '' where workspace_id = ${workspace.workspaceId}`
  expect((await app.call(...stopping(`${path}tokens/${id}/`))).status).toBe(200)
})
