// tier: quick
import { describe, expect, test } from 'bun:test'
import { Fault } from '../../src/core/fault.ts'
import { checkCallerHeaders, presentHeaders } from '../../src/outbound/headers.ts'

function faultOf(headers: Record<string, string>): Fault {
  try {
    checkCallerHeaders(headers)
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('The headers were accepted.')
}

describe('checkCallerHeaders', () => {
  test('headers keep order, spelling and values', () => {
    expect(
      checkCallerHeaders({ 'X-B': 'tab\there ~', accept: '', 'X-A': ' SVC_SECRET_A ' }),
    ).toEqual([
      ['X-B', 'tab\there ~'],
      ['accept', ''],
      ['X-A', ' SVC_SECRET_A '],
    ])
  })

  test.each([
    'Connection',
    'keep-alive',
    'PROXY-AUTHORIZATION',
    'Proxy-Connection',
    'proxy-anything',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Host',
    'Content-Length',
    'Expect',
  ])('headers reject %s, which only the resolver sets', (name) => {
    expect(faultOf({ [name]: 'x' }).code).toBe('forbidden_header')
  })

  test('the error names a forbidden header but never the part after proxy-', () => {
    expect(faultOf({ TE: 'hunter2' }).message).toBe('Only the resolver can set the header te.')
    expect(faultOf({ 'Proxy-Hunter2': 'x' }).message).toBe(
      'Only the resolver can set the header proxy-*.',
    )
  })

  test.each([
    '',
    ' ',
    'a b',
    'a:',
    'a\n',
    'ä',
    'a\0',
    '(a)',
    'a,b',
    '"a"',
    'a/b',
    'a@b',
    '[a]',
    '{a}',
  ])('headers reject %p as a name', (name) => {
    expect(faultOf({ [name]: 'x' }).code).toBe('invalid_header')
  })

  test.each(['SVC_SECRET_A', 'X-SVC_SECRET_A', 'svc_secret_a', 'x-Svc_Secret_'])(
    'headers reject the placeholder in the name %p',
    (name) => {
      expect(faultOf({ [name]: 'x' }).code).toBe('invalid_header')
    },
  )

  test.each(['\r', '\n', '\r\nX: y', '\0', '\u0001', '\u007f', 'é', '\u0080', '\u0100', '😀'])(
    'headers reject the value %p and the error does not repeat it',
    (value) => {
      const fault = faultOf({ 'X-A': `hunter2${value}` })
      expect(fault.code).toBe('invalid_header')
      expect(JSON.stringify([fault.message, fault.fields])).not.toContain('hunter2')
    },
  )

  test('headers reject a name in two spellings', () => {
    expect(faultOf({ 'X-A': '1', 'x-a': '2' }).code).toBe('invalid_header')
  })

  test('headers reject more than 64 KiB', () => {
    expect(checkCallerHeaders({ a: 'x'.repeat(65_531) })).toHaveLength(1)
    expect(faultOf({ a: 'x'.repeat(65_532) }).code).toBe('invalid_header')
  })
})

describe('presentHeaders', () => {
  test('response headers drop framing, hop-by-hop, Connection-listed and set-cookie headers, and join repeated ones', () => {
    const headers = new Headers([
      ['Content-Type', 'text/plain'],
      ['X-Many', 'a'],
      ['X-Many', 'b'],
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
      ['Connection', 'close, X-Hop'],
      ['X-Hop', 'gone'],
      ['Keep-Alive', 'timeout=5'],
      ['Proxy-Authenticate', 'Basic'],
      ['TE', 'trailers'],
      ['Trailer', 'x'],
      ['Transfer-Encoding', 'chunked'],
      ['Upgrade', 'h2c'],
      ['Content-Encoding', 'gzip'],
      ['Content-Length', '12'],
    ])
    expect({ ...presentHeaders(headers.toJSON()) }).toEqual({
      'content-type': 'text/plain',
      'x-many': 'a, b',
    })
  })

  test('the header name __proto__ is treated like any other', () => {
    const presented = presentHeaders(new Headers([['__proto__', 'x']]).toJSON())
    expect(Object.getPrototypeOf(presented)).toBeNull()
    expect(JSON.stringify(presented)).toBe('{"__proto__":"x"}')
  })
})
