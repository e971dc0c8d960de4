// tier: all
/** Bodies that are rejected before they are read: the answer arrives, and no connection stays open for them. */
import { beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { sharedApp, startTestApp, type TestApp } from '../support/app.ts'

const MIB = 1_048_576

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

/** Sends a body, at once like Go's client or with pauses, and resolves when the connection is closed. */
function send(
  origin: string,
  path: string,
  framing: string,
  body: Uint8Array[],
  pausesMs: number[] = [],
) {
  const { promise, resolve } = Promise.withResolvers<{
    answer: string
    failure: string | null
    isSent: boolean
  }>()
  let answer = ''
  let pieces = 0
  let failure: string | null = null
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  socket.on('data', (chunk) => {
    answer += chunk.toString()
  })
  socket.on('error', (error) => {
    failure = error.message
  })
  socket.on('close', () => resolve({ answer, failure, isSent: pieces === body.length }))
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`,
  )
  const write = async () => {
    for (const [index, piece] of body.entries()) {
      const pauseMs = pausesMs[index] ?? 0
      // The client's pace in real time is the subject.
      if (pauseMs > 0) await Bun.sleep(pauseMs)
      socket.write(piece)
      pieces += 1
    }
  }
  void write()
  return promise
}

test('the rejection of a long body reaches a client that is still sending it', async () => {
  const body = Array.from({ length: 24 }, () => new Uint8Array(MIB))
  const size = Buffer.from(`${MIB.toString(16)}\r\n`)
  const chunks = body.flatMap((piece) => [size, piece, Buffer.from('\r\n')])
  const framings = [
    [`Content-Length: ${body.length * MIB}`, body],
    ['Transfer-Encoding: chunked', [...chunks, Buffer.from('0\r\n\r\n')]],
  ] as const
  const targets = [
    [app.resolver, '/v1/resolve', 401],
    [app.controlPlane, '/api/projects/', 401],
    [app.controlPlane, '/api/nowhere/', 404],
  ] as const
  const sent = targets.flatMap(([origin, path, status]) =>
    framings.map(async ([framing, pieces]) => {
      const { answer, failure } = await send(origin, path, framing, [...pieces])
      expect({ path, framing, failure }).toEqual({ path, framing, failure: null })
      expect(answer).toStartWith(`HTTP/1.1 ${status} `)
    }),
  )
  await Promise.all(sent)
}, 60_000)

test('the rejection reaches a client whose body takes a second, whenever it begins', async () => {
  const body = Array.from({ length: 20 }, () => new Uint8Array(50_000))
  // The runtime checks waiting connections every four seconds.
  const sent = Array.from({ length: 8 }, (_, index) => {
    const pausesMs = body.map((_, piece) => (piece === 0 ? index * 500 : 50))
    return send(app.resolver, '/v1/resolve', 'Content-Length: 1000000', body, pausesMs)
  })
  for (const { answer, failure, isSent } of await Promise.all(sent)) {
    expect({ failure, isSent }).toEqual({ failure: null, isSent: true })
    expect(answer).toStartWith('HTTP/1.1 401 ')
  }
}, 60_000)

test('an endless body is cut off, and so is one above every limit', async () => {
  const endless = await send(app.resolver, '/v1/resolve', 'Transfer-Encoding: chunked', [])
  expect(endless.answer).toStartWith('HTTP/1.1 401 ')
  const huge = await send(app.resolver, '/v1/resolve', `Content-Length: ${64 * MIB}`, [])
  expect(huge.answer.toLowerCase()).toContain('connection: close')
}, 60_000)

test('a stop does not wait for the rest of a rejected body', async () => {
  const own = await startTestApp()
  const response = await fetch(`${own.controlPlane}/api/auth/login/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"email":"${'x'.repeat(3_000_000)}"}`,
  })
  expect(response.status).toBe(413)
  await own.stop()
})
