/**
 * Checks the minimum TLS of outbound calls on this machine with three loopback servers: TLS 1.2, TLS 1.3, and TLS 1.3
 * with another host name. Both client implementations must connect only to the second.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type SecureVersion } from 'node:tls'
import { openDial } from '../../outbound/connection/dial.ts'
import { openFetcher } from '../../outbound/connection/fetch.ts'
import { CallDeadline } from '../../outbound/deadline.ts'
import { Failed } from './check.ts'

/** PEM, for HOST. */
export type Certificate = { authority: string; cert: string; key: string }

type Way = (place: { host: string; port: number }) => Promise<unknown>

/** A reserved name (RFC 6761, section 6.4). */
export const HOST = 'self-check.invalid'
const ADDRESS = '127.0.0.1'
/** Milliseconds for a connection on this machine. */
const TIMEOUT_MS = 10_000
const ANSWER = 'HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n'

const CASES: [about: string, version: SecureVersion, host: string, isRight: boolean][] = [
  ['TLS 1.2', 'TLSv1.2', HOST, false],
  ['TLS 1.3', 'TLSv1.3', HOST, true],
  ['another name', 'TLSv1.3', 'other.invalid', false],
]

/** @throws Failed */
export async function checkTls(
  certificate: Certificate,
  ways: Record<string, Way> = waysOut(certificate.authority),
): Promise<string> {
  const wrong: string[] = []
  for (const [about, version, host, isRight] of CASES) {
    const server = await serve(certificate, version)
    try {
      const { port } = server.address() as AddressInfo
      for (const [name, way] of Object.entries(ways)) {
        const isSpokenTo = await way({ host, port }).then(
          () => true,
          () => false,
        )
        if (isSpokenTo !== isRight)
          wrong.push(`${name} ${isRight ? 'rejects' : 'accepts'} ${about}`)
      }
    } finally {
      server.close()
    }
  }
  if (wrong.length > 0) throw new Failed(wrong.join(', '))
  return 'outbound calls verify the host name and require TLS 1.3'
}

async function serve({ cert, key }: Certificate, version: SecureVersion) {
  const range = { minVersion: version, maxVersion: version }
  const server = createServer({ cert, key, ...range }, (socket) => {
    socket.on('error', () => undefined)
    // Not before the request: the client would treat it as a closed connection.
    socket.once('data', () => socket.end(ANSWER))
  })
  // A client that refuses the certificate is expected.
  server.on('tlsClientError', () => undefined)
  server.listen(0, ADDRESS)
  await once(server, 'listening')
  return server
}

function waysOut(authority: string): Record<string, Way> {
  const dial = openDial(authority)
  return {
    requests: async ({ host, port }) => {
      const fetcher = openFetcher(authority)
      const place = { address: ADDRESS, host, port, authority: `${host}:${port}` }
      const wire = { ...place, pathAndQuery: '/', method: 'GET', headers: [], body: null }
      const owner = { workspaceId: '', tokenId: '' }
      const deadline = new CallDeadline(TIMEOUT_MS)
      try {
        await (await fetcher.fetch({ reveal: () => wire }, owner, deadline)).body?.cancel()
      } finally {
        deadline.clear()
        fetcher.close()
      }
    },
    connections: async ({ host, port }) => {
      const socket = dial({ address: ADDRESS, host, port })
      socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('too late')))
      try {
        await once(socket, 'secureConnect')
      } finally {
        socket.destroy()
      }
    },
  }
}
