/**
 * An external API for the resolver to call: TLS on loopback, HTTP by hand, so that an answer may be malformed in any
 * way. It stores every request and every byte that it received.
 */
import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls'
import type { Authority, IssueOptions } from '../../src/cli/demo/certificates.ts'
import { noteArrival } from './canary.ts'

export type ReceivedRequest = {
  method: string
  /** Path and query, as sent. */
  path: string
  /** In the order and case of the wire. */
  headers: [name: string, value: string][]
  body: Uint8Array
  /** Counts connections from 1. */
  connection: number
  /** The first value of a header. */
  header(name: string): string | undefined
}

/** Writes the answer to one request, or behaves like any bad server. */
export type Script = (request: ReceivedRequest, wire: TLSSocket) => void | Promise<void>

export type Upstream = {
  port: number
  received: ReceivedRequest[]
  /** Connections that completed their handshake. */
  connections: number
  /** Bytes of the application that arrived, also those of incomplete requests. */
  bytes: number
  /** Handshakes that failed, by error code. */
  refusals: string[]
  /** Sets the script for a path, whatever the query; other paths get `200 {"ok":true}`. */
  on(path: string, script: Script | string | Uint8Array): void
  /** Closes every connection that is open. */
  disconnect(): void
  stop(): Promise<void>
}

type Options = {
  /** Certificate names; none for a certificate with only a common name. */
  names: readonly string[]
  certificate?: IssueOptions
  tls?: TlsOptions
}

const OK = answerOf(200, { 'content-type': 'application/json' }, '{"ok":true}')

export async function startUpstream(
  authority: Authority,
  { names, certificate, tls }: Options,
): Promise<Upstream> {
  const scripts = new Map<string, Script>()
  const open = new Set<TLSSocket>()
  const server = createServer({ ...(await authority.issue(names, certificate)), ...tls })
  const upstream: Upstream = {
    port: 0,
    received: [],
    connections: 0,
    bytes: 0,
    refusals: [],
    on: (path, script) => {
      scripts.set(
        path,
        typeof script === 'function' ? script : (_, wire) => void wire.write(script),
      )
    },
    disconnect: () => {
      for (const wire of open) wire.destroy()
    },
    stop: async () => {
      upstream.disconnect()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  server.on('tlsClientError', (error) => {
    upstream.refusals.push('code' in error ? String(error.code) : error.name)
  })
  server.on('secureConnection', (wire) => {
    upstream.connections += 1
    open.add(wire)
    wire.on('close', () => open.delete(wire))
    wire.on('error', () => {})
    serveConnection(upstream, wire, (path) => scripts.get(path) ?? ((_, to) => void to.write(OK)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  upstream.port = (server.address() as AddressInfo).port
  return upstream
}

/** A well-formed answer with Content-Length. */
export function answerOf(
  status: number,
  headers: Record<string, string | readonly string[]>,
  body: string | Uint8Array = '',
): Uint8Array {
  const bytes = Buffer.from(body)
  const lines = Object.entries({ ...headers, 'content-length': String(bytes.length) }).flatMap(
    ([name, values]) => [values].flat().map((value) => `${name}: ${value}\r\n`),
  )
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} X\r\n${lines.join('')}\r\n`, 'latin1'),
    bytes,
  ])
}

/** The body in the chunked coding, one chunk for each piece. */
export function chunked(pieces: readonly (string | Uint8Array)[]): Uint8Array {
  const chunks = pieces.flatMap((piece) => {
    const bytes = Buffer.from(piece)
    return [Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]
  })
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
}

function serveConnection(
  upstream: Upstream,
  wire: TLSSocket,
  scriptFor: (path: string) => Script,
): void {
  const connection = upstream.connections
  let pending = Buffer.alloc(0)
  wire.on('data', (chunk: Buffer) => {
    upstream.bytes += chunk.length
    noteArrival(chunk)
    pending = Buffer.concat([pending, chunk])
    for (let found = takeRequest(pending); found; found = takeRequest(pending)) {
      const { request, rest } = found
      pending = rest
      const received = { ...request, connection }
      upstream.received.push(received)
      void scriptFor(received.path.split('?')[0] ?? '')(received, wire)
    }
  })
}

function takeRequest(pending: Buffer<ArrayBuffer>) {
  const end = pending.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [line = '', ...lines] = pending.subarray(0, end).toString('latin1').split('\r\n')
  const headers = lines.map((text): [string, string] => {
    const colon = text.indexOf(':')
    return [text.slice(0, colon), text.slice(colon + 1).trim()]
  })
  const header = (name: string) => headers.find(([given]) => given.toLowerCase() === name)?.[1]
  const [method = '', path = ''] = line.split(' ')
  const found =
    header('transfer-encoding') === undefined
      ? takeBytes(pending.subarray(end + 4), Number(header('content-length') ?? 0))
      : takeChunks(pending.subarray(end + 4))
  return found && { request: { method, path, headers, body: found.body, header }, rest: found.rest }
}

function takeBytes(pending: Buffer<ArrayBuffer>, length: number) {
  if (pending.length < length) return null
  return { body: new Uint8Array(pending.subarray(0, length)), rest: pending.subarray(length) }
}

function takeChunks(pending: Buffer<ArrayBuffer>) {
  const chunks: Uint8Array[] = []
  for (let at = 0; ; ) {
    const end = pending.indexOf('\r\n', at)
    const size = end < 0 ? Number.NaN : Number.parseInt(pending.toString('latin1', at, end), 16)
    if (!(pending.length >= end + 4 + size)) return null
    at = end + 4 + size
    if (size === 0)
      return { body: new Uint8Array(Buffer.concat(chunks)), rest: pending.subarray(at) }
    chunks.push(pending.subarray(end + 2, end + 2 + size))
  }
}
