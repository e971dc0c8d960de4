/**
 * Opens a TLS connection for protocols that `fetch` does not support: WebSockets and gRPC. TLS 1.3 to exactly the
 * judged address, with the usual checks of name and certificate.
 */
import { connect, createSecureContext, type TLSSocket } from 'node:tls'
import type { WireRequest } from '../outbound_request.ts'
import { checkName, listTrustedAuthorities, NOTHING_OLDER } from './fetch.ts'

/** `protocols` are offered (ALPN, RFC 7301). */
export type Dial = (
  to: Pick<WireRequest, 'address' | 'host' | 'port'>,
  protocols?: string[],
) => TLSSocket

/** `authorities`: trusted PEM certificates in addition to the built-in ones. */
export function openDial(authorities: string | undefined): Dial {
  const secureContext = createSecureContext({
    ca: listTrustedAuthorities(authorities),
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
