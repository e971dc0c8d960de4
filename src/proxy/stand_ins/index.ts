/**
 * A backend for programs that were given stand-ins: it gets placeholders where they are, and what it found
 * in the answer becomes stand-ins again. So both ways of the proxy take the steps that they always take.
 */
import type { Backend } from '../backend.ts'
import { PROXY_OWNER } from '../settings.ts'
import { incoming, textsFor, textWithoutMarks, withoutMarks } from './incoming.ts'
import { outgoing } from './outgoing.ts'
import { replacing } from './socket.ts'
import type { StandIns } from './stand_ins.ts'

export { unshaped } from '../../outbound/stand_ins/shape.ts'
export { StandIns } from './stand_ins.ts'

export function withStandIns(backend: Backend, standIns: StandIns): Backend {
  const { mark } = standIns
  return {
    ...backend,
    execute: async (given) => {
      // Held until the answer begins, as long as it may have to be sent.
      const account = backend.bodies.open(PROXY_OWNER)
      const { inbound, ...written } = await outgoing(given, standIns, account).catch((error) => {
        account.release()
        throw error
      })
      const textOf = textsFor(standIns, written)
      const message = (sent: string | Uint8Array) =>
        typeof sent === 'string'
          ? textWithoutMarks(sent, mark, textOf)
          : withoutMarks(sent, mark, textOf)
      const response = await backend
        .execute({
          ...inbound,
          mark,
          upgrade: (handlers, headers) => given.upgrade(replacing(handlers, message), headers),
        })
        .finally(() => account.release())
      return response && incoming(response, standIns, textOf, backend.bodies)
    },
  }
}
