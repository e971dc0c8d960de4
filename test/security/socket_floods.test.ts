// tier: all
/**
 * A WebSocket with the smallest and most numerous frames slows only itself (protocol 6.3), from either side. The
 * bound limits the most processor time that the server used between two turns of its event loop, like in
 * hostile_answers_cost.test.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { type Agent, API } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { expectNoStall, FLOOD_MS, flood, many } from '../support/metered/floods.ts'
import type { MeteredResolver } from '../support/metered/meter.ts'
import { type MeteredStage, openMeteredStage } from '../support/metered/stage.ts'
import { type Accepted, accepting, frame } from '../support/socket_upstream.ts'
import type { Upstream } from '../support/upstream.ts'

const MIB = 1_048_576
const [CONTINUATION, TEXT, BINARY, PING, PONG] = [0, 1, 2, 9, 10]

let stage: MeteredStage
let server: MeteredResolver
let upstream: Upstream
let attacker: Agent
let count = 0

beforeAll(async () => {
  stage = await openMeteredStage()
  ;({ server, upstream } = stage)
  attacker = await stage.createAgent({ KEY: marked('sk_live_of_the_attacker') })
}, 120_000)
afterAll(() => stage.close())

/** Both ends of a relayed WebSocket; the caller's by hand. */
async function openSockets(): Promise<{ caller: Socket; accepted: Accepted }> {
  count += 1
  const path = `/socket/${count}`
  const accepted = Promise.withResolvers<Accepted>()
  upstream.on(path, accepting(accepted.resolve))
  const caller = connect(Number(new URL(server.app.resolver).port), '127.0.0.1')
  caller.on('error', () => {})
  const lines = [
    `GET /v1/forward/${API}:${upstream.port}${path} HTTP/1.1`,
    'Host: localhost',
    `X-Service-Token: ${attacker.token}`,
    'X-Service-Timeout-Ms: 60000',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  caller.write(`${lines.join('\r\n')}\r\n\r\n`)
  const head = await new Promise<string>((resolve) =>
    caller.once('data', (chunk) => resolve(chunk.toString('latin1'))),
  )
  expect(head).toStartWith('HTTP/1.1 101')
  return { caller, accepted: await accepted.promise }
}

/** A frame in a caller's form; the mask is zero, so the payload is unchanged. */
function masked(opcode: number, payload: string | Uint8Array = ''): Buffer {
  const bytes = frame(opcode, payload)
  bytes[1] = (bytes[1] ?? 0) | 0x80
  return Buffer.concat([bytes.subarray(0, 2), Buffer.alloc(4), bytes.subarray(2)])
}

const takenOf = (wire: Socket) => wire.bytesWritten - wire.writableLength

/** Writes until no more is read for a second, or far too much was. */
async function expectStuck(wire: Socket, unit: Buffer): Promise<void> {
  for (let [last, since] = [0, Date.now()]; Date.now() < since + FLOOD_MS; ) {
    await flood(wire, unit, 50)
    if (takenOf(wire) > last) [last, since] = [takenOf(wire), Date.now()]
    expect(wire.writable).toBe(true)
    expect(last).toBeLessThan(24 * MIB)
  }
}

describe('an upstream that floods a WebSocket delays no other caller', () => {
  const empty = frame(CONTINUATION, '', false)
  const floods: [what: string, unit: Buffer, first?: Buffer][] = [
    ['of messages of one byte', frame(TEXT, 'a')],
    ['of empty messages', frame(BINARY, '')],
    ['of pings', frame(PING, '')],
    ['of pongs', frame(PONG, '')],
    ['of empty fragments', empty, frame(TEXT, 'a', false)],
    ['of fragments of one byte', frame(CONTINUATION, 'a', false), frame(TEXT, 'a', false)],
  ]
  test.each(floods)(
    '%s',
    async (_, unit, first = Buffer.alloc(0)) => {
      await expectNoStall(stage, async () => {
        const sockets = await Promise.all([1, 2, 3].map(openSockets))
        for (const { caller } of sockets) caller.resume()
        await Promise.all(
          sockets.map(({ accepted: { wire } }) => {
            wire.write(first)
            return flood(wire, many(unit))
          }),
        )
        for (const { caller } of sockets) caller.destroy()
      })
    },
    60_000,
  )
})

describe('a caller that floods a WebSocket delays no other caller', () => {
  const floods: [what: string, unit: Buffer][] = [
    ['of messages of one byte', masked(TEXT, 'a')],
    ['of empty messages', masked(BINARY)],
    ['of pings', masked(PING)],
    ['of pongs', masked(PONG)],
    ['of pongs that say something', masked(PONG, 'a'.repeat(125))],
  ]
  test.each(floods)(
    '%s',
    async (_, unit) => {
      await expectNoStall(stage, async () => {
        const sockets = await Promise.all([1, 2, 3].map(openSockets))
        for (const { caller, accepted } of sockets) {
          accepted.wire.removeAllListeners('data')
          accepted.wire.resume()
          caller.resume()
        }
        await Promise.all(sockets.map(({ caller }) => flood(caller, many(unit))))
        for (const { caller } of sockets) caller.destroy()
      })
    },
    60_000,
  )
})

describe('a side that reads nothing makes the other wait', () => {
  test('the upstream waits for a caller that does not read', async () => {
    const { caller, accepted } = await openSockets()
    caller.pause()
    await expectStuck(accepted.wire, frame(BINARY, Buffer.alloc(65_536)))
    caller.destroy()
  }, 60_000)

  test('the caller waits for an upstream that does not read', async () => {
    const { caller, accepted } = await openSockets()
    accepted.wire.pause()
    await expectStuck(caller, many(masked(TEXT, 'a')))
    caller.destroy()
  }, 60_000)
})

test('10,000 small messages at once arrive in order, in both directions, and so do later ones', async () => {
  const { caller, accepted } = await openSockets()
  const texts = Array.from({ length: 10_000 }, (_, at) => String(at))
  caller.write(Buffer.concat(texts.map((text) => masked(TEXT, text))))
  for (const text of texts) expect(String((await accepted.next()).payload)).toBe(text)
  let received = Buffer.alloc(0)
  const expected = Buffer.concat([...texts, 'the last one'].map((text) => frame(TEXT, text)))
  const all = new Promise<void>((resolve) => {
    caller.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      if (received.length >= expected.length) resolve()
    })
  })
  accepted.wire.write(Buffer.concat(texts.map((text) => frame(TEXT, text))))
  accepted.wire.write(frame(TEXT, 'the last one'))
  await all
  expect(received.equals(expected)).toBe(true)
  caller.destroy()
}, 60_000)

test('frames that a caller sent before it closed arrive before its close frame', async () => {
  const { caller, accepted } = await openSockets()
  const closing: Buffer = masked(8, Uint8Array.from([3, 232]))
  caller.end(Buffer.concat([...Array<Uint8Array>(5_000).fill(masked(TEXT, 'a')), closing]))
  await accepted.closed
  expect(accepted.frames.map(({ opcode }) => opcode)).toEqual([...Array(5_000).fill(TEXT), 8])
}, 60_000)
