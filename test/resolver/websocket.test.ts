// tier: quick
/** WebSockets through forward mode, on the real listener: decided and recorded like any call, then relayed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { type Agent, API, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { FakeTimers } from '../support/fake_timers.ts'
import { newestRecord } from '../support/forward.ts'
import { rawRequest, sendRaw } from '../support/raw_http.ts'
import { type CallerOptions, socketThrough } from '../support/socket_caller.ts'
import { type Accepted, accepting, acceptOf, closing, frame } from '../support/socket_upstream.ts'
import { type Script, startUpstream } from '../support/upstream.ts'

const KEY = marked('sk_live_0123456789abcdef')
const MIB = 1024 * 1024
const [TEXT, BINARY, CLOSE, PING, PONG] = [1, 2, 8, 9, 10]

const timers = new FakeTimers()
let stage: Stage
let agent: Agent
let count = 0

beforeAll(async () => {
  stage = await sharedStage({ timers })
  agent = await createAgentWithToken(stage, { secrets: { KEY, TOKEN68: 'abc-DEF_123' } })
})
afterAll(() => stage.stop())

const connectTo = (path: string, { headers = {}, ...options }: CallerOptions = {}) =>
  socketThrough(stage, agent, path, {
    ...options,
    headers: { authorization: 'Bearer SVC_SECRET_KEY', ...headers },
  })

/** Both ends of a relayed WebSocket. */
async function join(options: CallerOptions = {}, headers?: Parameters<typeof accepting>[1]) {
  count += 1
  const path = `/socket/${count}`
  const accepted = Promise.withResolvers<Accepted>()
  stage.upstream.on(path, accepting(accepted.resolve, headers))
  const caller = connectTo(`${path}?a=1`, options)
  const upstream = await accepted.promise
  expect(await caller.opened).toBe('open')
  return { caller, upstream }
}

describe('the handshake', () => {
  test('the handshake carries the credential and the subprotocols, and no headers of the resolver', async () => {
    const { caller, upstream } = await join(
      { headers: { 'x-trace': 'abc', 'x-forwarded-for': '1.2.3.4' }, protocols: ['one', 'two'] },
      () => 'Sec-WebSocket-Protocol: two\r\n',
    )
    expect(caller.socket.protocol).toBe('two')
    const { request } = upstream
    expect(request).toMatchObject({ method: 'GET', path: `/socket/${count}?a=1` })
    const headers = request.headers.map(([name, value]) => [name.toLowerCase(), value])
    expect(Object.fromEntries(headers)).toEqual({
      host: stage.authorityOf(),
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': expect.stringMatching(/^[A-Za-z0-9+/]{22}==$/),
      'sec-websocket-version': '13',
      'sec-websocket-protocol': expect.stringMatching(/^one, ?two$/),
      authorization: `Bearer ${KEY}`,
      'x-trace': 'abc',
      'user-agent': expect.any(String),
      'accept-encoding': 'identity',
    })
    expect(new Set(headers.map(([name]) => name)).size).toBe(headers.length)
    caller.socket.close()
    await upstream.closed
  })

  test('the handshake may have the API key, token included, among the subprotocols, as browsers require', async () => {
    const own = `insecure-api-key.${agent.token}.SVC_SECRET_TOKEN68`
    const { caller, upstream } = await join(
      { token: null, protocols: ['realtime', own] },
      () => 'Sec-WebSocket-Protocol: insecure-api-key.abc-DEF_123\r\n',
    )
    expect(upstream.request.header('sec-websocket-protocol')).toMatch(
      /^realtime, ?insecure-api-key\.abc-DEF_123$/,
    )
    expect(caller.socket.protocol).toBe(own)
    caller.socket.close()
    await upstream.closed
  })

  test('the handshake answers with the IDs of the record', async () => {
    count += 1
    const path = `/socket/${count}`
    stage.upstream.on(
      path,
      accepting(({ wire }) => void wire.end(closing(1000))),
    )
    const headers = [
      'Host: localhost',
      `X-Service-Token: ${agent.token}`,
      'Connection: keep-alive, Upgrade',
      'Upgrade: WebSocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ]
    const { text } = await sendRaw(
      stage.app.resolver,
      rawRequest(`GET /v1/forward/${stage.authorityOf()}${path} HTTP/1.1`, headers),
    )
    expect(text).toContain('101 Switching Protocols')
    const { id } = await newestRecord(stage)
    expect(text.toLowerCase()).toContain(`x-service-request-id: ${id}`)
  })

  test('a handshake that is incomplete, or has no token, is rejected before any request is sent', async () => {
    const before = stage.upstream.bytes
    const key = `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`
    const token = `X-Service-Token: ${agent.token}`
    const whole = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', key]
    const refused: [headers: string[], status: number][] = [
      [whole, 401],
      [[token, ...whole.slice(1)], 400],
      [[token, ...whole.slice(0, 3)], 400],
      [[token, ...whole.slice(0, 3), 'Sec-WebSocket-Key: short'], 400],
      [[token, ...whole.with(2, 'Sec-WebSocket-Version: 8')], 400],
    ]
    const answers = refused.map(async ([headers, status]) => {
      const { statuses } = await sendRaw(
        stage.app.resolver,
        rawRequest(`GET /v1/forward/${stage.authorityOf()}/x HTTP/1.1`, [
          'Host: localhost',
          ...headers,
        ]),
      )
      expect({ headers, statuses }).toEqual({ headers, statuses: [status] })
    })
    await Promise.all(answers)
    expect(stage.upstream.bytes).toBe(before)
  })

  test('the handshake is checked like any call: allowlist, policy, secrets', async () => {
    await agent.store('POSTONLY', 'value-of-postonly', { policy: { allowed_methods: ['POST'] } })
    await agent.store('READS', 'value-of-reads', { policy: { read_only: true } })
    await agent.store('LISTED', 'value-of-listed', { policy: { allowed_operations: ['query'] } })
    const before = stage.upstream.bytes
    const refused: [options: CallerOptions, reason: string][] = [
      [{ authority: 'evil.example' }, 'domain_blocked'],
      [{ headers: { 'x-key': 'SVC_SECRET_POSTONLY' } }, 'policy_blocked'],
      [{ headers: { 'x-key': 'SVC_SECRET_READS' } }, 'policy_blocked'],
      [{ headers: { 'x-key': 'SVC_SECRET_LISTED' } }, 'policy_blocked'],
      [{ headers: { 'x-key': 'SVC_SECRET_NOBODY' } }, 'unknown_secret'],
    ]
    for (const [options, reason] of refused) {
      expect(await connectTo('/x', options).opened).toContain('Expected 101')
      expect(await newestRecord(stage)).toMatchObject({ reason, method: 'GET' })
    }
    expect(stage.upstream.bytes).toBe(before)
  })

  const answers: Record<string, Script> = {
    'that refuses': (_, wire) => void wire.write('HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n'),
    'that answers 200': (_, wire) =>
      void wire.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    'with a wrong proof': (_, wire) =>
      void wire.write(
        `HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${'A'.repeat(27)}=\r\n\r\n`,
      ),
    'that does not upgrade': (request, wire) =>
      void wire.write(`HTTP/1.1 101 X\r\nSec-WebSocket-Accept: ${acceptOf(request)}\r\n\r\n`),
    'with an extension nobody offered': accepting(
      () => {},
      () => 'Sec-WebSocket-Extensions: permessage-deflate\r\n',
    ),
    'with a subprotocol nobody offered': accepting(
      () => {},
      () => 'Sec-WebSocket-Protocol: other\r\n',
    ),
    'with too large a head': (_, wire) =>
      void wire.write(`HTTP/1.1 101 X\r\nx: ${'y'.repeat(70_000)}\r\n`),
    'that hangs up': (_, wire) => void wire.end(),
    'that speaks something else': (_, wire) => void wire.write('hello\r\n\r\n'),
  }
  for (const [name, script] of Object.entries(answers)) {
    test(`an upstream ${name} is 502`, async () => {
      count += 1
      stage.upstream.on(`/socket/${count}`, script)
      expect(await connectTo(`/socket/${count}`).opened).toContain('Expected 101')
      expect(await newestRecord(stage)).toMatchObject({
        decision: 'error',
        reason: 'upstream_protocol_error',
        status_code: 502,
      })
    })
  }

  test('an upstream that hangs is 504', async () => {
    count += 1
    const arrived = Promise.withResolvers<void>()
    stage.upstream.on(`/socket/${count}`, () => arrived.resolve())
    const caller = connectTo(`/socket/${count}`, { headers: { 'x-service-timeout-ms': '60000' } })
    await arrived.promise
    await timers.expire(60_000)
    expect(await caller.opened).toContain('Expected 101')
    expect(await newestRecord(stage)).toMatchObject({
      reason: 'upstream_timeout',
      status_code: 504,
    })
  })
})

describe("a WebSocket's TLS is as strict as any call's", () => {
  const refusals = {
    'for TLS 1.2 only': { names: [API], tls: { maxVersion: 'TLSv1.2' as const } },
    'for the certificate of another name': { names: ['other.example'] },
    'for a common name alone': { names: [], certificate: { commonName: API } },
    'for a certificate that has expired': {
      names: [API],
      certificate: { notBefore: new Date(0), notAfter: new Date(1) },
    },
  }
  for (const [name, options] of Object.entries(refusals)) {
    test(`502 upstream_tls_error ${name}, before a byte is sent`, async () => {
      const upstream = await startUpstream(stage.authority, options)
      const authority = `${API}:${upstream.port}`
      await agent.allow(authority)
      expect(await connectTo('/x', { authority }).opened).toContain('Expected 101')
      expect(await newestRecord(stage)).toMatchObject({ reason: 'upstream_tls_error' })
      expect(upstream.bytes).toBe(0)
      await upstream.stop()
    })
  }

  test('an upstream without a listener is 502 upstream_unreachable', async () => {
    const gone = await startUpstream(stage.authority, { names: [API] })
    await gone.stop()
    const authority = `${API}:${gone.port}`
    await agent.allow(authority)
    expect(await connectTo('/x', { authority }).opened).toContain('Expected 101')
    expect(await newestRecord(stage)).toMatchObject({ reason: 'upstream_unreachable' })
  })
})

describe('messages', () => {
  test('messages are sent both ways, text and binary, of every size up to the limit', async () => {
    const { caller, upstream } = await join()
    for (const size of [0, 1, 125, 126, 65_535, 65_536, MIB]) {
      const bytes = randomBytes(size)
      caller.socket.send(bytes)
      expect(await upstream.next()).toEqual({ opcode: BINARY, payload: bytes })
      upstream.wire.write(frame(BINARY, bytes))
      expect(Buffer.compare(Buffer.from((await caller.next()) as Buffer), bytes)).toBe(0)
      const text = 'é'.repeat(size >> 1)
      caller.socket.send(text)
      expect(await upstream.next()).toEqual({ opcode: TEXT, payload: Buffer.from(text) })
      upstream.wire.write(frame(TEXT, text))
      expect(await caller.next()).toBe(text)
    }
    caller.socket.close()
    await upstream.closed
  })

  test('messages arrive whole, however frames and fragments are cut', async () => {
    const { caller, upstream } = await join()
    const bytes = Buffer.concat([
      frame(TEXT, 'one '),
      frame(TEXT, 'two ', false),
      frame(PING, 'between'),
      frame(0, '', false),
      frame(0, 'three'),
      frame(BINARY, 'four'),
    ])
    for (const byte of bytes) upstream.wire.write(Uint8Array.of(byte))
    expect(await caller.next()).toBe('one ')
    expect(await caller.next()).toBe('two three')
    expect(String(await caller.next())).toBe('four')
    expect(await upstream.next()).toEqual({ opcode: PONG, payload: Buffer.from('between') })
    caller.socket.close()
    await upstream.closed
  })

  test('messages that arrive together with the handshake are not lost', async () => {
    count += 1
    stage.upstream.on(`/socket/${count}`, (request, wire) => {
      const head = `HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptOf(request)}\r\n\r\n`
      wire.write(Buffer.concat([Buffer.from(head), frame(TEXT, 'early'), closing(1000, 'bye')]))
    })
    const caller = connectTo(`/socket/${count}`)
    expect(await caller.next()).toBe('early')
    expect(await caller.closed).toEqual({ code: 1000, reason: 'bye' })
  })

  test('messages from the upstream have credentials redacted, and the record notes it', async () => {
    const { caller, upstream } = await join()
    upstream.wire.write(frame(TEXT, `{"key":"${KEY}","b64":"${btoa(KEY)}"}`))
    expect(await caller.next()).toBe('{"key":"SVC_SECRET_KEY","b64":"SVC_SECRET_KEY"}')
    upstream.wire.write(frame(BINARY, Buffer.from(`\xff${KEY}`, 'latin1')))
    expect((await caller.next()).toString('latin1' as never)).toBe('\xffSVC_SECRET_KEY')
    upstream.wire.write(
      Buffer.concat([frame(TEXT, KEY.slice(0, 9), false), frame(0, KEY.slice(9))]),
    )
    expect(await caller.next()).toBe('SVC_SECRET_KEY')
    upstream.wire.write(closing(4000, `bye ${KEY}`))
    expect(await caller.closed).toEqual({ code: 4000, reason: 'bye SVC_SECRET_KEY' })
    expect(await newestRecord(stage)).toMatchObject({
      decision: 'allowed',
      status_code: 101,
      redacted: true,
      method: 'GET',
      credential_ref: 'KEY',
      injection_style: 'header',
      duration_ms: expect.any(Number),
    })
  })

  test('messages to the upstream are passed on unchanged: placeholders in them are text', async () => {
    const { caller, upstream } = await join()
    caller.socket.send('SVC_SECRET_KEY')
    expect(String((await upstream.next()).payload)).toBe('SVC_SECRET_KEY')
    caller.socket.close()
    await upstream.closed
    expect(await newestRecord(stage)).toMatchObject({ status_code: 101, redacted: false })
  })
})

describe('the end of a WebSocket', () => {
  test('the caller closes a WebSocket with its code and reason', async () => {
    const { caller, upstream } = await join()
    caller.socket.close(4001, 'enough')
    const { opcode, payload } = await upstream.next()
    expect({ opcode, code: payload.readUInt16BE(0), reason: payload.toString('utf8', 2) }).toEqual({
      opcode: CLOSE,
      code: 4001,
      reason: 'enough',
    })
    await upstream.closed
    expect(await newestRecord(stage)).toMatchObject({ decision: 'allowed', status_code: 101 })
  })

  test('the upstream closes a WebSocket, also without a code, and gets its close frame back', async () => {
    const { caller, upstream } = await join()
    upstream.wire.write(frame(CLOSE, ''))
    expect((await caller.closed).code).toBe(1000)
    expect((await upstream.next()).opcode).toBe(CLOSE)
    await upstream.closed
  })

  test('the upstream gets a close frame when a caller disconnects', async () => {
    const { caller, upstream } = await join()
    ;(caller.socket as unknown as { terminate(): void }).terminate()
    const { opcode, payload } = await upstream.next()
    expect({ opcode, code: payload.readUInt16BE(0) }).toEqual({ opcode: CLOSE, code: 1001 })
    await upstream.closed
    expect(await newestRecord(stage)).toMatchObject({ decision: 'allowed', status_code: 101 })
  })

  const failures: Record<string, [bytes: Uint8Array | null, code: number, reason: string]> = {
    vanishes: [null, 1011, 'upstream_protocol_error'],
    'masks its frames': [
      Buffer.from([0x81, 0x81, 0, 0, 0, 0, 97]),
      1011,
      'upstream_protocol_error',
    ],
    'sets reserved bits': [Buffer.from([0xc1, 0x01, 97]), 1011, 'upstream_protocol_error'],
    'uses an unknown opcode': [Buffer.from([0x83, 0x00]), 1011, 'upstream_protocol_error'],
    'continues what was not begun': [frame(0, 'x'), 1011, 'upstream_protocol_error'],
    'begins before it has ended': [
      Buffer.concat([frame(TEXT, 'x', false), frame(TEXT, 'x')]),
      1011,
      'upstream_protocol_error',
    ],
    'fragments a ping': [frame(PING, 'x', false), 1011, 'upstream_protocol_error'],
    'sends too long a ping': [frame(PING, 'x'.repeat(126)), 1011, 'upstream_protocol_error'],
    'sends text that is not UTF-8': [
      frame(TEXT, Buffer.from([0xff])),
      1011,
      'upstream_protocol_error',
    ],
    'closes with a code that may not be sent': [closing(1006), 1011, 'upstream_protocol_error'],
    'closes with half a code': [frame(CLOSE, 'x'), 1011, 'upstream_protocol_error'],
    'announces more than 1 MiB': [
      Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 0x10, 0, 1]),
      1009,
      'upstream_too_large',
    ],
    'announces more than exists': [
      Buffer.from([0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255]),
      1009,
      'upstream_too_large',
    ],
    'fragments more than 1 MiB': [
      Buffer.concat([frame(BINARY, Buffer.alloc(MIB), false), frame(0, 'x')]),
      1009,
      'upstream_too_large',
    ],
  }
  for (const [name, [bytes, code, reason]] of Object.entries(failures)) {
    test(`an upstream that ${name} is ${code} ${reason}`, async () => {
      const { caller, upstream } = await join()
      if (bytes) upstream.wire.write(bytes)
      else upstream.wire.destroy()
      expect(await caller.closed).toEqual({ code, reason })
      await upstream.closed
      expect(await newestRecord(stage)).toMatchObject({ decision: 'error', reason })
    })
  }

  test('a caller that sends more than 1 MiB at once ends the WebSocket, and none of it is passed on', async () => {
    const { caller, upstream } = await join()
    caller.socket.send(Buffer.alloc(MIB + 1))
    await caller.closed
    await upstream.closed
    expect(upstream.frames.map(({ opcode }) => opcode)).toEqual([CLOSE])
  })

  test('a WebSocket ends after both sides were silent for the whole deadline; a ping of either side restarts it', async () => {
    const { caller, upstream } = await join({ headers: { 'x-service-timeout-ms': '60000' } })
    const { socket } = caller
    for (let round = 0; round < 4; round += 1) {
      await timers.advance(59_000)
      upstream.wire.write(frame(PING, ''))
      expect((await upstream.next()).opcode).toBe(PONG)
      await timers.advance(59_000)
      ;(socket as unknown as { ping(): void }).ping()
      expect((await upstream.next()).opcode).toBe(PING)
    }
    await timers.advance(59_000)
    expect(socket.readyState).toBe(WebSocket.OPEN)
    await timers.advance(1_000)
    expect(await caller.closed).toEqual({ code: 1011, reason: 'upstream_timeout' })
    await upstream.closed
    expect(await newestRecord(stage)).toMatchObject({
      reason: 'upstream_timeout',
      status_code: 504,
    })
  })
})
