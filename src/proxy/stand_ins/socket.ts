/** The same for the messages of a WebSocket, each of which is whole. */
import type { ServerWebSocket } from 'bun'
import type { SocketHandlers } from '../../http/route.ts'

type Socket = ServerWebSocket<unknown>

/** Handlers that send through `replaced`, text or bytes. */
export function replacing(
  handlers: SocketHandlers,
  replaced: (message: string | Uint8Array) => string | Uint8Array,
): SocketHandlers {
  const known = new WeakMap<Socket, Socket>()
  const wrap = (socket: Socket): Socket => {
    const wrapped = known.get(socket) ?? new Proxy(socket, { get: methodOf })
    known.set(socket, wrapped)
    return wrapped
  }
  const sent = (message: unknown) =>
    typeof message === 'string' || message instanceof Uint8Array ? replaced(message) : message
  const methodOf = (socket: Socket, key: string | symbol): unknown => {
    const member: unknown = Reflect.get(socket, key)
    if (typeof member !== 'function') return member
    const method = member.bind(socket)
    if (key === 'close') return (code: number, reason = '') => method(code, sent(reason))
    const isSending = key === 'send' || key === 'sendText' || key === 'sendBinary'
    return isSending ? (message: unknown) => method(sent(message)) : method
  }
  return {
    open: (socket) => handlers.open(wrap(socket)),
    message: (socket, message) => handlers.message(wrap(socket), message),
    ping: (socket, payload) => handlers.ping(wrap(socket), payload),
    pong: (socket, payload) => handlers.pong(wrap(socket), payload),
    drain: (socket) => handlers.drain(wrap(socket)),
    close: (socket, code, reason) => handlers.close(wrap(socket), code, reason),
  }
}
