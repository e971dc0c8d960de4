// tier: quick
/** gRPC calls through forward mode (protocol 6.3): their form, and their connections. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { encodeGrpcFrame, framesOf, readTrailers } from '../../src/outbound/grpc/frames.ts'
import { type Agent, API, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { type GrpcUpstream, startGrpcUpstream } from '../support/grpc_upstream.ts'

const VALUE = marked('sk_live_0123456789abcdef')
let stage: Stage
let agent: Agent
let upstream: GrpcUpstream

beforeAll(async () => {
  stage = await sharedStage()
  agent = await createAgentWithToken(stage, { secrets: { KEY: VALUE } })
  upstream = await startGrpcUpstream(stage.authority, [API], { maxConcurrentStreams: 2 })
  await agent.allow(`${API}:${upstream.port}`)
  upstream.on('/a.B/Echo', async ({ headers, messages, send, end }) => {
    for await (const message of messages) send(message)
    end(0, { 'x-echo': headers.authorization ?? '' })
  })
  upstream.on('/a.B/Begin', ({ begin }) => begin())
})
afterAll(async () => {
  await stage.stop()
  await upstream.stop()
})

const HELLO = encodeGrpcFrame(0, Buffer.from('hello'))

function call(
  path: string,
  headers: Record<string, string> = {},
  { signal, body = HELLO }: { signal?: AbortSignal; body?: Uint8Array | null } = {},
) {
  return fetch(`${stage.app.resolver}/v1/forward/${API}:${upstream.port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/grpc', 'x-service-token': agent.token, ...headers },
    body: body as BodyInit | null,
    ...(signal ? { signal } : {}),
  })
}

async function framesIn(response: Response) {
  const frames = await Array.fromAsync(framesOf(response.body ?? new ReadableStream()))
  return frames.map(({ flags, payload }) => [flags, Buffer.from(payload).toString()])
}

test('a gRPC answer is an empty frame of trailers, its messages, and its trailers', async () => {
  const authorization = 'Bearer SVC_SECRET_KEY'
  const response = await call('/a.B/Echo', { authorization })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/grpc')
  expect(await framesIn(response)).toEqual([
    [0x80, ''],
    [0, 'hello'],
    [0x80, 'grpc-status: 0\r\nx-echo: Bearer SVC_SECRET_KEY\r\n'],
  ])
  expect(upstream.received.at(-1)?.headers.authorization).toBe(`Bearer ${VALUE}`)
})

test.each([null, new Uint8Array()])(
  'a call without any message is one of gRPC: %p',
  async (body) => {
    const response = await call('/a.B/Echo', {}, { body })
    expect(response.status).toBe(200)
    expect(await framesIn(response)).toEqual([
      [0x80, ''],
      [0x80, 'grpc-status: 0\r\nx-echo: \r\n'],
    ])
  },
)

test('an error before the headers has the form of forward mode', async () => {
  const response = await call('/a.B/Echo', { authorization: 'Bearer SVC_SECRET_NONE' })
  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ error_code: 'unknown_secret' })
})

test('a message that ends before its length is rejected', async () => {
  const response = await call('/a.B/Silent', {}, { body: HELLO.subarray(0, 7) })
  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({
    error_code: 'validation_error',
    message: 'A gRPC message is shorter than its declared length.',
  })
})

test('a call ends in trailers if its upstream is silent for longer than the deadline', async () => {
  const frames = await framesIn(await call('/a.B/Begin', { 'x-service-timeout-ms': '300' }))
  const [, trailers = ''] = frames.at(-1) ?? []
  expect(readTrailers(Buffer.from(String(trailers)))).toMatchObject({
    'grpc-status': '4',
    'x-service-error': 'upstream_timeout',
  })
})

test('gRPC calls share a connection, and a new one follows if the upstream ends it', async () => {
  await framesIn(await call('/a.B/Echo'))
  const before = upstream.connections
  await framesIn(await call('/a.B/Echo'))
  expect(upstream.connections).toBe(before)
  await upstream.disconnect()
  expect(await framesIn(await call('/a.B/Echo'))).toContainEqual([0, 'hello'])
  expect(upstream.connections).toBe(before + 1)
})

test('more gRPC calls than fit on a connection use as many as they need', async () => {
  await upstream.disconnect()
  const before = upstream.connections
  const gone = new AbortController()
  const open = Array.from({ length: 5 }, () => call('/a.B/Begin', {}, { signal: gone.signal }))
  for (const response of await Promise.all(open)) expect(response.status).toBe(200)
  expect(upstream.connections).toBe(before + 3)
  gone.abort()
})
