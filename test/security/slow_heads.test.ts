// tier: all
/** The listeners close a connection without a complete request head (docs/internals/threat-model.md, "Decided limits"). */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { startTestApp, type TestApp } from '../support/app.ts'

const BEGUN = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: '

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.stop())

function open(origin: string, text: string): { socket: Socket; closed: Promise<void> } {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.resume()
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()))
  if (text !== '') socket.write(text)
  return { socket, closed }
}

test('both listeners close silent, half-open and trickling connections and serve others meanwhile', async () => {
  const origins = [app.controlPlane, app.resolver]
  const slow = origins.flatMap((origin) => [open(origin, ''), open(origin, BEGUN)])
  const trickling = origins.map((origin) => open(origin, BEGUN))
  const trickle = setInterval(() => {
    for (const { socket } of trickling) if (socket.writable) socket.write('a')
  }, 500)
  for (const origin of origins) {
    expect((await fetch(`${origin}/api/status/health/`)).status).toBeLessThan(500)
  }
  await Promise.all([...slow, ...trickling].map(({ closed }) => closed))
  clearInterval(trickle)
}, 60_000)
