// tier: quick
/** The remote backend calls the resolver, and adds no decisions to the resolver's. */
import { afterAll, describe, expect, test } from 'bun:test'
import { BodyMemory } from '../../src/core/body_memory.ts'
import { formatSealedToken, parseToken } from '../../src/core/crypto/token.ts'
import { openProxy } from '../../src/proxy/index.ts'
import { createRemoteBackend } from '../../src/proxy/remote.ts'
import { sendRaw } from '../support/raw_http.ts'
import { requires } from '../support/requires.ts'
import { KEY, OTHER, openProxyStage, runWith } from './stage.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const { agent, upstream } = stage
await agent.store('GET_ONLY', 'value', { policy: { allowed_methods: ['GET'] } })
const proxy = await stage.open('remote')

function send(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${proxy.baseUrl}/${stage.authorityOf()}${path}`, { redirect: 'manual', ...init })
}

/** A proxy of this test alone. */
async function openWith(resolver: string, token: string) {
  const notices: string[] = []
  const notice = (text: string) => void notices.push(text)
  const bodies = new BodyMemory(undefined, 1)
  const parts = { projectId: null, environment: null, notice, bodies, close: async () => {} }
  const backend = createRemoteBackend({ resolver, token, ...parts })
  const opened = await openProxy({ backend, directory: stage.directory, port: 0, strict: false })
  return { ...opened, notices }
}

function connectTo(
  opened: { baseUrl: string; url: string },
  target: string,
  line = `CONNECT ${target}`,
) {
  const login = btoa(`cloakroom:${new URL(opened.url).password}`)
  return sendRaw(opened.baseUrl, `${line} HTTP/1.1\r\nProxy-Authorization: Basic ${login}\r\n\r\n`)
}

requires('curl').test(
  'the resolver tells the allowlist, and does not hear of hosts that are not on it',
  async () => {
    const asked = () => stage.app.logs.filter((line) => line.includes('/v1/allowlist')).length
    const fetchOnce = () => runWith(proxy, ['curl', '-sS', stage.url('/x')])
    const calls = await Promise.all([fetchOnce(), fetchOnce(), fetchOnce()])
    expect(new Set(calls.map(({ out }) => out))).toEqual(new Set(['{"ok":true}']))
    await connectTo(proxy, `localhost:${upstream.port}`)
    await connectTo(proxy, `${OTHER}:1`)
    expect(asked()).toBe(1)
    const records = await stage.records('resolver')
    expect(records.map(({ reason, target_path }) => [reason, target_path])).toEqual(
      Array(3).fill([null, '/x']),
    )
  },
)

test('a strict proxy makes the resolver record rejected hosts', async () => {
  const strict = await stage.open('remote', { strict: true })
  const sent = upstream.bytes
  expect((await connectTo(strict, `${OTHER}:${upstream.port}`)).statuses).toEqual([403])
  expect((await stage.records('resolver')).at(-1)).toMatchObject({
    decision: 'blocked',
    reason: 'domain_blocked',
    target_domain: OTHER,
  })
  const target = `${OTHER}:${upstream.port}`
  expect((await connectTo(strict, target, `PUT https://${target}/x`)).statuses).toEqual([403])
  expect((await stage.records('resolver')).at(-1)).toMatchObject({
    method: 'PUT',
    target_domain: OTHER,
  })
  expect(upstream.bytes).toBe(sent)
})

test("a call that the resolver rejects gets the resolver's message", async () => {
  const answer = await send('/', {
    method: 'POST',
    headers: { authorization: 'Bearer SVC_SECRET_GET_ONLY' },
  })
  expect({ status: answer.status, body: await answer.json() }).toMatchObject({
    status: 403,
    body: {
      error_code: 'policy_blocked',
      message:
        'The policy of the secret GET_ONLY does not permit this method (allowed_methods: GET).',
    },
  })
})

test('a program can neither replace the token nor change the scope', async () => {
  const answer = await send('/x', {
    headers: {
      authorization: 'Bearer SVC_SECRET_KEY',
      'x-service-token': 'svc_agt_nonsense',
      'x-service-environment': 'production',
    },
  })
  expect(answer.status).toBe(200)
  expect(upstream.received.at(-1)?.header('authorization')).toBe(`Bearer ${KEY}`)
})

test('the upstream does not receive the token', async () => {
  await send('/x', { headers: { authorization: 'Bearer SVC_SECRET_KEY' } })
  const headers = JSON.stringify(upstream.received.at(-1)?.headers)
  expect(headers).not.toContain('svc_')
  expect(headers.toLowerCase()).not.toContain('x-service')
})

describe.each([
  ['is unavailable', () => openWith('http://127.0.0.1:9', agent.token), 503, 'unavailable'],
  ['does not know the token', () => openWith(stage.app.resolver, unknown()), 401, 'invalid_token'],
  ['may not be used with the token', openReading, 403, 'scope_required'],
] as const)('when the resolver %s', (_, open, status, code) => {
  test('other hosts are still reached, allowed hosts report the error, and the user gets one notice', async () => {
    const opened = await open()
    const target = `localhost:${upstream.port}`
    expect((await connectTo(opened, target)).statuses).toEqual([200])
    expect((await connectTo(opened, `${OTHER}:1`)).statuses).toEqual([502])
    const answer = await fetch(`${opened.baseUrl}/${stage.authorityOf()}/x`)
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status,
      body: { error_code: code },
    })
    expect(opened.notices).toEqual([expect.stringContaining('no calls are intercepted')])
    await opened.close()
  })
})

test('the notice about a token that may not use names the command that issues one that may', async () => {
  const opened = await openReading()
  await connectTo(opened, `${OTHER}:1`)
  expect(opened.notices).toEqual([
    'no calls are intercepted until the resolver returns the allowlist. It returned: This token may not use credentials. Ask an admin for one that may: cloakroom token issue <agent> --may use,read',
  ])
  await opened.close()
})

async function openReading() {
  const { text } = await agent.issue({ capabilities: ['read'] })
  return openWith(stage.app.resolver, text)
}

/** Well-formed, but not an existing token. */
function unknown(): string {
  const parsed = parseToken(agent.token)
  return formatSealedToken(parsed?.id ?? '', new Uint8Array(32).fill(7))
}
