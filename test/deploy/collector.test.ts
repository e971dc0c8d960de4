// tier: all
/**
 * Traces, received by the receiver of OpenTelemetry's collector (collector/main.go) with the configuration of
 * docs/guides/monitoring.md: its result, which it passes on to other programs.
 */
import { expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../../package.json'
import { scriptOf } from '../docs/blocks.ts'
import { type Agent, API, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import { watched } from '../support/watched.ts'
import { freePort } from './fronts.ts'
import { BUILD_MS, collectorProgram } from './go_programs.ts'

const { afterAll, beforeAll, describe, test } = requires('go')

const CONFIG = scriptOf('docs/guides/monitoring.md', 'collector')
const PLACE = '127.0.0.1:4318'
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const ERROR = 2

type Value = Record<string, unknown>
/** In the collector's form, which omits zero and empty values. */
type Received = {
  traceId: string
  spanId: string
  parentSpanId?: string
  flags?: number
  name: string
  kind?: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes?: { key: string; value: Value }[]
  events?: { name: string; timeUnixNano: string }[]
  status: { code?: number }
}
type Batch = {
  resourceSpans: {
    resource: { attributes: { key: string; value: Value }[] }
    scopeSpans: { scope: object; spans: Received[] }[]
  }[]
}

const directory = mkdtempSync(join(tmpdir(), 'cr-collector-'))
const lines: string[] = []
let end: () => Promise<number>
let stage: Stage
let agent: Agent

beforeAll(async () => {
  const program = await collectorProgram()
  const place = `127.0.0.1:${await freePort()}`
  end = await startCollector(program, place)
  stage = await openStage({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://${place}` } })
  agent = await createAgentWithToken(stage, { secrets: { KEY: 'sk_live_0123456789abcdef' } })
}, BUILD_MS)
afterAll(async () => {
  await stage?.stop()
  expect(await end?.()).toBe(0)
  rmSync(directory, { recursive: true, force: true })
})

async function startCollector(program: string, place: string): Promise<() => Promise<number>> {
  expect(CONFIG).toContain(PLACE)
  const file = join(directory, 'config.yaml')
  writeFileSync(file, CONFIG.replace(PLACE, place))
  const child = watched(
    Bun.spawn([program, file], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' }),
  )
  const ready = Promise.withResolvers<void>()
  const read = async () => {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const piece of child.stdout) {
      const [...whole] = (rest + decoder.decode(piece, { stream: true })).split('\n')
      rest = whole.pop() ?? ''
      lines.push(...whole)
      if (lines[0] === 'ready') ready.resolve()
    }
    ready.reject(new Error(`the collector ended with ${await child.exited}`))
  }
  void read()
  await ready.promise
  return () => {
    child.stdin.end()
    return child.exited
  }
}

/** All received spans, once all sent ones have arrived. */
async function batches(): Promise<Batch[]> {
  await stage.app.tracer?.flush()
  const read = (): Batch[] => lines.slice(1).map((line) => JSON.parse(line))
  await until(() => spansIn(read()).length >= (stage.app.tracer?.counts.spans.exported ?? 0))
  return read()
}

const spansIn = (all: Batch[]) =>
  all.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  )

const attributesOf = (attributes: { key: string; value: Value }[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value]))

/** The spans of one request, with their parent span. */
async function traceOf(answer: Response, name: string) {
  const id = { stringValue: answer.headers.get('x-request-id') ?? '' }
  const all = spansIn(await batches())
  const root = all.find((one) => Bun.deepEquals(requestOf(one), id))
  if (root?.name !== name) throw new Error(`${root?.name} is not ${name}`)
  const spans = all.filter(({ traceId }) => traceId === root.traceId)
  const named = (wanted: string) => {
    const [found, ...more] = spans.filter((one) => one.name === wanted)
    if (!found || more.length > 0) throw new Error(`${wanted}: not once`)
    return { ...found, attributes: attributesOf(found.attributes) }
  }
  return { root: named(name), spans, named }
}

const requestOf = ({ attributes }: Received) => attributesOf(attributes)['cloakroom.request_id']

function resolve(target_url: string, headers: Record<string, string> = {}) {
  const authorization = `Bearer ${agent.token}`
  return fetch(`${stage.app.resolver}/v1/resolve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization, ...headers },
    body: JSON.stringify({ target_url, headers: { 'X-Key': 'SVC_SECRET_KEY' } }),
  })
}

describe("the collector's receiver", () => {
  test('the collector receives a call unchanged: its parents, kinds, types, times and events', async () => {
    const from = BigInt(Date.now() - 1000) * 1_000_000n
    const answer = await resolve(stage.url('/'), { traceparent: `00-${TRACE}-${SPAN}-01` })
    expect(answer.status).toBe(200)
    const { root, spans, named } = await traceOf(answer, 'POST /v1/resolve')
    expect(root).toMatchObject({ traceId: TRACE, parentSpanId: SPAN, flags: 0x301, kind: 2 })
    expect(root.status).toEqual({})
    expect(root.attributes).toEqual({
      'cloakroom.request_id': { stringValue: answer.headers.get('x-request-id') ?? '' },
      'http.request.method': { stringValue: 'POST' },
      'http.response.status_code': { intValue: '200' },
      'http.route': { stringValue: '/v1/resolve' },
      listener: { stringValue: 'resolver' },
    })
    const call = named('call')
    expect(call).toMatchObject({ kind: 3, parentSpanId: root.spanId, status: {} })
    expect(call.events?.map(({ name }) => name)).toEqual(['first byte'])
    expect(call.attributes).toMatchObject({
      'server.address': { stringValue: API },
      'server.port': { intValue: String(stage.upstream.port) },
      'http.response.status_code': { intValue: '200' },
      'cloakroom.redacted': { boolValue: false },
    })
    const [authenticate, decide, write] = ['authenticate', 'decide', 'audit write'].map(named)
    for (const one of [authenticate, decide, write])
      expect(one).toMatchObject({ kind: 1, status: {} })
    expect(authenticate?.parentSpanId).toBe(root.spanId)
    expect(decide?.parentSpanId).toBe(root.spanId)
    expect(write?.parentSpanId).toBe(decide?.spanId ?? '')
    const byId = new Map(spans.map((one) => [one.spanId, one]))
    expect(byId.size).toBe(spans.length)
    for (const one of spans.filter(({ spanId }) => spanId !== root.spanId)) {
      expect(byId.has(one.parentSpanId ?? '')).toBe(true)
      const [began, ended] = [BigInt(one.startTimeUnixNano), BigInt(one.endTimeUnixNano)]
      expect(began >= from && began <= ended && ended <= from + 600_000_000_000n).toBe(true)
    }
  })

  test('the collector receives a rejected call without an error, and a failed call with one', async () => {
    const refused = await resolve('https://elsewhere.example/')
    expect(refused.status).toBe(403)
    const one = await traceOf(refused, 'POST /v1/resolve')
    expect(one.root.parentSpanId ?? '').toBe('')
    expect(one.root.status).toEqual({})
    expect(one.named('decide')).toMatchObject({
      status: {},
      attributes: { 'error.type': { stringValue: 'domain_blocked' } },
    })
    const nobody = `${API}:${await freePort()}`
    await agent.allow(nobody)
    const failed = await resolve(`https://${nobody}/`)
    expect(failed.status).toBe(502)
    const other = await traceOf(failed, 'POST /v1/resolve')
    expect(other.root.status).toEqual({ code: ERROR })
    expect(other.root.attributes).toMatchObject({ 'error.type': { stringValue: '502' } })
    expect(other.named('call').status).toEqual({ code: ERROR })
  })

  test('the collector receives every span, with its owner', async () => {
    const all = await batches()
    expect(stage.app.tracer?.counts.spans).toMatchObject({ failed: 0, dropped: 0 })
    expect(spansIn(all).length).toBe(stage.app.tracer?.counts.spans.exported ?? 0)
    for (const { resource, scopeSpans } of all.flatMap(({ resourceSpans }) => resourceSpans)) {
      expect(attributesOf(resource.attributes)).toEqual({
        'service.name': { stringValue: 'cloakroom' },
        'service.version': { stringValue: version },
        'service.instance.id': { stringValue: String(process.pid) },
        'telemetry.sdk.name': { stringValue: 'cloakroom' },
        'telemetry.sdk.language': { stringValue: 'nodejs' },
      })
      expect(scopeSpans.map(({ scope }) => scope)).toEqual([{ name: 'cloakroom', version }])
    }
  })
})
