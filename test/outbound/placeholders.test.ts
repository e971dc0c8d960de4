// tier: quick
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Fault } from '../../src/core/fault.ts'
import { Secret } from '../../src/core/secret.ts'
import { findPlaceholders, injectPlaceholders } from '../../src/outbound/injection/placeholders.ts'

type Pair = [string, string]

const secretOf = (text: string) => new Secret(new Uint8Array(Buffer.from(text)))
const secrets = (values: Record<string, string>) =>
  new Map(Object.entries(values).map(([name, value]) => [name, secretOf(value)]))
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

const VALUES = secrets({ FOO: 'foo-value', FOO_BAR: 'foobar-value', a: 'lower', UTF8: 'pä:ß😀' })

function inject(value: string, header = 'X-Key', values = VALUES): string {
  return injectPlaceholders([[header, value]], values).reveal().headers[0]?.[1] ?? ''
}

function codeOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    return error instanceof Fault ? error.code : String(error)
  }
  return 'no fault'
}

describe('in header values', () => {
  test.each([
    ['SVC_SECRET_FOO', 'foo-value'],
    ['Bearer SVC_SECRET_FOO', 'Bearer foo-value'],
    ['SVC_SECRET_FOO_BAR', 'foobar-value'],
    ['SVC_SECRET_FOO-BAR', 'foo-value-BAR'],
    ['xSVC_SECRET_FOO', 'xfoo-value'],
    ['SVC_SECRET_FOO,SVC_SECRET_FOO_BAR;SVC_SECRET_a', 'foo-value,foobar-value;lower'],
    ['SVC_SECRET_FOO.SVC_SECRET_FOO', 'foo-value.foo-value'],
    ['svc_secret_FOO', 'svc_secret_FOO'],
    ['SVC-SECRET-FOO', 'SVC-SECRET-FOO'],
    ['SVC_SECRE', 'SVC_SECRE'],
    ['no placeholder', 'no placeholder'],
  ])('%p becomes %p', (value, expected) => {
    expect(inject(value)).toBe(expected)
  })

  test.each(['SVC_SECRET_FOOD', 'SVC_SECRET_FO', 'SVC_SECRET_foo', 'SVC_SECRET_FOOSVC_SECRET_FOO'])(
    'the name in %p is looked up whole and is unknown',
    (value) => {
      expect(codeOf(() => inject(value))).toBe('unknown_secret')
    },
  )

  test.each(['SVC_SECRET_', 'SVC_SECRET_ FOO', 'SVC_SECRET_1', `SVC_SECRET_${'A'.repeat(129)}`])(
    'the name in %p is malformed',
    (value) => {
      expect(codeOf(() => inject(value))).toBe('invalid_header')
      expect(codeOf(() => findPlaceholders([['X', value]]))).toBe('invalid_header')
      expect(codeOf(() => inject(basic(value), 'Authorization'))).toBe('invalid_header')
    },
  )

  test('a name of 128 characters is allowed', () => {
    const name = 'A'.repeat(128)
    expect(inject(`SVC_SECRET_${name}`, 'X', secrets({ [name]: 'v' }))).toBe('v')
  })

  test('names of object properties are ordinary names', () => {
    expect(codeOf(() => inject('SVC_SECRET_constructor'))).toBe('unknown_secret')
    expect(codeOf(() => inject('SVC_SECRET___proto__'))).toBe('unknown_secret')
  })

  test('a secret that contains a placeholder is not expanded again', () => {
    const values = secrets({ A: 'SVC_SECRET_B', B: 'b', C: 'SVC_' })
    expect(inject('SVC_SECRET_A', 'X', values)).toBe('SVC_SECRET_B')
    expect(inject('SVC_SECRET_C,SECRET_B', 'X', values)).toBe('SVC_,SECRET_B')
    expect(inject(basic('u:SVC_SECRET_A'), 'Authorization', values)).toBe(basic('u:SVC_SECRET_B'))
  })

  test.each(['\r', '\n', '\0', '\u0001', '\u007f', 'ä', '😀'])(
    'a secret with %p is unusable, and the error names only its key',
    (character) => {
      const values = secrets({ KEY: `hunter2${character}` })
      const act = () => inject('SVC_SECRET_KEY', 'X', values)
      expect(codeOf(act)).toBe('unusable_secret')
      expect(act).toThrow('The secret KEY contains characters that cannot be sent in a header.')
    },
  )

  test.each([' hunter2', 'hunter2\t', 'hunter2 '])(
    'a secret with whitespace at an end is unusable: %p',
    (value) => {
      const act = () => inject('Bearer SVC_SECRET_KEY', 'X', secrets({ KEY: value }))
      expect(codeOf(act)).toBe('unusable_secret')
      const credentials = inject(
        basic('u:SVC_SECRET_KEY'),
        'Authorization',
        secrets({ KEY: value }),
      )
      expect(credentials).toBe(basic(`u:${value}`))
      expect(inject('SVC_SECRET_KEY', 'X', secrets({ KEY: 'two words' }))).toBe('two words')
    },
  )

  test('secrets that make the headers exceed 64 KiB are unusable', () => {
    const values = secrets({ BIG: 'x'.repeat(65_531) })
    expect(inject('SVC_SECRET_BIG', 'a', values)).toHaveLength(65_531)
    expect(codeOf(() => inject('SVC_SECRET_BIG', 'ab', values))).toBe('unusable_secret')
  })
})

describe('in Basic credentials', () => {
  test.each([
    [basic('user:SVC_SECRET_FOO'), basic('user:foo-value')],
    [basic('SVC_SECRET_FOO:SVC_SECRET_a'), basic('foo-value:lower')],
    [
      basic('SVC_SECRET_FOO:').replace('Basic', 'bAsIc  '),
      basic('foo-value:').replace('Basic', 'bAsIc  '),
    ],
    [basic('SVC_SECRET_FOO:').replaceAll('=', ''), basic('foo-value:')],
    [basic('ü:SVC_SECRET_UTF8'), basic('ü:pä:ß😀')],
    [basic('user:word'), basic('user:word')],
    [basic('user:wor').replaceAll('=', ''), basic('user:wor').replaceAll('=', '')],
  ])('%p becomes %p', (value, expected) => {
    expect(inject(value, 'authoriZation')).toBe(expected)
  })

  test('Basic credentials that do not decode to UTF-8 are left alone', () => {
    const binary = `Basic ${Buffer.concat([Buffer.from([0xff]), Buffer.from('SVC_SECRET_FOO')]).toString('base64')}`
    expect(inject(binary, 'Authorization')).toBe(binary)
    expect(inject('Basic !!!', 'Authorization')).toBe('Basic !!!')
    expect(inject('Basic A', 'Authorization')).toBe('Basic A')
  })

  test('a placeholder in place of the credentials is an ordinary one', () => {
    expect(inject('Basic SVC_SECRET_FOO', 'Authorization')).toBe('Basic foo-value')
  })

  test('other headers and schemes are not decoded', () => {
    const value = basic('user:SVC_SECRET_FOO')
    expect(inject(value, 'X-Authorization')).toBe(value)
    expect(inject(value.replace('Basic', 'Bearer'), 'Authorization')).toBe(
      value.replace('Basic', 'Bearer'),
    )
  })

  test('the sent credential is passed to the guard of the answer', () => {
    const headers: Pair[] = [['Authorization', basic('u:SVC_SECRET_FOO')]]
    const { derived } = injectPlaceholders(headers, VALUES).reveal()
    expect(derived.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([
      basic('u:foo-value').slice('Basic '.length),
    ])
  })
})

describe('in Basic credentials of a secret whose policy requires form encoding', () => {
  const encoded = (value: string, names: string[]) => {
    const values = secrets({ ID: value, KEY: value })
    const headers: Pair[] = [['Authorization', basic('SVC_SECRET_ID:SVC_SECRET_KEY')]]
    const sent = injectPlaceholders(headers, values, new Set(names)).reveal().headers[0]?.[1] ?? ''
    return Buffer.from(sent.slice('Basic '.length), 'base64').toString()
  }

  test('a server that decodes forms reads the exact value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        fc.pre(value.isWellFormed())
        const [user = '', password = '', ...others] = encoded(value, ['ID', 'KEY']).split(':')
        expect(others).toEqual([])
        for (const part of [user, password]) {
          expect(new URLSearchParams(`v=${part}`).get('v')).toBe(value)
        }
      }),
    )
  })

  test('other secrets and other headers stay unchanged', () => {
    expect(encoded('a+%/=', ['KEY'])).toBe('a+%/=:a%2B%25%2F%3D')
    const headers: Pair[] = [['x-key', 'SVC_SECRET_KEY']]
    const values = secrets({ KEY: 'a+%/=' })
    const injected = injectPlaceholders(headers, values, new Set(['KEY']))
    expect(injected.reveal().headers).toEqual([['x-key', 'a+%/=']])
  })
})

describe('in binary metadata', () => {
  const latin1 = (text: string) => Buffer.from(text, 'latin1')
  const base64 = (text: string) => latin1(text).toString('base64')
  const url = (text: string) => latin1(text).toString('base64url')
  const message = (text: string) => `\n\x0e${text}\x12\xff\xfe`

  test.each([
    ['text', base64('key=SVC_SECRET_FOO'), base64('key=foo-value')],
    ['any bytes', base64(message('SVC_SECRET_FOO')), base64(message('foo-value'))],
    ['UTF-8', btoa('\xc3\xa4 SVC_SECRET_FOO'), btoa('\xc3\xa4 foo-value')],
    [
      'the other alphabet',
      url('\xff\xff\xfeSVC_SECRET_FOO\xff\xff'),
      url('\xff\xff\xfefoo-value\xff\xff'),
    ],
    [
      'no padding',
      base64('a SVC_SECRET_FOO').replace(/=+$/, ''),
      base64('a foo-value').replace(/=+$/, ''),
    ],
    [
      'several values',
      `${base64('SVC_SECRET_FOO')},${base64('\xff')}, ${base64('SVC_SECRET_a')},-,`,
      `${base64('foo-value')},${base64('\xff')}, ${base64('lower')},-,`,
    ],
    ['text that could be base64', 'SVC_SECRET_FOO', 'foo-value'],
    ['no placeholder', base64('\xff\xfe'), base64('\xff\xfe')],
  ])('%s is filled and keeps its encoding', (_, value, expected) => {
    expect(inject(value, 'X-Key-Bin')).toBe(expected)
  })

  test('each value is passed to the guard in its sent form', () => {
    const headers: Pair[] = [['x-key-bin', `${base64('SVC_SECRET_FOO')},${base64('SVC_SECRET_a')}`]]
    expect(findPlaceholders(headers)).toEqual([
      { name: 'FOO', style: 'header', header: 'x-key-bin' },
      { name: 'a', style: 'header', header: 'x-key-bin' },
    ])
    const { derived } = injectPlaceholders(headers, VALUES).reveal()
    expect(derived.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])).toEqual([
      ['FOO', base64('foo-value')],
      ['a', base64('lower')],
    ])
  })

  test('a malformed or unknown name is rejected in each value', () => {
    expect(codeOf(() => inject(base64('\xffSVC_SECRET_'), 'x-bin'))).toBe('invalid_header')
    expect(codeOf(() => inject(`AAAA,${base64('SVC_SECRET_NONE')}`, 'x-bin'))).toBe(
      'unknown_secret',
    )
  })

  test('other headers are not decoded', () => {
    expect(inject(base64('SVC_SECRET_FOO'), 'X-Binary')).toBe(base64('SVC_SECRET_FOO'))
  })
})

test('the scan finds each place with a placeholder, in order', () => {
  const headers: Pair[] = [
    ['X-One', 'SVC_SECRET_FOO SVC_SECRET_a SVC_SECRET_FOO'],
    ['Authorization', basic('SVC_SECRET_a:SVC_SECRET_FOO')],
  ]
  expect(findPlaceholders(headers)).toEqual([
    { name: 'FOO', style: 'header', header: 'x-one' },
    { name: 'a', style: 'header', header: 'x-one' },
    { name: 'FOO', style: 'header', header: 'x-one' },
    { name: 'a', style: 'basic', header: 'authorization' },
    { name: 'FOO', style: 'basic', header: 'authorization' },
  ])
})

test('headers without placeholders pass unchanged', () => {
  const headers: Pair[] = [['Accept', '*/*']]
  expect(injectPlaceholders(headers, new Map()).reveal()).toEqual({
    headers,
    derived: [],
    obtained: [],
  })
})

describe('for any values, names and secrets', () => {
  const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,5}$/)
  const secret = fc.oneof(
    fc.string().map((text) => text.trim()),
    name.map((n) => `SVC_SECRET_${n}`),
    fc.constantFrom('SVC_', 'SECRET_A', 'SVC_SECRET_'),
  )
  const literal = fc
    .oneof(fc.string(), fc.constantFrom('SVC_', ',', 'x'))
    .filter((text) => !text.includes('SVC_SECRET_'))
  const template = fc.array(fc.tuple(literal, name, secret), { minLength: 1, maxLength: 5 })

  function run(
    parts: [string, string, string][],
    wrap: (text: string) => string,
  ): [string, string] {
    const known = new Map(parts.map(([, n, value]) => [n, value]))
    // A dot ends each name; the literal before a placeholder must not complete another prefix.
    const value = parts.map(([text, n]) => `${text}.SVC_SECRET_${n}.`).join('')
    const expected = parts.map(([text, n]) => `${text}.${known.get(n)}.`).join('')
    const values = secrets(Object.fromEntries(known))
    return [inject(wrap(value), 'Authorization', values), wrap(expected)]
  }

  test('each placeholder is replaced once and no inserted value is read again', () => {
    fc.assert(
      fc.property(template, (parts) => {
        const [header, expectedHeader] = run(parts, (text) => text)
        expect(header).toBe(expectedHeader)
        const [credentials, expectedCredentials] = run(parts, basic)
        expect(credentials).toBe(expectedCredentials)
      }),
    )
  })
})
