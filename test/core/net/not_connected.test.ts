// tier: quick
import { expect, test } from 'bun:test'
import { isNotConnected } from '../../../src/core/net/not_connected.ts'

const failure = (code: string) => Object.assign(new TypeError('failed'), { code })

test('only errors from before a connection mean that nothing was sent', async () => {
  const unsent = ['ECONNREFUSED', 'ENOTFOUND', 'EADDRNOTAVAIL', 'DNS_TIMEOUT', 'FailedToOpenSocket']
  expect(unsent.filter((code) => !isNotConnected(failure(code)))).toEqual([])
  const open = ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ECONNRESET', 'ConnectionClosed']
  expect(open.filter((code) => isNotConnected(failure(code)))).toEqual([])
  const refused: unknown = await fetch('http://127.0.0.1:1/').catch((error) => error)
  expect(isNotConnected(refused)).toBe(true)
})
