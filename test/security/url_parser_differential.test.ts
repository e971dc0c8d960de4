// tier: quick
/**
 * Two readers of one URL must read one host: the allowlist's reading is compared with an independent implementation
 * of the URL standard, and the dialled address with an independent list of address ranges.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { URL as SecondUrl } from 'whatwg-url'
import { systemClock } from '../../src/core/clock.ts'
import { Fault } from '../../src/core/fault.ts'
import { parseCidrs } from '../../src/core/net/cidr.ts'
import { domainMatches, parseDomain } from '../../src/core/net/domain.ts'
import { openAddressLookup } from '../../src/outbound/connection/address_lookup.ts'
import { parseTarget, type Target } from '../../src/outbound/target.ts'
import { urls } from './urls.ts'

const RUNS = { numRuns: 3000 }

function read(text: string): Target | null {
  try {
    return parseTarget(text)
  } catch (error) {
    if (error instanceof Fault && error.code === 'invalid_target') return null
    throw error
  }
}

test('an accepted target reads the same to an independent parser', () => {
  let accepted = 0
  fc.assert(
    fc.property(urls(), (text) => {
      const target = read(text)
      if (!target) return
      accepted += 1
      const second = new SecondUrl(text)
      expect({
        protocol: second.protocol,
        host: second.hostname.replace(/\.$/, ''),
        port: second.port === '' ? 443 : Number(second.port),
        path: second.pathname,
        search: second.search,
        userinfo: second.username + second.password,
      }).toEqual({
        protocol: 'https:',
        host: target.host,
        port: target.port,
        path: target.path,
        search: target.search,
        userinfo: '',
      })
    }),
    RUNS,
  )
  expect(accepted).toBeGreaterThan(50)
})

test('only the host that is on the allowlist matches it, whatever the URL looks like', () => {
  const allowed = parseDomain('api.example.com')
  if (!allowed) throw new Error('the entry must parse')
  fc.assert(
    fc.property(urls(), (text) => {
      const target = read(text)
      if (!target || !domainMatches(allowed, target.host, target.port)) return
      const second = new SecondUrl(text)
      expect([second.hostname.replace(/\.$/, ''), second.port]).toEqual(['api.example.com', ''])
    }),
    RUNS,
  )
})

const v4 = fc.oneof(
  fc.ipV4(),
  fc.constantFrom(
    '10.0.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '198.18.0.1',
    '192.0.2.1',
    '8.8.8.8',
  ),
)
const v6 = fc.oneof(
  fc.ipV6(),
  fc.constantFrom(
    '::1',
    '::',
    'fe80::1',
    'fc00::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::808:808',
    '2002:7f00:1::',
    '2001:db8::1',
    '2001::1',
    '2606:4700::1111',
  ),
)
const answers = fc.array(fc.oneof(v4, v6), { minLength: 1, maxLength: 4 })

/** A NAT64 address (`rfc6052`) reaches the IPv4 address in its last bytes. */
function rangeOf(text: string): string {
  const address = ipaddr.parse(text)
  if (address.range() !== 'rfc6052') return address.range()
  return ipaddr.fromByteArray(address.toByteArray().slice(-4)).range()
}

test('the dialled address is public by an independent list, and so are its companions', async () => {
  let dialled = 0
  await fc.assert(
    fc.asyncProperty(answers, async (addresses) => {
      const found = await dial(addresses, '')
      if (found === null) return
      dialled += 1
      expect(addresses).toContain(found)
      expect(addresses.map(rangeOf)).toEqual(addresses.map(() => 'unicast'))
    }),
    RUNS,
  )
  expect(dialled).toBeGreaterThan(50)
})

test('a listed network may be dialled, its neighbours may not', async () => {
  const network = ipaddr.parseCIDR('10.1.0.0/16') as [ipaddr.IPv4, number]
  await fc.assert(
    fc.asyncProperty(answers, async (addresses) => {
      const found = await dial(addresses, '10.1.0.0/16')
      if (found === null) return
      for (const address of addresses) {
        const parsed = ipaddr.parse(address)
        const listed = parsed.kind() === 'ipv4' && parsed.match(network)
        expect(listed || rangeOf(address) === 'unicast').toBe(true)
      }
    }),
    RUNS,
  )
})

async function dial(addresses: string[], allowed: string): Promise<string | null> {
  const book = openAddressLookup({
    allowed: parseCidrs(allowed),
    hosts: [],
    lookup: async () => addresses.map((address) => ({ address, ttl: 0 })),
    ownPorts: () => [],
    clock: systemClock,
  })
  try {
    return await book.find('name.example', 443, new AbortController().signal)
  } catch (error) {
    if (error instanceof Fault && error.code === 'address_blocked') return null
    throw error
  }
}
