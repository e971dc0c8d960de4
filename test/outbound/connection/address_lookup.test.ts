/** From a name to the one address that is connected to, without a network. */
import { describe, expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { type Lookup, openAddressLookup } from '../../../src/outbound/connection/address_lookup.ts'
import { Fault } from '../../../src/platform/fault.ts'
import { parseCidrs } from '../../../src/platform/net/cidr.ts'

const never = new AbortController().signal

function book({ lookup = async () => [], hosts = [], allowed = '', ports = [] }: Options = {}) {
  const ownPorts = () => ports
  return openAddressLookup({ allowed: parseCidrs(allowed), hosts, lookup, ownPorts })
}

type Options = { lookup?: Lookup; hosts?: string[]; allowed?: string; ports?: number[] }

async function codeOf(found: Promise<string>): Promise<string> {
  try {
    return await found
  } catch (error) {
    return error instanceof Fault ? error.code : String(error)
  }
}

describe('an address book', () => {
  test('prefers IPv4 among addresses that are all public', async () => {
    const lookup = async () => ['2606:4700::1', '93.184.216.34', '93.184.216.35']
    expect(await book({ lookup }).find('a.example', 443, never)).toBe('93.184.216.34')
    const six = async () => ['2606:4700::1', '2606:4700::2']
    expect(await book({ lookup: six }).find('a.example', 443, never)).toBe('2606:4700::1')
  })

  test('consults RESOLVER_HOSTS before DNS, and judges those addresses too', async () => {
    let asked = 0
    const lookup = async () => {
      asked += 1
      return ['93.184.216.34']
    }
    const hosts = ['A.example=10.1.2.3', 'b.example=93.184.216.35', 'b.example=10.0.0.1']
    const closed = book({ lookup, hosts })
    expect(await codeOf(closed.find('a.example', 443, never))).toBe('address_blocked')
    expect(await codeOf(closed.find('b.example', 443, never))).toBe('address_blocked')
    const open = book({ lookup, hosts, allowed: '10.1.0.0/16' })
    expect(await open.find('a.example', 443, never)).toBe('10.1.2.3')
    expect(asked).toBe(0)
    expect(await open.find('c.example', 443, never)).toBe('93.184.216.34')
    expect(asked).toBe(1)
  })

  test('refuses this machine’s own addresses on its own ports only', async () => {
    const own = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .map(({ address }) => address.split('%')[0] ?? '')
    for (const address of new Set([...own, '127.0.0.1', '127.1.2.3', '0.0.0.0', '::1', '::'])) {
      const found = book({
        lookup: async () => [address],
        allowed: '0.0.0.0/0,::/0',
        ports: [8080],
      })
      expect(await codeOf(found.find('a.example', 8080, never))).toBe('address_blocked')
      expect(await codeOf(found.find('a.example', 443, never))).toBe(address)
    }
  })

  test('refuses its own loopback in mapped and long notation', async () => {
    for (const address of ['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:0:0:1']) {
      const found = book({ lookup: async () => [address], allowed: '::/0', ports: [8080] })
      expect(await codeOf(found.find('a.example', 8080, never))).toBe('address_blocked')
    }
  })

  test('says upstream_unreachable when the lookup fails or finds nothing', async () => {
    expect(await codeOf(book().find('a.example', 443, never))).toBe('upstream_unreachable')
    const failing = book({ lookup: () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await codeOf(failing.find('a.example', 443, never))).toBe('upstream_unreachable')
  })

  test('says upstream_timeout when the deadline passes first, or has passed', async () => {
    const hung = book({ lookup: () => new Promise(() => {}) })
    const deadline = new AbortController()
    const found = codeOf(hung.find('a.example', 443, deadline.signal))
    deadline.abort()
    expect(await found).toBe('upstream_timeout')
    expect(await codeOf(hung.find('a.example', 443, deadline.signal))).toBe('upstream_timeout')
  })
})
