// tier: quick
import { describe, expect, test } from 'bun:test'
import { Fault } from '../../src/core/fault.ts'
import { parseDomain } from '../../src/core/net/domain.ts'
import { policyPathMatches } from '../../src/core/policy/path.ts'
import { parseTarget } from '../../src/outbound/target.ts'

function messageOf(text: string): string {
  try {
    return `accepted ${parseTarget(text).host}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function codeOf(text: string): string {
  try {
    return `accepted ${parseTarget(text).host}`
  } catch (error) {
    return error instanceof Fault ? error.code : `threw ${String(error)}`
  }
}

describe('parseTarget', () => {
  test.each([
    '',
    'example.com',
    '/path',
    '//example.com/',
    'http://example.com/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'ftp://example.com/',
    'httpss://example.com/',
    'https:example.com',
    'https:/example.com',
    'https:///example.com',
    'https://',
    'https://?x',
    'https://#x',
    'https://user@example.com/',
    'https://user:word@example.com/',
    'https://@example.com/',
    'https://:@example.com/',
    'https://a@b@example.com/',
    'https://example.com%40evil.test/',
    ' https://example.com/',
    'https://example.com/ ',
    'https://exa\tmple.com/',
    'https://example.com/a\nb',
    'https://example.com/a\rb',
    'https://example.com/a\0b',
    'https://example.com/a\u007fb',
    'https://example.com/a\u0085b',
    'https://example.com/a\u2028b',
    'https://example.com/a b',
    'https://example.com//x',
    'https://example.com/a/..//x',
    'https://example.com\\evil.test/',
    'https:\\\\example.com/',
    'https://example.com/a\\b',
    'https://example.com/\ud800',
    'https://example.com:0/',
    'https://example.com:65536/',
    'https://example.com:x/',
    'https://example..com/',
    'https://example.com../',
    'https://.example.com/',
    'https://*.example.com/',
    'https://a_b.example.com/',
    'https://a,b.example.com/',
    'https://[fe80::1%25eth0]/',
    'https://[::1/',
    'https://256.256.256.256/',
    `https://example.com/${'a'.repeat(8192)}`,
    `https://example.com/${'é'.repeat(4090)}`,
    `https://${'a.'.repeat(127)}com/`,
  ])('the parser rejects %p', (text) => {
    expect(codeOf(text)).toBe('invalid_target')
  })

  test.each([
    ['https://example.com', 'example.com', 443, '/', ''],
    ['HTTPS://EXAMPLE.COM/', 'example.com', 443, '/', ''],
    ['https://example.com./x', 'example.com', 443, '/x', ''],
    ['https://example.com:443/x?y=1#z', 'example.com', 443, '/x', '?y=1'],
    ['https://example.com:8443?q', 'example.com', 8443, '/', '?q'],
    ['https://bücher.example/ü', 'xn--bcher-kva.example', 443, '/%C3%BC', ''],
    ['https://ｅxample。com/', 'example.com', 443, '/', ''],
    ['https://%65xample.com/', 'example.com', 443, '/', ''],
    ['https://example.com/a/../b/%2E%2e/c', 'example.com', 443, '/c', ''],
    ['https://example.com/@user', 'example.com', 443, '/@user', ''],
    [
      'https://example.com/SVC_SECRET_A?k=SVC_SECRET_B',
      'example.com',
      443,
      '/SVC_SECRET_A',
      '?k=SVC_SECRET_B',
    ],
    ['https://localhost:8443/', 'localhost', 8443, '/', ''],
  ])('the parser reads %p', (text, host, port, path, search) => {
    const authority = port === 443 ? host : `${host}:${port}`
    expect(parseTarget(text)).toEqual({
      host,
      port,
      authority,
      path,
      search,
      domain: host,
      auditUrl: `https://${authority}${path}`,
    })
  })

  test.each([
    ['https://127.0.0.1/', '127.0.0.1'],
    ['https://127.1/', '127.0.0.1'],
    ['https://2130706433/', '127.0.0.1'],
    ['https://0x7f000001/', '127.0.0.1'],
    ['https://0177.0.0.1/', '127.0.0.1'],
    ['https://１２７.０.０.１/', '127.0.0.1'],
    ['https://127.0.0.1./', '127.0.0.1'],
    ['https://%31%32%37.0.0.1/', '127.0.0.1'],
    ['https://[::1]/', '[::1]'],
    ['https://[0:0::FFFF:127.0.0.1]/', '[::ffff:7f00:1]'],
    ['https://8.8.8.8/', '8.8.8.8'],
  ])('the parser reads %p as an address, which no allowlist entry can name', (text, host) => {
    expect(parseTarget(text).host).toBe(host)
    expect(parseDomain(host)).toBeNull()
  })

  test('the parser accepts exactly 8192 bytes', () => {
    const start = 'https://example.com/'
    expect(codeOf(start + 'a'.repeat(8192 - start.length))).toBe('accepted example.com')
    expect(codeOf(start + 'a'.repeat(8193 - start.length))).toBe('invalid_target')
  })

  const port = 'has a port that is not a number from 1 to 65535'
  const host = 'has an invalid host'
  const start = 'does not begin with https:// and a host'
  const space = 'has white space or a control character: escape it with %'
  const none = 'has no host after https://'
  const user = 'has user information before an @: put credentials into a header'
  const backslash = 'has a backslash: write /, or %5C'
  test.each(
    [
      ['', 'is empty'],
      ['example.com/x', start],
      ['localhost:8080/x', start],
      ['/v1/charges', start],
      ['//example.com/x', start],
      ['ftp://example.com/', start],
      ['data:text/plain,x', start],
      ['https:example.com', start],
      ['https:/example.com', start],
      ['http://example.com/', 'begins with http: credentials are only sent over https'],
      [
        'ws://example.com/',
        'begins with ws: a WebSocket is opened in forward mode, where its URL is https',
      ],
      [
        'WSS://example.com/',
        'begins with ws: a WebSocket is opened in forward mode, where its URL is https',
      ],
      ['https://', none],
      ['https:///example.com', none],
      ['https://?x', none],
      ['https://:443/', none],
      ['https://user:hunter2@example.com/', user],
      ['https://@example.com/', user],
      ['https://example.com:0/', port],
      ['https://example.com:65536/', port],
      ['https://example.com:x/', port],
      ['https://[::1]:0/', port],
      [' https://example.com/', space],
      ['https://exa mple.com/', space],
      ['https://example.com/a b', space],
      ['https://example.com/a\nb', space],
      ['https:\\\\example.com/', backslash],
      ['https://example.com/a\\b', backslash],
      ['https://a_b.example.com/', host],
      ['https://256.256.256.256/', host],
      ['https://xn--a/', host],
      ['https://b\u00fccher..example/', host],
      ['https://[::1/', host],
      ['https://example.com//x', 'has a path that begins with //'],
      ['https://example.com/\ud800', 'has an unpaired surrogate'],
      [`https://example.com/${'a'.repeat(8192)}`, 'is longer than 8192 bytes'],
    ].map(([text = '', objection]) => [text.slice(0, 60), objection, text] as const),
  )('the error for %p is: %s', (_, objection, text) => {
    expect(messageOf(text)).toBe(`target_url ${objection}.`)
  })
})

describe('policyPathMatches', () => {
  test.each([
    ['/', '/'],
    ['/', '/anything/at/all'],
    ['/v1', '/v1'],
    ['/v1', '/v1/'],
    ['/v1', '/v1/charges'],
    ['/v1/', '/v1/'],
    ['/v1/', '/v1/charges'],
    ['/v1/a/../charges', '/v1/charges/1'],
    ['/ü', '/%C3%BC/x'],
    ['/a%20b', '/a%20b/c'],
    ['/projects', '/projects/group%2Fname'],
    ['/projects/group%2Fname', '/projects/group%2Fname/issues'],
    ['/search', '/search/100%25'],
    ['/v1', '/v1//charges'],
    ['/v1', '/v1/a;b=c'],
  ])('%p covers %p', (prefix, path) => {
    expect(policyPathMatches(prefix, path)).toBe(true)
  })

  test.each([
    ['/v1', '/'],
    ['/v1', '/v10'],
    ['/v1', '/v1x/charges'],
    ['/v1', '/V1'],
    ['/v1/', '/v1'],
    ['/v1/charges', '/v1'],
    ['/v1/charges', '/v1//charges'],
    ['/v1/charges', '/v1%2Fcharges'],
    ['/v1', '//v1'],
    ['', '/v1'],
    ['v1', '/v1'],
    ['/v1?x', '/v1'],
    ['/v1#x', '/v1'],
    ['/v1\\', '/v1'],
    ['/v1%', '/v1'],
    ['/v1', '/v1/..%2fadmin'],
    ['/v1', '/v1/%2e%2e%2fadmin'],
    ['/v1', '/v1/%252e%252e/admin'],
    ['/v1', '/v1/%25252e%25252e/admin'],
    ['/v1', '/v1/..%5cadmin'],
    ['/v1', '/v1/..;/admin'],
    ['/v1', '/v1/..;x=y/admin'],
    ['/v1', '/v1/..%3b/admin'],
    ['/v1', '/v1/..%20/admin'],
    ['/v1', '/v1/%c0%ae%c0%ae/admin'],
    ['/v1', '/v1/%00'],
    ['/v1', '/v1/%zz'],
    ['/v1', '/v1/%EF%BC%8E%EF%BC%8E/admin'],
    ['/v1', '/v1/%E2%80%A5/admin'],
    ['/', '/v1/..%2f'],
    ['/v1', `/v1/%${'25'.repeat(8)}2e`],
  ])('%p does not cover %p', (prefix, path) => {
    expect(policyPathMatches(prefix, path)).toBe(false)
  })
})
