// tier: quick
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isClear } from '../../src/leak_guard/first_look.ts'
import { type CallGuard, type Guard, prepareGuard } from '../../src/leak_guard/guard.ts'
import { complete } from '../../src/leak_guard/matching/patterns_build.ts'
import { ordersFor } from '../../src/leak_guard/orders.ts'
import { FORMS, WIDE } from './forms.ts'

const utf8 = (text: string) => new Uint8Array(Buffer.from(text))
const latin1 = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))
const RUNS = Number(process.env.FUZZ_RUNS ?? 1)

const guardOf = (...values: string[]): Guard =>
  prepareGuard(values.map((value, at) => ({ name: `K${at}`, bytes: utf8(value) })))
const clears = (guard: Guard, text: string) =>
  isClear(ordersFor(guard.retained, [], false).body, utf8(text))

/** Whether the search finds anything, without the pre-check. */
function finds(guard: CallGuard, body: Uint8Array): boolean {
  const stream = guard.stream({ length: body.length })
  complete(stream.guardWhole(body, body.length, []))
  return stream.isRedacted
}

const KEY = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'
const SECRETS = [
  KEY,
  '12345678',
  'abababab',
  'a%41b\\n&lt;',
  'p"a:s/w&d 9',
  'öpen-sesam€!',
  '\0\u0001\u0002\u0003\u0004\u0005\u0006\u0007',
]
const WAYS = { ...FORMS, ...WIDE }
const ORDINARY = [
  '{"id":"ch_1001","amount":4200,"paid":true,"created":1763800000,"note":"two bags, and lights"}',
  '{\n  "customer": "cus_9s6XKzkNRiz8i3",\n  "subscription_item_description": null,\n  "list": [1, 2, 3]\n}\n',
  '{"url":"https://api.pay.example/repositories/octocat/hello-world?page=2&per_page=100"}',
  '{"sha":"7fd1a60b01f91b314f59955a4e4d4e80d8edf11d","at":"2026-01-26 19:06:43"}',
  '{"id":"f47ac10b-58cc-4372-a567-0e02b2c3d479","node":"R_kgDOGkX2Tw-9zaXRv"}',
  'The quick brown fox jumps over the lazy dog,\nand nobody minds (50 of 100).\n',
]

describe('the quick pre-check', () => {
  const parts = (secret: string) => {
    const way = fc.constantFrom(...Object.values(WAYS))
    const echo = fc.tuple(way, way).map(([outer, inner]) => outer(inner(secret)))
    const cut = fc
      .tuple(echo, fc.nat(), fc.nat())
      .map(([text, from, to]) => text.slice(from % (text.length + 1), to % (text.length + 1)))
    const single = way.map((write) => write(secret))
    const border = fc.constantFrom(
      '',
      '"',
      ' ',
      'a',
      'Z',
      '7',
      '0',
      '\n',
      '\r\n',
      '\0',
      ',',
      '[',
      '%',
    )
    const around = fc.tuple(border, fc.oneof(single, echo, cut), border).map((all) => all.join(''))
    return fc.oneof(
      { weight: 3, arbitrary: around },
      { weight: 2, arbitrary: fc.constantFrom(...ORDINARY) },
      { weight: 1, arbitrary: fc.string({ maxLength: 20 }) },
    )
  }

  test.each(SECRETS)(
    'the quick pre-check clears nothing in which the search finds %j',
    (secret) => {
      const prepared = guardOf(secret)
      const guard = prepared.forCall()
      const used = { name: 'K', bytes: utf8(secret.slice(0, 6)) }
      const guards = [guard, prepared.forCall({ used: [used] }), prepared.forCall({ made: [used] })]
      const bodies = fc.array(parts(secret), { maxLength: 4 }).map((all) => latin1(all.join('')))
      fc.assert(
        fc.property(bodies, fc.constantFrom(...guards), (body, call) => {
          expect(call.body(body) !== body).toBe(finds(call, body))
        }),
        { numRuns: 500 * RUNS },
      )
    },
  )

  test.each(Object.entries(WAYS))(
    'the quick pre-check clears no value, fragment or part in the form %s',
    (_, write) => {
      const value = `${KEY} and the word pass1word`
      const guard = guardOf(value).forCall()
      for (const planted of [value, KEY, KEY.slice(8), 'pass1word', KEY.slice(0, 16)]) {
        for (const answer of ORDINARY) {
          const body = latin1(answer.replace(/[a-z]+(?=[^a-z]*$)/, `(${write(planted)})`))
          expect(guard.body(body) !== body).toBe(finds(guard, body))
        }
      }
    },
  )

  test.each(ORDINARY)('the quick pre-check clears %s', (answer) => {
    const guard = guardOf(KEY, 'another value, 1234', 'correct-horse-battery-staple')
    expect(clears(guard, answer)).toBe(true)
    expect(clears(guard, `${answer}${KEY}`)).toBe(false)
  })

  test('the quick pre-check clears no base64 in short lines', () => {
    const guard = guardOf(KEY)
    for (const end of ['\n', '\r\n']) {
      const lines = btoa(KEY).replace(/.{8}/g, `$&${end}`)
      expect(clears(guard, lines)).toBe(false)
      expect(guard.forCall().body(utf8(lines))).not.toEqual(utf8(lines))
    }
  })

  test('the quick pre-check leaves decodable text to the search', () => {
    const guard = guardOf(KEY)
    for (const text of [
      'a\\"b',
      '100%25',
      'a&amp;b',
      'a\0b',
      '[1,2,3,4,5,6,7,8]',
      KEY.slice(8, 32),
    ]) {
      expect(clears(guard, text)).toBe(false)
    }
  })
})
