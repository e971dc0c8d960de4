// tier: quick
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { classify, parseCidrs } from '../../../src/outbound/connection/address_lookup.ts'

const NONE = parseCidrs('')

describe('each special network is rejected, and its neighbours are not', () => {
  test.each([
    // network: first, last, public neighbour before, public neighbour after
    ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
    ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
    ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
    ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
    ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
    ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
    ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
    ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
    ['192.31.196.0/24', '192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
    ['192.52.193.0/24', '192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
    ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
    ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
    ['192.175.48.0/24', '192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
    ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
    ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
    ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
    ['224.0.0.0/3', '224.0.0.0', '255.255.255.255', '223.255.255.255', null],
    ['wire server', '168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
    ['below 2000::/3', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, '2000::'],
    ['2001::/23', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff::', '2001:200::'],
    ['2001:db8::/32', '2001:db8::', '2001:db8:ffff::', '2001:db7:ffff::', '2001:db9::'],
    ['2002::/16', '2002::', '2002:ffff:ffff::', '2001:ffff:ffff::', '2003::'],
    [
      '2620:4f:8000::/48',
      '2620:4f:8000::',
      '2620:4f:8000:ffff::',
      '2620:4f:7fff:ffff::',
      '2620:4f:8001::',
    ],
    ['3fff::/20', '3fff::', '3fff:fff:ffff::', '3ffe:ffff::', '3fff:1000::'],
    ['above 2000::/3', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff::', null],
  ])('%s', (_, first, last, before, after) => {
    expect(classify(first, NONE)).toBe('refused')
    expect(classify(last, NONE)).toBe('refused')
    if (before !== null) expect(classify(before, NONE)).toBe('public')
    if (after !== null) expect(classify(after, NONE)).toBe('public')
  })
})

test.each([
  '169.254.169.254',
  'fd00:ec2::254',
  '::1',
  '::',
  '::ffff:8.8.8.8',
  '::ffff:127.0.0.1',
  '::8.8.8.8',
  '64:ff9b::127.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b::1:808:808',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001:0:53aa:64c::',
  'fe80::1',
  'fec0::1',
  'fc00::1',
  'ff02::1',
  '5f00::1',
])('the address check rejects %s', (address) => {
  expect(classify(address, NONE)).toBe('refused')
})

test('the address check judges a NAT64 address by its IPv4 address, and allows a private one only if it is listed as IPv6', () => {
  expect(classify('64:ff9b::8.8.8.8', NONE)).toBe('public')
  expect(classify('64:ff9b::10.0.0.1', parseCidrs('10.0.0.0/8'))).toBe('refused')
  expect(classify('64:ff9b::10.0.0.1', parseCidrs('64:ff9b::a00:0/104'))).toBe('allowed')
})

test.each([
  '',
  'localhost',
  '8.8.8',
  '8.8.8.8.',
  '8.8.8.8.8',
  '08.8.8.8',
  '0x8.8.8.8',
  '8.8.8.256',
  '134744072',
  ' 8.8.8.8',
  '8.8.8.8%eth0',
  '2606:4700::1%eth0',
  '2606:4700::1%25eth0',
  '[2606:4700::1]',
  '2606:4700:::1',
  '2606::4700::1',
  '2606:4700:1',
  ':2606:4700:0:0:0:0:0:1',
  '2606:4700:0:0:0:0:0:1:',
  '2606:4700:0:0:0:0:0:0:1',
  '2606:4700::0:0:0:0:0:1',
  '2606:47000::1',
  '2606:4700::1/64',
  '8.8.8.8::',
  '2606::1.2.3.4:5',
  ':',
  ':::',
])('the address check rejects %p, which is not an address', (address) => {
  expect(classify(address, parseCidrs('0.0.0.0/0, ::/0'))).toBe('refused')
})

test('the address check reads every spelling of an IPv6 address', () => {
  for (const address of [
    '2606:4700::1',
    '2606:4700:0:0:0:0:0:1',
    '2606:4700:0000:0000:0000:0000:0000:0001',
    '2606:4700::0.0.0.1',
    '2606:4700:0:0:0:0:0.0.0.1',
    '2606:4700:0:0:0:0:0::',
  ]) {
    expect(classify(address, parseCidrs('2606:4700::/32'))).toBe('allowed')
    expect(classify(address, NONE)).toBe('public')
  }
})

describe('allowed networks', () => {
  test('allowed networks admit their addresses and no neighbours', () => {
    const allowed = parseCidrs('127.0.0.1, 10.1.0.0/16,fd00::/8')
    expect(classify('127.0.0.1', allowed)).toBe('allowed')
    expect(classify('127.0.0.2', allowed)).toBe('refused')
    expect(classify('10.1.255.255', allowed)).toBe('allowed')
    expect(classify('10.2.0.0', allowed)).toBe('refused')
    expect(classify('fd12::1', allowed)).toBe('allowed')
    expect(classify('fc12::1', allowed)).toBe('refused')
    expect(classify('8.8.8.8', allowed)).toBe('public')
  })

  test('allowed networks do not admit a mapped address by its IPv4 network', () => {
    expect(classify('::ffff:127.0.0.1', parseCidrs('127.0.0.0/8'))).toBe('refused')
    expect(classify('::ffff:127.0.0.1', parseCidrs('0.0.0.0/0'))).toBe('refused')
    expect(classify('::ffff:127.0.0.1', parseCidrs('::ffff:127.0.0.0/104'))).toBe('allowed')
    expect(classify('8.8.8.8', parseCidrs('::ffff:0:0/96'))).toBe('public')
  })

  test.each([
    ['10.0.0.0/33', 1],
    ['10.0.0.0/8, fd00::/129', 2],
    ['10.0.0.0/8,, fd00::/8', 2],
    ['10.0.0.0/8, hunter2, x', 2],
    ['10.0.0.0/', 1],
    ['10.0.0.0/-1', 1],
    ['10.0.0.0/08', 1],
    ['10.0.0.0/8/8', 1],
    ['fe80::1%eth0/64', 1],
  ])('%p: the error names entry %d without repeating it', (text, position) => {
    expect(() => parseCidrs(text)).toThrow(
      new Error(`Entry ${position} is not an IP address or CIDR network.`),
    )
  })

  test('allowed networks contain an IPv4 address exactly if its leading bits match', () => {
    const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
    const binary = (parts: number[]) => parts.map((p) => p.toString(2).padStart(8, '0')).join('')
    fc.assert(
      fc.property(octets, octets, fc.nat(32), (network, address, bits) => {
        const listed = parseCidrs(`${network.join('.')}/${bits}`)
        const isIn = binary(network).slice(0, bits) === binary(address).slice(0, bits)
        expect(classify(address.join('.'), listed) === 'allowed').toBe(isIn)
      }),
    )
  })
})
