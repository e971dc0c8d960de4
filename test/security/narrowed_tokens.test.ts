// tier: quick
/**
 * A narrowed token, which an SDK uses as its API key, is useless at other hosts and for other secrets, whatever the
 * workspace allows and whatever the database contains beside the grant.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { openApi } from '../../src/client/http/api.ts'
import { tokens } from '../../src/database/schema/index.ts'
import {
  issueWorkloadToken,
  listAgentTokens,
  listWorkloadTokens,
} from '../../src/features/agents/contract.ts'
import { listCredentials, listDomains, listShapes } from '../../src/resolver/contract.ts'
import {
  type Agent,
  createAgentWithToken,
  resolveAs,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { callJson } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { type SignedRows, signedRows } from '../support/signed_rows.ts'
import { clientMade, mint, signedProject } from '../support/statements.ts'

const OTHER = 'other.upstream.example'
const PARTS = 'https://ada:secret-of-the-part@db.example/'
let stage: Stage
let agent: Agent
let narrowed: { text: string; id: string }

beforeAll(async () => {
  stage = await sharedStage({ names: [OTHER] })
  const secrets = {
    KEY: marked('key'),
    OTHER_KEY: marked('other'),
    URL: PARTS,
    URL__KEY: marked('own'),
  }
  const domains = [stage.authorityOf(), stage.authorityOf(OTHER)]
  agent = await createAgentWithToken(stage, { secrets, domains })
  narrowed = await agent.issue({ hosts: [stage.authorityOf()], secrets: ['KEY', 'URL'] })
  await agent.provision(narrowed as never)
})
afterAll(() => stage.stop())

const using = (name: string, host?: string) => ({
  target_url: stage.url('/x', host),
  headers: { 'x-key': `SVC_SECRET_${name}` },
})
const forward = (path: string, name: string) =>
  fetch(`${stage.app.resolver}/v1/forward/${path}`, {
    headers: { authorization: `Bearer ${narrowed.text}.SVC_SECRET_${name}` },
  })

describe('a narrowed token', () => {
  test('a narrowed token is usable for its hosts and secrets, and for parts of them', async () => {
    for (const name of ['KEY', 'URL__PASSWORD']) {
      const answer = await resolveAs(stage.app.resolver, narrowed.text, using(name))
      expect([name, answer.status]).toEqual([name, 200])
    }
    expect((await forward(`${stage.authorityOf()}/x`, 'KEY')).status).toBe(200)
  })

  test.each([
    ['another allowed host', () => using('KEY', OTHER), OTHER],
    ['a host that nobody allowed', () => using('KEY', 'none.example'), 'none.example'],
    ['another secret', () => using('OTHER_KEY'), 'OTHER_KEY'],
  ])('a narrowed token is rejected for %s', async (_, call, named) => {
    const before = stage.upstream.bytes
    const { status, body } = await resolveAs(stage.app.resolver, narrowed.text, call())
    expect([status, body]).toMatchObject([403, { error_code: 'scope_required' }])
    expect(JSON.stringify(body)).toContain(named)
    const option = named === 'OTHER_KEY' ? '--secret' : '--host'
    const wanted = expect.stringMatching(new RegExp(`^${named}(:\\d+)?$`))
    expect((body as { fix?: unknown }).fix).toEqual({
      command: ['cloakroom', 'token', 'issue', expect.stringMatching(/^agent-/), option, wanted],
    })
    const forwarded = await forward(`${stage.authorityOf(OTHER)}/x`, 'KEY')
    expect([forwarded.status, await forwarded.json()]).toMatchObject([
      403,
      { error_code: 'scope_required' },
    ])
    expect(stage.upstream.bytes).toBe(before)
  })

  test('a narrowed token cannot use another secret that is named like a part of its secret', async () => {
    const { status, body } = await resolveAs(stage.app.resolver, narrowed.text, using('URL__KEY'))
    expect([status, (body as { error_code?: string }).error_code]).not.toEqual([200, undefined])
    expect(JSON.stringify(stage.upstream.received)).not.toContain('own')
  })

  test('a narrowed token lists its own hosts and secrets, and no others', async () => {
    const api = openApi(stage.app.resolver, () => narrowed.text)
    const credentials = await api.call(listCredentials, {})
    const shapes = await api.call(listShapes, { query: {} })
    const { domains } = await api.call(listDomains, {})
    expect(credentials.map(({ name }) => name)).toEqual(['KEY', 'URL'])
    expect(shapes.map(({ name }) => name).sort()).toEqual(['KEY', 'URL'])
    expect(domains).toEqual([stage.authorityOf()])
    const params = { workspace_id: agent.workspaceId, registration_id: agent.registrationId }
    const listed = await agent.person.api.list(listAgentTokens, { params })
    expect(listed.map(({ hosts, secrets }) => ({ hosts, secrets }))).toEqual([
      { hosts: null, secrets: null },
      { hosts: [stage.authorityOf()], secrets: ['KEY', 'URL'] },
    ])
  })

  test.each([
    ['with read', { secrets: ['KEY'], capabilities: ['use', 'read'] }, 'capabilities'],
    ['with a URL for a host', { hosts: ['https://api.stripe.com/v1'] }, 'hosts.0'],
    ['with no host at all', { hosts: [] }, 'hosts'],
    ['with an invalid name', { secrets: ['no name'] }, 'secrets.0'],
    [
      'with limits and read',
      { limits: { calls_per_day: 1 }, capabilities: ['read'] },
      'capabilities',
    ],
    ['with a limit of nothing', { limits: { calls_per_day: 0 } }, 'limits.calls_per_day'],
    ['with limits that limit nothing', { limits: { calls_per_day: null } }, 'limits'],
    ['with an unknown limit', { limits: { calls_per_year: 1 } }, 'limits'],
  ])('a narrowed token is not issued %s', async (_, body, path) => {
    const url = `/api/workspaces/${agent.workspaceId}/agents/${agent.registrationId}/tokens/`
    const { status, body: answer } = await callJson(stage.app.controlPlane, 'POST', url, {
      token: agent.person.token,
      body,
    })
    expect([status, answer]).toMatchObject([422, { error_code: 'validation_error' }])
    expect(JSON.stringify(answer)).toContain(path)
  })
})

describe('in a signed workspace', () => {
  const none = { calls_per_day: null, concurrent_calls: null, bytes_per_day: 10_000_000_000 }
  const limits = { calls_per_minute: 1, ...none, model_tokens_per_day: null }
  type Stored = Pick<typeof tokens.$inferInsert, 'hosts' | 'secrets' | 'limits'>
  let rows: SignedRows

  // A process on the embedded database gets no notice of a row that is written directly, so each case has its own
  // rows.
  const openRows = async () => {
    rows = await signedRows(stage, {
      secrets: { KEY: marked('signed'), OTHER_KEY: marked('signed2') },
      domains: [stage.authorityOf(), stage.authorityOf(OTHER)],
    })
  }

  const narrow = async (stored: Stored, granted: object) => {
    const { db } = stage.app.connection
    await db.update(tokens).set(stored).where(eq(tokens.id, rows.tokenId))
    await rows.grant(granted as never)
    await stage.app.connection.sql`update workspaces set policy_version = policy_version + 1
      where id = ${rows.workspaceId}`
  }
  test('a token is issued with the limits of its grant', async () => {
    const project = await signedProject(stage.app)
    const { api } = project.owner
    const params = { project_id: project.projectId }
    const order = async (more: object) => ({
      token: await clientMade(project, mint(), { capabilities: ['use'], v: 3, ...more } as never),
    })
    const narrowed = { hosts: ['api.example.com'], secrets: ['KEY'], limits: null }
    await api.call(issueWorkloadToken, { params, body: await order(narrowed) })
    const [listed] = await api.list(listWorkloadTokens, { params })
    expect(listed).toMatchObject({ hosts: ['api.example.com'], secrets: ['KEY'], limits: null })
    const limited = await order({ ...narrowed, limits, label: 'limited' })
    await api.call(issueWorkloadToken, { params, body: { ...limited, limits } })
    expect((await api.list(listWorkloadTokens, { params }))[1]).toMatchObject({ limits })
    const refusals: [Record<string, unknown>, object][] = [
      [{ ...narrowed, limits, label: 'a' }, { limits: { ...limits, calls_per_minute: 2 } }],
      [{ ...narrowed, label: 'd' }, { limits }],
      [{ ...narrowed, capabilities: ['use', 'read'], label: 'b' }, {}],
      [{ ...narrowed, label: 'c' }, { hosts: ['other.example.com'] }],
    ]
    for (const [more, beside] of refusals) {
      const body = { ...(await order(more)), ...beside }
      await expect(api.call(issueWorkloadToken, { params, body })).rejects.toMatchObject({
        code: 'link_refused',
      })
    }
  })

  const own = (): Stored => ({ hosts: [stage.authorityOf()], secrets: ['KEY'] })

  test('the grant narrows, and a row that differs is rejected', async () => {
    const cases: [string, Stored, object, number, number][] = [
      ['as granted', own(), { v: 3, ...own(), limits: null }, 200, 403],
      ['not narrowed', { hosts: null, secrets: null }, {}, 200, 200],
      [
        'wider than granted',
        { hosts: null, secrets: null },
        { v: 3, ...own(), limits: null },
        409,
        409,
      ],
      [
        'other secrets',
        { ...own(), secrets: ['OTHER_KEY'] },
        { v: 3, ...own(), limits: null },
        409,
        409,
      ],
      ['without the granted limits', own(), { v: 3, ...own(), limits }, 409, 409],
      [
        'with limits that nobody granted',
        { ...own(), limits },
        { v: 3, ...own(), limits: null },
        409,
        429,
      ],
      [
        'with higher limits than granted',
        { ...own(), limits: { ...limits, calls_per_minute: 99 } },
        { v: 3, ...own(), limits },
        409,
        409,
      ],
      [
        'with lower limits than granted',
        { ...own(), limits: { ...limits, calls_per_minute: 9 } },
        { v: 3, ...own(), limits: { ...limits, calls_per_minute: 10 } },
        409,
        409,
      ],
      [
        'with other keys in the limits',
        { ...own(), limits: { ...limits, more: 1 } as never },
        { v: 3, ...own(), limits },
        409,
        429,
      ],
    ]
    for (const [name, stored, granted, inside, outside] of cases) {
      await openRows()
      await narrow(stored, granted)
      const statuses: number[] = []
      for (const call of [using('KEY'), using('KEY', OTHER), using('OTHER_KEY')])
        statuses.push((await rows.resolve(call)).status)
      expect([name, ...statuses]).toEqual([name, inside, outside, outside])
    }
  })
})
