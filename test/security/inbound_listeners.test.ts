// tier: quick
/** What test/security/inbound.test.ts shows of the pipeline, on the listeners that are really opened. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type FaultCode, messageOf, statusOf } from '../../src/platform/fault.ts'
import { type Agent, employAgent, openStage, type Stage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { databasePlace } from '../support/places.ts'
import { rawRequest, sendRaw } from '../support/raw_http.ts'
import { startServer } from '../support/server_process.ts'
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
  agent = await employAgent(stage, { secrets: { KEY: marked('sk_live_inbound') } })
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
  /** A request whose body is read. */
  line: string
  headers(): string[]
  /** A request that is answered to anybody, its route, and words that only its answer has. */
  open: { line: string; route: string; says: string }
  /** The body of a refusal. */
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
      says: 'uptime_seconds',
    },
    refusal: (code) => ({
      status: 'failure',
      error_code: code,
      message: messageOf(code),
      request_id: expect.any(String),
    }),
  },
  {
    name: 'the resolver',
    origin: () => stage.app.resolver,
    line: RESOLVE,
    headers: () => [HOST, JSON_TYPE, bearer()],
    open: { line: 'GET /healthz HTTP/1.1', route: '/healthz', says: '"service":"resolver"' },
    refusal: (code) => ({ error_code: code, message: messageOf(code) }),
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
  test('takes no request out of the body of another (43)', async () => {
    const hidden = rawRequest(side.open.line, [HOST])
    const vectors = smugglingVectors({ line: side.line, headers: side.headers(), hidden })
    const answers = await sendAll(side.origin(), vectors, hidden)
    expect(answers.filter(({ text }) => text.includes(side.open.says))).toEqual([])
    expect(routes()).not.toContain(side.open.route)
  })

  test('answers the same request when it stands in the open: it could have been taken', async () => {
    const first = rawRequest(side.line, [...side.headers(), 'Content-Length: 2'], '{}')
    const parts = [first, rawRequest(side.open.line, [HOST])]
    const { statuses, text } = await sendRaw(side.origin(), parts, SEPARATELY)
    expect(statuses).toEqual([422, 200])
    expect(text).toContain(side.open.says)
    expect(routes()).toContain(side.open.route)
  })

  test.each(strangeHosts)('is not served under a Host that is %s (44)', async (__, headers) => {
    // The good Host before it, on the same connection, must not vouch for it.
    const before = rawRequest(side.open.line, [HOST])
    const parts = [before, rawRequest(side.open.line, headers)]
    const { statuses, text } = await sendRaw(side.origin(), parts, SEPARATELY)
    expect(statuses).toEqual([200, 400])
    expect(bodyOf(text.slice(text.lastIndexOf('HTTP/1.1 400')))).toEqual(
      side.refusal('invalid_host'),
    )
  })

  test('has no answer without a Host (44)', async () => {
    const [line] = side.open.line.split(' HTTP')
    const modern = await sendRaw(side.origin(), rawRequest(`${line} HTTP/1.1`, []))
    expect(modern.statuses).toEqual([400])
    const old = await sendRaw(side.origin(), rawRequest(`${line} HTTP/1.0`, []))
    expect(old.statuses).toEqual([400])
    expect(bodyOf(old.text)).toEqual(side.refusal('invalid_host'))
  })

  test('is who its Host says, whatever the request line claims', async () => {
    const [method, path] = side.open.line.split(' ')
    const line = `${method} http://localhost${path} HTTP/1.1`
    const { text } = await sendRaw(side.origin(), rawRequest(line, ['Host: evil.example', CLOSE]))
    expect(bodyOf(text)).toEqual(side.refusal('invalid_host'))
  })

  test('checks all else before the size of a body, however large it says it is', async () => {
    const path = side.line.split(' ')[1]
    const known = side.headers()
    const cases: [string, string[], FaultCode][] = [
      [side.line, ['Host: evil.example', ...known.slice(1)], 'invalid_host'],
      ['POST /nowhere/ HTTP/1.1', known, 'not_found'],
      [`PUT ${path} HTTP/1.1`, known, 'method_not_allowed'],
      ['POST /api/workloads/env/ HTTP/1.1', [HOST, JSON_TYPE], 'invalid_token'],
    ]
    for (const [line, headers, code] of cases) {
      for (const size of [
        ...BEYOND_THE_RUNTIME.map((length) => `Content-Length: ${length}`),
        CHUNKED,
      ]) {
        const { statuses, text } = await sendRaw(
          side.origin(),
          rawRequest(line, [...headers, size]),
        )
        expect({ line, size, statuses }).toEqual({ line, size, statuses: [statusOf(code)] })
        expect(bodyOf(text)).toEqual(side.refusal(code))
      }
    }
  })

  test('refuses a body that is too large or compressed (46)', async () => {
    const limit = side.line === RESOLVE ? 10 * MIB : MIB
    const send = (headers: string[], body = '') =>
      sendRaw(side.origin(), rawRequest(side.line, [...side.headers(), ...headers], body))
    const declared = await send([`Content-Length: ${limit + 1}`])
    const piece = `${(65_536).toString(16)}\r\n${' '.repeat(65_536)}\r\n`
    const counted = await send([CHUNKED], piece.repeat(limit / 65_536 + 1))
    for (const { statuses, text } of [declared, counted]) {
      expect(statuses).toEqual([413])
      expect(bodyOf(text)).toEqual({
        ...(side.refusal('payload_too_large') as object),
        message: `The request body may have at most ${limit} bytes.`,
      })
    }
    for (const size of BEYOND_THE_RUNTIME) {
      const { statuses, text } = await send([`Content-Length: ${size}`])
      expect({ size, statuses }).toEqual({ size, statuses: [413] })
      expect(bodyOf(text)).toEqual({
        ...(side.refusal('payload_too_large') as object),
        message: `The request body may have at most ${limit} bytes.`,
      })
    }
    for (const coding of ['gzip', 'br', 'zstd', 'deflate', 'identity, gzip']) {
      const { statuses, text } = await send(
        [`Content-Encoding: ${coding}`, 'Content-Length: 2'],
        '{}',
      )
      expect({ coding, statuses }).toEqual({ coding, statuses: [415] })
      expect(bodyOf(text)).toEqual(side.refusal('unsupported_media_type'))
    }
  })
})

test.each(strangeHosts)(
  'figures are not shown under a Host that is %s (44)',
  async (_, headers) => {
    const parts = [[HOST], headers].map((lines) => rawRequest('GET /metrics HTTP/1.1', lines))
    const { statuses, text } = await sendRaw(stage.app.admin ?? '', parts, SEPARATELY)
    expect(statuses).toEqual([200, 400])
    expect(text.slice(text.lastIndexOf('HTTP/1.1 400'))).not.toContain('cloakroom_')
  },
)

test('what is forwarded as it arrives brings nothing else to the upstream (43)', async () => {
  const hidden = rawRequest('GET /healthz HTTP/1.1', [HOST])
  const line = `POST /v1/forward/${stage.authorityOf()}/shown HTTP/1.1`
  const headers = [HOST, `X-Service-Token: ${agent.token}`, 'X-Key: SVC_SECRET_KEY']
  const vectors = smugglingVectors({ line, headers, hidden })
  // What no caller waits for may end on the way: one request that is as it should be has to arrive.
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

describe('a server of its own', () => {
  /** Closes by itself, or stays; what was received in the meantime. */
  function open(origin: string, bytes: string) {
    const { hostname, port } = new URL(origin)
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('error', () => {})
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
    })
    socket.write(bytes)
    const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()))
    return { socket, closed, text: () => text }
  }

  async function pour({ socket, closed }: ReturnType<typeof open>): Promise<void> {
    const piece = `100000\r\n${' '.repeat(MIB)}\r\n`
    for (let sent = 0; sent < 256 && !socket.destroyed; sent += 1) {
      await Promise.race([new Promise((resolve) => void socket.write(piece, resolve)), closed])
    }
    socket.destroy()
  }

  test('bears bodies without end in bounded memory, and lets go of who is slow (46, 49)', async () => {
    const directory = mkdtempSync(join(databasePlace, 'cr-inbound-'))
    const env = { DATA_DIR: join(directory, 'data'), LOG_LEVEL: 'error' }
    const server = await startServer({ ...env, RESOLVER_CA_FILE: stage.caFile })
    const known = await employAgent({ app: server.app, authorityOf: stage.authorityOf })
    const peak = () => {
      const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
      return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
    }
    const listeners: [string, string, string[]][] = [
      [server.controlPlane, LOGIN, [HOST, JSON_TYPE]],
      [server.resolver, RESOLVE, [HOST, JSON_TYPE, `Authorization: Bearer ${known.token}`]],
    ]
    const slow = listeners.flatMap(([origin, line, headers]) => [
      open(origin, `${line}\r\nHost: lo`),
      open(origin, rawRequest(line, [...headers, 'Content-Length: 10'], '{"')),
    ])
    // To bodies of unknown length of a caller that is known, the resolver gives more time.
    slow.push(open(server.controlPlane, rawRequest(LOGIN, [HOST, JSON_TYPE, CHUNKED], '5\r\n{"')))
    const before = peak()
    for (const [origin, line, headers] of listeners) {
      const endless = open(origin, rawRequest(line, [...headers, CHUNKED]))
      await pour(endless)
      expect(endless.text()).toStartWith('HTTP/1.1 413 ')
    }
    expect(peak() - before).toBeLessThan(96 * MIB)
    for (const path of ['/healthz', '/v1/allowlist']) {
      const headers = { authorization: `Bearer ${known.token}` }
      expect((await fetch(`${server.resolver}${path}`, { headers })).status).toBe(200)
    }
    expect((await fetch(`${server.controlPlane}/api/status/health/`)).status).toBe(200)
    await Promise.all(slow.map(({ closed }) => closed))
    expect(slow.map(({ text }) => text()).filter((text) => /HTTP\/1\.1 2/.test(text))).toEqual([])
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
    rmSync(directory, { recursive: true, force: true })
  }, 90_000)
})
