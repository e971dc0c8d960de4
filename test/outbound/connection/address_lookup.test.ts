// tier: quick
/** Resolves a name to the one address that is dialled, without a network. */
import { describe, expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { Fault } from '../../../src/core/fault.ts'
import { parseCidrs } from '../../../src/core/net/cidr.ts'
import { openAddressLookup, UnknownName } from '../../../src/outbound/connection/address_lookup.ts'
import { withAdvice } from '../../../src/proxy/local/advice.ts'

const never = new AbortController().signal

function book({
  lookup = async () => [],
  ttl = 0,
  now = () => 0,
  hosts = [],
  allowed = '',
  ports = [],
}: Options = {}) {
  return openAddressLookup({
    allowed: parseCidrs(allowed),
    hosts,
    lookup: async (host) => (await lookup(host)).map((address) => ({ address, ttl })),
    ownPorts: () => ports,
    clock: { now },
  })
}

type Options = {
  lookup?: (host: string) => Promise<string[]>
  ttl?: number
  now?: () => number
  hosts?: string[]
  allowed?: string
  ports?: number[]
}

async function codeOf(found: string | Promise<string>): Promise<string> {
  try {
    return await found
  } catch (error) {
    return error instanceof Fault ? error.code : String(error)
  }
}

describe('an address book', () => {
  test('an address lookup prefers IPv4 among addresses that are all public', async () => {
    const lookup = async () => ['2606:4700::1', '93.184.216.34', '93.184.216.35']
    expect(await book({ lookup }).find('a.example', 443, never)).toBe('93.184.216.34')
    const six = async () => ['2606:4700::1', '2606:4700::2']
    expect(await book({ lookup: six }).find('a.example', 443, never)).toBe('2606:4700::1')
  })

  test('an address lookup reads RESOLVER_HOSTS before DNS, and checks those addresses too', async () => {
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

  test('an address lookup rejects this machine’s own addresses on its own ports only', async () => {
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

  test('the error names the setting that allows a network, but not for its own ports', async () => {
    const fixOf = (error: Fault) => error.fix
    const inside = book({ lookup: async () => ['10.0.0.1'] })
    const refused = await Promise.resolve(inside.find('a.example', 443, never)).catch(fixOf)
    expect(refused).toEqual({ setting: 'RESOLVER_ALLOW_NETWORKS' })
    const own = book({ lookup: async () => ['127.0.0.1'], ports: [8080] })
    expect(await Promise.resolve(own.find('a.example', 8080, never)).catch(fixOf)).toBeUndefined()
  })

  test('an address lookup rejects its own loopback in mapped and long notation', async () => {
    for (const address of ['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:0:0:1']) {
      const found = book({ lookup: async () => [address], allowed: '::/0', ports: [8080] })
      expect(await codeOf(found.find('a.example', 8080, never))).toBe('address_blocked')
    }
  })

  test('an address lookup returns upstream_unreachable when it fails or finds nothing', async () => {
    expect(await codeOf(book().find('a.example', 443, never))).toBe('upstream_unreachable')
    const failing = book({ lookup: () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await codeOf(failing.find('a.example', 443, never))).toBe('upstream_unreachable')
  })

  test('a name that is not in DNS has another error than a failed lookup', async () => {
    const causeOf = async (lookup: () => Promise<never>) =>
      Promise.resolve(book({ lookup }).find('a.example', 443, never)).catch(({ cause }) => cause)
    const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }))
    expect(await causeOf(failing('DNS_ENOTFOUND'))).toBeInstanceOf(UnknownName)
    expect(await causeOf(failing('DNS_ETIMEOUT'))).not.toBeInstanceOf(UnknownName)
  })

  test('the local proxy names --remote and RESOLVER_HOSTS for an unknown name', () => {
    const fault = new Fault('upstream_unreachable', { cause: new UnknownName() })
    expect(withAdvice(fault, { host: 'echo.internal', timeoutMs: 1000 })).toMatchObject({
      code: 'upstream_unreachable',
      message:
        'This machine cannot resolve echo.internal. Use --remote to call through the resolver, or set RESOLVER_HOSTS.',
      fix: { setting: 'RESOLVER_HOSTS' },
    })
    const other = new Fault('upstream_unreachable')
    expect(withAdvice(other, { host: 'echo.internal', timeoutMs: 1000 })).toBe(other)
  })

  test('an address lookup returns upstream_timeout when the deadline has passed, before or during the lookup', async () => {
    const hung = book({ lookup: () => new Promise(() => {}) })
    const deadline = new AbortController()
    const found = codeOf(hung.find('a.example', 443, deadline.signal))
    deadline.abort()
    expect(await found).toBe('upstream_timeout')
    expect(await codeOf(hung.find('a.example', 443, deadline.signal))).toBe('upstream_timeout')
  })
})

describe('a checked address', () => {
  function moving(ttl: number, answers: string[][] = [['93.184.216.34'], ['93.184.216.35']]) {
    let time = 1_000_000
    const asked: string[] = []
    const lookup = async (host: string) => {
      asked.push(host)
      return answers[asked.length - 1] ?? []
    }
    const addresses = book({ lookup, ttl, now: () => time, ports: [8080], allowed: '127.0.0.1' })
    const find = (port = 443) => codeOf(addresses.find('a.example', port, never))
    const pass = (ms: number) => {
      time += ms
    }
    return { find, pass, asked, addresses }
  }

  test('a checked address is reused without a lookup until its time to live has passed', async () => {
    const { find, pass, asked, addresses } = moving(3)
    expect(await find()).toBe('93.184.216.34')
    pass(2_999)
    expect(addresses.find('a.example', 443, never)).toBe('93.184.216.34')
    expect(asked).toHaveLength(1)
    pass(1)
    expect(await find()).toBe('93.184.216.35')
  })

  test('a checked address is kept for ten seconds at most', async () => {
    const { find, pass } = moving(3600)
    expect(await find()).toBe('93.184.216.34')
    pass(9_999)
    expect(await find()).toBe('93.184.216.34')
    pass(1)
    expect(await find()).toBe('93.184.216.35')
  })

  test('a checked address is kept no longer than the shortest-lived one of its lookup', async () => {
    let asked = 0
    const addresses = openAddressLookup({
      allowed: [],
      hosts: [],
      lookup: async () => {
        asked += 1
        return [
          { address: '93.184.216.34', ttl: 9 },
          { address: '93.184.216.35', ttl: 0 },
        ]
      },
      ownPorts: () => [],
      clock: { now: () => 0 },
    })
    for (const calls of [1, 2]) {
      await addresses.find('a.example', 443, never)
      expect(asked).toBe(calls)
    }
  })

  test('a checked address is looked up again after the clock was set back', async () => {
    const { find, pass } = moving(3)
    expect(await find()).toBe('93.184.216.34')
    pass(-1)
    expect(await find()).toBe('93.184.216.35')
  })

  test('a checked address is checked again for another port', async () => {
    const { find, asked } = moving(10, [['127.0.0.1'], ['127.0.0.1']])
    expect(await find(443)).toBe('127.0.0.1')
    expect(await find(8080)).toBe('address_blocked')
    expect(asked).toHaveLength(2)
  })

  test('a rejected address is not kept', async () => {
    const { find } = moving(10, [['10.0.0.1'], ['93.184.216.34']])
    expect(await find()).toBe('address_blocked')
    expect(await find()).toBe('93.184.216.34')
  })
})
