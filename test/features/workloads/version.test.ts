// tier: quick
/** GET /api/workloads/version/ reports a change to a live token that may read, and nothing else. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { formatSealedToken, parseToken } from '../../../src/core/crypto/token.ts'
import { getVersion } from '../../../src/features/workloads/contract.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../../support/agent.ts'
import { callJson } from '../../support/app.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage({ env: { RATE_TOKEN: '10/3600' } })
})
afterAll(() => stage.stop())

const ask = (token: string, origin = stage.app.controlPlane) =>
  callJson(origin, 'GET', getVersion.path, { token })
const reader = () => createAgentWithToken(stage, { capabilities: ['read'] })

async function versionFor({ token }: Agent): Promise<number> {
  const { status, body } = await ask(token)
  expect(status).toBe(200)
  return (body as { version: number }).version
}

test('the version grows with a secret and stays without a change, in either form, on both listeners', async () => {
  const agent = await reader()
  const other = await reader()
  const first = await versionFor(agent)
  expect(await versionFor(agent)).toBe(first)
  await other.store('FOREIGN', 'value')
  expect(await versionFor(agent)).toBe(first)
  await agent.store('KEY', 'value')
  const second = await versionFor(agent)
  expect(second).toBeGreaterThan(first)
  const sealed = formatSealedToken(
    agent.tokenId,
    parseToken(agent.token)?.secret ?? new Uint8Array(),
  )
  for (const origin of [stage.app.controlPlane, stage.app.resolver]) {
    for (const token of [agent.token, sealed])
      expect((await ask(token, origin)).body).toEqual({ version: second })
  }
  await stage.app.flushAudit()
  const { sql } = stage.app.connection
  const records = await sql`select id from audit_logs where token_id = ${agent.tokenId}`
  expect(records.length).toBe(0)
})

test('the version counts against the rate of the token', async () => {
  const agent = await reader()
  for (let count = 0; count < 10; count += 1) await versionFor(agent)
  expect(await ask(agent.token)).toMatchObject({
    status: 429,
    body: { error_code: 'rate_limited' },
  })
})
