// tier: quick
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { type CallGuard, prepareGuard } from '../../src/leak_guard/guard.ts'
import { effort } from '../support/effort.ts'
import { holds } from './brute_force.ts'
import { ENCODINGS, ESCAPES, FORMS } from './forms.ts'

const utf8 = (text: string) => new Uint8Array(Buffer.from(text))
const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
const RUNS = Number(process.env.FUZZ_RUNS ?? effort(0.2, 1))

function guardOf(values: readonly string[], used: readonly string[] = []): CallGuard {
  const named = (list: readonly string[]) =>
    list.map((value, at) => ({ name: `K${at}`, bytes: utf8(value) }))
  return prepareGuard(named([...values, ...used])).forCall({ used: named(used) })
}

function inChunks(guard: CallGuard, body: Uint8Array, sizes: readonly number[]): string {
  const stream = guard.stream()
  const pieces: Uint8Array[] = []
  for (let from = 0, turn = 0; from < body.length; turn++) {
    // One chunk's memory is reused, which a reader may do.
    const chunk = body.slice(from, from + (sizes[turn % sizes.length] ?? 1))
    pieces.push(stream.push(chunk))
    from += chunk.length
    chunk.fill(0)
  }
  return latin1(Buffer.concat([...pieces, stream.flush()]))
}

/** No parts and no fragments of these are guarded: they are found whole or not at all. */
const SECRETS = [
  'p"a:s/w&d 9',
  'öpen-sesam€!',
  'a%41b\\n&lt;',
  '>>>???~~~',
  'abababab',
  '😀x+y z=1?',
]
/** Base32 is read from the beginning of its run only, so its own tests put boundaries around it. */
const WRITTEN = Object.keys(FORMS).filter((name) => !name.startsWith('base32'))
const form = fc.constantFrom(...WRITTEN.map((name) => FORMS[name] ?? String))
const LAYERS = WRITTEN.flatMap((outer) => WRITTEN.map((inner) => ({ outer, inner })))
/**
 * In a stream, only the waiting part is found whole (protocol 6.1). This combination uses more than 256 bytes and has
 * white space after a character other than a comma, a `[` or a hexadecimal digit.
 */
const HELD_LAYERS = LAYERS.filter(
  ({ outer, inner }) => !(outer === 'JSON, some' && inner === 'decimal array, spaced'),
)
const NOISE = [
  ...['%', '\\', '&', '\\u00', '%4', '&#', 'x', '7', '41', 'Zg', '[', ', ', '",', '\n', '\r\n'],
  ...['+', '=', '==', ':', '-', ' ', '%25', '\\\\', 'u0061', '\0', 'abab', 'ÿ'],
  // Text that was read earlier and is skipped, with no boundary, word, digits or numbers at its ends.
  ...['(z)', 'Zg', '61 ', '[1, '].map(
    (end) => `${end}${'(some text of an answer)'.repeat(6)}${end}`,
  ),
]

/** Echoes of a value in one or two layers, halves of them, and text that disturbs decoders. */
function texts(secret: string, layers = LAYERS): fc.Arbitrary<string> {
  const echo = fc
    .constantFrom(...layers)
    .map(({ outer, inner }) => FORMS[outer]?.(FORMS[inner]?.(secret) ?? '') ?? '')
  const cut = fc
    .tuple(echo, fc.nat(), fc.nat())
    .map(([text, from, to]) => text.slice(from % (text.length + 1), to % (text.length + 1)))
  const part = fc.oneof(
    { weight: 1, arbitrary: echo },
    { weight: 2, arbitrary: cut },
    { weight: 3, arbitrary: fc.constantFrom(...NOISE) },
    { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
  )
  return fc.array(part, { maxLength: 7 }).map((parts) => parts.join(''))
}

/** A body as Latin-1 text. Short values count as used by the call. */
type Case = { name: string; values: string[]; used: string[]; body: string; output: string }

describe('against brute force', () => {
  test.each(SECRETS)('the guard finds %s wherever it is, and leaves none of it', (secret) => {
    // A value that contains escapes makes the guard read each kind alone, as brute force does.
    const guard = guardOf([secret, 'x%41%42%43y'])
    const value = latin1(utf8(secret))
    fc.assert(
      fc.property(texts(secret), (text) => {
        const body = utf8(text)
        const output = guard.body(body)
        const isHeld = holds(latin1(body), value)
        if (isHeld && output === body) throw new Error(`missed in ${JSON.stringify(text)}`)
        if (output !== body && holds(latin1(output), value)) {
          throw new Error(`left in ${JSON.stringify(latin1(output))} of ${JSON.stringify(text)}`)
        }
      }),
      { numRuns: 400 * RUNS },
    )
  })

  test('any division into chunks gives the result of the whole', () => {
    const guard = guardOf(SECRETS)
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
    const held = fc.constantFrom(...SECRETS).chain((secret) => texts(secret, HELD_LAYERS))
    const many = fc.array(held, { maxLength: 4 })
    fc.assert(
      fc.property(many, sizes, (parts, chunks) => {
        const body = utf8(parts.join('\n'))
        const whole = latin1(guard.body(body))
        expect(inChunks(guard, body, chunks)).toBe(whole)
        expect(inChunks(guard, body, [1])).toBe(whole)
      }),
      { numRuns: 400 * RUNS },
    )
  })

  test('blocks are no boundaries: a long text gives the same result wherever it is cut', () => {
    const secret = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc"&\\ö'
    const guard = guardOf([secret])
    for (const write of Object.values({ ...ESCAPES, ...ENCODINGS })) {
      for (let before = 4096 - 300; before <= 4096; before += 7) {
        const output = latin1(guard.body(utf8(`${'. '.repeat(before / 2)}<${write(secret)}>`)))
        expect(output).toMatch(/^[. ]*<"?SVC_SECRET_K0"?=*>$/)
      }
    }
  })

  test('a guarded text stays unchanged', () => {
    const guard = guardOf(SECRETS)
    fc.assert(
      fc.property(
        fc.constantFrom(...SECRETS).chain((secret) => texts(secret)),
        (text) => {
          const once = guard.body(utf8(text))
          expect(latin1(guard.body(once))).toBe(latin1(once))
        },
      ),
      { numRuns: 300 * RUNS },
    )
  })

  test('JSON stays JSON', () => {
    const secrets = ['sk_live_4eC39HqLyjWDarjtT1zdp7dc', 'p"a:s/w&d 9', '123456789012']
    const guard = guardOf(secrets)
    const leaf = fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.tuple(fc.constantFrom(...secrets), form).map(([secret, write]) => write(secret)),
      fc.constantFrom(...secrets).map((secret) => [...utf8(secret)]),
      fc.constantFrom(123456789012, -123456789012.5, [1, 2, 3]),
    )
    const value = fc.oneof(fc.array(leaf), fc.dictionary(fc.string(), leaf))
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (json, indent) => {
        const output = guard.body(utf8(JSON.stringify(json, null, indent)))
        JSON.parse(Buffer.from(output).toString())
      }),
      { numRuns: 1000 * RUNS },
    )
  })

  test('the corpus', () => {
    const folder = join(import.meta.dir, '../corpus/leak_guard')
    for (const file of readdirSync(folder)) {
      const cases: Case[] = JSON.parse(readFileSync(join(folder, file), 'utf8'))
      for (const { name, values, used, body, output } of cases) {
        const guard = guardOf(values, used)
        const bytes = new Uint8Array(Buffer.from(body, 'latin1'))
        expect([name, latin1(guard.body(bytes))]).toEqual([name, output])
        expect([name, inChunks(guard, bytes, [1])]).toEqual([name, output])
      }
    }
  })
})

describe('a text without a value', () => {
  const guard = guardOf(
    Array.from({ length: 1000 }, (_, at) => `sk_live_${Bun.hash(`${at}`)}${Bun.hash(`x${at}`)}`),
  )
  test('a text without a value passes unchanged', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 3000 }), fc.json().map(utf8)), (body) => {
        expect(guard.body(body)).toBe(body)
        expect(inChunks(guard, body, [100, 1, 7])).toBe(latin1(body))
      }),
      { numRuns: 500 * RUNS },
    )
    const random = crypto.getRandomValues(new Uint8Array(65_536))
    for (const body of [random, utf8(random.toBase64()), utf8(random.toHex())]) {
      expect(guard.body(body)).toBe(body)
    }
  })
})

test('a prepared guard holds no plaintext', () => {
  const secret = 'correct-horse-battery-staple-0123456789'
  const guard = prepareGuard([
    { name: 'A', bytes: utf8(secret) },
    { name: 'B', bytes: utf8('line one 12345678\nline two 87654321') },
  ])
  const seen = new Set<unknown>()
  const search = (value: unknown): void => {
    if (typeof value === 'string') expect('AB').toContain(value)
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    seen.add(value)
    if (ArrayBuffer.isView(value)) {
      const text = Buffer.from(value.buffer).toString('latin1')
      for (const part of [
        secret.slice(0, 6),
        secret.slice(-6),
        'battery',
        '12345678',
        '87654321',
      ]) {
        expect(text.includes(part)).toBe(false)
      }
      return
    }
    for (const key of Reflect.ownKeys(value)) search(Reflect.get(value, key))
  }
  search(guard.retained)
  expect(seen.size).toBeGreaterThan(10)
  expect(Buffer.from(guard.forCall().body(utf8(secret))).toString()).toBe('SVC_SECRET_A')
})
