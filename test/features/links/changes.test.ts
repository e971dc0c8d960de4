// tier: quick, both databases always
/** Links are stored with their change, in one order, and both or neither. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { toBase64 } from '../../../src/core/crypto/encoding.ts'
import { workspaceLinks } from '../../../src/database/schema/index.ts'
import { acceptLink, type Claim } from '../../../src/features/links/index.ts'
import { type Chain, extend, identityOf, type SignedText } from '../../../src/sigchain/index.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { preparedDatabase, type TestDatabase } from '../../support/database.ts'
import {
  personOf,
  type Said,
  type SignedPerson,
  type SignedWorkspace,
  signedAccount,
  signedBy,
  signedId,
  signedWorkspace,
  storedLinks,
} from '../../support/signed.ts'

let database: TestDatabase
let app: TestApp
let ada: SignedPerson
let workspace: SignedWorkspace

beforeAll(async () => {
  database = await preparedDatabase()
  app = await startTestApp({}, { database })
  ada = await signedAccount(app, 'ada')
  workspace = await signedWorkspace(app, ada)
})
afterAll(async () => {
  await app.stop()
  database.remove()
})

const path = () => `/api/workspaces/${workspace.workspaceId}/allowlist/`

function allowed(chain: Chain, domain: string, signer = ada): Promise<SignedText> {
  return signedBy(signer, chain, { type: 'allowlist.changed', body: { add: [domain], remove: [] } })
}

/** Acts as a client: reads and signs again while another one was first. Returns the number of tries. */
async function allow(domain: string, signer: SignedPerson, known: Chain): Promise<number> {
  let chain = known
  for (let tries = 1; ; tries += 1) {
    const body = { domain, link: await allowed(chain, domain, signer) }
    const answer = await app.call('POST', path(), { token: signer.token, body })
    if (answer.status === 201) return tries
    expect(answer).toMatchObject({ status: 409, body: { error_code: 'conflict' } })
    chain = await workspace.chain()
  }
}

test('each of several concurrent clients succeeds, and no change is lost', async () => {
  const bob = await workspace.join('admin')
  const domains = Array.from({ length: 6 }, (_, at) => `at-once-${at}.example`)
  const known = await workspace.chain()
  const tries = await Promise.all(domains.map((name, at) => allow(name, at % 2 ? bob : ada, known)))
  expect(tries.filter((count) => count === 1)).toHaveLength(1)
  expect([...(await workspace.chain()).allowlist].sort()).toEqual(domains)
})

test('a change that fails after its link leaves no link', async () => {
  const { sql } = app.connection
  const before = await workspace.chain()
  await sql`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'refused by the test'; end $$`
  await sql`create trigger refuse before insert on allowlist_log execute function refuse()`
  const body = { domain: 'fails.example', link: await allowed(before, 'fails.example') }
  const send = () => app.call('POST', path(), { token: ada.token, body })
  expect((await send()).status).toBe(500)
  expect((await workspace.chain()).seq).toBe(before.seq)
  await sql`drop trigger refuse on allowlist_log`
  expect((await send()).status).toBe(201)
})

test('a chain of the maximum length accepts no further link', async () => {
  const { workspaceId } = workspace
  const chain = await workspace.chain()
  const said = { type: 'tokens.revoked' as const, body: { token_ids: [signedId()] } }
  const link = await signedBy(ada, chain, said)
  const most = 64 * 1_048_576 - link.statement.length
  const accept = (before: Chain) =>
    app.connection.db.transaction((tx) => {
      const changing = { tx, grant: { workspaceId, userId: ada.userId } }
      return acceptLink(changing, before, link, said)
    })
  for (const full of [{ seq: 100_000 }, { size: most + 1 }]) {
    await expect(accept({ ...chain, ...full })).rejects.toMatchObject({
      code: 'link_refused',
      message: 'The chain has reached its maximum length.',
    })
  }
  expect((await accept({ ...chain, size: most }))?.size).toBe(64 * 1_048_576)
})

test('rotations of a reader leave room in the chain for links that revoke access', async () => {
  const { workspaceId } = workspace
  const reader = await workspace.join('read_only')
  const chain = await workspace.chain()
  const [seed, token] = [crypto.getRandomValues(new Uint8Array(32)), signedId()]
  const { signing_key, public_key } = await identityOf(seed)
  const rotated: Claim = { type: 'keys.rotated', body: { signing_key, public_key } }
  const removed: Claim = { type: 'members.removed', body: { user_ids: [reader.userId] } }
  const members = [{ ...personOf(reader), role: 'member' as const }]
  const advanced = { epoch: 2, key_commitment: toBase64(seed) }
  const accept = async (signer: SignedPerson, said: Claim, size: number) => {
    const link = await signedBy(signer, chain, said as Said)
    const { db } = app.connection
    const rolledBack = new Error('rolled back')
    const found = db.transaction(async (tx) => {
      const changing = { tx, grant: { workspaceId, userId: signer.userId } }
      await acceptLink(changing, { ...chain, size }, link, said)
      throw rolledBack
    })
    return found.catch((error) => (error === rolledBack ? 'taken' : error.message))
  }
  const full = 'The chain has reached its maximum length.'
  const nearly = 63 * 1_048_576
  const adds: Claim = { type: 'allowlist.changed', body: { add: ['more.example'], remove: [] } }
  expect(await accept(reader, rotated, 1_048_576)).toBe('taken')
  expect(await accept(reader, rotated, nearly)).toBe(full)
  expect(await accept(ada, adds, nearly)).toBe(full)
  const ending: Claim[] = [
    rotated,
    removed,
    { type: 'members.put', body: { members } },
    { type: 'tokens.revoked', body: { token_ids: [token] } },
    { type: 'epoch.advanced', body: advanced },
    { type: 'workspace.deleted', body: {} },
  ]
  for (const said of ending)
    expect([said.type, await accept(ada, said, nearly)]).toEqual([said.type, 'taken'])
  expect(await accept(reader, removed, nearly)).toBe('taken')
})

test('a link alone increments the policy version', async () => {
  const { db, sql } = app.connection
  const { workspaceId } = workspace
  const version = async () => {
    const [row] = await sql`select policy_version from workspaces where id = ${workspaceId}`
    return Number(row?.policy_version)
  }
  const before = await version()
  const chain = await workspace.chain()
  const { statement, signature } = await allowed(chain, 'alone.example')
  const row = { workspaceId, seq: chain.seq + 1, statement }
  await db.insert(workspaceLinks).values({ ...row, signature: Buffer.from(signature, 'base64') })
  expect(await version()).toBeGreaterThan(before)
})

test('a process that has just started verifies a long chain before it accepts a link', async () => {
  const { workspaceId } = workspace
  let chain = await workspace.chain()
  const rows = []
  for (let at = 0; at < 250; at += 1) {
    const link = await allowed(chain, `long-${at}.example`)
    chain = await extend(chain, [link])
    rows.push({ ...link, workspaceId, seq: chain.seq })
  }
  await app.connection.db
    .insert(workspaceLinks)
    .values(rows.map((row) => ({ ...row, signature: Buffer.from(row.signature, 'base64') })))
  await app.stop()
  app = await startTestApp({}, { database })
  const body = { domain: 'after.example', link: await allowed(chain, 'after.example') }
  const answer = await app.call('POST', path(), { token: ada.token, body })
  expect(answer).toMatchObject({ status: 201, body: { data: [{ domain: 'after.example' }] } })
  const links = await storedLinks(app, workspaceId, chain.seq)
  expect(links).toEqual([body.link])
})
