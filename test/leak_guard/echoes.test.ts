// tier: quick
/** Guarantees of protocol 6.1 for a credential that the call used and its upstream echoes. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type CallGuard, prepareGuard } from '../../src/leak_guard/guard.ts'
import { HELD_RUN } from '../../src/leak_guard/hold.ts'
import { ENCODERS, encodeAll, framed, mixtureOf } from './encodings.ts'

const bytes = (text: string) => new Uint8Array(Buffer.from(text))
const RUNS = Number(process.env.FUZZ_RUNS ?? 1)
const PLACEHOLDER = 'SVC_SECRET_A'

/** The values have the names A, B and so on; all are used. */
function guardOf(values: readonly string[]): CallGuard {
  const named = values.map((value, at) => ({
    name: String.fromCharCode(0x41 + at),
    bytes: bytes(value),
  }))
  return prepareGuard(named).forCall({ used: named })
}

const guarded = (text: string, values: readonly string[]) =>
  Buffer.from(guardOf(values).body(bytes(text))).toString()

function inChunks(text: Uint8Array, guard: CallGuard, sizes: readonly number[]): string {
  const stream = guard.stream()
  const pieces: Uint8Array[] = []
  let from = 0
  for (let turn = 0; from < text.length; turn++) {
    // One buffer for every chunk, which a reader may reuse: the stream must not keep it.
    const chunk = text.slice(from, from + (sizes[turn % sizes.length] ?? 1))
    pieces.push(stream.push(chunk).slice())
    from += chunk.length
    chunk.fill(0)
  }
  pieces.push(stream.flush())
  return Buffer.concat(pieces).toString('latin1')
}

const SECRET = `p"a\\s/s'<w>&ö%r😀d +\n=`

describe('a credential that the upstream echoes', () => {
  test.each(Object.entries(ENCODERS))(
    'an echoed credential is replaced when written %s',
    (_, encoder) => {
      expect(guarded(framed(encodeAll(SECRET, encoder)), [SECRET])).toBe(framed(PLACEHOLDER))
    },
  )

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
  ])('an echoed credential is replaced in %s', (_, text) => {
    expect(guarded(framed(text), [SECRET])).toBe(framed(PLACEHOLDER))
  })

  test.each(['hex', 'HEX', 'hEx'])(
    'an echoed credential is replaced in hexadecimal: %s',
    (form) => {
      const hex = bytes(SECRET).toHex()
      const mixed = [...hex].map((digit, at) => (at % 2 ? digit.toUpperCase() : digit)).join('')
      const text = { hex, HEX: hex.toUpperCase(), hEx: mixed }[form] ?? ''
      expect(guarded(framed(text), [SECRET])).toBe(framed(PLACEHOLDER))
    },
  )

  test.each(['abcd', 'abcde', 'abcdef', '>>>>', '????', SECRET])(
    'an echoed credential is replaced in base64 of either alphabet, with and without padding: %p',
    (secret) => {
      for (const alphabet of ['base64', 'base64url'] as const) {
        for (const omitPadding of [false, true]) {
          const text = bytes(secret).toBase64({ alphabet, omitPadding })
          expect(guarded(`<<${text}>>`, [secret])).toBe(`<<${PLACEHOLDER}>>`)
        }
      }
    },
  )

  test.each([0, 1, 2])(
    'an echoed credential is replaced without a digit that only its neighbours need, at %d',
    (before) => {
      for (let after = 0; after < 3; after++) {
        const text = Buffer.from(
          `${'\x11'.repeat(before)}hunter2!${'\xff'.repeat(after)}`,
          'latin1',
        )
        const [left, right] = guarded(text.toString('base64'), ['hunter2!']).split(PLACEHOLDER)
        expect(left?.length).toBe([0, 1, 2][before] ?? -1)
        const digits = Math.ceil(((before + 8 + after) * 8) / 6)
        const known = Math.ceil(((before + 8) * 8) / 6)
        expect(right?.replaceAll('=', '').length).toBe(digits - known)
      }
    },
  )

  test('an echoed credential is replaced in base64 that is itself escaped', () => {
    const base64 = bytes('????>>>>').toBase64()
    expect(base64).toContain('/')
    const escaped = base64.replaceAll('/', '\\/').replaceAll('=', '\\u003d')
    expect(guarded(escaped, ['????>>>>'])).toBe(`${PLACEHOLDER}\\u003d`)
    expect(guarded(encodeURIComponent(base64), ['????>>>>'])).toBe(`${PLACEHOLDER}%3D`)
  })

  test.each([0, 1, 2])(
    'an echoed credential is replaced inside a Basic pair, user of %d bytes more',
    (more) => {
      const pair = bytes(`user${'x'.repeat(more)}:hunter2!`).toBase64()
      const used = [{ name: 'A', bytes: bytes('hunter2!') }]
      const made = [{ name: 'A', bytes: bytes(pair) }]
      const guard = prepareGuard(used).forCall({ used, made })
      const body = (text: string) => Buffer.from(guard.body(bytes(text))).toString()
      expect(body(`Basic ${pair}`)).toBe(`Basic ${PLACEHOLDER}`)
      expect(body(pair.replaceAll('=', ''))).toBe(PLACEHOLDER)
      expect(body(encodeURIComponent(pair))).toBe(PLACEHOLDER)
      expect(guarded(pair, ['hunter2!'])).not.toContain(bytes('hunter2!').toBase64().slice(1, -4))
    },
  )

  test('an echoed credential is replaced in a header value, also of Latin-1 bytes', () => {
    const guard = guardOf(['pässwörd'])
    const onTheWire = Buffer.from('id=pässwörd; ü').toString('latin1')
    expect(guard.headerValue('nothing here ü €')).toBe('nothing here ü €')
    expect(guard.isRedacted).toBe(false)
    expect(guard.headerValue(onTheWire)).toBe(
      `id=${PLACEHOLDER}; ${Buffer.from('ü').toString('latin1')}`,
    )
    expect(guard.isRedacted).toBe(true)
  })
})

const A = PLACEHOLDER
const B = 'SVC_SECRET_B'

describe('the overlap of readings and credentials', () => {
  test.each([
    ['an escape before it that swallows its first bytes', 'x%41bcdef', ['41bcdef'], `x%${A}`],
    ['its own percent sign', '<%41bc>', ['%41bc'], `<${A}>`],
    ['its own percent sign escaped', '<%2541bc>', ['%41bc'], `<${A}>`],
    ['its own backslashes', '<\\\\\\n>', ['\\\\\\n'], `<${A}>`],
    ['a half surrogate before it', '\\ud83dsecret', ['secret'], `\\ud83d${A}`],
    ['a percent sign at its end, digits behind', '<a\\"bcdefg%41>', ['a"bcdefg%'], `<${A}41>`],
    ['one inside another', '<abcdefgh>', ['cdef', 'abcdefgh'], `<${B}>`],
    ['one inside another, alone', '<cdef>', ['cdef', 'abcdefgh'], `<${A}>`],
    ['the beginning of the longer', '<abcdefg>', ['abcd', 'abcdefgh'], `<${A}efg>`],
    ['two that overlap: the longer', '<abcdefgh>', ['abcdef', 'defgh'], `<${A}>`],
    ['two that overlap, the longer last', '<abcdefgh>', ['abcde', 'cdefgh'], `<${B}>`],
    ['two side by side', '<abcdefgh>', ['abcd', 'efgh'], `<${A}${B}>`],
    ['one that overlaps itself', '<ababababa>', ['ababa'], `<${A}>`],
    ['one upon another', '<aaaaaaaaaaaab>', ['aaaab'], `<aaaaaaaa${A}>`],
    [
      'one at the end of a long escaped run',
      `${'%61'.repeat(500)}b`,
      ['aaab'],
      `${'%61'.repeat(497)}${A}`,
    ],
    ['the very end', 'x hunter2', ['hunter2'], `x ${A}`],
    ['an incomplete end', 'x hunter', ['hunter2'], 'x hunter'],
    ['an escape cut off at the end', 'hunter%3', ['hunter2'], 'hunter%3'],
    ['three characters', '<abc>', ['abc'], '<abc>'],
    ['three characters of many bytes', '<😀😀😀>', ['😀😀😀'], '<😀😀😀>'],
    ['four characters', '<abcd>', ['abcd'], `<${A}>`],
    ['another case', '<HUNTER2>', ['hunter2'], '<HUNTER2>'],
    [
      'too many zeros for a reference',
      `&#${'0'.repeat(20)}104;unter2`,
      ['hunter2'],
      `&#${'0'.repeat(20)}104;unter2`,
    ],
  ])('%s', (_, text, values, expected) => {
    expect(guarded(text, values)).toBe(expected)
  })

  test('credentials of fewer than 8 characters are searched only if the call used them', () => {
    const prepared = prepareGuard([{ name: 'A', bytes: bytes('abcdefg') }])
    const used = [{ name: 'A', bytes: bytes('abcdefg') }]
    const body = bytes('<abcdefg>')
    expect(prepared.forCall().body(body)).toBe(body)
    expect(Buffer.from(prepared.forCall({ used }).body(body)).toString()).toBe(`<${A}>`)
  })

  test('the start is exact however long the escaped run before it', () => {
    for (let run = 4; run < 300; run++) {
      const text = `${'%61'.repeat(run)}b`
      expect(guarded(text, ['aaab'])).toBe(`${'%61'.repeat(run - 3)}${A}`)
    }
  })

  test('bytes that are not text are found and left unchanged like any other', () => {
    const value = Uint8Array.of(0xff, 0x00, 0xfe, 0x80, 0xc3)
    const body = Uint8Array.of(1, 0xff, ...value, 0xff, 0x00)
    const output = prepareGuard([])
      .forCall({ used: [{ name: 'A', bytes: value }] })
      .body(body)
    expect(Buffer.from(output).toString('latin1')).toBe(`\x01\xff${A}\xff\x00`)
  })
})

/** A value is guarded without white space at its ends. */
const secretText = fc
  .string({ unit: 'grapheme', minLength: 4, maxLength: 24 })
  .map((text) => text.trim())
  .filter((text) => [...text].length >= 4 && text.isWellFormed())
const echoed = (secret: string) =>
  fc.oneof(
    mixtureOf(secret),
    fc.constantFrom(bytes(secret).toHex(), bytes(secret).toHex().toUpperCase()).chain(mixtureOf),
    fc.constantFrom(bytes(secret).toBase64(), bytes(secret).toBase64({ alphabet: 'base64url' })),
  )

/** The first characters that an escaped echo could complete: then only that escape is read. */
const BEGINS_ESCAPE = /(%[\da-f]?|\\\S{0,12}|&\S{0,18})$/i

describe('any credential and the text around it', () => {
  test('any mixture of escapes is replaced as a whole', () => {
    const echo = secretText.chain((secret) => fc.tuple(fc.constant(secret), echoed(secret)))
    fc.assert(
      fc.property(echo, ([secret, text]) => {
        // U+0001 is in no secret of this generator and ends every escape.
        expect(guarded(`\x01${text}\x01`, [secret])).toBe(`\x01${A}\x01`)
      }),
      { numRuns: 1000 * RUNS },
    )
  })

  test('text around a credential does not hide it', () => {
    const scene = secretText.chain((secret) =>
      fc.tuple(fc.constant(secret), fc.string(), mixtureOf(secret), fc.string()),
    )
    fc.assert(
      fc.property(scene, ([secret, before, text, after]) => {
        fc.pre(!A.includes(secret) && !BEGINS_ESCAPE.test(before))
        const output = guarded(before + text + after, [secret])
        expect(output).toContain(A)
        expect(output).not.toContain(secret)
        expect(output).not.toContain(text)
      }),
      { numRuns: 1000 * RUNS },
    )
  })

  test('text without a credential stays unchanged', () => {
    const guard = guardOf(['a-credential-that-chance-will-not-make'])
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (body) => {
        expect(guard.body(body)).toBe(body)
        expect(guard.isRedacted).toBe(false)
      }),
    )
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '%61', 'b', '\\u0061', '%', '&')), (parts) => {
        // No `c` in any reading, so neither the value nor its prefix may be replaced.
        const text = parts.join('')
        expect(guarded(text, ['aabac'])).toBe(text)
      }),
    )
  })

  test('any division into chunks gives the result of the whole', () => {
    const guard = guardOf(['hünter "2', 'hünt'])
    const parts = fc.oneof(
      mixtureOf('hünter "2'),
      mixtureOf('hünter'),
      fc.string(),
      fc.constantFrom('%', '\\', '&amp', 'x'.repeat(3000), bytes('hünter "2').toBase64()),
    )
    const sizes = fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 8 }), sizes, (texts, chunkSizes) => {
        const text = bytes(texts.join(''))
        const whole = Buffer.from(guard.body(text)).toString('latin1')
        expect(inChunks(text, guard, chunkSizes)).toBe(whole)
        expect(inChunks(text, guard, [1, 2, 3])).toBe(whole)
      }),
      { numRuns: 200 * RUNS },
    )
  })
})

describe('a stream', () => {
  test('a stream returns immediately what cannot be part of a credential', () => {
    const stream = guardOf(['hunter2!']).stream()
    const out = stream.push(bytes('z. '.repeat(33_000)))
    expect(out.length).toBeGreaterThan(98_000)
    expect(stream.isRedacted).toBe(false)
  })

  test('a stream holds back a bounded part, also while it replaces endlessly', () => {
    const stream = guardOf(['aaaa']).stream()
    const parts: Uint8Array[] = []
    for (let turn = 0; turn < 200; turn++) parts.push(stream.push(bytes('a'.repeat(1000))))
    expect(Buffer.concat(parts).length).toBeLessThanOrEqual(A.length)
    parts.push(stream.push(bytes('b'.repeat(3000 + HELD_RUN))))
    expect(Buffer.concat(parts).toString()).toMatch(/^SVC_SECRET_Ab{2000,}$/)
    stream.flush()
    expect(stream.isRedacted).toBe(true)
  })

  test('a stream needs no chunk at all', () => {
    expect(guardOf(['hunter2!']).stream().flush()).toHaveLength(0)
    expect(guardOf([]).stream().flush()).toHaveLength(0)
  })
})
