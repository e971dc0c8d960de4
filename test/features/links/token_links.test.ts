// tier: quick, both databases always
/** A bearer that may read gets the links to verify its delivery with; on both listeners. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { storedLinks } from '../../support/signed.ts'
import { type SignedRows, signedRows } from '../../support/signed_rows.ts'

let app: TestApp
let rows: SignedRows

beforeAll(async () => {
  app = await sharedApp()
  const stage = { app, authorityOf: (name: string) => name }
  rows = await signedRows(stage, { capabilities: ['read'], domains: ['a.example'] })
})

async function read(listener: 'controlPlane' | 'resolver', token: string, query = '') {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${app[listener]}/v1/links/${query}`, { headers })
  return { status: response.status, body: await response.json() }
}

describe.each(['controlPlane', 'resolver'] as const)('on the %s', (listener) => {
  test('a token gets the links of its workspace without an envelope, in either form', async () => {
    const links = await storedLinks(app, rows.workspaceId)
    for (const token of [rows.token, rows.sealed]) {
      const { status, body } = await read(listener, token)
      expect({ status, body }).toEqual({
        status: 200,
        body: links.map((link, at) => ({ seq: at + 1, ...link })),
      })
      expect(body.length).toBeGreaterThan(1)
      expect((await read(listener, token, '?after=1')).body).toEqual(body.slice(1))
    }
  })

  test('an invalid sequence number is rejected', async () => {
    expect(await read(listener, rows.token, '?after=x')).toMatchObject({ status: 422 })
  })
})

test('a token that only the chain revoked gets no links, and an older chain is rejected', async () => {
  const stage = { app, authorityOf: (name: string) => name }
  const revoked = await signedRows(stage, { capabilities: ['read'] })
  await revoked.link({ type: 'tokens.revoked', body: { token_ids: [revoked.tokenId] } })
  const other = await signedRows(stage, { capabilities: ['read'] })
  await app.connection.sql`delete from workspace_links where workspace_id = ${other.workspaceId}`
  for (const listener of ['controlPlane', 'resolver'] as const) {
    expect(await read(listener, revoked.token)).toMatchObject({ status: 401 })
    expect(await read(listener, other.token)).toMatchObject({ status: 409 })
    expect(await read(listener, rows.token)).toMatchObject({ status: 200 })
  }
})

test('a revoked token gets no links', async () => {
  await app.connection.sql`update tokens set revoked_at = now() where id = ${rows.tokenId}`
  expect(await read('controlPlane', rows.token)).toMatchObject({ status: 401 })
})
