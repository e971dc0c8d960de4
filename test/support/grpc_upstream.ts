/** External gRPC servers, by hand: HTTP/2 on loopback, with any behaviour that a test needs for each call. */
import {
  createSecureServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Authority } from '../../src/cli/demo/certificates.ts'
import { encodeGrpcFrame, framesOf } from '../../src/outbound/grpc/frames.ts'
import { noteArrival } from './canary.ts'

export type GrpcCall = {
  headers: IncomingHttpHeaders
  stream: ServerHttp2Stream
  /** The client's messages, one by one. */
  messages: AsyncGenerator<string, void>
  begin(headers?: OutgoingHttpHeaders): void
  send(message: string | Uint8Array, flags?: number): void
  end(status: number, trailers?: OutgoingHttpHeaders): void
  /** The way in which the call's stream was reset, when it is closed. */
  closed: Promise<number>
}

export type GrpcUpstream = {
  port: number
  received: GrpcCall[]
  /** Connections that agreed to HTTP/2. */
  connections: number
  on(path: string, script: (call: GrpcCall) => unknown): void
  /** Sends GOAWAY on every connection; resolves when they are closed. */
  disconnect(): Promise<void>
  stop(): Promise<void>
}

export async function startGrpcUpstream(
  authority: Authority,
  names: readonly string[],
  settings: Settings = {},
): Promise<GrpcUpstream> {
  const scripts = new Map<string, (call: GrpcCall) => unknown>()
  const server = createSecureServer({ ...(await authority.issue(names)), settings })
  const sessions = new Set<ServerHttp2Session>()
  const upstream: GrpcUpstream = {
    port: 0,
    received: [],
    connections: 0,
    on: (path, script) => void scripts.set(path, script),
    disconnect: async () => {
      const closed = [...sessions].map(
        (session) => new Promise<void>((resolve) => session.close(() => resolve())),
      )
      await Promise.all(closed)
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
  server.on('session', (session) => {
    upstream.connections += 1
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.on('error', () => {})
  })
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    for (const value of Object.values(headers)) noteArrival(Buffer.from(String(value)))
    const call = callOf(stream, headers)
    upstream.received.push(call)
    void scripts.get(headers[':path'] ?? '')?.(call)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  upstream.port = (server.address() as AddressInfo).port
  return upstream
}

function callOf(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): GrpcCall {
  let trailers: OutgoingHttpHeaders = {}
  stream.on('error', () => {})
  stream.once('wantTrailers', () => stream.sendTrailers(trailers))
  const begin = (more: OutgoingHttpHeaders = {}) => {
    if (stream.headersSent) return
    const own = { ':status': 200, 'content-type': 'application/grpc', ...more }
    stream.respond(own, { waitForTrailers: true })
  }
  return {
    headers,
    stream,
    messages: messagesOf(stream),
    begin,
    send: (message, flags = 0) => {
      begin()
      stream.write(encodeGrpcFrame(flags, Buffer.from(message as Uint8Array)))
    },
    end: (status, more = {}) => {
      begin()
      trailers = { 'grpc-status': String(status), ...more }
      stream.end()
    },
    closed: new Promise((resolve) => stream.once('close', () => resolve(stream.rstCode ?? 0))),
  }
}

async function* messagesOf(stream: ServerHttp2Stream): AsyncGenerator<string, void> {
  for await (const { payload } of framesOf(stream)) yield Buffer.from(payload).toString()
}
