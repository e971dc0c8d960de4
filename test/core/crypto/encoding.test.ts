// tier: quick
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  bytesToUuid,
  concat,
  crc32,
  decodeBase62,
  encodeBase62,
  fromBase64,
  fromBase64Url,
  fromUtf8,
  lp,
  toBase64,
  toBase64Url,
  toHex,
  u32be,
  utf8,
  uuidToBytes,
  uuidv7,
  uuidv8,
} from '../../../src/core/crypto/encoding.ts'

const anyBytes = fc.uint8Array({ maxLength: 80 })

describe('round trips', () => {
  test('base64 and base64url, padded or not, return the same bytes', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(fromBase64(toBase64(bytes))).toEqual(bytes)
        expect(fromBase64Url(toBase64Url(bytes))).toEqual(bytes)
        expect(fromBase64Url(bytes.toBase64({ alphabet: 'base64url' }))).toEqual(bytes)
      }),
    )
  })

  test('base62 of 4, 16 and 32 bytes returns the same bytes', () => {
    for (const [size, length] of [
      [4, 6],
      [16, 22],
      [32, 43],
    ] as const) {
      fc.assert(
        fc.property(fc.uint8Array({ minLength: size, maxLength: size }), (bytes) => {
          const text = encodeBase62(bytes, length)
          expect(text).toMatch(/^[0-9A-Za-z]+$/)
          expect(text).toHaveLength(length)
          expect(decodeBase62(text, size)).toEqual(bytes)
        }),
      )
    }
  })

  test('UUIDs return their lower-case text', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(bytesToUuid(uuidToBytes(uuid.toUpperCase()))).toBe(uuid)
      }),
    )
  })
})

test('base62 accepts only the canonical text of any byte string', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const bytes = fromBase64(text)
      if (bytes !== null) expect(toBase64(bytes)).toBe(text)
      const url = fromBase64Url(text)
      if (url !== null) expect(toBase64Url(url)).toBe(text.replace(/=+$/, ''))
    }),
    { numRuns: 1000, examples: [['QR=='], ['QUJD'], ['QQ=='], ['QQ'], ['-_8'], ['']] },
  )
})

describe('base62', () => {
  test('base62 rejects foreign characters', () => {
    for (const text of ['-', ' ', 'é', '０', '\0', '_']) expect(decodeBase62(text, 4)).toBeNull()
  })

  test('base62 decodes the largest value and rejects the next', () => {
    const most = encodeBase62(new Uint8Array(16).fill(255), 22)
    expect(most).toBe('7n42DGM5Tflk9n8mt7Fhc7')
    expect(decodeBase62('7n42DGM5Tflk9n8mt7Fhc7', 16)).toEqual(new Uint8Array(16).fill(255))
    expect(decodeBase62('7n42DGM5Tflk9n8mt7Fhc8', 16)).toBeNull()
  })

  test('base62 does not encode bytes that do not fit', () => {
    expect(() => encodeBase62(Uint8Array.of(62), 1)).toThrow(RangeError)
    expect(encodeBase62(Uint8Array.of(61), 1)).toBe('z')
  })
})

describe('fixed forms', () => {
  test('u32be accepts unsigned 32-bit integers only', () => {
    expect(toHex(u32be(0xffff_ffff))).toBe('ffffffff')
    expect(toHex(u32be(0x0102_0304))).toBe('01020304')
    for (const value of [-1, 2 ** 32, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => u32be(value)).toThrow(RangeError)
    }
  })

  test('length prefixes count bytes, not characters', () => {
    expect(toHex(lp('é€'))).toBe('00000005c3a9e282ac')
    expect(toHex(lp(''))).toBe('00000000')
  })

  test('length prefixes keep the boundary between fields', () => {
    fc.assert(
      fc.property(
        fc.tuple(fc.string(), fc.string()),
        fc.tuple(fc.string(), fc.string()),
        (a, b) => {
          const joined = ([x, y]: [string, string]) => toHex(concat(lp(x), lp(y)))
          // Lone surrogates all become U+FFFD; fast-check's strings have none.
          expect(joined(a) === joined(b)).toBe(a[0] === b[0] && a[1] === b[1])
        },
      ),
      {
        examples: [
          [
            ['ab', 'c'],
            ['a', 'bc'],
          ],
        ],
      },
    )
  })

  test('a text that is not a UUID is rejected', () => {
    const id = '01920000-0000-7000-8000-000000000001'
    for (const text of ['', id.slice(1), `${id}0`, `{${id}}`, id.replaceAll('-', ''), `${id}\n`]) {
      expect(() => uuidToBytes(text)).toThrow(TypeError)
    }
    expect(() => bytesToUuid(new Uint8Array(15))).toThrow(TypeError)
  })

  test('CRC-32 matches the standard check text', () => {
    expect(crc32('123456789')).toBe(0xcbf43926)
    expect(crc32(utf8('123456789'))).toBe(0xcbf43926)
  })

  test.each([
    ['7', uuidv7],
    ['8', uuidv8],
  ])('new ids are version %s and never the same', (version, make) => {
    const ids = Array.from({ length: 1000 }, make)
    const form = new RegExp(`^[0-9a-f]{8}-[0-9a-f]{4}-${version}[0-9a-f]{3}-[89ab]`)
    expect(new Set(ids).size).toBe(1000)
    for (const id of ids) expect(id).toMatch(form)
  })
})

describe('strict UTF-8', () => {
  test('strict UTF-8 returns any text, including a byte order mark', () => {
    for (const text of ['', 'déjà vu €', '\u{1f511}', '\ufeffx', 'a\0b'])
      expect(fromUtf8(utf8(text))).toBe(text)
  })

  test.each(['ff', 'c0af', 'eda080', 'e282', 'f4908080', '61ff62'])(
    '%s is not valid text',
    (hex) => {
      expect(fromUtf8(Uint8Array.fromHex(hex))).toBeNull()
    },
  )
})
