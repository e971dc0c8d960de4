/**
 * A backend for programs that have stand-ins: it replaces these by placeholders, and found values in the answer by
 * stand-ins. So both backends of the proxy run their usual steps.
 */

import type { ServerWebSocket } from 'bun'
import { Fault } from '../../core/fault.ts'
import type { SocketHandlers } from '../../http/route.ts'
import type { Backend } from '../backend.ts'
import { PROXY_OWNER } from '../settings.ts'
import { rewriteIncoming, textsFor, textWithoutMarks, withoutMarks } from './incoming.ts'
import { rewriteOutgoing } from './outgoing.ts'
import type { StandIns } from './stand_ins.ts'

export { unshaped } from '../../outbound/stand_ins/shape.ts'
export { StandIns } from './stand_ins.ts'

export function withStandIns(backend: Backend, standIns: StandIns): Backend {
  const { mark } = standIns
  return {
    ...backend,
    execute: async (given) => {
      // Buffered until the response begins, in case it must be sent again.
      const account = backend.bodies.open(PROXY_OWNER)
      const { inbound, ...written } = await rewriteOutgoing(given, standIns, account).catch(
        (error) => {
          account.release()
          throw error
        },
      )
      const textOf = textsFor(standIns, written)
      const message = (sent: string | Uint8Array) =>
        typeof sent === 'string'
          ? textWithoutMarks(sent, mark, textOf)
          : withoutMarks(sent, mark, textOf)
      const response = await backend
        .execute({
          ...inbound,
          mark,
          upgrade: (handlers, headers) =>
            given.upgrade(withReplacement(withPlaceholders(handlers, standIns), message), headers),
        })
        .finally(() => account.release())
      return response && rewriteIncoming(response, standIns, textOf, backend.bodies)
    },
  }
}

/** RFC 6455, section 7.4.1. */
const POLICY_VIOLATION = 1008

/** Replaces stand-ins in a program's text messages if the policy lists `websocket`. */
function withPlaceholders(handlers: SocketHandlers, standIns: StandIns): SocketHandlers {
  const placeable = standIns.all.filter(({ locations }) => locations.has('websocket'))
  if (placeable.length === 0) return handlers
  let isOver = false
  return {
    ...handlers,
    message: (socket, sent) => {
      if (isOver) return
      try {
        const isText = typeof sent === 'string'
        const replaced = isText ? standIns.replaceNested(sent, 'json', placeable) : sent
        handlers.message(socket, replaced)
      } catch (error) {
        // The nesting is deeper than the search: neither this message nor the following ones are sent.
        isOver = true
        socket.close(POLICY_VIOLATION, error instanceof Fault ? error.code : 'internal_error')
      }
    },
  }
}

type Socket = ServerWebSocket<unknown>

/** Handlers that send through `replaced`, text or bytes. */
function withReplacement(
  handlers: SocketHandlers,
  replaced: (message: string | Uint8Array) => string | Uint8Array,
): SocketHandlers {
  const known = new WeakMap<Socket, Socket>()
  const wrap = (socket: Socket): Socket => {
    const wrapped = known.get(socket) ?? new Proxy(socket, { get: methodOf })
    known.set(socket, wrapped)
    return wrapped
  }
  const recordSent = (message: unknown) =>
    typeof message === 'string' || message instanceof Uint8Array ? replaced(message) : message
  const methodOf = (socket: Socket, key: string | symbol): unknown => {
    const member: unknown = Reflect.get(socket, key)
    if (typeof member !== 'function') return member
    const method = member.bind(socket)
    if (key === 'close') return (code: number, reason = '') => method(code, recordSent(reason))
    const isSending = key === 'send' || key === 'sendText' || key === 'sendBinary'
    return isSending ? (message: unknown) => method(recordSent(message)) : method
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
