// tier: quick
/** One gRPC call to its upstream, over a hand-made stream. */
import { expect, spyOn, test } from 'bun:test'
import type { ClientHttp2Stream } from 'node:http2'
import { Duplex } from 'node:stream'
import { BodyMemory } from '../../src/core/body_memory.ts'
import { CallDeadline } from '../../src/outbound/deadline.ts'
import { exchangeGrpc } from '../../src/outbound/grpc/exchange.ts'
import { encodeGrpcFrame, framesOf } from '../../src/outbound/grpc/frames.ts'
import type { AnswerGuard } from '../../src/outbound/guard.ts'
import { until } from '../support/until.ts'

const NO_GUARD: AnswerGuard = {
  redacted: false,
  redactBody: (body) => body,
  redactHeaders: (headers) => headers,
  openStream: () => Promise.reject(new Error('no stream')) as never,
}

test('each piece of a message resets the idle timer, and not only a whole message', async () => {
  const stream = Object.assign(new Duplex({ read: () => {}, write: (_, __, done) => done() }), {
    rstCode: 0,
    close: () => {},
  })
  const deadline = new CallDeadline(60_000)
  const signs = spyOn(deadline, 'putOff')
  const call = exchangeGrpc(stream as unknown as ClientHttp2Stream, {
    guard: NO_GUARD,
    deadline,
    body: null,
    turn: () => null,
    requestId: 'id',
    takesMarks: false,
    bodies: new BodyMemory().open('w'),
    onEnd: () => {},
  })
  stream.emit('response', { ':status': 200, 'content-type': 'application/grpc' }, 0)
  const frames = framesOf((await call).body ?? new ReadableStream())
  const messages = Array.fromAsync(frames, ({ payload }) => Buffer.from(payload).toString())
  for (const byte of encodeGrpcFrame(0, Buffer.from('hey'))) {
    const before = signs.mock.calls.length
    stream.push(Uint8Array.of(byte))
    await until(() => signs.mock.calls.length > before, { stepMs: 1 })
  }
  stream.emit('trailers', { 'grpc-status': '0' })
  stream.push(null)
  expect(await messages).toEqual(['', 'hey', 'grpc-status: 0\r\n'])
})
