// tier: quick
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { z } from 'zod'
import { Fault } from '../../../src/core/fault.ts'
import {
  base64,
  buildNameSchema,
  email,
  environmentName,
  isUuid,
  line,
  pagination,
  parsePart,
  timestamp,
  uuid,
} from '../../../src/core/validation/validate.ts'
import { jsonSchemaOf } from '../../../src/http/openapi/json_schema.ts'

function faultOf(schema: z.ZodType, value: unknown): Fault | null {
  try {
    parsePart(schema, value)
    return null
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

const fieldsOf = (schema: z.ZodType, value: unknown) => faultOf(schema, value)?.fields
const accepts = (schema: z.ZodType, value: unknown) => faultOf(schema, value) === null

describe('complaints', () => {
  const schema = z.strictObject({
    name: z.string().min(2).max(4),
    age: z.number().int().min(1).max(9),
    kind: z.enum(['a', 'b']),
    tags: z.array(z.strictObject({ label: z.string().regex(/^x/) })).max(2),
    map: z.record(z.string().regex(/^[a-z]+$/), z.string()).optional(),
  })
  const good = { name: 'abc', age: 3, kind: 'a', tags: [{ label: 'x' }] }

  test.each([
    [{ ...good, name: 'a' }, 'name', 'must have a length of at least 2'],
    [{ ...good, name: 'abcde' }, 'name', 'must have a length of at most 4'],
    [{ ...good, name: 5 }, 'name', 'must be of type string'],
    [{ ...good, name: undefined }, 'name', 'is required'],
    [{ ...good, age: 0 }, 'age', 'must be at least 1'],
    [{ ...good, age: 10 }, 'age', 'must be at most 9'],
    [{ ...good, age: 1.5 }, 'age', 'must be of type int'],
    [{ ...good, age: '3' }, 'age', 'must be of type number'],
    [{ ...good, age: Number.POSITIVE_INFINITY }, 'age', 'must be of type number'],
    [{ ...good, kind: 'c' }, 'kind', 'must be one of a, b'],
    [{ ...good, tags: [1] }, 'tags.0', 'must be of type object'],
    [{ ...good, tags: [{ label: 'y' }] }, 'tags.0.label', 'must match /^x/'],
    [{ ...good, tags: [{ label: 'x', more: 1 }] }, 'tags.0.more', 'is not a field of this request'],
    [
      { ...good, tags: [1, 2, 3].map(() => ({ label: 'x' })) },
      'tags',
      'must have a number of entries of at most 2',
    ],
    [{ ...good, map: { A: 'b' } }, 'map.A', 'has a name that is not allowed'],
    [{ ...good, role: 'owner' }, 'role', 'is not a field of this request'],
  ])('%j', (value, path, message) => {
    expect(fieldsOf(schema, value)).toEqual([{ path, message }])
  })

  test('a body that is not an object is reported as a whole', () => {
    for (const value of [null, [], 'text', 3])
      expect(fieldsOf(schema, value)).toEqual([{ path: '', message: 'must be of type object' }])
    expect(fieldsOf(schema, undefined)).toEqual([{ path: '', message: 'is required' }])
  })

  test('error messages never repeat the submitted values', () => {
    const marked = 'hunter2'
    const bad = {
      name: marked,
      age: marked,
      kind: marked,
      tags: [{ label: marked }, marked],
      map: { a: [marked] },
    }
    const fault = faultOf(schema, bad)
    expect(fault?.fields?.length).toBeGreaterThanOrEqual(5)
    expect(JSON.stringify([fault?.fields, fault?.message, String(fault)])).not.toContain(marked)
  })

  test('error messages are bounded in number, and names in them in length and letters', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 1]))
    expect(fieldsOf(z.strictObject({}), many)).toHaveLength(100)
    const [field] =
      fieldsOf(z.strictObject({}), { [`\u001b[31m\n\u202e${'é'.repeat(300)}`]: 1 }) ?? []
    expect(field?.path).toMatch(/^[\x20-\x7e]{1,128}$/)
  })

  test('errors of a union name its discriminating field once, at any depth, with its possible values', () => {
    const kinds = z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('a') }),
      z.strictObject({ type: z.literal('b') }),
    ])
    const nested = z.strictObject({ sign: kinds, list: z.array(z.union([kinds, z.string()])) })
    for (const wrong of [{ type: 'x' }, {}])
      expect(fieldsOf(nested, { sign: wrong, list: [wrong] })).toEqual([
        { path: 'sign.type', message: 'must be one of a, b' },
        { path: 'list.0.type', message: 'must be one of a, b' },
      ])
  })

  test('errors of a union are those of the intended branch', () => {
    const union = z.union([
      z.strictObject({ domains: z.array(z.string()).min(1) }),
      z.strictObject({ domain: z.string() }),
    ])
    expect(fieldsOf(union, { domain: 3 })).toEqual([
      { path: 'domain', message: 'must be of type string' },
    ])
    expect(fieldsOf(union, { domains: [] })).toEqual([
      { path: 'domains', message: 'must have a number of entries of at least 1' },
    ])
    expect(fieldsOf(union, { domains: [3] })).toEqual([
      { path: 'domains.0', message: 'must be of type string' },
    ])
    expect(fieldsOf(union, {})?.length).toBeGreaterThan(0)
  })
})

test('a UUID is lower-cased, and no other text is accepted', () => {
  const id = '018F3C5E-7D2A-7C31-9B0E-0123456789AB'
  expect(parsePart(uuid, id)).toBe(id.toLowerCase())
  for (const bad of ['', id.slice(1), `${id}0`, `{${id}}`, `${id}\n`, id.replaceAll('-', ''), 'x'])
    expect([bad, accepts(uuid, bad), isUuid(bad)]).toEqual([bad, false, false])
})

test('a timestamp is written with milliseconds and Z', () => {
  expect(timestamp.parse(new Date(0))).toBe('1970-01-01T00:00:00.000Z')
  expect(timestamp.safeParse('1970-01-01T00:00:00Z').success).toBe(false)
  expect(timestamp.safeParse('1970-01-01T00:00:00.000+00:00').success).toBe(false)
})

describe('a line of text', () => {
  test.each([
    'Ada Lovelace',
    'Żółć 東京 😀',
    'O\'Neil <b>&amp;"',
    'a'.repeat(100),
    'family: 👩\u200d👩\u200d👧',
  ])('%p is a line of text', (text) => {
    expect(accepts(line(100), text)).toBe(true)
  })
  test.each([
    ['NUL', 'a\0b'],
    ['a line break', 'a\nb'],
    ['an escape', 'a\u001b[31m'],
    ['DEL', 'a\u007f'],
    ['a C1 control', 'a\u009b31m'],
    ['a line separator', 'a\u2028b'],
    ['a right-to-left override', 'txt.\u202eexe'],
    ['an isolate', 'a\u2066b'],
    ['a right-to-left mark', 'a\u200fb'],
    ['a byte order mark', '\ufeffa'],
    ['a lone surrogate', 'a\ud800'],
    ['101 characters', 'a'.repeat(101)],
    ['64 KiB', 'a'.repeat(65_536)],
    ['nothing', ''],
    ['spaces', '   '],
    ['no-break spaces', '\u00a0\u2003'],
  ])('%s is not a line of text', (_, text) => {
    expect(accepts(line(100), text)).toBe(false)
  })
  test('a line of text may be empty if the schema allows it', () => {
    expect(accepts(line(100, 0), '')).toBe(true)
    expect(accepts(line(100, 0), 'a\nb')).toBe(false)
  })
})

describe('base64', () => {
  test('base64 of any bytes is accepted, exactly as sent', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const text = bytes.toBase64()
        expect(parsePart(base64(64), text)).toBe(text)
      }),
    )
  })
  test.each([
    ['no padding', 'QQ'],
    ['too much padding', 'QUI=='],
    ['bits after the end', 'QR=='],
    ['bits after the end of two', 'QUJ='],
    ['the URL-safe alphabet', '-_-_'],
    ['a line break', 'QUJD\nQUJD'],
    ['a space', 'QUJD QUJD'],
    ['padding in the middle', 'QQ==QQ=='],
    ['one letter', 'Q'],
    ['a NUL', 'QUJD\0'],
    ['a letter of another script', 'QUJÐ'],
  ])('base64 with %s is not canonical', (_, text) => {
    expect(fieldsOf(z.object({ it: base64(64) }), { it: text })).toEqual([
      { path: 'it', message: 'must be canonical base64 with padding' },
    ])
  })
  test('base64 is measured in decoded bytes', () => {
    const of = (size: number) => new Uint8Array(size).toBase64()
    expect(accepts(base64(64), of(64))).toBe(true)
    expect(accepts(base64(64), of(65))).toBe(false)
    expect(accepts(base64(64, 1), '')).toBe(false)
  })

  test.each([30, 31, 32])('base64 of exactly %d bytes matches its documentation', (size) => {
    const exact = base64(size, size)
    const { pattern } = jsonSchemaOf(exact, 'input')
    for (const bytes of [size - 1, size, size + 1]) {
      const text = new Uint8Array(bytes).fill(0xff).toBase64()
      const isRight = bytes === size
      expect([accepts(exact, text), new RegExp(String(pattern)).test(text)]).toEqual([
        isRight,
        isRight,
      ])
    }
  })
})

test('an address is kept in lower case', () => {
  expect(parsePart(email, 'Ada@Example.COM')).toBe('ada@example.com')
  for (const bad of ['', 'ada', 'ada@', '@example.com', 'a b@example.com', 'ada@example.com\n'])
    expect([bad, accepts(email, bad)]).toEqual([bad, false])
  expect(accepts(email, `${'a'.repeat(250)}@example.com`)).toBe(false)
})

test('an environment is a short lower-case name', () => {
  for (const good of ['development', 'a', 'eu-west_1', `a${'b'.repeat(31)}`])
    expect([good, accepts(environmentName, good)]).toEqual([good, true])
  for (const bad of ['', 'Production', '1a', '-a', 'a.b', 'a/b', `a${'b'.repeat(32)}`, 'a\n', 'ä'])
    expect([bad, accepts(environmentName, bad)]).toEqual([bad, false])
})

test('a page has 1 to 500 entries, 100 by default', () => {
  expect(parsePart(pagination, {})).toEqual({ limit: 100 })
  expect(parsePart(pagination, { limit: '500' })).toEqual({ limit: 500 })
  for (const limit of ['0', '501', '-1', '1.5', 'many', '', ' ', '1e400', 'Infinity', 'NaN'])
    expect([limit, accepts(pagination, { limit })]).toEqual([limit, false])
  expect(accepts(pagination, { offset: '1' })).toBe(false)
})

describe('a name for people', () => {
  const name = buildNameSchema(100)
  test.each([
    'acme\u200b',
    'ac\u2060me',
    '\u00a0acme',
    'acme\ufe0f',
    '\u3164',
    'ac\u034fme',
    ' acme',
    'acme ',
  ])('a name has no invisible characters: %j', (text) =>
    expect(name.safeParse(text).success).toBe(false),
  )
  test.each(['acme', 'Ünï çödé', '日本', '❤️ team', '👩‍💻 dev', '👍🏽 ok', 'عربى'])(
    'a name may be %j',
    (text) => expect(name.parse(text)).toBe(text),
  )
})
