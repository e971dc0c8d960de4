// tier: quick
/** Every endpoint that authenticates its caller, on both listeners, by hand: the same 401, without a query. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { formatToken, mintToken, parseToken } from '../../src/core/crypto/token.ts'
import { messageOf } from '../../src/core/fault.ts'
import { issueWorkloadToken } from '../../src/features/agents/contract.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { rawRequest, sendRaw } from '../support/raw_http.ts'

let stage: Stage
let agent: Agent
let workload: string

beforeAll(async () => {
  stage = await openStage()
  agent = await createAgentWithToken(stage, {
    secrets: { KEY: marked('sk_live_authorization') },
    capabilities: ['use', 'read'],
  })
  const issued = await agent.person.api.call(issueWorkloadToken, {
    params: { project_id: agent.projectId },
    body: { label: 'ci', environment: 'development' },
  })
  workload = issued.token ?? ''
}, 30_000)
afterAll(() => stage.stop())

type Route = {
  name: string
  surface: 'control-plane' | 'resolver'
  line: string
  /** A valid token. */
  token(): string
}

const routes: Route[] = [
  {
    name: 'a call of a person',
    surface: 'control-plane',
    line: 'GET /api/users/me/ HTTP/1.1',
    token: () => agent.person.token,
  },
  {
    name: 'a report to the audit',
    surface: 'control-plane',
    line: 'POST /api/internal/audit/logs/ HTTP/1.1',
    token: () => agent.token,
  },
  {
    name: 'a delivery by the control plane',
    surface: 'control-plane',
    line: 'POST /api/workloads/env/ HTTP/1.1',
    token: () => workload,
  },
  {
    name: 'a delivery by the resolver',
    surface: 'resolver',
    line: 'POST /api/workloads/env/ HTTP/1.1',
    token: () => workload,
  },
  {
    name: 'the version of what is delivered',
    surface: 'control-plane',
    line: 'GET /api/workloads/version/ HTTP/1.1',
    token: () => workload,
  },
  {
    name: 'a call through the resolver',
    surface: 'resolver',
    line: 'POST /v1/resolve HTTP/1.1',
    token: () => agent.token,
  },
  {
    name: 'the list of domains',
    surface: 'resolver',
    line: 'GET /v1/allowlist HTTP/1.1',
    token: () => agent.token,
  },
  {
    name: 'a forwarded call',
    surface: 'resolver',
    line: 'GET /v1/forward/api.upstream.example/x HTTP/1.1',
    token: () => agent.token,
  },
]

async function sendTo({ surface, line }: Route, headers: readonly string[]) {
  const origin = surface === 'resolver' ? stage.app.resolver : stage.app.controlPlane
  const lines = ['Host: localhost', 'Connection: close', ...headers]
  const body = line.startsWith('POST') ? 'not json' : ''
  if (body) lines.push('Content-Type: application/json', `Content-Length: ${body.length}`)
  return sendRaw(origin, rawRequest(line, lines, body))
}

async function expectUnknown(route: Route, what: string, headers: readonly string[]) {
  const { statuses, text } = await sendTo(route, headers)
  const refusal = { error_code: 'invalid_token', message: messageOf('invalid_token') }
  const [head = '', body = ''] = text.split('\r\n\r\n')
  // Forward mode repeats code and sentence in the fields that SDKs read.
  const { error, ...said } = JSON.parse(body || '{}')
  const isForward = route.line.includes('/v1/forward/')
  if (isForward) {
    const { error_code: code, message } = refusal
    expect(error).toEqual({ type: 'authentication_error', code, message })
  } else expect(error).toBeUndefined()
  expect({ what, statuses, body: said }).toEqual({
    what,
    statuses: [401],
    body:
      route.surface === 'resolver'
        ? refusal
        : { status: 'failure', ...refusal, request_id: expect.any(String) },
  })
  const schemes = isForward ? 'bearer, basic realm="cloakroom"' : 'bearer'
  expect(head.toLowerCase()).toContain(`\r\nwww-authenticate: ${schemes}\r\n`)
}

/** Header lines without an acceptable token, by their error. */
function badHeaders(good: string): [string, string[]][] {
  return [
    ['nothing', []],
    ['empty', ['Authorization:']],
    ['Basic', [`Authorization: Basic ${btoa(`x:${good}`)}`]],
    ['Digest', [`Authorization: Digest ${good}`]],
    ['without a scheme', [`Authorization: ${good}`]],
    ['a bare scheme', ['Authorization: Bearer']],
    ['a bare scheme and spaces', ['Authorization: Bearer   ']],
    ['twice the same', [`Authorization: Bearer ${good}`, `Authorization: Bearer ${good}`]],
    ['good, then bad', [`Authorization: Bearer ${good}`, 'Authorization: Bearer x']],
    ['bad, then good', ['Authorization: Bearer x', `Authorization: Bearer ${good}`]],
    ['a list', [`Authorization: Bearer ${good}, Bearer ${good}`]],
    ['something after it', [`Authorization: Bearer ${good} x`]],
    ['quoted', [`Authorization: Bearer "${good}"`]],
    ['percent-encoded', [`Authorization: Bearer ${good.replace('_', '%5F')}`]],
  ]
}

/** Texts that cannot be a token, whatever the database contains. */
function damaged(good: string): [string, string][] {
  const { id, secret } = parseToken(good) ?? mintToken('agt')
  const kinds = ['agt', 'wkl', 'ses', 'ref'] as const
  const renamed = kinds.filter((kind) => !good.startsWith(`svc_${kind}_`))
  return [
    ['a character less', good.slice(0, -1)],
    ['a character more', `${good}0`],
    ['a zero in front', good.replace(/^(svc_..._)/, '$10')],
    ['a wrong checksum', good.slice(0, -1) + (good.endsWith('0') ? '1' : '0')],
    ['a foreign character', `${good.slice(0, 20)}-${good.slice(21)}`],
    ['in capitals', good.toUpperCase()],
    ['of no kind', good.replace(/^svc_.../, 'svc_xyz')],
    ['too large a number', `svc_agt_${'z'.repeat(71)}`],
    ['of 10,000 characters', 'svc_agt_'.padEnd(10_000, 'a')],
    ...renamed.map((kind): [string, string] => [
      `as ${kind}`,
      good.replace(/^svc_.../, `svc_${kind}`),
    ]),
    ['a refresh token of its parts', formatToken('ref', id, secret)],
  ]
}

describe.each(routes.map((route) => [route.name, route] as const))('%s', (_, route) => {
  test('the own token is accepted, so that a rejection means something', async () => {
    const { statuses } = await sendTo(route, [`Authorization: Bearer ${route.token()}`])
    expect(statuses).toHaveLength(1)
    expect(statuses).not.toEqual([401])
  })

  test('a request is 401 with WWW-Authenticate without exactly one bearer, before the body is read (1)', async () => {
    for (const [what, headers] of badHeaders(route.token()))
      await expectUnknown(route, what, headers)
  })

  test('a request is 401 without a query for an invalid token, also while a good one is cached (2)', async () => {
    const { sql } = stage.app.connection
    await sendTo(route, [`Authorization: Bearer ${route.token()}`])
    // A query would wait until the locks are released, and the embedded database has one session.
    await sql.begin(async (tx) => {
      await tx`lock table tokens, session_tokens, sessions in access exclusive mode`
      for (const [what, text] of damaged(route.token()))
        await expectUnknown(route, what, [`Authorization: Bearer ${text}`])
    })
  })

  test('a token in the query is ignored, and no log contains one (7)', async () => {
    const token = route.token()
    const query = `?token=${token}&access_token=${token}&authorization=Bearer%20${token}`
    const line = route.line.replace(' HTTP', `${query} HTTP`)
    await expectUnknown({ ...route, line }, 'in the query', [])
    expect(stage.app.logs.join('')).not.toContain(token)
  })

  test('a token of another kind of endpoint is 401 (8)', async () => {
    const { person } = agent
    const others = route.token() === person.token ? [agent.token, workload] : [person.token]
    // A person may report to the audit; a refresh token is accepted by one endpoint only.
    const wrong = route.line.includes('/audit/') ? [] : others
    for (const token of [...wrong, person.refresh])
      await expectUnknown(route, token.slice(0, 8), [`Authorization: Bearer ${token}`])
  })
})
