// tier: quick
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Inbox } from '../../../src/database/embedded/inbox.ts'

const message = fc
  .tuple(fc.constantFrom('Q', 'P', 'B', 'E', 'S'), fc.uint8Array({ maxLength: 300 }))
  .map(([type, body]) => frame(type, body))

test('whole messages come out in order, however the bytes are split', () => {
  fc.assert(
    fc.property(fc.array(message), fc.array(fc.integer({ min: 1, max: 200 })), (messages, cuts) => {
      const stream = Buffer.concat(messages)
      const inbox = new Inbox()
      const taken: Uint8Array[] = []
      for (const piece of cut(stream, cuts)) {
        inbox.append(piece)
        const batch = inbox.takeMessages()
        if (batch === 'terminate') throw new Error('nobody said good-bye')
        if (batch) taken.push(batch)
        expect(Buffer.concat(taken).equals(wholeMessages(messages, stream, taken))).toBe(true)
      }
      expect(Buffer.concat(taken).equals(stream)).toBe(true)
    }),
  )
})

test('messages before a Terminate are delivered, the Terminate itself never is', () => {
  const inbox = new Inbox()
  inbox.append(Buffer.concat([frame('S'), frame('X'), frame('Q')]))
  expect(inbox.takeMessages()).toEqual(frame('S'))
  expect(inbox.takeMessages()).toBe('terminate')
  expect(inbox.takeMessages()).toBe('terminate')
})

test('a message with an impossible length is rejected', () => {
  for (const size of [-1, 0, 3, 0x7fffffff]) {
    const inbox = new Inbox()
    const head = Buffer.from('Q\0\0\0\0')
    head.writeInt32BE(size, 1)
    inbox.append(head)
    expect(() => inbox.takeMessages()).toThrow('malformed message')
  }
})

test('a start-up packet is read whole, and rejected above the limit of PostgreSQL', () => {
  const packet = Buffer.alloc(20)
  packet.writeInt32BE(20)
  const inbox = new Inbox()
  inbox.append(packet.subarray(0, 19))
  expect(inbox.takeStartup()).toBeNull()
  inbox.append(packet.subarray(19))
  expect(inbox.takeStartup()).toEqual(packet)
  packet.writeInt32BE(10_001)
  inbox.append(packet)
  expect(() => inbox.takeStartup()).toThrow('malformed start-up packet')
})

function frame(type: string, body: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.from(`${type}\0\0\0\0`)
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}

function* cut(stream: Buffer, sizes: number[]): Generator<Buffer> {
  let start = 0
  for (const size of sizes) {
    yield stream.subarray(start, start + size)
    start += size
  }
  yield stream.subarray(start)
}

/** The longest run of complete messages that ends at the end of the read bytes. */
function wholeMessages(messages: Buffer[], stream: Buffer, taken: Uint8Array[]): Buffer {
  const length = taken.reduce((sum, piece) => sum + piece.length, 0)
  let end = 0
  for (const { length: size } of messages) if (end + size <= length) end += size
  return stream.subarray(0, end)
}
