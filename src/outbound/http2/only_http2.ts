/**
 * Upstreams that support only HTTP/2 (Apple's push notifications). All others are called with HTTP/1.1. Only if that
 * fails, two handshakes without a request detect what the upstream supports. The result is cached.
 */
import { Readable } from 'node:stream'
import { withTimeout } from '../../core/async/timeout.ts'
import type { Clock } from '../../core/clock.ts'
import type { FaultCode } from '../../core/fault.ts'
import { LruMap } from '../../core/lru.ts'
import type { Dial } from '../connection/dial.ts'
import { causeOf, type Fetcher, upstreamFault } from '../connection/fetch.ts'
import type { WireRequest } from '../outbound_request.ts'
import type { Http2Connector } from './connect.ts'
import { fetchOver } from './fetch.ts'

type Options = { fetcher: Fetcher; http2: Http2Connector; dial: Dial; clock: Clock }

const KEPT_MS = 600_000
const MAX_KEPT = 1000
const HANDSHAKE_MS = 5000
const NO_COMMON_PROTOCOL = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'
/** Faults of an upstream that refuses HTTP/1.1, or does not understand it. */
const FAILURES: readonly FaultCode[] = ['upstream_tls_error', 'upstream_protocol_error']

export function fetcherOfBoth({ fetcher, http2, dial, clock }: Options): Fetcher {
  const only = new LruMap<string, true>({ max: MAX_KEPT, expiry: { ms: KEPT_MS, clock } })
  const fetchOverHttp2: Fetcher['fetch'] = async (request, owner, deadline) => {
    const wire = request.reveal()
    const stream = await http2.open(request, owner, deadline, 'http').catch((error) => {
      if (upstreamFault(error).code === 'upstream_protocol_error') only.delete(placeOf(wire))
      throw error
    })
    return fetchOver(stream, wire, deadline.signal)
  }
  return {
    fetch: async (request, owner, deadline) => {
      const wire = request.reveal()
      if (only.get(placeOf(wire))) return fetchOverHttp2(request, owner, deadline)
      try {
        return await fetcher.fetch(request, owner, deadline)
      } catch (error) {
        const mayBe = FAILURES.includes(upstreamFault(error).code)
        if (!mayBe || !(await supportsOnlyHttp2(dial, wire))) throw error
        only.set(placeOf(wire), true)
        // A body that was already read cannot be sent again.
        if (wire.body && 'stream' in wire.body && Readable.isDisturbed(wire.body.stream as never))
          throw error
        return fetchOverHttp2(request, owner, deadline)
      }
    },
    close: () => fetcher.close(),
  }
}

function placeOf({ host, port }: WireRequest): string {
  return `${host}:${port}`
}

async function supportsOnlyHttp2(dial: Dial, wire: WireRequest): Promise<boolean> {
  if ((await negotiateProtocol(dial, wire, 'h2')) !== 'h2') return false
  return (await negotiateProtocol(dial, wire, 'http/1.1')) === false
}

/** Returns the protocol that an upstream agrees to (RFC 7301); `false` if it refuses, `null` for other failures. */
async function negotiateProtocol(dial: Dial, wire: WireRequest, offered: string) {
  const socket = dial(wire, [offered])
  const { promise, resolve } = Promise.withResolvers<string | false | null>()
  socket.on('error', (error) => resolve(causeOf(error).code === NO_COMMON_PROTOCOL ? false : null))
  socket.once('close', () => resolve(null))
  socket.once('secureConnect', () => resolve(socket.alpnProtocol))
  try {
    return await withTimeout(HANDSHAKE_MS, promise, () => new Error('late')).catch(() => null)
  } finally {
    socket.destroy()
  }
}
