// tier: all
/**
 * An upstream that answers a gRPC call with the smallest and most numerous frames slows only that call (protocol
 * 6.3). Bounds of the runtime end its connection, and unbounded frames are read in turns.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { type Agent, API } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { startGrpcUpstream } from '../support/grpc_upstream.ts'
import {
  END_HEADERS,
  FRAME,
  headerField,
  http2Frame,
  STATUS_200,
  uint32,
} from '../support/http2_frames.ts'
import { expectNoStall, FLOOD_MS, flood, many } from '../support/metered/floods.ts'
import { type MeteredStage, openMeteredStage } from '../support/metered/stage.ts'

let stage: MeteredStage
/** Each attacker has its own connections. */
let attackers: Agent[]
let server: Server
let host: string
/** Connections on which a request has arrived. */
const asked: ((wire: TLSSocket) => void)[] = []

beforeAll(async () => {
  stage = await openMeteredStage()
  const secrets = { KEY: marked('sk_live_of_the_attacker') }
  attackers = [
    await stage.createAgent(secrets),
    await stage.createAgent(secrets),
    await stage.createAgent(secrets),
  ]
  const certificate = await stage.authority.issue([API])
  server = createServer({ ...certificate, ALPNProtocols: ['h2'] }, (wire) => {
    wire.on('error', () => {})
    wire.write(http2Frame(FRAME.settings))
    let received = Buffer.alloc(0)
    const take = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      // The preface and SETTINGS arrive first, the headers of the call later.
      if (!hasHeaders(received)) return
      wire.off('data', take)
      wire.resume()
      asked.shift()?.(wire)
    }
    wire.on('data', take)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  host = `${API}:${(server.address() as { port: number }).port}`
  for (const attacker of attackers) await attacker.allow(host)
}, 120_000)
afterAll(async () => {
  server.close()
  await stage.close()
})

function hasHeaders(bytes: Buffer): boolean {
  for (let at = 24; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    if (bytes[at + 3] === FRAME.headers) return true
  }
  return false
}

/** The caller's side of a call, whose request does not end. */
function ask(attacker: Agent | undefined, at: string, signal: AbortSignal): Promise<Response> {
  return fetch(`${stage.server.app.resolver}/v1/forward/${at}/a.B/C`, {
    method: 'POST',
    headers: {
      'content-type': 'application/grpc',
      'x-service-token': attacker?.token ?? '',
      'x-service-timeout-ms': '60000',
    },
    body: new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(5)) }),
    signal,
  })
}

type Call = { wire: TLSSocket; answer: Promise<string>; leave(): void }

/**
 * An open call, and the connection on which its upstream may write. A call that began on the connection of the
 * previous flood, before its end arrived, fails and is made again.
 */
async function call(attacker: Agent): Promise<Call> {
  const { promise: wire, resolve } = Promise.withResolvers<TLSSocket>()
  asked.push(resolve)
  const gone = new AbortController()
  const answer = ask(attacker, host, gone.signal).then((response) => response.text())
  const failed = answer.then(
    () => null,
    () => null,
  )
  const met = await Promise.race([wire, failed])
  if (met !== null) return { wire: met, answer, leave: () => gone.abort() }
  asked.splice(asked.indexOf(resolve), 1)
  return call(attacker)
}

const stream = 1
const head = Buffer.concat([STATUS_200, headerField('content-type', 'application/grpc')])
const begun = http2Frame(FRAME.headers, { flags: END_HEADERS, stream, payload: head })
const big = headerField('a', 'b'.repeat(100))

const floods: Record<string, [unit: Buffer, first?: Buffer][]> = {
  'pings, settings and pushes': [
    [http2Frame(FRAME.ping, { payload: new Uint8Array(8) })],
    [http2Frame(FRAME.settings)],
    [http2Frame(FRAME.push, { flags: END_HEADERS, stream, payload: uint32(2) })],
  ],
  'window updates, priorities and unknown frames': [
    [http2Frame(FRAME.windowUpdate, { stream, payload: uint32(1) })],
    [http2Frame(FRAME.priority, { stream, payload: new Uint8Array(5) })],
    [http2Frame(200)],
  ],
  'interim answers, headers again and continuations without end': [
    [
      http2Frame(FRAME.headers, {
        flags: END_HEADERS,
        stream,
        payload: headerField(':status', '103'),
      }),
    ],
    [begun, begun],
    [
      http2Frame(FRAME.continuation, { stream, payload: big }),
      http2Frame(FRAME.headers, { stream, payload: head }),
    ],
  ],
  'empty data, empty messages and messages of one byte': [
    [http2Frame(FRAME.data, { stream }), begun],
    [http2Frame(FRAME.data, { stream, payload: new Uint8Array(5) }), begun],
    [http2Frame(FRAME.data, { stream, payload: Uint8Array.of(0, 0, 0, 0, 1, 97) }), begun],
  ],
  'single bytes of a message, resets and farewells': [
    [
      http2Frame(FRAME.data, { stream, payload: Uint8Array.of(1) }),
      Buffer.concat([
        begun,
        http2Frame(FRAME.data, { stream, payload: Uint8Array.of(0, 0, 32, 0, 0) }),
      ]),
    ],
    [http2Frame(FRAME.reset, { stream: 7, payload: uint32(8) })],
    [http2Frame(FRAME.goAway, { payload: Buffer.concat([uint32(stream), uint32(0)]) })],
  ],
}

test('messages as small and as many as its window permits delay no other caller', async () => {
  const [attacker] = attackers
  const upstream = await startGrpcUpstream(stage.authority, [API])
  await attacker?.allow(`${API}:${upstream.port}`)
  upstream.on('/a.B/C', async ({ begin, stream }) => {
    begin()
    const closed = new Promise((resolve) => stream.once('close', resolve))
    while (!stream.destroyed) {
      if (stream.write(many(new Uint8Array(5)))) continue
      await Promise.race([closed, new Promise((resolve) => stream.once('drain', resolve))])
    }
  })
  await expectNoStall(stage, async () => {
    const gone = new AbortController()
    const until = Date.now() + FLOOD_MS
    const { body } = await ask(attacker, `${API}:${upstream.port}`, gone.signal)
    for await (const _ of body ?? []) if (Date.now() > until) break
    gone.abort()
  })
  await upstream.stop()
}, 60_000)

describe('an upstream delays no other caller if it sends', () => {
  test.each(Object.entries(floods))(
    '%s',
    async (_, units) => {
      await expectNoStall(stage, async () => {
        const calls: Call[] = []
        for (const attacker of attackers) calls.push(await call(attacker))
        await Promise.all(
          units.map(([unit, first = Buffer.alloc(0)], at) => {
            const { wire } = calls[at] ?? {}
            wire?.write(first)
            return wire && flood(wire, many(unit))
          }),
        )
        for (const { leave } of calls) leave()
        for (const { wire } of calls) wire.destroy()
      })
    },
    60_000,
  )
})

test('headers that a table expands end the call before they are expanded', async () => {
  const [attacker] = attackers
  if (!attacker) throw new Error('no attacker is connected')
  const { wire, answer } = await call(attacker)
  // One entry of 4 kB, and 12,000 references to it.
  const entry = Buffer.concat([
    Uint8Array.of(0x40, 1, 97, 0x7f, 0xa1, 0x1e),
    Buffer.alloc(0x7f + 0x21 + 0x1e * 128, 98),
  ])
  const payload = Buffer.concat([head, entry, Buffer.alloc(12_000, 0xbe)])
  wire.write(http2Frame(FRAME.headers, { flags: END_HEADERS, stream, payload }))
  expect(JSON.parse(await answer)).toMatchObject({ error_code: 'upstream_protocol_error' })
})

test('a call that its upstream did not process may be made again', async () => {
  const [, attacker] = attackers
  if (!attacker) throw new Error('no attacker is connected')
  const { wire, answer } = await call(attacker)
  wire.write(http2Frame(FRAME.reset, { stream, payload: uint32(7) }))
  expect(JSON.parse(await answer)).toMatchObject({ error_code: 'upstream_unreachable' })
})
