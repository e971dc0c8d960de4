// tier: quick
/**
 * Traces are sent to a collector: they contain what the audit contains, and less. Strangers neither choose their
 * trace nor cause more than a bounded number of exports, whatever `traceparent` they send.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  type Agent,
  API,
  createAgentWithToken,
  openStage,
  recordOf,
  type Stage,
} from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { type Collector, type SentSpan, startCollector } from '../support/collector.ts'
import { forwardAs } from '../support/forward.ts'

const VALUE = marked('traced')
/** Text of paths and queries, which the audit has and traces lack. */
const OTHER = 'submitted7f3a'
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const traceparent = `00-${TRACE}-${SPAN}-01`

let collector: Collector
let stage: Stage
let agent: Agent

beforeAll(async () => {
  collector = startCollector()
  stage = await openStage({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
      OTEL_SERVICE_NAME: 'cloakroom-test',
    },
  })
  agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE } })
}, 60_000)
afterAll(async () => {
  await stage.stop()
  await collector.stop()
})
beforeEach(async () => {
  await spansNow()
})

/** The spans since the last call. */
async function spansNow(): Promise<SentSpan[]> {
  await stage.app.tracer?.flush()
  return collector.spans.splice(0)
}

const named = (spans: readonly SentSpan[], name: string) => spans.filter((one) => one.name === name)

function resolve(more: object = {}, headers: Record<string, string> = {}) {
  return fetch(`${stage.app.resolver}/v1/resolve`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${agent.token}`,
      ...headers,
    },
    body: JSON.stringify({
      target_url: stage.url('/in/the/path?query=here'),
      headers: { 'X-Key': 'SVC_SECRET_KEY' },
      ...more,
    }),
  })
}

describe('a call', () => {
  test('a call is one trace, with its steps and the ID of its audit record', async () => {
    const response = await resolve()
    expect(response.status).toBe(200)
    const requestId = response.headers.get('x-request-id') ?? ''
    const spans = await spansNow()
    const [root] = named(spans, 'POST /v1/resolve')
    expect(root).toMatchObject({
      kind: 2,
      attributes: {
        'cloakroom.request_id': requestId,
        'http.route': '/v1/resolve',
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        listener: 'resolver',
      },
    })
    expect(root?.parentSpanId).toBeUndefined()
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    const parents = new Set([...spans.map(({ spanId }) => spanId)])
    expect(spans.filter((one) => one !== root && !parents.has(one.parentSpanId ?? ''))).toEqual([])
    for (const name of ['authenticate', 'decide', 'audit write', 'dns', 'call'])
      expect({ name, count: named(spans, name).length }).toEqual({ name, count: 1 })
    expect(named(spans, 'decide')[0]?.attributes).toMatchObject({
      'cloakroom.decision': 'allowed',
      'cloakroom.workspace_id': agent.workspaceId,
      'server.address': API,
    })
    const [call] = named(spans, 'call')
    expect(call).toMatchObject({
      kind: 3,
      attributes: {
        'server.address': API,
        'server.port': stage.upstream.port,
        'http.request.method': 'GET',
        'http.response.status_code': 200,
        'cloakroom.redacted': false,
      },
      events: [{ name: 'first byte' }],
    })
    expect(await recordOf(stage.app, response)).toMatchObject({ decision: 'allowed' })
  })

  test("a rejected call's trace has the reason, and no span of a call", async () => {
    expect((await resolve({ target_url: 'https://elsewhere.example/' })).status).toBe(403)
    const spans = await spansNow()
    expect(named(spans, 'call')).toEqual([])
    const [decide] = named(spans, 'decide')
    expect(decide?.attributes).toMatchObject({
      'cloakroom.decision': 'blocked',
      'cloakroom.reason': 'domain_blocked',
      'error.type': 'domain_blocked',
      'server.address': 'elsewhere.example',
    })
    expect(decide?.status).toBeUndefined()
  })

  test("a call's log lines have the IDs of its trace", async () => {
    const requestId = (await resolve()).headers.get('x-request-id') ?? ''
    const [root] = named(await spansNow(), 'POST /v1/resolve')
    const line = stage.app.logs.find((one) => one.includes(requestId)) ?? '{}'
    expect(JSON.parse(line)).toMatchObject({
      message: 'request',
      request_id: requestId,
      trace_id: root?.traceId,
      span_id: root?.spanId,
    })
  })
})

describe('traceparent', () => {
  test('the trace of a known caller is continued, and its sampling is respected', async () => {
    expect((await resolve({}, { traceparent })).status).toBe(200)
    const spans = await spansNow()
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]))
    expect(named(spans, 'POST /v1/resolve')[0]).toMatchObject({ parentSpanId: SPAN })
    expect((await resolve({}, { traceparent: `00-${TRACE}-${SPAN}-00` })).status).toBe(200)
    expect(named(await spansNow(), 'POST /v1/resolve')).toEqual([])
  })

  test("a stranger's traceparent names no local trace, and its sampling does not count", async () => {
    const wrong = { traceparent, authorization: 'Bearer svc_agt_wrong' }
    expect((await resolve({}, wrong)).status).toBe(401)
    const [root] = named(await spansNow(), 'POST /v1/resolve')
    expect(root?.traceId).not.toBe(TRACE)
    expect(root?.parentSpanId).toBeUndefined()
  })

  test('an invalid traceparent starts a new trace', async () => {
    expect((await resolve({}, { traceparent: `00-${TRACE}-${SPAN}-01-more` })).status).toBe(200)
    const [root] = named(await spansNow(), 'POST /v1/resolve')
    expect(root?.traceId).not.toBe(TRACE)
  })
})

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-(0[01])$/

/** All headers of that name in the newest request that the upstream received. */
function sentOn(): string[] {
  const { headers } = stage.upstream.received.at(-1) ?? { headers: [] }
  return headers.flatMap(([name, value]) => (name.toLowerCase() === 'traceparent' ? [value] : []))
}

function forward(headers: Record<string, string> = {}) {
  return forwardAs(stage, agent, '/', { headers: { 'x-key': 'SVC_SECRET_KEY', ...headers } })
}

describe('the upstream', () => {
  test('the upstream receives no traceparent unless the caller requests it', async () => {
    for (const more of [{}, { trace: false }, { trace: null }]) {
      expect((await resolve(more, { traceparent })).status).toBe(200)
      expect(sentOn()).toEqual([])
    }
    expect((await forward()).status).toBe(200)
    expect(sentOn()).toEqual([])
    expect((await forward({ traceparent })).status).toBe(200)
    expect(sentOn()).toEqual([traceparent])
    expect((await resolve({ headers: { Traceparent: traceparent } })).status).toBe(200)
    expect(sentOn()).toEqual([traceparent])
  })

  test.each([
    ['POST /v1/resolve', () => resolve({ trace: true }, { traceparent })],
    ['a stream', () => resolve({ trace: true, stream: true }, { traceparent })],
    [
      'POST /v1/resolve with a header of that name',
      () => resolve({ trace: true, headers: { TraceParent: 'another' } }, { traceparent }),
    ],
    ['forward mode', () => forward({ 'x-service-trace': 'true', traceparent })],
  ])(
    'the upstream receives the span of its call when %s requests it, and no other',
    async (_, ask) => {
      const response = await ask()
      expect(response.status).toBe(200)
      await response.text()
      const [call] = named(await spansNow(), 'call')
      expect(call?.traceId).toBe(TRACE)
      expect(sentOn()).toEqual([`00-${TRACE}-${call?.spanId}-01`])
    },
  )

  test('the upstream receives the sampling decision of a caller that does not sample', async () => {
    expect((await resolve({ trace: true }, { traceparent: `00-${TRACE}-${SPAN}-00` })).status).toBe(
      200,
    )
    expect(sentOn().map((text) => TRACEPARENT.exec(text)?.slice(1))).toEqual([
      [TRACE, expect.any(String), '00'],
    ])
    expect(await spansNow()).toEqual([])
  })

  test('the upstream receives the local trace if the caller names none', async () => {
    expect((await resolve({ trace: true }, { traceparent: 'none' })).status).toBe(200)
    const [call] = named(await spansNow(), 'call')
    expect(sentOn()).toEqual([`00-${call?.traceId}-${call?.spanId}-01`])
  })

  test('the upstream receives one header of that name, even if a signature was to be written to it', async () => {
    await agent.store('SIGN', VALUE, { policy: { allowed_locations: ['sign'] } })
    const sign = { type: 'hmac-sha256', secret: 'SVC_SECRET_SIGN', header: 'traceparent' }
    expect((await resolve({ sign })).status).toBe(200)
    expect(sentOn()).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)])
    expect((await resolve({ trace: true, sign })).status).toBe(200)
    expect(sentOn()).toEqual([expect.stringMatching(TRACEPARENT)])
  })

  test('a rejected upstream call leaves no span of a call', async () => {
    const refused = { trace: true, target_url: 'https://elsewhere.example/' }
    expect((await resolve(refused)).status).toBe(403)
    expect(named(await spansNow(), 'call')).toEqual([])
  })

  test.each(['1', 'yes', 'false', ''])('X-Service-Trace: %s is rejected', async (value) => {
    expect((await forward({ 'x-service-trace': value })).status).toBe(422)
  })
})

test('strangers cause only a few exported traces a second, and known callers are not limited', async () => {
  const began = performance.now()
  const asked = 200
  for (let count = 0; count < asked; count += 1)
    await fetch(`${stage.app.resolver}/v1/credentials/`, { headers: { traceparent } })
  const allowed = 10 + ((performance.now() - began) / 1000) * 10
  expect((await resolve({}, { traceparent })).status).toBe(200)
  const spans = await spansNow()
  const roots = named(spans, 'GET /v1/credentials/')
  expect(roots.length).toBeGreaterThan(0)
  expect(roots.length).toBeLessThanOrEqual(allowed)
  expect(stage.app.tracer?.counts.strangers).toBeGreaterThanOrEqual(asked - allowed)
  expect(named(spans, 'POST /v1/resolve').length).toBe(1)
})

describe('exported spans', () => {
  test('exported spans have no value, token, path, query or password, whatever the request', async () => {
    const secrets = [VALUE, OTHER, agent.token, agent.person.token, 'in/the/path', 'query=here']
    await resolve()
    await resolve({ headers: { 'X-Key': 'SVC_SECRET_MISSING' } })
    await resolve({ target_url: `https://user:${OTHER}@x.example/${OTHER}?a=${OTHER}` })
    await fetch(`${stage.app.resolver}/v1/forward/${API}/${OTHER}?q=${OTHER}`, {
      headers: { 'x-service-token': agent.token, cookie: `a=${OTHER}`, tracestate: `a=${OTHER}` },
    })
    await stage.app.call('POST', '/api/auth/login/', {
      body: { email: agent.person.email, auth_hash: OTHER },
    })
    await stage.app.call('GET', `/api/workspaces/?query=${OTHER}`, { token: agent.person.token })
    await stage.app.call(`X${OTHER}`.toUpperCase(), `/nowhere/${OTHER}`, {})
    await stage.app.tracer?.flush()
    const sent = collector.requests.map(({ text }) => text).join('\n')
    expect(sent).toContain('GET /api/workspaces/')
    for (const secret of [...secrets, agent.person.email])
      expect({ secret, sent: sent.includes(secret) }).toEqual({ secret, sent: false })
  })

  test('exported spans name statements by kind and table', async () => {
    await stage.app.call('GET', '/api/workspaces/', { token: agent.person.token })
    const spans = await spansNow()
    const statements = spans.filter(({ attributes }) => attributes['db.system.name'])
    expect(statements.length).toBeGreaterThan(0)
    for (const { name } of statements)
      expect(name).toMatch(/^(select|insert|update|delete|with)( [a-z_]+)?$/)
    expect(statements.map(({ name }) => name)).toContain('select memberships')
  })

  test('exported spans are sent with the headers of the collector, which no log has', () => {
    const [request] = collector.requests
    expect(request?.path).toBe('/v1/traces')
    expect(request?.headers.get('authorization')).toBe('Bearer of-the-collector')
    expect(stage.app.logs.filter((line) => line.includes('of-the-collector'))).toEqual([])
  })
})
