// tier: quick, both databases in test:all
/** Agents propose hosts and secrets; members close proposals; the server changes nothing else (protocol 14.4). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { closeProposal, listProposals } from '../../../src/features/proposals/contract.ts'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../../support/agent.ts'
import { type Answer, callJson } from '../../support/app.ts'
import { marked } from '../../support/canary.ts'

const VALUE = marked('sk_live_proposal_')
const REASON = 'The deploy script posts to this API'

let stage: Stage
let agent: Agent
beforeAll(async () => {
  stage = await sharedStage()
})
afterAll(() => stage.stop())
beforeEach(async () => {
  agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE } })
})

const propose = (body: object, token = agent.token): Promise<Answer> =>
  callJson(stage.app.resolver, 'POST', '/v1/proposals', {
    token,
    body: { reason: REASON, ...body },
  })
const show = (id: string, token = agent.token) =>
  callJson(stage.app.resolver, 'GET', `/v1/proposals/${id}`, { token })
const idOf = ({ body }: Answer) => (body as { id: string }).id
const workspace = () => ({ workspace_id: agent.workspaceId })
const listed = () => agent.person.api.list(listProposals, { params: workspace() })
const close = (proposal_id: string, status: 'accepted' | 'rejected') =>
  agent.person.api.call(closeProposal, {
    params: { ...workspace(), proposal_id },
    body: { status },
  })
/** An error names the field in its sentence. */
const expectComplaint = ({ status, body }: Answer, path: string, about = '') => {
  expect([status, body]).toEqual([
    422,
    { error_code: 'validation_error', message: expect.any(String), docs: expect.any(String) },
  ])
  const { message } = body as { message: string }
  expect(message).toContain(path)
  expect(message).toContain(about)
}

test('a proposal is open for seven days, visible to its token and to members, and recorded', async () => {
  const answer = await propose({
    hosts: ['b.example.com', 'A.example.com:8443'],
    secrets: [{ key: 'DEPLOY_KEY', description: 'May create deploys' }, { key: 'OTHER' }],
  })
  const state = { id: expect.any(String), status: 'open', expires_at: expect.any(String) }
  expect([answer.status, answer.body]).toEqual([201, state])
  const { id, expires_at } = answer.body as { id: string; expires_at: string }
  const days = (Date.parse(expires_at) - Date.now()) / 86_400_000
  expect(Math.round(days)).toBe(7)
  expect((await show(id)).body).toEqual(answer.body)
  expect(await listed()).toMatchObject([
    {
      ...{ id, status: 'open', expires_at, reason: REASON, token_id: agent.tokenId },
      hosts: ['a.example.com:8443', 'b.example.com'],
      secrets: [
        { key: 'DEPLOY_KEY', description: 'May create deploys' },
        { key: 'OTHER', description: null },
      ],
      closed_by: null,
    },
  ])
  await stage.app.flushAudit()
  expect(
    await stage.app.connection.sql`select action, decision, status_code from audit_logs
      where token_id = ${agent.tokenId}`,
  ).toMatchObject([{ action: 'proposal.created', decision: 'allowed', status_code: 201 }])
})

test('equal content is the same proposal, also with another reason and after a rejection', async () => {
  const id = idOf(await propose({ hosts: ['a.example.com'], secrets: [{ key: 'NEW' }] }))
  const again = { reason: 'Please', hosts: ['a.example.com'], secrets: [{ key: 'NEW' }] }
  expect((await propose(again)).body).toMatchObject({ id, status: 'open' })
  await close(id, 'rejected')
  expect((await propose(again)).body).toMatchObject({ id, status: 'rejected' })
  expect(idOf(await propose({ hosts: ['b.example.com'] }))).not.toBe(id)
})

test('an expired proposal is opened again, and is not listed as open before', async () => {
  const id = idOf(await propose({ hosts: ['a.example.com'] }))
  const { sql } = stage.app.connection
  await sql`update proposals set expires_at = now() - interval '1 second' where id = ${id}`
  expect((await show(id)).body).toMatchObject({ status: 'expired' })
  expect((await propose({ hosts: ['a.example.com'] })).body).toMatchObject({ id, status: 'open' })
})

describe('a rejected proposal', () => {
  test.each<[string, object, string]>([
    ['for nothing', {}, 'hosts'],
    ['for a wildcard', { hosts: ['*.example.com'] }, 'hosts.0'],
    ['for a URL', { hosts: ['https://a.example.com'] }, 'hosts.0'],
    [
      'for 21 hosts',
      { hosts: Array.from({ length: 21 }, (_, at) => `h${at}.example.com`) },
      'hosts',
    ],
    ['for a name that cannot be one', { secrets: [{ key: '1 A' }] }, 'secrets.0.key'],
    ['for a secret that exists', { secrets: [{ key: 'KEY' }] }, 'secrets.0.key'],
    [
      'with a reason of 301 characters',
      { hosts: ['a.example.com'], reason: 'x'.repeat(301) },
      'reason',
    ],
    ['with a control character', { hosts: ['a.example.com'], reason: 'a\u001b[2J' }, 'reason'],
  ])('%s', async (_, body, path) => {
    const answer = await propose(body)
    expectComplaint(answer, path)
    expect(await listed()).toEqual([])
  })

  test('a proposal for an allowed host is rejected', async () => {
    const answer = await propose({ hosts: [stage.authorityOf()] })
    expectComplaint(answer, 'hosts.0', 'is an allowed host already')
  })

  test('a proposal with a token or a value in any text, in any encoding that the guard detects, is rejected', async () => {
    const hosts = ['a.example.com']
    const secrets = [{ key: 'NEW', description: `use ${btoa(VALUE)}` }]
    const values = [
      { hosts, reason: VALUE },
      { hosts, secrets },
    ]
    for (const body of [...values, { hosts, reason: `I am ${agent.token}` }]) {
      const answer = await propose(body)
      expectComplaint(answer, '', 'must not contain')
      expect(JSON.stringify(answer.body)).not.toContain(VALUE)
    }
    expect(await listed()).toEqual([])
  })

  test('a proposal beyond 20 open ones of a token is rejected, until one is closed', async () => {
    const ids: string[] = []
    for (let at = 0; at < 20; at++) ids.push(idOf(await propose({ hosts: [`h${at}.example.com`] })))
    const answer = await propose({ hosts: ['more.example.com'] })
    expect(answer).toMatchObject({ status: 429, body: { error_code: 'rate_limited' } })
    expect(answer.headers.get('retry-after')).toBe('3600')
    await close(ids[0] ?? '', 'rejected')
    expect((await propose({ hosts: ['more.example.com'] })).status).toBe(201)
  })

  test('a proposal of a revoked token is rejected', async () => {
    await stage.app.connection.sql`update tokens set revoked_at = now() where id = ${agent.tokenId}`
    expect((await propose({ hosts: ['a.example.com'] })).status).toBe(401)
    expect((await propose({ hosts: 1 })).status).toBe(401)
  })
})

test("a token cannot see another token's proposals", async () => {
  const id = idOf(await propose({ hosts: ['a.example.com'] }))
  const other = await createAgentWithToken(stage, {})
  expect((await show(id, other.token)).status).toBe(404)
  expect((await show(Bun.randomUUIDv7())).status).toBe(404)
})

test('closing is recorded once, and a closed proposal keeps its status', async () => {
  const id = idOf(await propose({ hosts: ['a.example.com'] }))
  await close(id, 'accepted')
  await close(id, 'accepted')
  await expect(close(id, 'rejected')).rejects.toMatchObject({ code: 'conflict' })
  expect((await show(id)).body).toMatchObject({ status: 'accepted' })
  const { sql } = stage.app.connection
  const [row] = await sql`select closed_by, closed_at from proposals where id = ${id}`
  expect(row).toMatchObject({ closed_by: expect.any(String), closed_at: expect.anything() })
})
