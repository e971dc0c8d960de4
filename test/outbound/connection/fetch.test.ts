// tier: quick
/** Step 10 on the real listener: one TLS 1.3 connection to the checked address, under the real name. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createAuthority } from '../../../src/cli/demo/certificates.ts'
import { type FaultCode, type Fix, messageOf, statusOf } from '../../../src/core/fault.ts'
import { adviceFor } from '../../../src/http/advice.ts'
import {
  type Agent,
  API,
  createAgentWithToken,
  recordOf,
  type Stage,
  sharedStage,
} from '../../support/agent.ts'
import { marked } from '../../support/canary.ts'
import { answerOf, startUpstream, type Upstream } from '../../support/upstream.ts'

const DAY_MS = 86_400_000

let stage: Stage
let agent: Agent

beforeAll(async () => {
  stage = await sharedStage({ names: ['other.upstream.example'] })
  agent = await createAgentWithToken(stage, { secrets: { KEY: marked('sk_live_dial') } })
}, 30_000)
afterAll(() => stage.stop())

const HEADERS = { Authorization: 'Bearer SVC_SECRET_KEY' }

/** The HTTP client reads in a separate thread, and nothing shows what that thread has read. */
const clientNoticed = () => Bun.sleep(20)

/** A call to its own upstream; the port is allowed first. */
async function callTo({ port }: { port: number }, host = API, call: object = {}) {
  await agent.allow(`${host}:${port}`)
  return agent.resolve({ target_url: `https://${host}:${port}/`, headers: HEADERS, ...call })
}

async function expectFailed(upstream: { port: number }, code: FaultCode, host = API, fix?: Fix) {
  const answer = await callTo(upstream, host)
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: statusOf(code),
    body: { error_code: code, message: messageOf(code), ...adviceFor(code, fix) },
  })
  expect(await recordOf(stage.app, answer)).toMatchObject({
    decision: 'error',
    reason: code,
    status_code: statusOf(code),
    credential_ref: 'KEY',
  })
}

/** No byte of the request may arrive over an untrusted connection. */
async function expectDistrusted(options: Parameters<typeof startUpstream>[1], host = API) {
  const upstream = await startUpstream(stage.authority, options)
  try {
    await expectFailed(upstream, 'upstream_tls_error', host)
    expect({ bytes: upstream.bytes, received: upstream.received }).toEqual({
      bytes: 0,
      received: [],
    })
  } finally {
    await upstream.stop()
  }
}

describe('502 upstream_tls_error, before a byte is sent', () => {
  test('a server with TLS 1.2 only is rejected', async () => {
    await expectDistrusted({ names: [API], tls: { maxVersion: 'TLSv1.2' } })
  })

  test('a certificate for another name is refused', async () => {
    await expectDistrusted({ names: ['upstream.example', 'xapi.upstream.example'] })
  })

  test('a wildcard that covers more than one label, or none, is rejected', async () => {
    await expectDistrusted({ names: ['*.example', '*.api.upstream.example'] })
  })

  test('the right common name without subjectAltName is rejected', async () => {
    await expectDistrusted({ names: [], certificate: { commonName: API } })
  })

  test('the right common name beside another subjectAltName is rejected', async () => {
    await expectDistrusted({ names: ['upstream.example'], certificate: { commonName: API } })
  })

  test('a certificate that has expired, or is not valid yet, is rejected', async () => {
    const now = Date.now()
    for (const [notBefore, notAfter] of [
      [now - 2 * DAY_MS, now - DAY_MS],
      [now + DAY_MS, now + 2 * DAY_MS],
    ] as const) {
      await expectDistrusted({
        names: [API],
        certificate: { notBefore: new Date(notBefore), notAfter: new Date(notAfter) },
      })
    }
  })

  test('an unknown issuer is rejected, also one of the same name', async () => {
    // Another key under a known name is no missing certificate, so no setting helps.
    const fixes = { Somebody: { setting: 'RESOLVER_CA_FILE' }, 'Test authority': undefined }
    for (const [name, fix] of Object.entries(fixes)) {
      const upstream = await startUpstream(await createAuthority(name), { names: [API] })
      await expectFailed(upstream, 'upstream_tls_error', API, fix)
      expect(upstream.bytes).toBe(0)
      await upstream.stop()
    }
  })

  test('a server without TLS is rejected', async () => {
    const received: Buffer[] = []
    const plain = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data: (socket, data) => {
          received.push(data)
          socket.write('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n')
          socket.end()
        },
      },
    })
    const answer = await callTo(plain)
    expect(answer.status).toBe(502)
    expect(Buffer.concat(received).toString('latin1')).not.toContain(marked('sk_live_dial'))
    expect(await recordOf(stage.app, answer)).toMatchObject({ decision: 'error' })
    plain.stop(true)
  })

  test('rejected certificates of a server do not affect a valid one', async () => {
    expect((await callTo(stage.upstream)).status).toBe(200)
  })
})

describe('502 upstream_unreachable', () => {
  test('an upstream at an address without a listener is unreachable', async () => {
    const upstream = await startUpstream(stage.authority, { names: [API] })
    await upstream.stop()
    await expectFailed(upstream, 'upstream_unreachable')
  })

  test('a name that does not exist, or has no address, is unreachable', async () => {
    await agent.allow('nowhere.example', 'empty.example')
    stage.names.set('empty.example', [])
    for (const host of ['nowhere.example', 'empty.example']) {
      const answer = await agent.resolve({ target_url: `https://${host}/`, headers: HEADERS })
      expect({ status: answer.status, body: answer.body }).toEqual({
        status: 502,
        body: {
          error_code: 'upstream_unreachable',
          message: messageOf('upstream_unreachable'),
          ...adviceFor('upstream_unreachable'),
        },
      })
      expect(await recordOf(stage.app, answer)).toMatchObject({ reason: 'upstream_unreachable' })
    }
  })
})

describe('connections', () => {
  async function withUpstream(act: (upstream: Upstream) => Promise<void>) {
    const upstream = await startUpstream(stage.authority, {
      names: [API, 'other.upstream.example'],
    })
    try {
      await act(upstream)
    } finally {
      await upstream.stop()
    }
  }

  test('kept connections are reused for the same name, and never for another at the same address', async () => {
    await withUpstream(async (upstream) => {
      for (const host of [API, 'other.upstream.example', API, 'other.upstream.example']) {
        expect((await callTo(upstream, host)).status).toBe(200)
      }
      const seen = upstream.received.map((request) => [request.header('host'), request.connection])
      expect(seen).toEqual([
        [`${API}:${upstream.port}`, 1],
        [`other.upstream.example:${upstream.port}`, 2],
        [`${API}:${upstream.port}`, 1],
        [`other.upstream.example:${upstream.port}`, 2],
      ])
    })
  })

  test('kept connections that the upstream closed while idle do not affect the next call', async () => {
    await withUpstream(async (upstream) => {
      for (const method of ['GET', 'POST', 'GET', 'DELETE', 'POST']) {
        const { status } = await callTo(upstream, API, { method })
        expect({ method, status }).toEqual({ method, status: 200 })
        upstream.disconnect()
        await clientNoticed()
      }
      expect(upstream.received.length).toBe(5)
    })
  })

  test('kept connections that fail during a POST or PATCH fail it: it is never sent twice', async () => {
    for (const method of ['POST', 'PATCH']) {
      await withUpstream(async (upstream) => {
        await callTo(upstream)
        upstream.on('/', (_, wire) => void wire.destroy())
        const { status, body } = await callTo(upstream, API, { method, body: 'pay' })
        expect({ status, body }).toEqual({
          status: 502,
          body: {
            error_code: 'upstream_protocol_error',
            message: messageOf('upstream_protocol_error'),
            ...adviceFor('upstream_protocol_error'),
          },
        })
        expect(upstream.received.map((request) => request.method)).toEqual(['GET', method])
      })
    }
  })

  test('an idempotent request on a failing kept connection is retried at most once', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      await withUpstream(async (upstream) => {
        await callTo(upstream)
        upstream.on('/', (_, wire) => void wire.destroy())
        const { status } = await callTo(upstream, API, { method })
        expect(status).toBe(502)
        expect(upstream.received.length).toBeLessThanOrEqual(3)
      })
    }
  })

  test('kept connections with leftovers of a longer answer are not reused', async () => {
    await withUpstream(async (upstream) => {
      const poison = answerOf(200, { 'x-poison': '1' }, 'poison')
      upstream.on('/', Buffer.concat([answerOf(200, {}, 'first'), poison]))
      await callTo(upstream)
      await clientNoticed()
      upstream.on('/', answerOf(200, {}, 'second'))
      expect((await callTo(upstream)).body).toMatchObject({ headers: {}, body: 'second' })
    })
  })

  test('connections are closed when an answer is too late', async () => {
    await withUpstream(async (upstream) => {
      upstream.on('/', () => {})
      // Long enough for a handshake on a busy machine.
      expect((await callTo(upstream, API, { timeout_ms: 1000 })).status).toBe(504)
      upstream.on('/', answerOf(200, {}, 'second'))
      expect((await callTo(upstream)).body).toMatchObject({ body: 'second' })
      expect(upstream.received.map((request) => request.connection)).toEqual([1, 2])
    })
  })
})
