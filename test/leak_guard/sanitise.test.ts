import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Redactor, Sanitiser } from '../../src/leak_guard/sanitise.ts'
import { ENCODERS, encodeAll, framed, mixtureOf } from './encodings.ts'

const bytes = (text: string) => new Uint8Array(Buffer.from(text))
const REDACTED = '[REDACTED]'

function redact(text: string, values: string[], wholes: string[] = []): string {
  const body = new Sanitiser(values.map(bytes), wholes.map(bytes)).redactBody(bytes(text))
  return Buffer.from(body).toString()
}

function inChunks(text: Uint8Array, values: Uint8Array[], sizes: number[]): string {
  const redactor = new Redactor(values)
  const pieces: Uint8Array[] = []
  let from = 0
  for (let turn = 0; from < text.length; turn++) {
    // One buffer for every chunk, as a reader may do: the redactor must not keep it.
    const chunk = text.slice(from, from + (sizes[turn % sizes.length] ?? 1))
    pieces.push(redactor.push(chunk).slice())
    from += chunk.length
    chunk.fill(0)
  }
  pieces.push(redactor.flush())
  return Buffer.concat(pieces).toString('latin1')
}

const SECRET = `p"a\\s/s'<w>&ö%r😀d +\n=`

describe('a credential that the upstream echoes', () => {
  test.each(Object.entries(ENCODERS))('is replaced when written %s', (_, encoder) => {
    expect(redact(framed(encodeAll(SECRET, encoder)), [SECRET])).toBe(framed(REDACTED))
  })

  test.each([
    ['JSON', JSON.stringify(SECRET).slice(1, -1)],
    ['JSON in JSON', JSON.stringify(JSON.stringify(SECRET)).slice(3, -3)],
    ['a URI component', encodeURIComponent(SECRET)],
    ['a URI component of one', encodeURIComponent(encodeURIComponent(SECRET))],
    ['a form', new URLSearchParams({ '': SECRET }).toString().slice(1)],
    ['HTML', Bun.escapeHTML(SECRET)],
    ['HTML in HTML', Bun.escapeHTML(Bun.escapeHTML(SECRET))],
    ['JSON in HTML', Bun.escapeHTML(JSON.stringify(SECRET).slice(1, -1))],
    ['HTML in JSON', JSON.stringify(Bun.escapeHTML(SECRET)).slice(1, -1)],
    ['JSON in a URI component', encodeURIComponent(JSON.stringify(SECRET).slice(1, -1))],
    [
      'references without semicolons',
      [...SECRET].map((c) => `&#x${c.codePointAt(0)?.toString(16)}`).join(''),
    ],
    ['Latin-1 names', SECRET.replace('&', '&AMP').replace('ö', '&ouml').replace('<', '&lt')],
  ])('is replaced in %s', (_, text) => {
    expect(redact(framed(text), [SECRET])).toBe(framed(REDACTED))
  })

  test.each(['hex', 'HEX', 'hEx'])('is replaced in %s', (form) => {
    const hex = bytes(SECRET).toHex()
    const mixed = [...hex].map((digit, at) => (at % 2 ? digit.toUpperCase() : digit)).join('')
    const text = { hex, HEX: hex.toUpperCase(), hEx: mixed }[form] ?? ''
    expect(redact(framed(text), [SECRET])).toBe(framed(REDACTED))
  })

  test.each(['abcd', 'abcde', 'abcdef', '>>>>', '????', SECRET])(
    'is replaced in base64 of either alphabet, with and without padding: %p',
    (secret) => {
      for (const alphabet of ['base64', 'base64url'] as const) {
        for (const omitPadding of [false, true]) {
          const text = bytes(secret).toBase64({ alphabet, omitPadding })
          expect(redact(`<<${text}>>`, [secret])).toBe(`<<${REDACTED}>>`)
        }
      }
    },
  )

  test.each([0, 1, 2])('leaves at most one mixed digit on each side at alignment %d', (before) => {
    for (let after = 0; after < 3; after++) {
      const text = Buffer.from(`${'\x11'.repeat(before)}hunter2!${'\xff'.repeat(after)}`, 'latin1')
      const [left, right] = redact(text.toString('base64'), ['hunter2!']).split(REDACTED)
      expect(left?.length).toBe([0, 2, 3][before] ?? -1)
      const digits = Math.ceil(((before + 8 + after) * 8) / 6)
      const known = Math.floor(((before + 8) * 8) / 6)
      expect(right?.replaceAll('=', '').length).toBe(after === 0 ? 0 : digits - known)
    }
  })

  test('is replaced in base64 that is escaped in turn', () => {
    const base64 = bytes('????>>>>').toBase64()
    expect(base64).toContain('/')
    expect(redact(base64.replaceAll('/', '\\/').replaceAll('=', '\\u003d'), ['????>>>>'])).toBe(
      REDACTED,
    )
    expect(redact(encodeURIComponent(base64), ['????>>>>'])).toBe(REDACTED)
  })

  test.each([0, 1, 2])('is replaced inside a Basic pair, user of %d bytes more', (more) => {
    const pair = bytes(`user${'x'.repeat(more)}:hunter2!`).toBase64()
    expect(redact(`Basic ${pair}`, ['hunter2!'], [pair])).toBe(`Basic ${REDACTED}`)
    expect(redact(pair.replaceAll('=', ''), ['hunter2!'], [pair])).toBe(REDACTED)
    expect(redact(encodeURIComponent(pair), ['hunter2!'], [pair])).toBe(REDACTED)
    expect(redact(pair, ['hunter2!'])).not.toContain(bytes('hunter2!').toBase64().slice(1, -4))
  })

  test('is replaced in a header value, also of Latin-1 bytes', () => {
    const sanitiser = new Sanitiser([bytes('pässwörd')])
    const onTheWire = Buffer.from('id=pässwörd; ü').toString('latin1')
    expect(sanitiser.redactHeaderValue('nothing here ü €')).toBe('nothing here ü €')
    expect(sanitiser.redacted).toBe(false)
    expect(sanitiser.redactHeaderValue(onTheWire)).toBe(
      `id=${REDACTED}; ${Buffer.from('ü').toString('latin1')}`,
    )
    expect(sanitiser.redacted).toBe(true)
  })
})

describe('where readings and credentials meet', () => {
  test.each([
    ['an escape before it that swallows its first bytes', 'x%41bcdef', ['41bcdef'], 'x%[REDACTED]'],
    ['a percent sign of its own', '<%41bc>', ['%41bc'], '<[REDACTED]>'],
    ['its own percent sign escaped', '<%2541bc>', ['%41bc'], '<[REDACTED]>'],
    ['backslashes of its own', '<\\\\\\n>', ['\\\\\\n'], '<[REDACTED]>'],
    ['a half surrogate before it', '\\ud83dsecret', ['secret'], '\\ud83d[REDACTED]'],
    ['one inside another', '<abcdefgh>', ['cdef', 'abcdefgh'], '<[REDACTED]>'],
    ['one inside another, alone', '<cdef>', ['cdef', 'abcdefgh'], '<[REDACTED]>'],
    ['the beginning of the longer', '<abcdefg>', ['abcd', 'abcdefgh'], '<[REDACTED]efg>'],
    ['two that overlap', '<abcdefgh>', ['abcdef', 'defgh'], '<[REDACTED]>'],
    ['two side by side', '<abcdefgh>', ['abcd', 'efgh'], '<[REDACTED][REDACTED]>'],
    ['one that overlaps itself', '<ababababa>', ['ababa'], '<[REDACTED]>'],
    ['one upon another', '<aaaaaaaaaaaab>', ['aaaab'], '<aaaaaaaa[REDACTED]>'],
    [
      'one at the end of a long escaped run',
      `${'%61'.repeat(500)}b`,
      ['aaab'],
      `${'%61'.repeat(497)}[REDACTED]`,
    ],
    ['the very end', 'x hunter2', ['hunter2'], 'x [REDACTED]'],
    ['an incomplete end', 'x hunter', ['hunter2'], 'x hunter'],
    ['an escape cut off at the end', 'hunter%3', ['hunter2'], 'hunter%3'],
    ['three characters', '<abc>', ['abc'], '<abc>'],
    ['three characters of many bytes', '<😀😀😀>', ['😀😀😀'], '<😀😀😀>'],
    ['four characters', '<abcd>', ['abcd'], '<[REDACTED]>'],
    ['another case', '<HUNTER2>', ['hunter2'], '<HUNTER2>'],
    [
      'too many zeros for a reference',
      `&#${'0'.repeat(20)}104;unter2`,
      ['hunter2'],
      `&#${'0'.repeat(20)}104;unter2`,
    ],
  ])('%s', (_, text, values, expected) => {
    expect(redact(text, values)).toBe(expected)
  })

  test('the start is exact however long the escaped run before it', () => {
    for (let run = 4; run < 300; run++) {
      const text = `${'%61'.repeat(run)}b`
      expect(redact(text, ['aaab'])).toBe(`${'%61'.repeat(run - 3)}${REDACTED}`)
    }
  })

  test('bytes that are not text are found and left alone like any other', () => {
    const value = Uint8Array.of(0xff, 0x00, 0xfe, 0x80, 0xc3)
    const body = Uint8Array.of(1, 0xff, ...value, 0xff, 0x00)
    const redacted = new Sanitiser([value]).redactBody(body)
    expect(Buffer.from(redacted).toString('latin1')).toBe(`\x01\xff${REDACTED}\xff\x00`)
  })
})

const secretText = fc
  .string({ unit: 'grapheme', minLength: 4, maxLength: 24 })
  .filter((text) => [...text].length >= 4 && text.isWellFormed())
const echoed = (secret: string) =>
  fc.oneof(
    mixtureOf(secret),
    fc.constantFrom(bytes(secret).toHex(), bytes(secret).toHex().toUpperCase()).chain(mixtureOf),
    fc.constantFrom(bytes(secret).toBase64(), bytes(secret).toBase64({ alphabet: 'base64url' })),
  )

describe('whatever the credential and the text around it', () => {
  test('any mixture of escapes is replaced as a whole', () => {
    const echo = secretText.chain((secret) => fc.tuple(fc.constant(secret), echoed(secret)))
    fc.assert(
      fc.property(echo, ([secret, text]) => {
        // U+0001 is in no secret of this generator and ends every escape.
        expect(redact(`\x01${text}\x01`, [secret])).toBe(`\x01${REDACTED}\x01`)
      }),
      { numRuns: 2000 },
    )
  })

  test('what stands around it does not hide it', () => {
    const scene = secretText.chain((secret) =>
      fc.tuple(fc.constant(secret), fc.string(), mixtureOf(secret), fc.string()),
    )
    fc.assert(
      fc.property(scene, ([secret, before, text, after]) => {
        fc.pre(!REDACTED.includes(secret))
        const output = redact(before + text + after, [secret])
        expect(output).toContain(REDACTED)
        expect(output).not.toContain(secret)
        expect(output).not.toContain(text)
      }),
      { numRuns: 1000 },
    )
  })

  test('text in which it does not occur stays as it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (body) => {
        const sanitiser = new Sanitiser([bytes('a-credential-that-chance-will-not-make')])
        expect(sanitiser.redactBody(body)).toBe(body)
        expect(sanitiser.redacted).toBe(false)
      }),
    )
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '%61', 'b', '\\u0061', '%', '&')), (parts) => {
        // No `c` in any reading, so neither the value nor its prefix is to be touched.
        const text = parts.join('')
        expect(redact(text, ['aabac'])).toBe(text)
      }),
    )
  })

  test('any division into chunks gives what the whole gives', () => {
    const parts = fc.oneof(
      mixtureOf('hünter "2'),
      mixtureOf('hünter'),
      fc.string(),
      fc.constantFrom(
        '%',
        '\\',
        '&amp',
        'x'.repeat(3000),
        Buffer.from('hünter "2').toString('base64'),
      ),
    )
    const sizes = fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 8 }), sizes, (texts, chunkSizes) => {
        const text = bytes(texts.join(''))
        const values = [bytes('hünter "2'), bytes('hünt')]
        const whole = Buffer.from(new Sanitiser(values).redactBody(text)).toString('latin1')
        expect(inChunks(text, values, chunkSizes)).toBe(whole)
        expect(inChunks(text, values, [1, 2, 3])).toBe(whole)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a stream', () => {
  test('gives out at once what no credential can reach', () => {
    const redactor = new Redactor([bytes('hunter2!')])
    const out = redactor.push(bytes('z'.repeat(100_000)))
    expect(out.length).toBeGreaterThan(98_000)
    expect(redactor.redacted).toBe(false)
  })

  test('holds back a bounded stretch, also while it is redacting without end', () => {
    const redactor = new Redactor([bytes('aaaa')])
    const parts: Uint8Array[] = []
    for (let turn = 0; turn < 200; turn++) parts.push(redactor.push(bytes('a'.repeat(1000))))
    expect(Buffer.concat(parts).toString()).toBe(REDACTED)
    expect(Buffer.from(redactor.push(bytes('b'.repeat(3000)))).toString()).toMatch(/^b+$/)
    redactor.flush()
    expect(redactor.redacted).toBe(true)
  })

  test('needs no chunk at all', () => {
    expect(new Redactor([bytes('hunter2!')]).flush()).toHaveLength(0)
    expect(new Redactor([]).flush()).toHaveLength(0)
  })
})
