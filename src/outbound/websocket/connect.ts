/**
 * Step 10 of the resolver for WebSockets: the opening handshake (RFC 6455, section 4.1). The runtime's client accepts
 * messages of any size and cannot be paused, so this module uses the connection directly.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { Fault } from '../../core/fault.ts'
import { tokenPattern } from '../../core/token_pattern.ts'
import type { Dial } from '../connection/dial.ts'
import { upstreamFault } from '../connection/fetch.ts'
import { MAX_HEADER_BYTES } from '../headers.ts'
import type { OutboundRequest, WireRequest } from '../outbound_request.ts'

const HEADER_NAME = tokenPattern()

/** An upgraded connection to an upstream. The wire is paused. */
export type UpstreamSocket = {
  wire: TLSSocket
  /** Frames that arrived together with the handshake. */
  rest: Uint8Array
  /** Position of the chosen subprotocol among those offered, or `null` for none. */
  protocol: number | null
}

export type SocketConnector = {
  /** @throws Fault `upstream_*`, also for an upstream that answers anything but 101 */
  connect(request: OutboundRequest, deadline: AbortSignal): Promise<UpstreamSocket>
}

export function openSocketConnector(dial: Dial): SocketConnector {
  return {
    connect: async (request, deadline) => {
      const wire = dial(request.reveal())
      try {
        return await shakeHands(wire, request.reveal(), deadline)
      } catch (error) {
        wire.destroy()
        throw upstreamFault(error)
      }
    },
  }
}

async function shakeHands(
  wire: TLSSocket,
  request: WireRequest,
  deadline: AbortSignal,
): Promise<UpstreamSocket> {
  const key = randomBytes(16).toString('base64')
  wire.once('secureConnect', () => wire.write(requestTextOf(request, key), 'latin1'))
  const { head, rest } = await readHead(wire, deadline)
  const [status = '', ...lines] = head.split('\r\n')
  const offered = splitProtocols(request.headers.find(([name]) => isProtocolHeader(name))?.[1])
  const headers = new Headers(lines.map(splitLine))
  if (!/^HTTP\/1\.1 101(?: |$)/.test(status) || !agrees(headers, key)) throw buildBrokenFault()
  return { wire, rest, protocol: chosenOf(headers.get('sec-websocket-protocol'), offered) }
}

export function splitProtocols(header: string | null | undefined): string[] {
  return (header ?? '').split(',').map((protocol) => protocol.trim())
}

function isProtocolHeader(name: string): boolean {
  return name.toLowerCase() === 'sec-websocket-protocol'
}

/** Every header was checked for line breaks. */
function requestTextOf({ pathAndQuery, authority, headers }: WireRequest, key: string): string {
  const own = [
    ['Host', authority],
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
    ['Sec-WebSocket-Key', key],
    ['Sec-WebSocket-Version', '13'],
  ] as const
  const lines = [...own, ...headers].map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${pathAndQuery} HTTP/1.1\r\n${lines.join('')}\r\n`
}

function readHead(
  wire: TLSSocket,
  deadline: AbortSignal,
): Promise<{ head: string; rest: Uint8Array }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ head: string; rest: Uint8Array }>()
  let received = Buffer.alloc(0)
  const rejectLate = () => reject(new Fault('upstream_timeout'))
  const rejectClosed = () => reject(buildBrokenFault())
  const take = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    const end = received.indexOf('\r\n\r\n')
    if (end < 0 && received.length > MAX_HEADER_BYTES) reject(buildBrokenFault())
    if (end < 0) return
    wire.pause()
    wire.off('data', take)
    resolve({ head: received.toString('latin1', 0, end), rest: received.subarray(end + 4) })
  }
  wire.on('data', take)
  wire.on('error', reject)
  wire.once('close', rejectClosed)
  deadline.addEventListener('abort', rejectLate)
  if (deadline.aborted) rejectLate()
  return promise.finally(() => {
    wire.off('close', rejectClosed)
    deadline.removeEventListener('abort', rejectLate)
  })
}

function splitLine(line: string): [string, string] {
  const colon = line.indexOf(':')
  if (!HEADER_NAME.test(line.slice(0, Math.max(0, colon)))) throw buildBrokenFault()
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}

/** RFC 6455, section 4.1: whether the upstream proved that it read this handshake; no extensions were offered. */
function agrees(headers: Headers, key: string): boolean {
  const proof = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
  return (
    headers.get('upgrade')?.toLowerCase() === 'websocket' &&
    /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(headers.get('connection') ?? '') &&
    headers.get('sec-websocket-accept') === proof.digest('base64') &&
    !headers.has('sec-websocket-extensions')
  )
}

function chosenOf(chosen: string | null, offered: readonly string[]): number | null {
  if (chosen === null) return null
  const position = offered.indexOf(chosen)
  if (position < 0 || chosen === '') throw buildBrokenFault()
  return position
}

function buildBrokenFault(): Fault {
  return new Fault('upstream_protocol_error')
}
