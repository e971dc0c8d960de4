// tier: quick
/** The local backend performs the resolver's steps on this machine: what it sends, and what it returns. */
import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FaultCode } from '../../src/core/fault.ts'
import { statusOf } from '../../src/core/fault.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { API } from '../support/agent.ts'
import { settle } from '../support/fake_timers.ts'
import { sendRaw } from '../support/raw_http.ts'
import { until } from '../support/until.ts'
import { answerOf, chunked } from '../support/upstream.ts'
import { KEY, openProxyStage, type Recorded } from './stage.ts'

const stage = await openProxyStage()
afterAll(stage.stop)
const { agent, upstream } = stage

const policies: Record<string, Policy> = {
  GET_ONLY: { allowed_methods: ['GET'] },
  UNDER_V1: { allowed_paths: ['/v1'] },
  X_KEY_ONLY: { allowed_headers: ['x-key'] },
  ELSEWHERE: { allowed_domains: ['other.example'] },
  NOWHERE: { allowed_locations: [] },
  IN_QUERY: { allowed_locations: ['query'] },
  IN_PATH: { allowed_locations: ['path'] },
  IN_JSON: { allowed_locations: ['json'] },
  IN_FORM: { allowed_locations: ['form'] },
  READS: { read_only: true },
}
for (const [name, policy] of Object.entries(policies)) {
  await agent.store(name, `value of "${name}"`, { policy })
}
await agent.store('BROKEN', 'two\nlines')
const proxy = await stage.open('local')

/** Through base-URL mode, which takes the same steps as an intercepted request. */
function send(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${proxy.baseUrl}/${stage.authorityOf()}${path}`, { redirect: 'manual', ...init })
}

async function expectRefused(answer: Promise<Response>, code: FaultCode): Promise<void> {
  const sent = upstream.bytes
  const { status, ...response } = await answer.then(async (taken) => ({
    status: taken.status,
    body: await taken.json(),
  }))
  expect({ status, code: response.body.error_code }).toEqual({ status: statusOf(code), code })
  expect(upstream.bytes).toBe(sent)
}

const using = (name: string, header = 'authorization') => ({ [header]: `SVC_SECRET_${name}` })

describe('a policy', () => {
  test('a policy permits the value in its listed places', async () => {
    expect((await send('/v1/x', { headers: using('GET_ONLY') })).status).toBe(200)
    expect(upstream.received.at(-1)?.header('authorization')).toBe('value of "GET_ONLY"')
    expect((await send('/v1/x', { headers: using('UNDER_V1') })).status).toBe(200)
    expect((await send('/', { headers: using('X_KEY_ONLY', 'x-key') })).status).toBe(200)
  })

  test.each([
    ['another method', '/', { method: 'POST', headers: using('GET_ONLY') }],
    ['another path', '/v10', { headers: using('UNDER_V1') }],
    ['a path that servers read differently', '/v1/..%2fv2', { headers: using('UNDER_V1') }],
    ['another header', '/', { headers: using('X_KEY_ONLY') }],
    ['another domain', '/', { headers: using('ELSEWHERE') }],
    ['any place', '/', { headers: using('NOWHERE') }],
    ['a header, when it names others', '/', { headers: using('IN_QUERY') }],
  ])('a policy withholds the value for %s', async (_, path, init) => {
    await expectRefused(send(path, init), 'policy_blocked')
  })

  test('a policy that permits only reads is checked against the whole body', async () => {
    const post = (text: string, type: string) => {
      const headers = { ...using('READS'), 'content-type': type }
      return send('/graphql', { method: 'POST', headers, body: new Blob([text]).stream() })
    }
    const json = (query: string) => post(JSON.stringify({ query }), 'application/json')
    expect((await json('{ viewer }')).status).toBe(200)
    expect((await post('{ viewer }', 'application/graphql')).status).toBe(200)
    await expectRefused(json('mutation { b }'), 'policy_blocked')
    await expectRefused(post('mutation { b }', 'application/graphql'), 'policy_blocked')
    await expectRefused(post('{ viewer }', 'application/octet-stream'), 'policy_blocked')
    await expectRefused(send('/', { method: 'PUT', headers: using('READS') }), 'policy_blocked')
  })

  test('a policy decides whether a name in query, path or body is a placeholder', async () => {
    await send('/q?a=SVC_SECRET_IN_QUERY&b=SVC_SECRET_KEY')
    expect(upstream.received.at(-1)?.path).toBe('/q?a=value%20of%20%22IN_QUERY%22&b=SVC_SECRET_KEY')
    await send('/SVC_SECRET_IN_PATH/SVC_SECRET_KEY')
    expect(upstream.received.at(-1)?.path).toBe('/value%20of%20%22IN_PATH%22/SVC_SECRET_KEY')
    await send('/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":"SVC_SECRET_IN_JSON","b":"SVC_SECRET_KEY"}',
    })
    expect(Buffer.from(upstream.received.at(-1)?.body ?? []).toString()).toBe(
      '{"a":"value of \\"IN_JSON\\"","b":"SVC_SECRET_KEY"}',
    )
    await send('/', { method: 'POST', body: new URLSearchParams({ a: 'SVC_SECRET_IN_FORM' }) })
    expect(Buffer.from(upstream.received.at(-1)?.body ?? []).toString()).toBe(
      'a=value%20of%20%22IN_FORM%22',
    )
  })
})

test('headers in which a program names its caller are dropped, as at the resolver', async () => {
  const names = ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via', 'x-real-ip']
  const said = Object.fromEntries(names.map((name) => [name, '10.1.2.3']))
  await send('/', { headers: { ...said, 'x-other': 'goes on' } })
  const received = upstream.received.at(-1)
  expect(names.filter((name) => received?.header(name) != null)).toEqual([])
  expect(received?.header('x-other')).toBe('goes on')
})

describe('calls that are not sent', () => {
  test('a call with an unknown name is not sent', () =>
    expectRefused(send('/', { headers: using('NO_SUCH') }), 'unknown_secret'))

  test('a call with a malformed name is not sent', () =>
    expectRefused(send('/', { headers: { 'x-key': 'SVC_SECRET_' } }), 'invalid_header'))

  test('a call with a value that would break the header is not sent', () =>
    expectRefused(send('/', { headers: using('BROKEN') }), 'unusable_secret'))

  test('a call to a host outside the allowlist is not sent', () =>
    expectRefused(fetch(`${proxy.baseUrl}/${API}/x`), 'domain_blocked'))

  test.each(['TRACE', 'PROPFIND', 'get'])(
    'a call with the method %s is not sent',
    async (method) => {
      const sent = upstream.bytes
      const path = new URL(`${proxy.baseUrl}/${stage.authorityOf()}/`).pathname
      const answer = await sendRaw(
        proxy.baseUrl,
        `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\n\r\n`,
      )
      expect(answer.statuses).not.toContain(200)
      expect(upstream.bytes).toBe(sent)
    },
  )

  test('a call to a name with a non-public address is not sent', async () => {
    const other = await stage.open('local', {
      networking: { ...stage.networking, RESOLVER_ALLOW_NETWORKS: '' },
    })
    await expectRefused(
      fetch(`${other.baseUrl}/${stage.authorityOf()}/`, { headers: using('KEY') }),
      'address_blocked',
    )
  })

  test('a call to an upstream with an invalid certificate is not sent', async () => {
    const { RESOLVER_CA_FILE: _, ...networking } = stage.networking
    const other = await stage.open('local', { networking })
    await expectRefused(
      fetch(`${other.baseUrl}/${stage.authorityOf()}/`, { headers: using('KEY') }),
      'upstream_tls_error',
    )
  })

  test('a call is not sent when its audit record cannot be stored first', async () => {
    const auditDirectory = join(stage.directory, 'no-directory')
    writeFileSync(auditDirectory, '')
    const other = await stage.open('local', { auditDirectory })
    await expectRefused(
      fetch(`${other.baseUrl}/${stage.authorityOf()}/`, { headers: using('KEY') }),
      'audit_unavailable',
    )
  })
})

describe('an answer', () => {
  test('an answer is redacted across its chunks, in its headers, and whatever the escape', async () => {
    const [start, end] = [KEY.slice(0, 7), KEY.slice(7)]
    upstream.on('/leak', async (_, wire) => {
      wire.write(
        `HTTP/1.1 200 OK\r\nX-Leak: ${btoa(KEY)}\r\nSet-Cookie: a=${KEY}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      )
      const body = chunked([`a ${start}`, `${end} b ${encodeURIComponent(KEY)}`, ` c ${btoa(KEY)}`])
      for (let from = 0; from < body.length; from += 5) {
        wire.write(body.subarray(from, from + 5))
        await settle()
      }
    })
    const answer = await send('/leak', { headers: using('KEY') })
    expect(await answer.text()).toBe('a SVC_SECRET_KEY b SVC_SECRET_KEY c SVC_SECRET_KEY')
    expect(answer.headers.get('x-leak')).toBe('SVC_SECRET_KEY')
    expect(answer.headers.has('set-cookie')).toBe(false)
  })

  test('an answer arrives event by event, not when it is complete', async () => {
    const goOn = Promise.withResolvers<void>()
    upstream.on('/events', async (_, wire) => {
      wire.write(
        'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
      )
      wire.write('9\r\ndata: 1\n\n\r\n')
      await goOn.promise
      wire.write('9\r\ndata: 2\n\n\r\n0\r\n\r\n')
    })
    const answer = await send('/events', { headers: using('KEY') })
    const reader = answer.body?.getReader()
    const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString()
    // The upstream sends the second event only when the first has arrived here.
    expect(await read()).toBe('data: 1\n\n')
    goOn.resolve()
    expect(await read()).toBe('data: 2\n\n')
    expect((await reader?.read())?.done).toBe(true)
  })

  test('an answer that never arrives ends with the deadline', async () => {
    const other = await stage.open('local', {
      networking: { ...stage.networking, RESOLVER_SILENCE_MS: '200' },
    })
    upstream.on('/silence', () => {})
    const answer = await fetch(`${other.baseUrl}/${stage.authorityOf()}/silence`)
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 504,
      body: { error_code: 'upstream_timeout', fix: { setting: 'RESOLVER_SILENCE_MS' } },
    })
  })

  test('an answer to a program that disconnects ends the call upstream, and is recorded', async () => {
    const gone = Promise.withResolvers<void>()
    upstream.on('/abandoned', (_, wire) => void wire.once('close', () => gone.resolve()))
    const controller = new AbortController()
    const answer = send('/abandoned', { signal: controller.signal }).catch(() => 'aborted')
    await until(() => upstream.received.at(-1)?.path === '/abandoned')
    controller.abort()
    expect(await answer).toBe('aborted')
    await gone.promise
    const record = await recordWhere(({ target_path }) => target_path === '/abandoned')
    expect(record).toMatchObject({ decision: 'error', status_code: 499, reason: 'caller_gone' })
  })
})

test('a record has names and places, and no value or query', async () => {
  upstream.on('/recorded', answerOf(201, {}, `you sent ${KEY}`))
  await send('/recorded?token=secret-in-the-query', {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('ada:SVC_SECRET_LOGIN')}`, 'x-key': 'SVC_SECRET_KEY' },
  })
  const record = await recordWhere(({ target_path }) => target_path === '/recorded')
  expect(record).toMatchObject({
    agent_id: agent.person.email,
    identity_level: 'user',
    project_id: agent.projectId,
    environment: 'development',
    method: 'POST',
    target_url: `https://${stage.authorityOf()}/recorded`,
    target_domain: API,
    credential_ref: 'LOGIN,KEY',
    injection_style: 'basic,header',
    decision: 'allowed',
    reason: null,
    status_code: 201,
    redacted: true,
  })
  expect(record?.duration_ms).toBeGreaterThanOrEqual(0)
  expect(JSON.stringify(await stage.records('client'))).not.toContain('secret-in-the-query')
})

function recordWhere(isWanted: (record: Recorded) => boolean): Promise<Recorded> {
  return until(async () => (await stage.records('client')).findLast(isWanted), { stepMs: 50 })
}
