// tier: quick
/** gRPC with stand-ins, behind either proxy, and the events that end an open call. */
import { afterAll, expect } from 'bun:test'
import { API } from '../support/agent.ts'
import { startGrpcUpstream } from '../support/grpc_upstream.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/until.ts'
import type { AskedCall } from './grpc_child.ts'
import { openGrpcClient } from './grpc_client.ts'
import { KEY, openProxyStage } from './stage.ts'

const { describe, test } = requires('node')

const stage = await openProxyStage()
const upstream = await startGrpcUpstream(stage.authority, [API])
const host = `${API}:${upstream.port}`
await stage.agent.allow(host)
const proxies = {
  local: await stage.open('local', { standIns: true }),
  remote: await stage.open('remote', { standIns: true }),
}
const clients = {
  local: openGrpcClient(proxies.local, stage.directory),
  remote: openGrpcClient(proxies.remote, stage.directory),
}
afterAll(async () => {
  for (const client of Object.values(clients)) client.close()
  await stage.stop()
  await upstream.stop()
})

upstream.on('/test/WhoAmI', ({ headers, begin, send, end }) => {
  begin({ 'x-echo': headers.authorization ?? '' })
  send(`\n\x20${KEY}\x10\x01`)
  end(0, { 'grpc-message': `you are ${KEY}` })
})
upstream.on('/test/Binary', ({ headers, begin, end }) => {
  const echo = { 'x-got-bin': String(headers['x-key-bin']) }
  begin(echo)
  end(0, echo)
})
upstream.on('/test/Encoded', ({ begin, send, end }) => {
  begin()
  send('first')
  send(`\n\x40${btoa(KEY)}`)
  end(0)
})
upstream.on('/test/Watch', ({ send }) => send('watching'))

describe.each(['local', 'remote'] as const)('behind the %s proxy', (way) => {
  const standIn = proxies[way].standIns.KEY ?? ''
  const call = (path: string, asked: Partial<AskedCall> = {}) =>
    clients[way].call({ host, path, messages: ['hello'], ...asked })

  test('a stand-in in metadata becomes the value, and the value a stand-in in messages and trailers', async () => {
    const metadata = { authorization: `Bearer ${standIn}`, 'x-key-bin': `key=${standIn}` }
    const got = await call('/test/WhoAmI', { metadata })
    expect(upstream.received.at(-1)?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'x-key-bin': btoa(`key=${KEY}`),
    })
    expect(got).toMatchObject({
      code: 0,
      headers: { 'x-echo': `Bearer ${standIn}` },
      messages: [`\n\x20${standIn}\x10\x01`],
      details: `you are ${standIn}`,
    })
  })

  test('a stand-in is also replaced in each of several values of binary metadata, and in returned ones', async () => {
    const values = [`\n\x20${standIn}\xff\xfe`, '\xff', standIn]
    const got = await call('/test/Binary', { metadata: { 'x-key-bin': values } })
    const arrived = String(upstream.received.at(-1)?.headers['x-key-bin']).split(/, */)
    expect(arrived).toEqual([`\n\x20${KEY}\xff\xfe`, '\xff', KEY].map(btoa))
    expect(got).toMatchObject({
      code: 0,
      headers: { 'x-got-bin': values.join(',') },
      trailers: { 'x-got-bin': values.join(',') },
    })
  })

  test('a stand-in of another length than its value ends the call', async () => {
    const got = await call('/test/Encoded', { metadata: { authorization: `Bearer ${standIn}` } })
    expect(got).toMatchObject({
      code: 13,
      messages: ['first'],
      trailers: { 'x-service-error': 'upstream_protocol_error' },
    })
  })
})

test('an open call ends when its host is removed from the allowlist', async () => {
  const call = clients.remote.call({ host, path: '/test/Watch', messages: ['hello'] })
  await until(() => upstream.received.some(({ headers }) => headers[':path'] === '/test/Watch'))
  await stage.agent.disallow(host)
  expect(await call).toMatchObject({
    code: 7,
    details: expect.stringContaining('domain_blocked: '),
    trailers: { 'x-service-error': 'domain_blocked' },
  })
  expect(await upstream.received.at(-1)?.closed).toBe(8)
})
