// tier: quick, both databases in test:all
/** GET /metrics: the right numbers in the format that Prometheus reads, and no personal names. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import dashboard from '../../../docs/grafana-dashboard.json'
import {
  type Agent,
  API,
  createAgentWithToken,
  openStage,
  type Stage,
} from '../../support/agent.ts'
import { callJson, startTestApp } from '../../support/app.ts'
import { marked } from '../../support/canary.ts'
import { type Family, parseExposition, sumOf } from './exposition.ts'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage({ env: { ADMIN_PORT: '0', RATE_TOKEN: '6/3600' } })
  agent = await createAgentWithToken(stage, {
    secrets: { KEY: marked('the value') },
    ofProject: true,
    capabilities: ['use', 'read'],
  })
}, 60_000)
afterAll(() => stage.stop())

async function scrape(): Promise<Map<string, Family>> {
  const response = await fetch(`${stage.app.admin}/metrics`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return parseExposition(await response.text())
}

const call = (more = {}) =>
  agent.resolve({
    target_url: stage.url('/secret/path?query=1'),
    headers: { 'X-Key': 'SVC_SECRET_KEY' },
    ...more,
  })

describe('figures', () => {
  test('metrics count requests by listener, method, route and status, and decisions by reason', async () => {
    await call()
    await call()
    await call({ target_url: 'https://blocked.example/' })
    await call({ headers: { 'X-Key': 'SVC_SECRET_MISSING' } })
    await callJson(stage.app.resolver, 'POST', '/api/workloads/env/', {
      token: agent.token,
      body: { environment: agent.environment },
    })
    await call()
    expect((await call()).status).toBe(429)
    await stage.app.call('GET', '/api/status/health/')
    await stage.app.call('GET', `/no/such/${Bun.randomUUIDv7()}`)
    const families = await scrape()
    const requests = (labels: Record<string, string>) =>
      sumOf(families, 'cloakroom_http_requests_total', labels)
    const resolving = { listener: 'resolver', method: 'POST', route: '/v1/resolve' }
    expect(requests({ ...resolving, status: '200' })).toBe(3)
    expect(requests({ ...resolving, status: '403' })).toBe(1)
    expect(requests({ ...resolving, status: '422' })).toBe(1)
    expect(requests({ ...resolving, status: '429' })).toBe(1)
    expect(requests({ listener: 'control-plane', route: '/api/status/health/' })).toBe(1)
    expect(requests({ listener: 'control-plane', route: 'none', status: '404' })).toBe(1)
    expect(sumOf(families, 'cloakroom_http_request_duration_seconds_count', resolving)).toBe(6)
    const decided = (decision: string, reason: string) =>
      sumOf(families, 'cloakroom_resolver_decisions_total', { decision, reason })
    // Three calls and a delivery.
    expect(decided('allowed', 'none')).toBe(4)
    expect(decided('blocked', 'domain_blocked')).toBe(1)
    expect(decided('error', 'unknown_secret')).toBe(1)
    expect(
      sumOf(families, 'cloakroom_audit_write_duration_seconds_count', { kind: 'intents' }),
    ).toBe(6)
    expect(sumOf(families, 'cloakroom_audit_write_failures_total')).toBe(0)
    expect(sumOf(families, 'cloakroom_cache_hits_total', { cache: 'keys' })).toBeGreaterThan(0)
    expect(sumOf(families, 'cloakroom_cache_entries', { cache: 'tokens' })).toBe(1)
    expect(sumOf(families, 'cloakroom_database_up')).toBe(1)
    expect(sumOf(families, 'cloakroom_database_connections')).toBeGreaterThan(0)
    expect(sumOf(families, 'cloakroom_database_ping_seconds')).toBeGreaterThan(0)
    expect(sumOf(families, 'process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
    expect(sumOf(families, 'process_cpu_seconds_total')).toBeGreaterThan(0)
    expect(sumOf(families, 'process_start_time_seconds')).toBeLessThan(Date.now() / 1000)
    expect(sumOf(families, 'process_start_time_seconds')).toBeGreaterThan(Date.now() / 1000 - 3600)
    expect(sumOf(families, 'process_open_fds')).toBeGreaterThan(2)
    // Used, not reserved: the runtime reserves gigabytes.
    expect(sumOf(families, 'process_heap_bytes')).toBeGreaterThan(1_000_000)
    expect(sumOf(families, 'process_heap_bytes')).toBeLessThan(2_000_000_000)
  })

  test('process metrics are those that the runtime provides', async () => {
    const names = [...(await scrape()).keys()].filter((name) => /^(process|nodejs)_/.test(name))
    expect(names.sort()).toEqual(
      [
        ...['', '_max', '_mean', '_min', '_p50', '_p90', '_p99', '_stddev'].map(
          (which) => `nodejs_eventloop_lag${which}_seconds`,
        ),
        'nodejs_external_memory_bytes',
        ...['total', 'used'].map((which) => `nodejs_heap_size_${which}_bytes`),
        ...['', '_system', '_user'].map((which) => `process_cpu${which}_seconds_total`),
        ...['process_heap_bytes', 'process_max_fds', 'process_open_fds'],
        ...['process_resident_memory_bytes', 'process_start_time_seconds'],
        'process_virtual_memory_bytes',
      ].sort(),
    )
  })

  test('metrics have the format: cumulative buckets, counters that end in _total and never fall', async () => {
    const [before, after] = [await scrape(), await scrape()]
    const counters = [...after].filter(([, { type }]) => type === 'counter')
    expect(counters.filter(([name]) => !name.endsWith('_total'))).toEqual([])
    const histograms = [...after.values()].filter(({ type }) => type === 'histogram')
    for (const { samples } of histograms) expectCumulative(samples)
    const fallen = counters
      .flatMap(([, { samples }]) => samples)
      .filter(({ name, labels, value }) => value < sumOf(before, name, labels))
    expect(fallen).toEqual([])
    expect([counters.length, histograms.length]).toEqual([13, 3])
  })

  test('metrics have no label that a caller could fill with a new value', async () => {
    // Only families that callers cause: the process's own work, such as a first flush, may occur in between.
    const sizeOf = (families: Map<string, Family>) =>
      [...families]
        .filter(([name]) => /^cloakroom_(http|resolver)_/.test(name))
        .reduce((sum, [, { samples }]) => sum + samples.length, 0)
    const many = async () => {
      for (let count = 0; count < 20; count += 1) {
        await stage.app.call('GET', `/api/workspaces/${Bun.randomUUIDv7()}/`)
        await stage.app.call('GET', `/nowhere/${count}`)
        await stage.app.call('GET', '/nowhere', { headers: { host: `host-${count}.example` } })
        await sendMethod(`X${String.fromCharCode(65 + count)}`)
      }
    }
    await many()
    const before = sizeOf(await scrape())
    await many()
    const families = await scrape()
    expect(sizeOf(families)).toBe(before)
    const text = await (await fetch(`${stage.app.admin}/metrics`)).text()
    const { workspaceId, projectId, tokenId, registrationId, person } = agent
    const telling = [workspaceId, projectId, tokenId, registrationId, person.email, 'KEY"']
    for (const part of [...telling, 'upstream.example', 'secret/path', 'host-1']) {
      expect({ part, found: text.includes(part) }).toEqual({ part, found: false })
    }
  })

  test('metrics include every series of the dashboard', async () => {
    const families = await scrape()
    const known = new Set(
      [...families].flatMap(([name, { samples }]) => [name, ...samples.map((one) => one.name)]),
    )
    const queries = JSON.stringify(dashboard).match(/"expr":"(?:[^"\\]|\\.)*"/g) ?? []
    const names = queries.flatMap((query) => query.match(/\b(cloakroom|process|nodejs)_\w+/g) ?? [])
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !known.has(name))).toEqual([])
  })
})

describe('the admin listener', () => {
  test('the admin listener serves one path, by GET and HEAD, for the configured hosts', async () => {
    const admin = stage.app.admin ?? ''
    expect((await fetch(`${admin}/`)).status).toBe(404)
    expect((await fetch(`${admin}/api/status/health/`)).status).toBe(404)
    expect((await fetch(`${admin}/metrics`, { method: 'POST' })).status).toBe(405)
    expect((await fetch(`${admin}/metrics`, { method: 'HEAD' })).status).toBe(200)
    const foreign = await fetch(`${admin}/metrics`, { headers: { host: 'evil.example' } })
    expect(foreign.status).toBe(400)
    expect(await foreign.text()).not.toContain('cloakroom_http')
  })

  test('the admin listener is the only one with metrics, and is missing without ADMIN_PORT', async () => {
    for (const origin of [stage.app.controlPlane, stage.app.resolver])
      expect((await fetch(`${origin}/metrics`)).status).toBe(404)
    const app = await startTestApp()
    expect(app.admin).toBeNull()
    await app.stop()
  }, 30_000)

  test('the admin listener is not dialled by the resolver, like the other listeners', async () => {
    const { port } = new URL(stage.app.admin ?? '')
    await agent.allow(`${API}:${port}`)
    stage.app.clock.advance(3_600_000)
    const { body } = await agent.resolve({ target_url: `https://${API}:${port}/metrics` })
    expect(body).toMatchObject({ error_code: 'address_blocked' })
  })
})

type Samples = Family['samples']

function expectCumulative(samples: Samples): void {
  const buckets = new Map<string, number[]>()
  for (const { name, labels, value } of samples) {
    if (!name.endsWith('_bucket')) continue
    const { le: _, ...rest } = labels
    const key = JSON.stringify(rest)
    buckets.set(key, [...(buckets.get(key) ?? []), value])
  }
  for (const [key, values] of buckets) {
    expect(values).toEqual([...values].sort((a, b) => a - b))
    const count = samples.find(
      ({ name, labels }) => name.endsWith('_count') && JSON.stringify(labels) === key,
    )
    expect(values.at(-1)).toBe(count?.value)
  }
}

/** A request with a method that no client library sends. */
function sendMethod(method: string): Promise<void> {
  const { hostname, port } = new URL(stage.app.controlPlane)
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('close', () => resolve())
  socket.on('error', () => resolve())
  socket.on('data', () => socket.end())
  socket.write(
    `${method} /api/status/health/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
  )
  return promise
}
