// tier: quick
/** Frames of RFC 6455, read and written; RFC 6455, section 5.7, has the examples. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Fault } from '../../src/core/fault.ts'
import {
  decodeClosing,
  encodeClosing,
  encodeFrame,
  FrameReader,
  type FrameType,
  type SocketMessage,
} from '../../src/outbound/websocket/frames.ts'
import { frame } from '../support/socket_upstream.ts'

const LIMIT = 1 << 20
const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const shown = (messages: SocketMessage[]) =>
  messages.map(({ type, payload }) => [type, Buffer.from(payload).toString('latin1')])

/** Messages that are complete with these bytes. */
function push(reader: FrameReader, bytes: Uint8Array): SocketMessage[] {
  const messages: SocketMessage[] = []
  reader.append(bytes)
  for (let read = reader.readNext(); read; read = reader.readNext()) {
    if (read.message) messages.push(read.message)
  }
  return messages
}

function codeOf(bytes: Uint8Array, limit = LIMIT): string {
  try {
    return `accepted ${push(new FrameReader(limit), bytes).length}`
  } catch (error) {
    return error instanceof Fault ? error.code : String(error)
  }
}

describe('reading', () => {
  test('the examples of the specification are read correctly', () => {
    const read = (text: string) => shown(push(new FrameReader(LIMIT), hex(text)))
    expect(read('81 05 48 65 6c 6c 6f')).toEqual([['text', 'Hello']])
    expect(read('01 03 48 65 6c 80 02 6c 6f')).toEqual([['text', 'Hello']])
    expect(read('89 05 48 65 6c 6c 6f')).toEqual([['ping', 'Hello']])
    expect(read(`82 7e 01 00 ${'61'.repeat(256)}`)).toEqual([['binary', 'a'.repeat(256)]])
    expect(read(`82 7f 00 00 00 00 00 01 00 00 ${'61'.repeat(65_536)}`)).toEqual([
      ['binary', 'a'.repeat(65_536)],
    ])
  })

  test('the reader returns the same messages, however the bytes are cut', () => {
    const message = fc.record({
      opcode: fc.constantFrom(1, 2, 9, 10),
      parts: fc.array(fc.uint8Array({ maxLength: 125 }), { minLength: 1, maxLength: 3 }),
    })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), fc.array(fc.nat(2000)), (list, cuts) => {
        const types = new Map<number, FrameType>([
          [1, 'text'],
          [2, 'binary'],
          [9, 'ping'],
          [10, 'pong'],
        ])
        const sent = list.flatMap(({ opcode, parts }) => {
          const whole = opcode > 2 ? parts.slice(0, 1) : parts
          return whole.map((part, at) =>
            frame(at === 0 ? opcode : 0, part, at === whole.length - 1),
          )
        })
        const bytes = new Uint8Array(Buffer.concat(sent))
        const borders = [...cuts.filter((cut) => cut < bytes.length), bytes.length].sort(
          (a, b) => a - b,
        )
        const reader = new FrameReader(LIMIT)
        let from = 0
        const received = borders.flatMap((to) => {
          const messages = push(reader, bytes.slice(from, to))
          from = to
          return messages
        })
        expect(shown(received)).toEqual(
          list.map(({ opcode, parts }) => [
            types.get(opcode) ?? 'close',
            Buffer.concat(opcode > 2 ? parts.slice(0, 1) : parts).toString('latin1'),
          ]),
        )
      }),
    )
  })

  test('the reader rejects an invalid header before the payload arrives', () => {
    expect(codeOf(frame(2, new Uint8Array(100)), 100)).toBe('accepted 1')
    expect(codeOf(frame(2, new Uint8Array(101)).subarray(0, 2), 100)).toBe('upstream_too_large')
    const parts = Buffer.concat([
      frame(2, new Uint8Array(60), false),
      frame(0, new Uint8Array(41)).subarray(0, 2),
    ])
    expect(codeOf(parts, 100)).toBe('upstream_too_large')
    for (const bytes of [
      'c1 00',
      'a1 00',
      '91 00',
      '81 80',
      '83 00',
      '8b 00',
      '80 00',
      '09 00',
      '89 7e',
    ]) {
      const given = bytes === '89 7e' ? hex('89 7e 00 7e') : hex(bytes)
      expect({ bytes, code: codeOf(given) }).toEqual({ bytes, code: 'upstream_protocol_error' })
    }
  })

  test('any bytes result in messages or in a fault, and no other error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(codeOf(bytes)).toMatch(/^(accepted \d+|upstream_(too_large|protocol_error))$/)
      }),
    )
  })

  test('fragments without content use no memory', () => {
    const reader = new FrameReader(LIMIT)
    push(reader, frame(1, 'x', false))
    const empty = new Uint8Array(
      Buffer.concat(Array.from({ length: 10_000 }, () => frame(0, '', false))),
    )
    for (let round = 0; round < 10; round += 1) expect(push(reader, empty)).toEqual([])
    expect(shown(push(reader, frame(0, 'y')))).toEqual([['text', 'xy']])
  })
})

describe('writing', () => {
  test('the writer masks every frame, each with another mask', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (payload) => {
        const bytes = encodeFrame('binary', payload)
        const start = payload.length < 126 ? 2 : 4
        expect(bytes[0]).toBe(0x82)
        expect(bytes[1]).toBe(0x80 | Math.min(payload.length, 126))
        const mask = bytes.subarray(start, start + 4)
        const unmasked = bytes.subarray(start + 4).map((byte, at) => byte ^ (mask[at & 3] ?? 0))
        expect(Buffer.compare(unmasked, payload)).toBe(0)
      }),
    )
    const frames = Array.from({ length: 20 }, () =>
      Buffer.from(encodeFrame('ping', new Uint8Array())).toString('hex'),
    )
    expect(new Set(frames).size).toBe(20)
  })

  test('a close frame has a code and a reason, or neither', () => {
    expect(decodeClosing(encodeClosing(4000, 'ende é'))).toEqual({ code: 4000, reason: 'ende é' })
    expect(decodeClosing(encodeClosing(null))).toEqual({ code: null, reason: '' })
  })
})
