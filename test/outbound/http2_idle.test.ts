// tier: quick
/** HTTP/2 connections without a call are closed. */
import { expect, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { openDial } from '../../src/outbound/connection/dial.ts'
import { CallDeadline } from '../../src/outbound/deadline.ts'
import { openHttp2Connector } from '../../src/outbound/http2/connect.ts'
import type { OutboundRequest } from '../../src/outbound/outbound_request.ts'
import { Scheduler } from '../../src/outbound/scheduler.ts'
import { FRAME, http2Frame } from '../support/http2_frames.ts'

const HOST = 'api.test'
const LONG = 60_000

test('a connection that opens after its caller disconnected is closed, too', async () => {
  const authority = await createAuthority('Upstreams')
  const arrived = Promise.withResolvers<TLSSocket>()
  const certificate = await authority.issue([HOST])
  const server = createServer({ ...certificate, ALPNProtocols: ['h2'] }, arrived.resolve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const connector = openHttp2Connector(openDial(authority.certificate), new Scheduler(), 10)
  const wire = { host: HOST, port, address: '127.0.0.1', authority: HOST }
  const request = { ...wire, method: 'POST', pathAndQuery: '/', headers: [], body: null }
  const deadline = new CallDeadline(LONG)
  const owner = { workspaceId: 'w', tokenId: 't' }
  const opened = connector.open(
    { reveal: () => request } as unknown as OutboundRequest,
    owner,
    deadline,
    'grpc',
  )
  const upstream = await arrived.promise
  upstream.on('error', () => {}).resume()
  deadline.abort()
  await expect(opened).rejects.toThrow()
  const closed = new Promise((resolve) => upstream.once('close', resolve))
  // The connection is one of HTTP/2 only from here on.
  upstream.write(http2Frame(FRAME.settings))
  await closed
  connector.close()
  server.close()
})
