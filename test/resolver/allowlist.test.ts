// tier: quick
/** GET /v1/allowlist returns the current allowlist to a live token only. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { formatSealedToken, parseToken } from '../../src/core/crypto/token.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage({ env: { RATE_TOKEN: '3/3600' } })
})
afterAll(() => stage.stop())

async function ask(token: string) {
  const response = await fetch(`${stage.app.resolver}/v1/allowlist`, {
    headers: { authorization: `Bearer ${token}` },
  })
  return { status: response.status, body: await response.json(), headers: response.headers }
}

const domainsOf = async ({ token }: Agent) => {
  const { body } = await ask(token)
  return (body as { domains: string[] }).domains.toSorted()
}

test("the resolver lists the domains of the token's workspace, up to date with every change, and leaves no record", async () => {
  const agent = await createAgentWithToken(stage, {
    domains: ['*.example.com', 'api.example.org:8443'],
  })
  await createAgentWithToken(stage, { domains: ['foreign.example'] })
  expect(await domainsOf(agent)).toEqual(['*.example.com', 'api.example.org:8443'])
  await agent.allow('new.example')
  expect(await domainsOf(agent)).toEqual(['*.example.com', 'api.example.org:8443', 'new.example'])
  await agent.disallow('*.example.com')
  expect(await domainsOf(agent)).toEqual(['api.example.org:8443', 'new.example'])
  const { sql } = stage.app.connection
  await stage.app.flushAudit()
  const records = await sql`select id from audit_logs where token_id = ${agent.tokenId}`
  expect(records.length).toBe(0)
})

test('the list includes a change that arrived without a notice', async () => {
  const agent = await createAgentWithToken(stage, { domains: ['one.example'] })
  expect(await domainsOf(agent)).toEqual(['one.example'])
  await stage.app.connection.sql`
    delete from allowlist_entries where workspace_id = ${agent.workspaceId}`
  expect(await domainsOf(agent)).toEqual([])
})

test('a list counts against the rate of the token', async () => {
  const agent = await createAgentWithToken(stage)
  for (let count = 0; count < 3; count += 1) expect((await ask(agent.token)).status).toBe(200)
  const { status, body, headers } = await ask(agent.token)
  expect({ status, body }).toMatchObject({ status: 429, body: { error_code: 'rate_limited' } })
  expect(headers.has('retry-after')).toBe(true)
})

test('the list rejects the sealed form of a token', async () => {
  const agent = await createAgentWithToken(stage)
  const parsed = parseToken(agent.token)
  const sealed = formatSealedToken(agent.tokenId, parsed?.secret ?? new Uint8Array())
  expect(await ask(sealed)).toMatchObject({ status: 403, body: { error_code: 'scope_required' } })
})
