// tier: quick
/** The JSON guard rejects all text that parsers disagree about. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Fault } from '../../../src/core/fault.ts'
import { readExactly } from '../../../src/http/json/read.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const parse = (text: string) => readExactly(bytes(text)).value

function refusal(input: Uint8Array | string): string {
  try {
    readExactly(typeof input === 'string' ? bytes(input) : input)
  } catch (error) {
    if (error instanceof Fault) return error.code
    throw error
  }
  return 'accepted'
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const nestedObjects = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`

describe('refuses as malformed_json', () => {
  test.each([
    ['a duplicate key', '{"a":1,"a":2}'],
    ['a duplicate key in another spelling', '{"a":1,"\\u0061":2}'],
    ['a duplicate key after a nested object', '{"a":{"b":1},"a":2}'],
    ['a duplicate key in an inner object', '[{"a":{"b":1,"b":2}}]'],
    ['a duplicate key with space before the colon', '{"a":1,"a" \t\r\n:2}'],
    ['a duplicate empty key', '{"":1,"":2}'],
    ['__proto__', '{"__proto__":{"isAdmin":true}}'],
    ['__proto__ in another spelling', '{"\\u005f_proto__":1}'],
    ['constructor, deep inside', '{"a":[{"constructor":1}]}'],
    ['33 lists', nested(33)],
    ['33 objects', nestedObjects(33)],
    ['33 of both', `${'[{"a":'.repeat(17)}1${'}]'.repeat(17)}`],
    ['a million lists', '['.repeat(1_000_000)],
    ['a byte order mark', '\ufeff{}'],
    ['something after the end', '{} {}'],
    ['a letter after the end', '{}x'],
    ['a NUL after the end', '{}\0'],
    ['NaN', '{"a":NaN}'],
    ['Infinity', '{"a":Infinity}'],
    ['a hexadecimal number', '{"a":0x10}'],
    ['a number with a leading zero', '{"a":01}'],
    ['a trailing comma', '{"a":1,}'],
    ['a comment', '{"a":1/**/}'],
    ['single quotes', "{'a':1}"],
    ['a bare key', '{a:1}'],
    ['a line break in a string', '"a\nb"'],
    ['a bad escape', '"\\x41"'],
    ['a key with a bad escape', '{"\\x41":1}'],
    ['a string without end', '"abc'],
    ['a key without end', '{"abc'],
    ['a lone backslash at the end', '"\\'],
    ['closing what was not opened', ']'],
    ['the wrong bracket', '[}'],
    ['nothing', ''],
    ['white space', ' \n'],
  ])('%s', (_, text) => {
    expect(refusal(text)).toBe('malformed_json')
  })

  test.each([
    ['a lone continuation byte', [0x22, 0x80, 0x22]],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a code point over U+10FFFF', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
    ['a character cut off', [0x22, 0xe2, 0x82]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ])('%s', (_, raw) => {
    expect(refusal(Uint8Array.from(raw))).toBe('malformed_json')
  })
})

describe('accepts', () => {
  test.each([
    ['32 lists', nested(32)],
    ['32 objects', nestedObjects(32)],
    ['brackets in strings', `{"a":"${'['.repeat(100)}"}`],
    ['quotes in strings', '{"a":"\\"b\\":1,\\"b\\":2","b":"\\\\"}'],
    ['equal keys in different objects', '[{"a":1},{"a":{"a":1}}]'],
    ['equal strings that are no keys', '{"a":"b","c":"b","d":["a","a"]}'],
    ['prototype as a key', '{"prototype":1}'],
    ['__proto__ as a value', '{"a":"__proto__"}'],
    ['huge numbers, which the schema judges', '{"a":1e400,"b":123456789012345678901234567890}'],
    ['white space around', ' \r\n\t{} '],
    ['a scalar', '"text"'],
  ])('%s', (_, text) => {
    expect(parse(text)).toEqual(JSON.parse(text))
  })

  test('the reader returns every document without repeated keys exactly as JSON.parse does', () => {
    const value = fc.jsonValue({ maxDepth: 6 })
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t'), (document, space) => {
        const text = JSON.stringify(document, null, space)
        fc.pre(!/"(?:__proto__|constructor)":/.test(text))
        expect(parse(text)).toEqual(JSON.parse(text))
      }),
    )
  })
})

test('the reader rejects every text that JSON.parse rejects', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    '\\',
    ':',
    ',',
    '1',
    'a',
    ' ',
    'null',
    '"a":',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
      const text = pieces.join('')
      const verdict = refusal(text)
      if (verdict === 'accepted') expect(parse(text)).toEqual(JSON.parse(text))
      else expect(verdict).toBe('malformed_json')
    }),
    { numRuns: 2000 },
  )
})

test('a repeated key is found at any position', () => {
  const keys = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(keys, fc.nat(), fc.nat(), (names, from, to) => {
      fc.pre(!names.some((name) => name === '__proto__' || name === 'constructor'))
      const members = names.map((name) => `${JSON.stringify(name)}:{"x":"}"}`)
      members.splice(to % (members.length + 1), 0, members[from % names.length] ?? '')
      expect(refusal(`{${members.join(',')}}`)).toBe('malformed_json')
    }),
  )
})

test('the error message states the reason and contains none of the text', () => {
  for (const text of ['{"hunter2":1,"hunter2":2}', '{"a":hunter2}', `${nested(40)}hunter2`]) {
    try {
      parse(text)
      throw new Error('was accepted')
    } catch (error) {
      expect(error).toBeInstanceOf(Fault)
      expect(String(error)).not.toContain('hunter2')
    }
  }
})

test('reading takes time in proportion to the text, also for strings full of backslashes and quotes', () => {
  // Quadratic work on these 4 MiB would take minutes.
  for (const text of [`"${'\\\\'.repeat(2_000_000)}"`, `["${'\\"'.repeat(2_000_000)}"]`]) {
    expect(parse(text)).toEqual(JSON.parse(text))
  }
})
