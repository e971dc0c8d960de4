// tier: quick
/** No printed part of a call shows a value, in any way of printing and at any moment. */
import { afterAll, describe, expect, test } from 'bun:test'
import { inspect } from 'node:util'
import { KeyCache } from '../../src/access/keys.ts'
import type { SnapshotCache } from '../../src/access/snapshots/snapshots.ts'
import type { LiveToken } from '../../src/access/tokens.ts'
import { BodyMemory } from '../../src/core/body_memory.ts'
import { systemClock } from '../../src/core/clock.ts'
import { Fault } from '../../src/core/fault.ts'
import { openLog } from '../../src/core/log.ts'
import { Secret } from '../../src/core/secret.ts'
import type { SocketHandlers } from '../../src/http/route.ts'
import { prepareGuard } from '../../src/leak_guard/index.ts'
import type { Call } from '../../src/outbound/call.ts'
import { openFetcher } from '../../src/outbound/connection/fetch.ts'
import { CallDeadline } from '../../src/outbound/deadline.ts'
import { execute, type Outbound, type Principal } from '../../src/outbound/execute.ts'
import { fillLocations, findLocations } from '../../src/outbound/injection/locations.ts'
import { injectPlaceholders } from '../../src/outbound/injection/placeholders.ts'
import { OutboundRequest } from '../../src/outbound/outbound_request.ts'
import type { CallPermission } from '../../src/outbound/policy/permission.ts'
import { CallRecord } from '../../src/outbound/record.ts'
import { Scheduler } from '../../src/outbound/scheduler.ts'
import { Steps } from '../../src/outbound/steps.ts'
import { parseTarget } from '../../src/outbound/target.ts'
import type { UpstreamSocket } from '../../src/outbound/websocket/connect.ts'
import { LiveCalls } from '../../src/resolver/live_calls.ts'
import { formsOf, marked } from '../support/canary.ts'

const VALUE = marked('sk_live_')
const HIDDEN = [VALUE, `ada:${VALUE}`].flatMap((text) => Object.entries(formsOf(text)))
/** Runs of its bytes, as inspectors and JSON print typed arrays. */
const BYTES = [...Buffer.from(VALUE)].slice(0, 8)
const LISTS = [BYTES.join(', '), BYTES.map((byte) => byte.toString(16)).join(' ')]

/** Every way to print a value. */
function printed(thing: unknown): string {
  const texts = [
    inspect(thing, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxArrayLength: null }),
    inspect(thing, { depth: Number.POSITIVE_INFINITY, getters: true, customInspect: false }),
    Bun.inspect(thing, { depth: 100 }),
    json(thing),
    String(thing),
    `${thing}`,
  ]
  return texts.join('\n')
}

/** Prints the way a careless log would, whatever protects it. */
function json(thing: unknown): string {
  const seen = new Set<unknown>()
  return (
    JSON.stringify(thing, (_, value) => {
      if (typeof value === 'bigint' || seen.has(value)) return null
      if (typeof value === 'object' && value !== null) seen.add(value)
      return value instanceof Map ? [...value] : value
    }) ?? ''
  )
}

function expectHidden(things: Record<string, unknown>): void {
  for (const [name, thing] of Object.entries(things)) {
    const text = printed(thing)
    const forms = HIDDEN.filter(([, form]) => text.includes(form)).map(([form]) => form)
    const lists = LISTS.filter((list) => text.includes(list))
    expect({ name, forms, lists }).toEqual({ name, forms: [], lists: [] })
  }
}

const signing = {
  type: 'hmac-sha256',
  secret: 'KEY',
  header: 'x-signature',
  template: '{body}',
  value: '{signature}',
  encoding: 'hex',
  key_encoding: 'utf8',
} as const

function callOf(more: Partial<Call> = {}): Call {
  return {
    targetUrl: 'https://api.example.com/v1/SVC_SECRET_KEY?key=SVC_SECRET_KEY',
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa('ada:SVC_SECRET_KEY')}`,
      'x-key': 'SVC_SECRET_KEY',
      'content-type': 'application/json',
    },
    body: { bytes: Buffer.from('{"key":"SVC_SECRET_KEY"}') },
    answer: 'whole',
    signing,
    linkBase: null,
    ...more,
  }
}

const OWNER = { workspaceId: 'w', tokenId: 't' }

const permission: CallPermission = {
  holder: 'this test',
  allows: () => true,
  scope: () => ({ projectId: null, environment: 'development' }),
  placeable: () => () => true,
  remember: () => {},
  guard: () => prepareGuard([{ name: 'KEY', bytes: Buffer.from(VALUE) }]),
  secrets: (names) =>
    names.map((name) => ({
      name,
      projectId: 'p',
      policy: { allowed_locations: ['header', 'basic', 'path', 'query', 'json', 'sign'] },
      open: () => new Secret(Buffer.from(VALUE)),
    })),
}

/** A call by the real engine, with everything that passes between its parts. */
async function run(call: Call, answer: () => Response, wire?: UpstreamSocket['wire']) {
  const kept: Record<string, unknown> = { call, permission }
  const upgraded = Promise.withResolvers<SocketHandlers>()
  const outbound: Outbound = {
    addresses: { find: async () => '192.0.2.1' },
    fetcher: {
      fetch: async (request) => {
        kept.request = request
        if (request instanceof OutboundRequest) kept.guard = request.guard(async () => {})
        return answer()
      },
      close: () => {},
    },
    http2: { open: () => Promise.reject(new Error('no gRPC')), close: () => {} },
    sockets: {
      connect: async (request) => {
        kept.request = request
        return { wire: wire as UpstreamSocket['wire'], rest: new Uint8Array(), protocol: null }
      },
    },
    userAgent: 'test',
    clock: systemClock,
    steps: new Steps(),
    frames: new Scheduler(),
  }
  const principal: Principal = {
    decide: async (attempt) => {
      const decided = await attempt(permission)
      kept.decided = decided
      if (decided instanceof Fault) throw decided
      return decided
    },
    withRecord: () => principal,
    conclude: (conclusion) => {
      kept.conclusion = conclusion
    },
    owner: OWNER,
    headers: {},
    bodies: new BodyMemory().open(OWNER.workspaceId),
    faultOf: (error) => (error instanceof Fault ? error : new Fault('internal_error')),
    connection: {
      request: new Request('http://localhost/'),
      upgrade: (handlers) => {
        upgraded.resolve(handlers)
        return true
      },
    },
  }
  const record = new CallRecord({ id: 'r', projectId: null, environment: 'development' })
  const deadline = new CallDeadline(60_000)
  const response = await execute(outbound, principal, { call, deadline, record })
  const live = new LiveCalls({
    tokens: { versions: async () => new Map() },
    snapshots: {} as SnapshotCache,
    keys: new KeyCache(60, systemClock),
    guards: {
      get: () => permission.guard(),
      of: async () => permission.guard(),
      remember: () => {},
    },
    log: openLog('error', () => {}),
  })
  const { asked, placeholders } = record
  if (asked) {
    const token = { id: 't', workspaceId: 'w' } as LiveToken
    const scope = { projectId: null, environment: 'development' }
    const basis = { token, scope, placeholders, asked }
    deadline.afterwards(live.hold(basis, () => {}))
    kept.basis = basis
  }
  live.close()
  Object.assign(kept, { record, deadline, response, live, outbound, principal })
  return { kept, response, deadline, handlers: upgraded.promise }
}

const echo = () => new Response(`you sent ${VALUE}`, { headers: { 'x-echo': VALUE } })

describe('no value is printed by', () => {
  test("the test's marks are found if they are not hidden", () => {
    expect(() => expectHidden({ plain: { deep: [{ text: VALUE }] } })).toThrow()
    expect(() => expectHidden({ bytes: { deep: Buffer.from(VALUE) } })).toThrow()
    expect(() => expectHidden({ array: new Uint8Array(Buffer.from(VALUE)) })).toThrow()
  })

  test("a request's parts with values do not print them", async () => {
    const call = callOf()
    const target = parseTarget(call.targetUrl)
    const values = new Map([['KEY', new Secret(Buffer.from(VALUE))]])
    const bytes = Buffer.from('{"key":"SVC_SECRET_KEY"}')
    const locations = findLocations(target, bytes, 'application/json', () => true)
    const injection = injectPlaceholders(Object.entries(call.headers), values)
    const filled = fillLocations(target, locations, values)
    const signer = { userAgent: 'test', clock: systemClock }
    const guard = await permission.guard()
    const settings = new Set<string>()
    const parts = {
      target,
      address: '192.0.2.1',
      injection,
      filled,
      values,
      signature: null,
      guard,
      settings,
      part: null,
      isObject: false,
      allowsRanges: true,
      isPlaceable: () => false,
    }
    const request = new OutboundRequest(signer, call, parts)
    const wire = request.reveal()
    expect(wire.pathAndQuery).toBe(`/v1/${VALUE}?key=${VALUE}`)
    expect(Buffer.from(wire.body && 'bytes' in wire.body ? wire.body.bytes : []).toString()).toBe(
      `{"key":"${VALUE}"}`,
    )
    const answerGuard = request.guard(async () => {})
    const stream = answerGuard.openStream()
    for await (const _ of stream.push(Buffer.from(`data: ${VALUE.slice(0, 12)}`)));
    await answerGuard.redactBody(Buffer.from(VALUE))
    expect(answerGuard.redacted).toBe(true)
    expectHidden({ values, locations, injection, filled, parts, request, answerGuard, stream })
  })

  test('a call with a wrapped answer does not print its values', async () => {
    const { kept, response } = await run(callOf(), echo)
    expect(kept.conclusion).toMatchObject({ status_code: 200, redacted: true })
    expectHidden({ ...kept, text: await response?.text() })
  })

  test('a call with a streamed answer does not print its values, while it is open and after', async () => {
    const { kept, response } = await run(callOf({ answer: 'streamed', signing: null }), () => {
      const pieces = ['first ', VALUE.slice(0, 9), VALUE.slice(9), ' last']
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          const piece = pieces.shift()
          if (piece === undefined) controller.close()
          else controller.enqueue(Buffer.from(piece))
        },
      })
      return new Response(body, { headers: { 'x-echo': VALUE } })
    })
    expectHidden(kept)
    const text = await response?.text()
    expect(text).toBe('first SVC_SECRET_KEY last')
    expectHidden({ ...kept, headers: Object.fromEntries(response?.headers ?? []), text })
  })

  test('an open WebSocket does not print its values', async () => {
    const wire = { on() {}, once() {}, resume() {}, end() {}, destroy() {}, writableLength: 0 }
    const call = callOf({ answer: 'socket', body: null, method: 'GET', signing: null })
    const connected = await run(call, echo, wire as unknown as UpstreamSocket['wire'])
    expectHidden({ ...connected.kept, handlers: await connected.handlers })
    connected.deadline.abort()
  })

  test('the error of an unreachable upstream or a rejected call does not print its values', async () => {
    const fetcher = openFetcher(undefined)
    afterAll(() => fetcher.close())
    const { kept } = await run(callOf(), echo)
    const { request } = kept
    if (!(request instanceof OutboundRequest)) throw new Error('there was no request')
    Object.assign(request.reveal(), { address: '127.0.0.1', port: 1 })
    const unreachable = await fetcher.fetch(request, OWNER, new CallDeadline(5_000)).catch((e) => e)
    expect(unreachable).toMatchObject({ code: 'upstream_unreachable' })
    Object.assign(request.reveal(), { address: '127.0.0.1:x' })
    const broken = await fetcher.fetch(request, OWNER, new CallDeadline(5_000)).catch((e) => e)
    expect(broken).toBeInstanceOf(Fault)
    const refused = await run(callOf({ headers: { 'x-key': 'SVC_SECRET_' } }), echo).catch((e) => e)
    expect(refused).toMatchObject({ code: 'invalid_header' })
    expectHidden({ unreachable, broken, refused })
  })
})
