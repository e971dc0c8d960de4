// tier: quick
/**
 * A verified token is cached for seconds. Here it ends without any notice, the way another process would end it: the
 * next request is 401 at every endpoint that accepts tokens.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  formatSealedToken,
  formatToken,
  mintToken,
  parseToken,
} from '../../src/core/crypto/token.ts'
import { messageOf } from '../../src/core/fault.ts'
import {
  type Agent,
  createAgentWithToken,
  type IssuedToken,
  type Stage,
  sharedStage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, {
    secrets: { KEY: marked('sk_live_cached') },
    ofProject: true,
    capabilities: ['use', 'read'],
  })
}, 30_000)
afterAll(() => stage.stop())

const json = { 'content-type': 'application/json' }
const call = () => ({ target_url: stage.url('/'), headers: { 'X-Key': 'SVC_SECRET_KEY' } })

type Route = [name: string, send: (token: string) => Promise<Response>, good: number]

function post(origin: string, path: string, body: unknown, token: string): Promise<Response> {
  return fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${token}` },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

const resolver = () => stage.app.resolver
const report = () => ({ timestamp: new Date(), method: 'GET', target_domain: 'a.example' })
const routes: Route[] = [
  ['a call', (token) => post(resolver(), '/v1/resolve', call(), token), 200],
  [
    'a call that is refused',
    (token) => post(resolver(), '/v1/resolve', { ...call(), environment: 'nowhere' }, token),
    422,
  ],
  [
    'a call with a body that is not JSON',
    (token) => post(resolver(), '/v1/resolve', 'not json', token),
    400,
  ],
  [
    'a call that is streamed',
    (token) => post(resolver(), '/v1/resolve', { ...call(), stream: true }, token),
    200,
  ],
  [
    'a forwarded call',
    (token) =>
      fetch(`${resolver()}/v1/forward/${stage.authorityOf()}/`, {
        headers: { 'x-service-token': token, 'x-key': 'SVC_SECRET_KEY' },
      }),
    200,
  ],
  [
    'the list of domains',
    (token) =>
      fetch(`${resolver()}/v1/allowlist`, { headers: { authorization: `Bearer ${token}` } }),
    200,
  ],
  [
    'a delivery',
    (token) => post(resolver(), '/api/workloads/env/', { environment: 'development' }, token),
    200,
  ],
  [
    'the version of what is delivered',
    (token) =>
      fetch(`${resolver()}/api/workloads/version/`, {
        headers: { authorization: `Bearer ${token}` },
      }),
    200,
  ],
  ...['/v1/credentials/', '/v1/shapes/'].map(
    (path): Route => [
      path,
      (token) => fetch(`${resolver()}${path}`, { headers: { authorization: `Bearer ${token}` } }),
      200,
    ],
  ),
  [
    'what a token may do',
    (token) =>
      fetch(`${resolver()}/api/workloads/token/`, {
        headers: { authorization: `Bearer ${token}` },
      }),
    200,
  ],
  [
    'a report',
    (token) => post(stage.app.controlPlane, '/api/internal/audit/logs/', report(), token),
    201,
  ],
]

/** A token with the key of its environment, cached at this endpoint, whole and sealed. */
async function warm(send: Route[1], good: number): Promise<IssuedToken & { sealed: string }> {
  const token = await agent.issue({ capabilities: ['use', 'read'] })
  await agent.provision(token)
  const { id, secret } = parseToken(token.text) ?? mintToken('agt')
  const sealed = formatSealedToken(id, secret)
  for (let round = 0; round < 2; round += 1) {
    expect((await send(token.text)).status).toBe(good)
    expect((await send(sealed)).status).not.toBe(401)
  }
  return { ...token, sealed }
}

async function expectUnknown(send: Route[1], what: string, text: string) {
  const sent = stage.upstream.bytes
  const answer = await send(text)
  const { error_code, message } = (await answer.json()) as Record<string, unknown>
  expect({ what, status: answer.status, error_code, message }).toEqual({
    what,
    status: 401,
    error_code: 'invalid_token',
    message: messageOf('invalid_token'),
  })
  expect(stage.upstream.bytes).toBe(sent)
}

describe.each(routes)('%s', (_, send, good) => {
  test.each([
    ['revoked', 'revoked_at = clock_timestamp()'],
    // The column has milliseconds and rounds, so the current time may be half of one ahead.
    ['expired', "expires_at = clock_timestamp() - interval '1 ms'"],
  ])('a token that was just %s is 401, whole or sealed', async (what, change) => {
    const { text, id, sealed } = await warm(send, good)
    await stage.app.connection.sql.unsafe(`update tokens set ${change} where id = '${id}'`)
    await expectUnknown(send, what, text)
    await expectUnknown(send, `${what}, sealed`, sealed)
    await expectUnknown(send, `${what}, again`, text)
  })

  test("a text with a valid token's ID and another secret is 401", async () => {
    const { text } = await warm(send, good)
    const { id, secret } = parseToken(text) ?? mintToken('agt')
    const other = secret.map((byte, at) => (at === 31 ? byte ^ 1 : byte))
    for (const [what, wrong] of [
      ['another secret', formatToken('agt', id, other)],
      ['another kind', formatToken('wkl', id, secret)],
      ['a session', formatToken('ses', id, secret)],
      ['the secret as a sealed form', formatToken('sea', id, secret)],
      ['another id', formatToken('agt', Bun.randomUUIDv7(), secret)],
      ['in capitals', text.toUpperCase()],
      ['a character more', `${text}0`],
    ] as const)
      await expectUnknown(send, what, wrong)
    expect((await send(text)).status).toBe(good)
  })
})
