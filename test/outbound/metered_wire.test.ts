// tier: quick
/** HTTP/2 frames are read in turns, whatever their type (RFC 9113, section 4.1). */
import { expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { MeteredWire } from '../../src/outbound/http2/metered_wire.ts'
import { FRAME, http2Frame } from '../support/http2_frames.ts'

/** A connection whose other end only sends. */
function open(skipped = 0) {
  const wire = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() })
  const turns: { frames: number; begin: () => void }[] = []
  const metered = new MeteredWire(wire as Socket, {
    skipped,
    turn: (frames) => new Promise((begin) => turns.push({ frames, begin })),
  })
  let received = Buffer.alloc(0)
  metered.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
  })
  return {
    send: (bytes: Uint8Array) => wire.push(bytes),
    /** Gives one turn after the other until none is requested. */
    turnAll: async () => {
      const frames: number[] = []
      for (let idle = 0; idle < 3; idle += 1) {
        await new Promise((resolve) => setImmediate(resolve))
        const turn = turns.shift()
        if (!turn) continue
        frames.push(turn.frames)
        turn.begin()
        idle = 0
      }
      return frames
    },
    received: () => received,
  }
}

const ping = http2Frame(FRAME.ping, { payload: new Uint8Array(8) })
const data = (bytes: number) =>
  http2Frame(FRAME.data, { stream: 1, payload: Buffer.alloc(bytes, 7) })

test('some of many small frames are read in a turn, and none before it', async () => {
  const { send, turnAll, received } = open()
  const bytes = Buffer.concat(Array<Buffer>(100).fill(ping))
  send(bytes)
  await new Promise((resolve) => setImmediate(resolve))
  expect(received().length).toBe(0)
  expect(await turnAll()).toEqual([32, 32, 32, 4])
  expect(received().equals(bytes)).toBe(true)
})

test('a large frame counts as one, in however many pieces, each of which has its turn', async () => {
  const { send, turnAll, received } = open()
  const bytes = Buffer.concat([data(5000), ping])
  const sent = [bytes.subarray(0, 4), bytes.subarray(4, 3000), bytes.subarray(3000)]
  const frames: number[][] = []
  for (const piece of sent) {
    send(piece)
    frames.push(await turnAll())
  }
  expect(frames).toEqual([[1], [1], [1]])
  expect(received().equals(bytes)).toBe(true)
})

test("a client's preface is not a frame", async () => {
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  const { send, turnAll, received } = open(preface.length)
  const bytes = Buffer.concat([preface, ...Array<Buffer>(33).fill(ping)])
  send(bytes)
  expect(await turnAll()).toEqual([32, 1])
  expect(received().equals(bytes)).toBe(true)
})
