// tier: all
/** The runtime's idle timer, on the real clock: it ends a connection unless a route turns it off. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { rawRequest, sendRaw } from '../support/raw_http.ts'
import { openTiny, type TinyListener } from './tiny_listener.ts'

/** The runtime checks its timers every 4 s. */
const LONG_MS = 9_000

let tiny: TinyListener

beforeAll(() => {
  tiny = openTiny({ idleSeconds: 1 })
})
afterAll(() => tiny.listener.close(100))

const post = (path: string) =>
  sendRaw(
    tiny.origin,
    rawRequest(`POST ${path} HTTP/1.1`, ['Host: localhost', 'Content-Length: 0']),
    {
      timeoutMs: LONG_MS + 9_000,
    },
  )

test.concurrent("a route that exceeds the listener's timeout is cut off, unless it holds the connection open", async () => {
  const [cut, held] = await Promise.all([
    post(`/raw/cut-${LONG_MS}/`),
    post(`/raw/held-${LONG_MS}/`),
  ])
  expect(cut.statuses).toEqual([])
  expect(held.statuses).toEqual([200])
}, 60_000)

test.concurrent('a connection that was held open ends normally once it is idle', async () => {
  const held = await sendRaw(
    tiny.origin,
    rawRequest('POST /raw/held-1/ HTTP/1.1', ['Host: localhost', 'Content-Length: 0']),
    { timeoutMs: 45_000 },
  )
  expect(held).toMatchObject({ statuses: [200], closed: true })
}, 60_000)

test.concurrent('a download may take longer in total: each piece restarts the timeout', async () => {
  const response = await fetch(`${tiny.origin}/pour/`)
  expect(await response.text()).toBe('.'.repeat(18))
}, 60_000)

test.concurrent('a short rejected upload keeps its connection: the next request on it is answered', async () => {
  const patient = openTiny({ idleSeconds: 60 })
  const socket = connect(Number(new URL(patient.origin).port), '127.0.0.1')
  const answered = async () => String((await once(socket, 'data'))[0]).split('\r\n')[0]
  const refused = 'POST /nothing/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'
  socket.write(refused)
  expect(await answered()).toBe('HTTP/1.1 404 Not Found')
  setTimeout(() => socket.write(refused), LONG_MS)
  expect(await answered()).toBe('HTTP/1.1 404 Not Found')
  socket.destroy()
  await patient.listener.close(100)
}, 60_000)
