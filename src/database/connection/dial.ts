/** Opens connections to a PostgreSQL server: the next of several hosts if one fails or is a standby, and TLS. */
import { connect, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { withTimeout } from '../../core/async/timeout.ts'
import type { Place } from '../../core/config/places.ts'
import { buildForeignError, ConnectionError, ServerSocket } from './server_socket.ts'

export type Reach = {
  places: readonly Place[]
  /** `false`: no TLS. */
  tls: false | { isOptional: boolean; options: ConnectionOptions }
  mayAskInClear: boolean
}

const CONNECT_MS = 5_000
const KEEP_ALIVE_MS = 60_000
/** Milliseconds before all hosts are tried again, if each one is a standby. */
const STANDBY_PAUSE_MS = 500
/** SSLRequest (PostgreSQL documentation, "Message Formats"): its length and the code 80877103. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** The driver's `socket` option. Starts with the host that was used last. */
export function socketTo({ places, tls, mayAskInClear }: Reach): () => Promise<ServerSocket> {
  let first = 0
  let standbys = 0
  const onStandby = () => {
    first += 1
    standbys += 1
  }
  return async () => {
    if (standbys >= places.length) {
      standbys = 0
      await Bun.sleep(STANDBY_PAUSE_MS)
    }
    let failure: unknown
    for (let tried = 0; tried < places.length; tried += 1) {
      const place = places[first % places.length] as Place
      try {
        const [socket, raw] = await dial(place, tls)
        const isOne = places.length === 1
        return new ServerSocket(socket, raw, {
          mayAskInClear,
          onStandby: isOne ? undefined : onStandby,
        })
      } catch (error) {
        failure = error
        first += 1
      }
    }
    throw failure
  }
}

/** A kept connection to a socket of this machine. */
export async function connectToPath(path: string): Promise<ServerSocket> {
  const socket = connect({ path })
  await waitForEvent(socket, 'connect')
  return new ServerSocket(socket, socket, { mayAskInClear: true, isKept: true })
}

async function dial({ host, port }: Place, tls: Reach['tls']): Promise<[Socket, Socket]> {
  const raw = connect(
    host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port, noDelay: true },
  )
  // Keep one listener: the others are added and removed.
  raw.on('error', () => {})
  const connectSecurely = async (): Promise<[Socket, Socket]> => {
    await waitForEvent(raw, 'connect')
    raw.setKeepAlive(true, KEEP_ALIVE_MS)
    if (!tls || !(await offersTls(raw, tls.isOptional))) return [raw, raw]
    const servername = isIP(host) ? {} : { servername: host }
    const secure = connectTls({ socket: raw, ...servername, ...tls.options })
    await waitForEvent(secure, 'secureConnect')
    return [secure, raw]
  }
  try {
    return await withTimeout(
      CONNECT_MS,
      connectSecurely(),
      () => new ConnectionError('CONNECT_TIMEOUT'),
    )
  } catch (error) {
    raw.destroy()
    throw error
  }
}

/** PostgreSQL alone answers with a single `S` or `N`, or with an error message. */
async function offersTls(raw: Socket, isOptional: boolean): Promise<boolean> {
  raw.write(SSL_REQUEST)
  const answer = (await waitForEvent(raw, 'data')) as Buffer
  const text = answer.toString('latin1')
  if (text === 'S') return true
  if (text !== 'N')
    throw text.startsWith('E') ? new ConnectionError('CONNECTION_CLOSED') : buildForeignError()
  if (!isOptional) throw new ConnectionError('CONNECTION_NO_TLS')
  return false
}

/** Waits for an event and returns its data. @throws the socket's error, also if it closes first */
function waitForEvent(
  socket: Socket,
  event: 'connect' | 'data' | 'secureConnect',
): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const onClose = () => reject(buildForeignError('it closed the connection without a response'))
  socket.once(event, resolve).once('error', reject).once('close', onClose)
  return promise.finally(() =>
    socket.off(event, resolve).off('error', reject).off('close', onClose),
  )
}
