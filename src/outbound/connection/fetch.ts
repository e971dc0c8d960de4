/**
 * Step 10 of the resolver: one outbound request over TLS 1.3 to exactly the address that was judged, with name,
 * certificate and Host of the real host. The environment cannot change it: proxies, extra certificate files and debug
 * switches are all overridden.
 */

import { constants } from 'node:crypto'
import { checkServerIdentity, type PeerCertificate, rootCertificates } from 'node:tls'
import { Fault } from '../../core/fault.ts'
import { isNotConnected } from '../../core/net/not_connected.ts'
import { bytesOf, type CallBody } from '../call.ts'
import type { CallDeadline } from '../deadline.ts'
import type { HeaderPair } from '../headers.ts'
import type { OutboundRequest, WireRequest } from '../outbound_request.ts'
import { type Owner, SessionPool } from './session_pool.ts'

export type Fetcher<Request = Pick<OutboundRequest, 'reveal'>> = {
  /**
   * The upstream's response, its body not yet read, over a connection that only its owner uses. It counts as used until
   * the deadline's work has ended.
   *
   * @throws Fault `upstream_*`
   */
  fetch(request: Request, owner: Owner, deadline: CallDeadline): Promise<Response>
  close(): void
}

/** TLS 1.3 as the number that Bun's fetch understands; a string throws, anything else is ignored. */
const TLS_1_3 = 0x0304
export const NOTHING_OLDER =
  constants.SSL_OP_NO_TLSv1 | constants.SSL_OP_NO_TLSv1_1 | constants.SSL_OP_NO_TLSv1_2

/** `authorities`: trusted PEM certificates in addition to the built-in ones. */
export function openFetcher(
  authorities: string | undefined,
): Fetcher<Pick<OutboundRequest, 'reveal'>> {
  const ca = listTrustedAuthorities(authorities)
  const sessions = new SessionPool({
    open: (host) => new Bun.FetchSession({ tls: tlsFor(host, ca) }),
  })
  return {
    fetch: async (request, owner, deadline) => {
      const wire = request.reveal()
      const { session, release } = sessions.take(owner, wire.host)
      // In use until the call ends, not only until its response begins.
      deadline.afterwards(release)
      try {
        return await fetch(urlOf(wire), initOf(wire, session, deadline.signal))
      } catch (error) {
        throw upstreamFault(error)
      }
    },
    close: () => sessions.close(),
  }
}

/** The built-in authorities and those of the operator; passed explicitly, so that no environment variable adds any. */
export function listTrustedAuthorities(authorities: string | undefined): string[] {
  return authorities === undefined ? [...rootCertificates] : [...rootCertificates, authorities]
}

function tlsFor(host: string, ca: string[]) {
  return {
    ca,
    serverName: host,
    rejectUnauthorized: true,
    // The runtime accepts the number; its types have only the names.
    minVersion: TLS_1_3 as never,
    secureOptions: NOTHING_OLDER,
    checkServerIdentity: (_: string, certificate: PeerCertificate) => checkName(host, certificate),
  }
}

/** RFC 9525: the name must be in subjectAltName; a common name alone proves nothing. */
export function checkName(host: string, certificate: PeerCertificate): Error | undefined {
  if (certificate.subjectaltname) return checkServerIdentity(host, certificate)
  return Object.assign(new Error('no subjectAltName'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
}

function urlOf({ address, port, pathAndQuery }: WireRequest): string {
  return `https://${address.includes(':') ? `[${address}]` : address}:${port}${pathAndQuery}`
}

function initOf(
  { method, headers, authority, body }: WireRequest,
  session: Bun.FetchSession,
  signal: AbortSignal,
): BunFetchRequestInit {
  const content = body && ('bytes' in body ? body.bytes : body.stream)
  return {
    session,
    method,
    headers: recordOf([...headers, ['host', authority], ...(bytesOf(body) ? [] : framingOf(body))]),
    body: content,
    duplex: content && 'half',
    redirect: 'manual',
    proxy: false,
    decompress: false,
    verbose: false,
    // The call's own deadline applies, which may be longer than the runtime's.
    timeout: false,
    protocol: 'http1.1',
    signal,
  } as BunFetchRequestInit
}

/** The runtime reads a record at less cost; only pairs keep duplicate names. */
function recordOf(pairs: HeaderPair[]): HeaderPair[] | Record<string, string> {
  const record = Object.fromEntries(pairs)
  return Object.keys(record).length === pairs.length ? record : pairs
}

/** A body that still arrives keeps the length that the caller declared, and is chunked without one. */
export function framingOf(body: CallBody): HeaderPair[] {
  const length = bytesOf(body)?.length ?? (body && 'length' in body ? body.length : null)
  return length === null ? [] : [['content-length', String(length)]]
}

const TLS_CODES =
  /^(EPROTO|CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|PATH_LENGTH_EXCEEDED|INVALID_PURPOSE|HOSTNAME_MISMATCH|CRL_)/
/** A private authority, which an operator can configure. */
const UNKNOWN_ISSUER = /^(UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY_LEAF|SELF_SIGNED_|DEPTH_ZERO_SELF)/
const NO_ROUTE = /^(ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)/

/** Returns the fault for an error of `fetch`. */
export function upstreamFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  const cause = causeOf(error)
  if (error instanceof DOMException) return new Fault('upstream_timeout', { cause })
  if (TLS_CODES.test(cause.code)) {
    const fix = UNKNOWN_ISSUER.test(cause.code) ? { setting: 'RESOLVER_CA_FILE' } : undefined
    return new Fault('upstream_tls_error', { cause, fix })
  }
  if (isNotConnected(cause) || NO_ROUTE.test(cause.code))
    return new Fault('upstream_unreachable', { cause })
  return new Fault('upstream_protocol_error', { cause })
}

/**
 * Reduces an error during sending to its kind. The runtime's errors have the URL in their message or properties, and a
 * URL may hold a credential.
 */
export function causeOf(error: unknown): Error & { code: string } {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const name = error instanceof Error ? error.name : typeof error
  return Object.assign(new Error(code === '' ? name : code), { name, code })
}
