// tier: all
/** Programs that misuse HTTP/2 in every way delay no other program behind the proxy. */
import { afterAll, expect } from 'bun:test'
import { connect as connectTcp } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { API } from '../support/agent.ts'
import { settle } from '../support/fake_timers.ts'
import { startGrpcUpstream } from '../support/grpc_upstream.ts'
import { END_HEADERS, FRAME, headerField, http2Frame, uint32 } from '../support/http2_frames.ts'
import { flood, many } from '../support/metered/floods.ts'
import { requires } from '../support/requires.ts'
import { openGrpcClient } from './grpc_client.ts'
import { openProxyStage } from './stage.ts'

const { test } = requires('node')

const stage = await openProxyStage()
const upstream = await startGrpcUpstream(stage.authority, [API])
const host = `${API}:${upstream.port}`
await stage.agent.allow(host)
const proxy = await stage.open('local')
const neighbour = openGrpcClient(proxy, stage.directory)
afterAll(async () => {
  neighbour.close()
  await stage.stop()
  await upstream.stop()
})
upstream.on('/test/Echo', async ({ messages, send, end }) => {
  for await (const message of messages) send(message)
  end(0)
})
upstream.on('/test/Silent', () => {})

/** A connection through the proxy on which anything may be written. */
async function open(): Promise<TLSSocket> {
  const { port, username, password } = new URL(proxy.url)
  const socket = connectTcp(Number(port), '127.0.0.1')
  const login = btoa(`${username}:${password}`)
  socket.write(`CONNECT ${host} HTTP/1.1\r\nProxy-Authorization: Basic ${login}\r\n\r\n`)
  await new Promise((resolve) => socket.once('data', resolve))
  const wire = connect({ socket, servername: API, ca: proxy.certificate, ALPNProtocols: ['h2'] })
  await new Promise((resolve, reject) => wire.once('secureConnect', resolve).once('error', reject))
  wire.on('error', () => {})
  wire.resume()
  wire.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  wire.write(http2Frame(FRAME.settings))
  return wire
}

const head = Buffer.concat([
  Uint8Array.of(0x83, 0x87), // POST, https
  headerField(':path', '/test/Silent'),
  headerField(':authority', host),
  headerField('content-type', 'application/grpc'),
])
const request = (stream: number) =>
  http2Frame(FRAME.headers, { flags: END_HEADERS, stream, payload: head })

/** Opened and reset immediately, repeatedly ("Rapid Reset", CVE-2023-44487). */
const rapidResets = Buffer.concat(
  Array.from({ length: 4000 }, (_, at) => {
    const stream = 2 * at + 1
    return Buffer.concat([request(stream), http2Frame(FRAME.reset, { stream, payload: uint32(8) })])
  }),
)
const stream = 1

test.each<[what: string, first: Buffer, unit: Buffer | null]>([
  ['pings', Buffer.alloc(0), http2Frame(FRAME.ping, { payload: new Uint8Array(8) })],
  ['settings', Buffer.alloc(0), http2Frame(FRAME.settings)],
  ['window updates', request(1), http2Frame(FRAME.windowUpdate, { stream, payload: uint32(1) })],
  ['priorities', request(1), http2Frame(FRAME.priority, { stream, payload: new Uint8Array(5) })],
  ['empty data', request(1), http2Frame(FRAME.data, { stream })],
  [
    'headers without end',
    http2Frame(FRAME.headers, { stream, payload: head }),
    http2Frame(FRAME.continuation, { stream, payload: headerField('a', 'b'.repeat(100)) }),
  ],
  ['requests that it takes back', rapidResets, null],
])('a program that sends %s', async (_, first, unit) => {
  const wire = await open()
  wire.write(first)
  let isOver = false
  const flooding = (unit ? flood(wire, many(unit), 500) : settle()).finally(() => {
    isOver = true
  })
  for (let served = 0; served < 4 || !isOver; served += 1) {
    const got = await neighbour.call({ host, path: '/test/Echo', messages: ['a'] })
    expect(got).toMatchObject({ code: 0, messages: ['a'] })
  }
  await flooding
  wire.destroy()
})
