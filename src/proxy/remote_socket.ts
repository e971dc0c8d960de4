/** A WebSocket through the resolver: messages pass unchanged in both directions; the resolver redacts the answers. */
import type { ServerWebSocket } from 'bun'
import { serverTrust } from '../client/http/trust.ts'
import { Fault } from '../core/fault.ts'
import type { SocketHandlers } from '../http/route.ts'
import { isSendableCode } from '../outbound/websocket/frames.ts'
import type { Inbound } from './backend.ts'

const GOING_AWAY = 1001
const NORMAL = 1000

/** @throws Fault `upstream_protocol_error` when the resolver does not agree to the handshake */
export async function relayThrough(
  { request, upgrade }: Inbound,
  url: string,
  headers: Record<string, string>,
): Promise<null> {
  const { 'sec-websocket-protocol': protocols, ...others } = headers
  const far = new WebSocket(url.replace(/^http/, 'ws'), {
    ...serverTrust(),
    headers: others,
    ...(protocols ? { protocols: protocols.split(',').map((name) => name.trim()) } : {}),
  } as never)
  far.binaryType = 'nodebuffer' as never
  // Keep messages that arrive before the program's side is open.
  const early: (string | Uint8Array)[] = []
  let near: ServerWebSocket<unknown> | null = null
  far.onmessage = ({ data }) => {
    if (near) near.send(data)
    else early.push(data)
  }
  await waitForOpen(far)
  const handlers: SocketHandlers = {
    open: (socket) => {
      near = socket
      for (const message of early) socket.send(message)
      if (far.readyState !== WebSocket.OPEN) socket.close(GOING_AWAY)
    },
    message: (_, message) => far.send(message),
    ping: () => {},
    pong: () => {},
    drain: () => {},
    close: (_, code, reason) => far.close(closable(code), reason),
  }
  far.onclose = ({ code, reason }) => near?.close(closable(code), reason)
  const chosen = far.protocol ? { 'sec-websocket-protocol': far.protocol } : {}
  if (upgrade(handlers, chosen as Record<string, string>)) return null
  far.close()
  throw new Fault('invalid_header', { message: `Not a WebSocket handshake: ${request.method}.` })
}

function waitForOpen(far: WebSocket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  far.onopen = () => resolve()
  far.onerror = () => reject(new Fault('upstream_protocol_error'))
  far.onclose = far.onerror
  return promise
}

/** Codes for a missing code may not be sent (RFC 6455, section 7.4.1). */
function closable(code: number): number {
  return isSendableCode(code) ? code : NORMAL
}
