// tier: quick
/** Smuggled requests, unknown hosts and oversized bodies on the listeners that the product opens. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type FaultCode, messageOf, statusOf } from '../../src/core/fault.ts'
import { adviceFor } from '../../src/http/advice.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { rawRequest, sendRaw } from '../support/raw_http.ts'
import { smugglingVectors, strangeHosts } from './raw_vectors.ts'

const MIB = 1024 * 1024
/** Its own limit would be 128 MiB, and was 64. */
const BEYOND_THE_RUNTIME = [64 * MIB + 1, 10_000_000_000, Number.MAX_SAFE_INTEGER]
const HOST = 'Host: localhost'
const JSON_TYPE = 'Content-Type: application/json'
const CHUNKED = 'Transfer-Encoding: chunked'
const CLOSE = 'Connection: close'
const LOGIN = 'POST /api/auth/login/ HTTP/1.1'
const RESOLVE = 'POST /v1/resolve HTTP/1.1'

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await openStage({ env: { ADMIN_PORT: '0', RATE_LOGIN: '100000/1' } })
  agent = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_inbound') } })
}, 30_000)
beforeEach(() => {
  stage.app.logs.length = 0
  stage.upstream.received.length = 0
})
afterAll(() => stage.stop())

const bearer = () => `Authorization: Bearer ${agent.token}`

type Side = {
  name: string
  origin(): string
  /** A request with a body that is read. */
  line: string
  headers(): string[]
  /** A request without authentication, its route, and words that only its answer has. */
  open: { line: string; route: string; marker: string }
  /** The body of an error. */
  refusal(code: FaultCode): unknown
}

const sides: Side[] = [
  {
    name: 'the control plane',
    origin: () => stage.app.controlPlane,
    line: LOGIN,
    headers: () => [HOST, JSON_TYPE],
    open: {
      line: 'GET /api/status/health/ HTTP/1.1',
      route: '/api/status/health/',
      marker: 'uptime_seconds',
    },
    refusal: (code) => ({
      status: 'failure',
      error_code: code,
      message: messageOf(code),
      ...adviceFor(code),
      request_id: expect.any(String),
    }),
  },
  {
    name: 'the resolver',
    origin: () => stage.app.resolver,
    line: RESOLVE,
    headers: () => [HOST, JSON_TYPE, bearer()],
    open: { line: 'GET /healthz HTTP/1.1', route: '/healthz', marker: '"service":"resolver"' },
    refusal: (code) => ({ error_code: code, message: messageOf(code), ...adviceFor(code) }),
  },
]

const bodyOf = (text: string): unknown => JSON.parse(text.slice(text.indexOf('\r\n\r\n')))

/** The routes of the requests that were answered since the test began. */
function routes(): unknown[] {
  return stage.app.logs
    .map((line) => JSON.parse(line))
    .filter(({ message }) => message === 'request')
    .map(({ route }) => route)
}

/** Well-behaved requests on one connection, however slow the machine is. */
const SEPARATELY = { waitsForAnswers: true }

/** Long enough for an answer: the runtime drops a connection on which another request comes before it. */
const PAUSE_MS = 300

/** Each vector in one piece, and with the hidden request by itself when the first was answered. */
async function sendAll(origin: string, vectors: readonly [string, string][], hidden: string) {
  const sent = vectors.flatMap(([name, bytes]) => {
    const at = bytes.indexOf(hidden)
    const pieces = [bytes.slice(0, at), bytes.slice(at)]
    return [
      { name, parts: [bytes] },
      { name: `${name}, in pieces`, parts: pieces },
    ]
  })
  return Promise.all(
    sent.map(async ({ name, parts }) => {
      const answer = await sendRaw(origin, parts, { pauseMs: PAUSE_MS, timeoutMs: 800 })
      return { name, ...answer }
    }),
  )
}

describe.each(sides.map((side) => [side.name, side] as const))('%s', (_, side) => {
  test('a listener handles no request inside the body of another (43)', async () => {
    const hidden = rawRequest(side.open.line, [HOST])
    const vectors = smugglingVectors({ line: side.line, headers: side.headers(), hidden })
    const answers = await sendAll(side.origin(), vectors, hidden)
    expect(answers.filter(({ text }) => text.includes(side.open.marker))).toEqual([])
    expect(routes()).not.toContain(side.open.route)
  })

  test('a listener answers the same request outside a body, so a smuggled one would be answered', async () => {
    const first = rawRequest(side.line, [...side.headers(), 'Content-Length: 2'], '{}')
    const parts = [first, rawRequest(side.open.line, [HOST])]
    const { statuses, text } = await sendRaw(side.origin(), parts, SEPARATELY)
    expect(statuses).toEqual([422, 200])
    expect(text).toContain(side.open.marker)
    expect(routes()).toContain(side.open.route)
  })

  test('a listener answers 400 invalid_host to every unknown Host (44)', async () => {
    // The valid Host before it, on the same connection, must not authorize it.
    const answers = strangeHosts.map(async ([name, headers]) => {
      const parts = [[HOST], headers].map((lines) => rawRequest(side.open.line, lines))
      const { statuses, text } = await sendRaw(side.origin(), parts, SEPARATELY)
      return { name, statuses, body: bodyOf(text.slice(text.lastIndexOf('HTTP/1.1 400'))) }
    })
    const refused = { statuses: [200, 400], body: side.refusal('invalid_host') }
    expect(await Promise.all(answers)).toEqual(strangeHosts.map(([name]) => ({ name, ...refused })))
  })

  test('a listener answers 400 without a Host (44)', async () => {
    const [line] = side.open.line.split(' HTTP')
    const modern = await sendRaw(side.origin(), rawRequest(`${line} HTTP/1.1`, []))
    expect(modern.statuses).toEqual([400])
    const old = await sendRaw(side.origin(), rawRequest(`${line} HTTP/1.0`, []))
    expect(old.statuses).toEqual([400])
    expect(bodyOf(old.text)).toEqual(side.refusal('invalid_host'))
  })

  test('a listener checks the Host header, not the host of the request line', async () => {
    const [method, path] = side.open.line.split(' ')
    const line = `${method} http://localhost${path} HTTP/1.1`
    const { text } = await sendRaw(side.origin(), rawRequest(line, ['Host: evil.example', CLOSE]))
    expect(bodyOf(text)).toEqual(side.refusal('invalid_host'))
  })

  test('a listener checks everything else before the declared size of a body', async () => {
    const path = side.line.split(' ')[1]
    const known = side.headers()
    const cases: [string, string[], FaultCode][] = [
      [side.line, ['Host: evil.example', ...known.slice(1)], 'invalid_host'],
      ['POST /nowhere/ HTTP/1.1', known, 'not_found'],
      [`PUT ${path} HTTP/1.1`, known, 'method_not_allowed'],
      ['POST /api/workloads/env/ HTTP/1.1', [HOST, JSON_TYPE], 'invalid_token'],
    ]
    const sizes = [...BEYOND_THE_RUNTIME.map((length) => `Content-Length: ${length}`), CHUNKED]
    const answers = cases.flatMap(([line, headers, code]) =>
      sizes.map(async (size) => {
        const bytes = rawRequest(line, [...headers, size])
        return { line, size, code, ...(await sendRaw(side.origin(), bytes, SEPARATELY)) }
      }),
    )
    for (const { line, size, code, statuses, text } of await Promise.all(answers)) {
      expect({ line, size, statuses }).toEqual({ line, size, statuses: [statusOf(code)] })
      expect(bodyOf(text)).toEqual(side.refusal(code))
    }
  })

  test('a listener rejects a body that is too large or compressed (46)', async () => {
    const limit = side.line === RESOLVE ? 10 * MIB : MIB
    const send = (headers: string[], body = '') =>
      sendRaw(
        side.origin(),
        rawRequest(side.line, [...side.headers(), ...headers], body),
        SEPARATELY,
      )
    const piece = `${(65_536).toString(16)}\r\n${' '.repeat(65_536)}\r\n`
    const tooLarge = await Promise.all([
      send([`Content-Length: ${limit + 1}`]),
      send([CHUNKED], piece.repeat(limit / 65_536 + 1)),
      ...BEYOND_THE_RUNTIME.map((size) => send([`Content-Length: ${size}`])),
    ])
    for (const { statuses, text } of tooLarge) {
      expect(statuses).toEqual([413])
      expect(bodyOf(text)).toEqual({
        ...(side.refusal('payload_too_large') as object),
        message: `The request body may have at most ${limit} bytes.`,
      })
    }
    const compressed = ['gzip', 'br', 'zstd', 'deflate', 'identity, gzip'].map(async (coding) => ({
      coding,
      ...(await send([`Content-Encoding: ${coding}`, 'Content-Length: 2'], '{}')),
    }))
    for (const { coding, statuses, text } of await Promise.all(compressed)) {
      expect({ coding, statuses }).toEqual({ coding, statuses: [415] })
      expect(bodyOf(text)).toEqual(side.refusal('unsupported_media_type'))
    }
  })
})

test('metrics are not served under any unknown Host (44)', async () => {
  const answers = strangeHosts.map(async ([name, headers]) => {
    const parts = [[HOST], headers].map((lines) => rawRequest('GET /metrics HTTP/1.1', lines))
    const { statuses, text } = await sendRaw(stage.app.admin ?? '', parts, SEPARATELY)
    const refusal = text.slice(text.lastIndexOf('HTTP/1.1 400'))
    return { name, statuses, hasMetrics: refusal.includes('cloakroom_') }
  })
  const refused = { statuses: [200, 400], hasMetrics: false }
  expect(await Promise.all(answers)).toEqual(strangeHosts.map(([name]) => ({ name, ...refused })))
})

test('a forwarded request carries no second request to the upstream (43)', async () => {
  const hidden = rawRequest('GET /healthz HTTP/1.1', [HOST])
  const line = `POST /v1/forward/${stage.authorityOf()}/shown HTTP/1.1`
  const headers = [HOST, `X-Service-Token: ${agent.token}`, 'X-Key: SVC_SECRET_KEY']
  const vectors = smugglingVectors({ line, headers, hidden })
  // A request that no caller waits for may end on the way, so one regular request must arrive.
  const open = rawRequest(line, [...headers, 'Content-Length: 2'], '{}')
  expect((await sendRaw(stage.app.resolver, open, { waitsForAnswers: true })).statuses).toEqual([
    200,
  ])
  const answers = await sendAll(stage.app.resolver, vectors, hidden)
  expect(answers.filter(({ text }) => text.includes('"service":"resolver"'))).toEqual([])
  expect(routes()).not.toContain('/healthz')
  const { received } = stage.upstream
  expect(received.length).toBeGreaterThan(0)
  expect(received.length).toBeLessThanOrEqual(2 * vectors.length + 1)
  for (const { method, path, headers: sent } of received) {
    const framing = sent.filter(([name]) => /^(content-length|transfer-encoding)$/i.test(name))
    expect({ method, path, framings: framing.length }).toEqual({
      method: 'POST',
      path: '/shown',
      framings: 1,
    })
  }
})
