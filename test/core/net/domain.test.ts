// tier: quick
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { domainMatches, parseDomain, toCanonicalHost } from '../../../src/core/net/domain.ts'

describe('parseDomain', () => {
  test.each([
    ['example.com', 'example.com'],
    ['EXAMPLE.com.', 'example.com'],
    ['api.example.com:443', 'api.example.com'],
    ['api.example.com:8443', 'api.example.com:8443'],
    ['*.example.com', '*.example.com'],
    ['*.Example.COM:65535', '*.example.com:65535'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['*.bücher.example', '*.xn--bcher-kva.example'],
    ['ｅｘａｍｐｌｅ.com', 'example.com'],
    ['localhost', 'localhost'],
    ['internal-api:1', 'internal-api:1'],
    ['github.io', 'github.io'],
    ['*.someone.github.io', '*.someone.github.io'],
    ['*.corp.internal', '*.corp.internal'],
    [`${'a'.repeat(63)}.com`, `${'a'.repeat(63)}.com`],
  ])('the allowlist stores %p as %p', (text, stored) => {
    expect(parseDomain(text)?.text).toBe(stored)
  })

  test.each([
    '',
    '.',
    '*',
    '*.',
    '*.*',
    '*.com',
    '*.co.uk',
    '*.github.io',
    '*.kawasaki.jp',
    '*.foo.kawasaki.jp',
    '*.localhost',
    '*.internal-api',
    '*.*.example.com',
    'a.*.example.com',
    'a*.example.com',
    '**.example.com',
    '＊.example.com',
    'https://example.com',
    'example.com/',
    'example.com/path',
    'example.com?x',
    'example.com#x',
    'user@example.com',
    'example.com\\x',
    ' example.com',
    'example.com\n',
    'exa\tmple.com',
    'exa%6dple.com',
    'example..com',
    'example.com..',
    '.example.com',
    '-a.example.com',
    'a-.example.com',
    'a_b.example.com',
    'a,b.example.com',
    'xn--.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(126)}com`,
    'example.com:',
    'example.com:0',
    'example.com:00443',
    'example.com:65536',
    'example.com:-1',
    'example.com:443:443',
    'example.com: 443',
    'example.com：443',
    '127.0.0.1',
    '127.0.0.1:8080',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '１２７.0.0.1',
    '*.0.0.1',
    '1.2.3.4.',
    '[::1]',
    '[::1]:443',
    '::1',
    '::ffff:1.2.3.4',
    'foo.0x10',
  ])('the allowlist rejects %p', (text) => {
    expect(parseDomain(text)).toBeNull()
  })

  test('an allowlist entry keeps host, wildcard and port apart', () => {
    expect(parseDomain('*.Example.com.:8443')).toEqual({
      host: 'example.com',
      wildcard: true,
      port: 8443,
      text: '*.example.com:8443',
    })
  })

  test('a stored entry is read back as the same entry', () => {
    const entry = fc
      .tuple(
        fc.constantFrom('', '*.'),
        fc.domain(),
        fc.constantFrom('', '.'),
        fc.constantFrom('', ':443', ':8443'),
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(entry, (text) => {
        const domain = parseDomain(text)
        if (domain !== null) expect(parseDomain(domain.text)).toEqual(domain)
        expect(domain === null && !text.startsWith('*')).toBe(false)
      }),
    )
  })

  test('reading an entry never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(parseDomain(text)?.text).not.toBe('')
      }),
    )
  })
})

describe('domainMatches', () => {
  test.each([
    ['example.com', 'example.com', 443, true],
    ['example.com', 'example.com', 8443, false],
    ['example.com:8443', 'example.com', 8443, true],
    ['example.com:8443', 'example.com', 443, false],
    ['example.com', 'api.example.com', 443, false],
    ['example.com', 'com', 443, false],
    ['example.com', 'notexample.com', 443, false],
    ['example.com', 'example.com.evil.test', 443, false],
    ['example.com', 'example.co', 443, false],
    ['example.com', 'xn--exmple-cua.com', 443, false],
    ['*.example.com', 'api.example.com', 443, true],
    ['*.example.com', 'example.com', 443, false],
    ['*.example.com', 'a.b.example.com', 443, false],
    ['*.example.com', 'apiexample.com', 443, false],
    ['*.example.com', '.example.com', 443, false],
    ['*.example.com', 'api.example.com.evil.test', 443, false],
    ['*.example.com', 'api.example.com', 8443, false],
  ])('%p and %s:%d: %p', (text, host, port, expected) => {
    const domain = parseDomain(text)
    expect(domain !== null && domainMatches(domain, host, port)).toBe(expected)
  })
})

test('canonicalHost drops one trailing dot only and rejects addresses', () => {
  expect(toCanonicalHost('API.Example.com.')).toBe('api.example.com')
  expect(toCanonicalHost('example.com..')).toBeNull()
  expect(toCanonicalHost('10.0.0.1')).toBeNull()
  expect(toCanonicalHost('example.com:443')).toBeNull()
})
