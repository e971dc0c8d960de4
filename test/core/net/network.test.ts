// tier: quick
import { describe, expect, test } from 'bun:test'
import { parseCidrs } from '../../../src/core/net/cidr.ts'
import { networkNamer, originNamer } from '../../../src/core/net/network.ts'

const forwarded = (value?: string) =>
  new Request(
    'http://localhost/',
    value === undefined ? {} : { headers: { 'x-forwarded-for': value } },
  )

describe('without trusted proxies', () => {
  const nameOf = networkNamer([])
  test('the peer counts and the header does not', () => {
    expect(nameOf(forwarded('198.51.100.7'), '203.0.113.5')).toBe('203.0.113.5')
    expect(nameOf(forwarded('127.0.0.1'), '203.0.113.5')).toBe('203.0.113.5')
  })
  test('an IPv6 host is its /64, however it is written', () => {
    const first = nameOf(forwarded(), '2001:db8:1:2::1')
    expect(nameOf(forwarded(), '2001:0db8:0001:0002:ffff::9')).toBe(first)
    expect(nameOf(forwarded(), '2001:db8:1:3::1')).not.toBe(first)
  })
  test('an IPv4 address is one network, also in the form of a dual-stack socket', () => {
    expect(nameOf(forwarded(), '::ffff:203.0.113.5')).toBe('203.0.113.5')
    expect(nameOf(forwarded(), '::ffff:cb00:7106')).toBe('203.0.113.6')
    expect(nameOf(forwarded(), '0:0:0:0:0:ffff:203.0.113.7')).toBe('203.0.113.7')
  })
  test('all unknown peers have one name', () => {
    expect(nameOf(forwarded('198.51.100.7'), null)).toBe('unknown')
    expect(nameOf(forwarded(), 'not an address')).toBe('unknown')
  })
})

describe('behind trusted proxies', () => {
  const nameOf = networkNamer(parseCidrs('10.0.0.0/8,fd00::/8'))
  test('the last address that no trusted proxy has written is the client', () => {
    expect(nameOf(forwarded('198.51.100.7'), '10.0.0.1')).toBe('198.51.100.7')
    expect(nameOf(forwarded('198.51.100.7, 10.1.1.1'), '10.0.0.1')).toBe('198.51.100.7')
    expect(nameOf(forwarded('198.51.100.7'), 'fd00::1')).toBe('198.51.100.7')
  })
  test('a proxy and a client are the same in the form of a dual-stack socket', () => {
    expect(nameOf(forwarded('198.51.100.7'), '::ffff:10.0.0.1')).toBe('198.51.100.7')
    expect(nameOf(forwarded('::ffff:198.51.100.7, ::ffff:10.1.1.1'), '10.0.0.1')).toBe(
      '198.51.100.7',
    )
    const mapped = networkNamer(parseCidrs('::ffff:192.0.2.0/120'))
    expect(mapped(forwarded('198.51.100.7'), '::ffff:192.0.2.9')).toBe('198.51.100.7')
  })
  test('text that the client wrote in front of the address is ignored', () => {
    expect(nameOf(forwarded('192.0.2.1, 198.51.100.7'), '10.0.0.1')).toBe('198.51.100.7')
    expect(nameOf(forwarded('10.2.2.2, 198.51.100.7, 10.1.1.1'), '10.0.0.1')).toBe('198.51.100.7')
  })
  test('a peer that is not trusted cannot use the header', () => {
    expect(nameOf(forwarded('198.51.100.7'), '203.0.113.5')).toBe('203.0.113.5')
  })
  test('without a header, or with trusted addresses only, the outermost known one counts', () => {
    expect(nameOf(forwarded(), '10.0.0.1')).toBe('10.0.0.1')
    expect(nameOf(forwarded('10.9.9.9, 10.1.1.1'), '10.0.0.1')).toBe('10.9.9.9')
  })
  test('an address with its port is the address', () => {
    expect(nameOf(forwarded('198.51.100.7:1234'), '10.0.0.1')).toBe('198.51.100.7')
    expect(nameOf(forwarded('198.51.100.7:1, 10.1.1.1:2'), '10.0.0.1')).toBe('198.51.100.7')
    const bare = nameOf(forwarded('2001:db8::1'), '10.0.0.1')
    for (const written of ['[2001:db8::1]:1234', '[2001:db8::1]'])
      expect(nameOf(forwarded(written), '10.0.0.1')).toBe(bare)
    // A reader that treats a part of it as a port would use another address.
    expect(nameOf(forwarded('2001:db8::1:1234'), '10.0.0.1')).toBe(bare)
  })
  test('all invalid addresses have one name, and none is its own key', () => {
    const hops = ['garbage', '0x7f.1', '1', '1:2:3', '[garbage]:1', '[::1', ':1', '198.51.100.7:x']
    const names = hops.map((value) => nameOf(forwarded(value), '10.0.0.1'))
    expect(names).toEqual(hops.map(() => 'unknown'))
  })
})

describe('the origin that the caller uses', () => {
  const originOf = originNamer(parseCidrs('10.0.0.0/8'))
  const request = (proto: string) =>
    new Request('http://r.example:8080/x', { headers: { 'x-forwarded-proto': proto } })

  test('the origin is https if a trusted proxy reports it', () => {
    expect(originOf(request('https'), '10.0.0.1')).toBe('https://r.example:8080')
    expect(originOf(request('http'), '10.0.0.1')).toBe('http://r.example:8080')
  })
  test('the origin does not depend on other peers', () => {
    for (const peer of ['203.0.113.5', 'not an address', null])
      expect(originOf(request('https'), peer)).toBe('http://r.example:8080')
  })
})

test('a trusted proxy that names no address is reported once', () => {
  const doubts: string[] = []
  const nameOf = networkNamer(parseCidrs('10.0.0.0/8'), (doubt, peer) =>
    doubts.push(`${doubt} ${peer}`),
  )
  nameOf(forwarded('198.51.100.7:1234'), '10.0.0.1')
  expect(doubts).toEqual([])
  for (const peer of ['10.0.0.1', '10.0.0.2']) nameOf(forwarded('_hidden'), peer)
  expect(doubts).toEqual(['nameless 10.0.0.1'])
})

test('a peer that forwards without being trusted is named once', () => {
  const strangers: string[] = []
  const nameOf = networkNamer(parseCidrs('10.0.0.0/8'), (doubt, peer) => {
    if (doubt === 'stranger') strangers.push(peer)
  })
  const forwarded = new Request('http://a/', { headers: { 'x-forwarded-for': '203.0.113.1' } })
  nameOf(new Request('http://a/'), '192.0.2.1')
  nameOf(forwarded, '10.0.0.1')
  expect(strangers).toEqual([])
  nameOf(forwarded, '192.0.2.1')
  nameOf(forwarded, '192.0.2.2')
  expect(strangers).toEqual(['192.0.2.1'])
})
