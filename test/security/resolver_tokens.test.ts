// tier: quick
/** Callers of the resolver: every invalid token gets the same 401. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  formatSealedToken,
  formatToken,
  mintToken,
  parseToken,
} from '../../src/core/crypto/token.ts'
import { messageOf } from '../../src/core/fault.ts'
import { deleteAgent, issueWorkloadToken } from '../../src/features/agents/contract.ts'
import { adviceFor } from '../../src/http/advice.ts'
import {
  type Agent,
  createAgentWithToken,
  type IssuedToken,
  openStage,
  recordOf,
  resolveAs,
  type Stage,
} from '../support/agent.ts'
import { callJson } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { rawRequest, sendRaw } from '../support/raw_http.ts'

const DAY_MS = 86_400_000

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_tokens') } })
}, 30_000)
afterAll(() => stage.stop())

const call = () => ({
  target_url: stage.url('/'),
  headers: { Authorization: 'Bearer SVC_SECRET_KEY' },
})
const refusal = { error_code: 'invalid_token', message: messageOf('invalid_token') }

async function records(): Promise<number> {
  await stage.app.flushAudit()
  const [row] = await stage.app.connection.sql<{ count: number }[]>`
    select count(*)::int as count from audit_logs where source = 'resolver'`
  return row?.count ?? 0
}

async function expectUnknown(token: string, body: unknown = call()) {
  const [sent, before] = [stage.upstream.bytes, await records()]
  const answer = await resolveAs(stage.app.resolver, token, body)
  expect({ status: answer.status, body: answer.body }).toEqual({ status: 401, body: refusal })
  expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  expect(stage.upstream.bytes).toBe(sent)
  expect(await records()).toBe(before)
}

/** A valid token with another token's secret. */
function withOtherSecret(token: string): string {
  const { id, secret } = parseToken(token) ?? mintToken('agt')
  return formatToken(
    'agt',
    id,
    secret.map((byte) => byte ^ 1),
  )
}

describe('the Authorization header', () => {
  const bad: [string, () => string[]][] = [
    ['missing', () => []],
    ['empty', () => ['Authorization:']],
    ['Basic', () => [`Authorization: Basic ${btoa(`x:${agent.token}`)}`]],
    ['without a scheme', () => [`Authorization: ${agent.token}`]],
    ['a bare scheme', () => ['Authorization: Bearer']],
    ['twice', () => [`Authorization: Bearer ${agent.token}`, 'Authorization: Bearer x']],
    [
      'twice the same',
      () => [`Authorization: Bearer ${agent.token}`, `Authorization: Bearer ${agent.token}`],
    ],
    ['a list', () => [`Authorization: Bearer ${agent.token}, Bearer ${agent.token}`]],
    ['with something after it', () => [`Authorization: Bearer ${agent.token} x`]],
  ]
  test.each(bad)(
    'the Authorization header is 401 with WWW-Authenticate when it is %s',
    async (_, lines) => {
      const body = JSON.stringify(call())
      const { text, statuses } = await sendRaw(
        stage.app.resolver,
        rawRequest(
          'POST /v1/resolve HTTP/1.1',
          [
            `Host: ${new URL(stage.app.resolver).host}`,
            'Content-Type: application/json',
            `Content-Length: ${body.length}`,
            'Connection: close',
            ...lines(),
          ],
          body,
        ),
      )
      expect(statuses).toEqual([401])
      expect(text).toMatch(/\r\nwww-authenticate: bearer\r\n/i)
      expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toEqual(refusal)
    },
  )

  test('the Authorization header names its scheme in any case', async () => {
    const headers = { authorization: `bearer ${agent.token}` }
    const { status } = await callJson(stage.app.resolver, 'POST', '/v1/resolve', {
      headers,
      body: call(),
    })
    expect(status).toBe(200)
  })
})

describe('a token', () => {
  test('a token in the query string is 401, and in no log', async () => {
    const path = `/v1/resolve?token=${agent.token}&access_token=${agent.token}`
    const answer = await callJson(stage.app.resolver, 'POST', path, { body: call() })
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 401, body: refusal })
    expect(stage.app.logs.join('')).not.toContain(agent.token)
  })

  test('a text that cannot be a token is rejected without a query', async () => {
    const { token } = agent
    const malformed = [
      '',
      'x',
      token.slice(0, -1),
      `${token}0`,
      `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`,
      token.replace('svc_agt_', 'svc_wkl_'),
      token.replace('svc_agt_', 'svc_xyz_'),
      `${token.slice(0, 20)}-${token.slice(21)}`,
      `svc_agt_${'z'.repeat(71)}`,
      token.toUpperCase(),
    ]
    await stage.app.connection.sql.begin(async (tx) => {
      await tx`lock table tokens in access exclusive mode`
      for (const text of malformed) {
        const { status, body } = await resolveAs(stage.app.resolver, text, call())
        expect({ text, status, body }).toEqual({ text, status: 401, body: refusal })
      }
    })
  })

  test('unknown, wrong, revoked and expired tokens, and those of a deleted agent, are the same 401', async () => {
    const { sql } = stage.app.connection
    const [revoked, expired, other] = [
      await agent.issue(),
      await agent.issue(),
      await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_other') } }),
    ] as const
    for (const { text } of [revoked, expired]) {
      expect(
        (await resolveAs(stage.app.resolver, text, { target_url: stage.url('/') })).status,
      ).toBe(200)
    }
    expect((await other.resolve(call())).status).toBe(200)
    await agent.revoke(revoked.id)
    await sql`update tokens set expires_at = clock_timestamp() - interval '1 ms' where id = ${expired.id}`
    await other.person.api.call(deleteAgent, {
      params: { workspace_id: other.workspaceId, registration_id: other.registrationId },
    })
    const doubtful = [
      mintToken('agt').text,
      withOtherSecret(agent.token),
      revoked.text,
      expired.text,
      other.token,
      mintToken('wkl').text,
    ]
    for (const text of doubtful) await expectUnknown(text)
    // A second time, with full caches; and with any body.
    for (const text of doubtful) await expectUnknown(text, 'not json')
  })

  test('a token with a wrong secret costs the same query as an unknown one, also when its row is cached', async () => {
    expect((await agent.resolve(call())).status).toBe(200)
    const order: string[] = []
    const note = async (name: string, token: string) => {
      const { status } = await resolveAs(stage.app.resolver, token, call())
      order.push(`${name} ${status}`)
    }
    const started: Promise<void>[] = []
    await stage.app.connection.sql.begin(async (tx) => {
      await tx`lock table tokens in access exclusive mode`
      started.push(note('wrong', withOtherSecret(agent.token)))
      started.push(note('unknown', mintToken('agt').text))
      for (let round = 0; round < 20; round += 1) await note('malformed', 'x')
      order.push('unlocked')
    })
    await Promise.all(started)
    expect(order.slice(0, 21)).toEqual([...Array(20).fill('malformed 401'), 'unlocked'])
    expect(order.slice(21).sort()).toEqual(['unknown 401', 'wrong 401'])
  })

  test('a token of another kind is 401: session, refresh, and one kind in the name of another', async () => {
    const { id, secret } = parseToken(agent.token) ?? mintToken('agt')
    const { person } = agent
    for (const text of [person.token, person.refresh, formatToken('wkl', id, secret)]) {
      await expectUnknown(text)
    }
    const sessions = formatToken('ses', id, secret)
    await expectUnknown(sessions)
  })

  test("an agent's token is 401 at the control plane, in every form", async () => {
    const { id, secret } = parseToken(agent.token) ?? mintToken('agt')
    for (const token of [
      agent.token,
      formatSealedToken(id, secret),
      formatToken('ses', id, secret),
    ]) {
      const { status, body, headers } = await stage.app.call('GET', '/api/workspaces/', { token })
      expect({ status, body }).toEqual({
        status: 401,
        body: { status: 'failure', ...refusal, request_id: expect.any(String) },
      })
      expect(headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test("a workload's token may call like an agent, under its label", async () => {
    const { api } = agent.person
    const order = await api.call(issueWorkloadToken, {
      params: { project_id: agent.projectId },
      body: { label: 'ci', environment: 'development' },
    })
    const answer = await resolveAs(stage.app.resolver, order.token ?? '', {
      target_url: stage.url('/'),
    })
    expect(answer.status).toBe(200)
    expect(await recordOf(stage.app, answer)).toMatchObject({
      identity_level: 'workload',
      agent_id: 'ci',
      registration_id: null,
      project_id: agent.projectId,
      environment: 'development',
    })
  })
})

describe('expiry is decided by the database', () => {
  const status = async ({ text }: IssuedToken) =>
    (await resolveAs(stage.app.resolver, text, { target_url: stage.url('/') })).status

  test('an expiry is decided by the database with the process a day ahead', async () => {
    const token = await agent.issue({ expires_in_days: 1 })
    stage.app.clock.advance(2 * DAY_MS)
    expect(await status(token)).toBe(200)
    stage.app.clock.advance(-2 * DAY_MS)
  })

  test('an expiry is decided by the database with the process a day behind, and caches warm', async () => {
    stage.app.clock.advance(-2 * DAY_MS)
    const token = await agent.issue({ expires_in_days: 1 })
    expect(await status(token)).toBe(200)
    await stage.app.connection.sql`
      update tokens set expires_at = clock_timestamp() - interval '1 ms' where id = ${token.id}`
    expect(await status(token)).toBe(401)
    stage.app.clock.advance(2 * DAY_MS)
  })
})

describe('the rate of a token', () => {
  test("a token's rate is 429 with Retry-After for that token alone, before the body and without a record", async () => {
    const slow = await openStage({ env: { RATE_TOKEN: '2/60' } })
    try {
      const [one, two] = [await createAgentWithToken(slow), await createAgentWithToken(slow)]
      const body = { target_url: slow.url('/') }
      expect([(await one.resolve(body)).status, (await one.resolve(body)).status]).toEqual([
        200, 200,
      ])
      const { status, body: refused, headers } = await one.resolve('not json')
      expect({ status, body: refused }).toEqual({
        status: 429,
        body: {
          error_code: 'rate_limited',
          message: messageOf('rate_limited'),
          ...adviceFor('rate_limited'),
        },
      })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await recordOf(slow.app, { headers })).toBeNull()
      expect((await two.resolve(body)).status).toBe(200)
      expect(slow.upstream.received.length).toBe(3)
    } finally {
      await slow.stop()
    }
  })

  test('the sealed form of a token counts for its rate, and each rejection is a record', async () => {
    const slow = await openStage({ env: { RATE_TOKEN: '2/60' } })
    try {
      const { token, tokenId } = await createAgentWithToken(slow)
      const { secret } = parseToken(token) ?? mintToken('agt')
      const statuses = []
      for (let round = 0; round < 4; round += 1) {
        statuses.push(
          (await resolveAs(slow.app.resolver, formatSealedToken(tokenId, secret), {})).status,
        )
      }
      expect(statuses).toEqual([403, 403, 429, 429])
    } finally {
      await slow.stop()
    }
  })
})
