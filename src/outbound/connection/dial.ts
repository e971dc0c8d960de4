/**
 * A TLS connection of our own, for what `fetch` cannot do: WebSockets and gRPC. TLS 1.3 to exactly the address
 * that was judged, under the same checks of name and certificate as any request.
 */
import { connect, createSecureContext, type TLSSocket } from 'node:tls'
import type { WireRequest } from '../outbound_request.ts'
import { checkName, NOTHING_OLDER, trusted } from './fetch.ts'

/** `protocols` are offered (ALPN, RFC 7301). */
export type Dial = (
  to: Pick<WireRequest, 'address' | 'host' | 'port'>,
  protocols?: string[],
) => TLSSocket

/** `authorities`: PEM certificates trusted besides the built-in ones. */
export function openDial(authorities: string | undefined): Dial {
  const secureContext = createSecureContext({
    ca: trusted(authorities),
    minVersion: 'TLSv1.3',
    secureOptions: NOTHING_OLDER,
  })
  return ({ address, host, port }, protocols) =>
    connect({
      host: address,
      port,
      secureContext,
      servername: host,
      rejectUnauthorized: true,
      checkServerIdentity: (_, certificate) => checkName(host, certificate),
      ...(protocols ? { ALPNProtocols: protocols } : {}),
    })
}
