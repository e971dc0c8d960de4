/**
 * HTTP/2 to upstreams: for gRPC, since `fetch` has neither trailers nor simultaneous directions, and for upstreams that
 * support nothing else. Streams of one token to one host and address share connections, as requests do. If a connection
 * is closed or full, another one is opened.
 */
import http2, {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { withTimeout } from '../../core/async/timeout.ts'
import { Fault } from '../../core/fault.ts'
import type { Dial } from '../connection/dial.ts'
import { framingOf, upstreamFault } from '../connection/fetch.ts'
import { type Owner, SessionPool } from '../connection/session_pool.ts'
import type { CallDeadline } from '../deadline.ts'
import { MAX_HEADER_BYTES } from '../headers.ts'
import type { OutboundRequest, WireRequest } from '../outbound_request.ts'
import type { Scheduler } from '../scheduler.ts'
import { MeteredWire } from './metered_wire.ts'

export type Http2Connector = {
  /**
   * Opens the stream of a request and sends its head, which ends an `http` request without a body. Its connection
   * counts as used until the deadline's work has ended.
   *
   * @throws Fault `upstream_*`, also if the upstream does not support HTTP/2
   */
  open(
    request: Pick<OutboundRequest, 'reveal'>,
    owner: Owner,
    deadline: CallDeadline,
    kind: Kind,
  ): Promise<ClientHttp2Stream>
  close(): void
}

/** Milliseconds after which an unused connection is closed. */
const IDLE_MS = 60_000
const CONNECT_TIMEOUT_MS = 15_000
/** Maximum connection attempts of a call: each may be closed or full as soon as it is open. */
const MAX_ATTEMPTS = 16
const SETTINGS = { enablePush: false, maxHeaderListSize: MAX_HEADER_BYTES }

const OF_GRPC = { te: 'trailers', 'grpc-accept-encoding': 'identity' }

type Kind = 'grpc' | 'http'
type Begun = { head: OutgoingHttpHeaders; endStream: boolean }
type Meter = (socket: TLSSocket) => MeteredWire

export function openHttp2Connector(
  dial: Dial,
  frames: Scheduler,
  idleMs = IDLE_MS,
): Http2Connector {
  const pool = new SessionPool({ open: () => new Connections(idleMs) })
  return {
    open: async (request, owner, deadline, kind) => {
      const wire = request.reveal()
      const place = `${wire.host}:${wire.port} ${wire.address}`
      const { session: connections, release } = pool.take(owner, place)
      deadline.afterwards(release)
      const turn = (count: number) => frames.take(owner.workspaceId, count)
      const meter = (socket: TLSSocket) => new MeteredWire(socket, { turn })
      try {
        const dialOnce = () => dial(wire, ['h2'])
        const head = headOf(wire, kind)
        const endStream = kind === 'http' && wire.body === null
        return await connections.stream(dialOnce, meter, { head, endStream }, deadline.signal)
      } catch (error) {
        throw upstreamFault(error)
      }
    },
    close: () => pool.close(),
  }
}

/**
 * Returns the checked headers. None is added to the connection's table: a request's length then reveals nothing of
 * another one's headers (RFC 7541, section 7.1).
 */
function headOf({ authority, pathAndQuery, method, headers, body }: WireRequest, kind: Kind) {
  const own = kind === 'grpc' ? OF_GRPC : {}
  const named = [...headers, ...(kind === 'grpc' ? [] : framingOf(body))]
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => !Object.hasOwn(own, name))
  return {
    ...Object.fromEntries(named),
    ':method': method,
    ':scheme': 'https',
    ':authority': authority,
    ':path': pathAndQuery,
    ...own,
    [http2.sensitiveHeaders]: named.map(([name]) => name),
  }
}

/** Connections of one token to one address for one host. */
class Connections {
  /** How many streams each has. */
  readonly #open = new Map<ClientHttp2Session, number>()
  /** One connection attempt, shared by all waiting calls. */
  #connecting: Promise<void> | null = null
  readonly #idleMs: number

  constructor(idleMs: number) {
    this.#idleMs = idleMs
  }

  async stream(
    dial: () => TLSSocket,
    meter: Meter,
    begun: Begun,
    deadline: AbortSignal,
  ): Promise<ClientHttp2Stream> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      for (const [session, streams] of this.#open) {
        if (hasRoom(session, streams)) return this.#begin(session, begun)
      }
      // It may already be full for the last waiting call.
      this.#connecting ??= this.#connect(dial(), meter).finally(() => {
        this.#connecting = null
      })
      await waitUntilDeadline(this.#connecting, deadline)
    }
    throw new Fault('upstream_unreachable')
  }

  close(): void {
    for (const session of this.#open.keys()) session.destroy()
  }

  #begin(session: ClientHttp2Session, { head, endStream }: Begun): ClientHttp2Stream {
    const stream = session.request(head, { endStream })
    this.#count(session, 1)
    stream.once('close', () => this.#count(session, -1))
    return stream
  }

  #count(session: ClientHttp2Session, change: number): void {
    const streams = this.#open.get(session)
    if (streams === undefined) return
    this.#open.set(session, streams + change)
    session.setTimeout(streams + change === 0 ? this.#idleMs : 0)
  }

  async #connect(socket: TLSSocket, meter: Meter): Promise<void> {
    const ready = Promise.withResolvers<void>()
    socket.on('error', ready.reject)
    socket.once('close', () => ready.reject(new Fault('upstream_protocol_error')))
    socket.once('secureConnect', () => {
      if (socket.alpnProtocol !== 'h2') return ready.reject(buildNoHttp2Fault())
      const session = http2.connect('https://upstream.invalid', {
        createConnection: () => meter(socket),
        settings: SETTINGS,
      })
      session.on('error', ready.reject)
      session.once('timeout', () => session.close())
      session.once('close', () => this.#open.delete(session))
      session.once('remoteSettings', () => {
        this.#open.set(session, 0)
        // The calls that waited for it may have ended.
        this.#count(session, 0)
        ready.resolve()
      })
    })
    try {
      await withTimeout(CONNECT_TIMEOUT_MS, ready.promise, () => new Fault('upstream_timeout'))
    } catch (error) {
      socket.destroy()
      throw error
    }
  }
}

function hasRoom(session: ClientHttp2Session, streams: number): boolean {
  const { maxConcurrentStreams = Number.POSITIVE_INFINITY } = session.remoteSettings ?? {}
  return !session.closed && !session.destroyed && streams < Math.max(1, maxConcurrentStreams)
}

function buildNoHttp2Fault(): Fault {
  return new Fault('upstream_protocol_error', {
    message: 'The API does not support HTTP/2.',
  })
}

/** Waits for shared work until this call's deadline. The work continues for other calls. */
function waitUntilDeadline<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const rejectLate = () => reject(new Fault('upstream_timeout'))
  deadline.addEventListener('abort', rejectLate, { once: true })
  if (deadline.aborted) rejectLate()
  return Promise.race([work, promise]).finally(() =>
    deadline.removeEventListener('abort', rejectLate),
  )
}
