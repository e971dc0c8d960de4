import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { unitsAt } from '../../src/leak_guard/escapes.ts'
import { Matcher } from '../../src/leak_guard/matcher.ts'
import { compileNeedles, type Needle, seek } from '../../src/leak_guard/needles.ts'
import { Redactor, Sanitiser } from '../../src/leak_guard/sanitise.ts'

const bytes = (text: string) => new Uint8Array(Buffer.from(text))

/** The positions that some reading of some needle covers, found by trying every reading. */
function coveredBy(text: Uint8Array, needles: readonly Needle[]): Set<number> {
  const covered = new Set<number>()
  for (const needle of needles) {
    for (let start = 0; start < text.length; start++) {
      for (const end of endsOf(text, needle, start)) {
        for (let at = start; at < end; at++) covered.add(at)
      }
    }
  }
  return covered
}

function endsOf(text: Uint8Array, needle: Needle, start: number): Set<number> {
  const reached = new Map([[start, new Set([0])]])
  const ends = new Set<number>()
  for (let at = start; at <= text.length; at++) {
    for (const index of reached.get(at) ?? []) {
      if (index === needle.text.length) ends.add(at)
      else for (const next of stepsFrom(text, needle, at, index)) addTo(reached, next)
    }
  }
  return ends
}

function stepsFrom(text: Uint8Array, needle: Needle, at: number, index: number) {
  return unitsAt(text, at)
    .filter((unit) =>
      unit.bytes.every((byte, offset) => needle.fold[byte] === needle.text[index + offset]),
    )
    .map((unit): [number, number] => [at + unit.length, index + unit.bytes.length])
}

function addTo(reached: Map<number, Set<number>>, [at, index]: [number, number]): void {
  const indexes = reached.get(at) ?? new Set()
  reached.set(at, indexes.add(index))
}

const HOSTILE = ['%', '2', '5', '6', '1', 'a', '\\', 'u', '0', '&', '#', ';', '+', ' ', 'amp;']
const hostileText = (min: number, max: number) =>
  fc
    .array(fc.constantFrom(...HOSTILE), { minLength: min, maxLength: max })
    .map((parts) => parts.join(''))

test('finds what a search through every reading finds, also in texts made to be ambiguous', () => {
  fc.assert(
    fc.property(
      fc.array(hostileText(4, 7), { minLength: 1, maxLength: 3 }),
      fc.array(fc.oneof(hostileText(1, 8), fc.constantFrom(0, 1, 2)), { maxLength: 12 }),
      (values, parts) => {
        const needles = compileNeedles(seek(values.map(bytes)))
        const text = bytes(
          parts.map((p) => (typeof p === 'number' ? (values[p] ?? '') : p)).join(''),
        )
        const matcher = new Matcher(needles)
        matcher.advance(text, 0, text.length)
        const found = new Set<number>()
        for (const { start, end } of matcher.spans) {
          for (let at = start; at < end; at++) found.add(at)
        }
        const expected = coveredBy(text, needles.list)
        expect([...expected].filter((at) => !found.has(at))).toEqual([])
        expect([...found].filter((at) => !expected.has(at))).toEqual([])
      },
    ),
    { numRuns: 2000 },
  )
})

const HOSTILE_BODIES: [name: string, secret: string, body: string][] = [
  ['a prefix without end', `${'a'.repeat(4000)}b`, 'a'.repeat(200_000)],
  ['a periodic prefix', `${'ab'.repeat(2000)}c`, 'ab'.repeat(100_000)],
  ['the needle without end', 'a'.repeat(4000), 'a'.repeat(200_000)],
  ['the escaped needle without end', 'a'.repeat(4000), '%61'.repeat(70_000)],
  ['an escaped prefix', `${'a'.repeat(4000)}b`, '%61'.repeat(70_000)],
  ['escaped percent signs', `${'%25'.repeat(1500)}x`, '%25'.repeat(70_000)],
  ['twice escaped percent signs', `${'%25'.repeat(1500)}x`, '%2525'.repeat(40_000)],
  ['percent signs', `${'%'.repeat(3000)}x`, '%25'.repeat(70_000)],
  ['backslashes', `${'\\'.repeat(3000)}x`, '\\'.repeat(200_000)],
  ['ampersands', `${'&amp;'.repeat(900)}x`, '&amp;'.repeat(40_000)],
  ['ampersands upon ampersands', `${'&'.repeat(900)}x`, `&${'amp;'.repeat(50_000)}`],
  ['Fibonacci words', fibonacciWord(18), fibonacciWord(25)],
]

test.each(HOSTILE_BODIES)('the work is linear in a body of %s', (_, secret, body) => {
  const redactor = new Redactor([bytes(secret)])
  redactor.push(bytes(body))
  redactor.flush()
  expect(redactor.work).toBeLessThan(40 * body.length)
})

test('fifty credentials that begin alike cost no more than each of them', () => {
  const values = Array.from({ length: 50 }, (_, i) => bytes(`${'k'.repeat(60)}${i}`))
  const redactor = new Redactor(values)
  const body = bytes('k'.repeat(50_000))
  redactor.push(body)
  redactor.flush()
  expect(redactor.work).toBeLessThan(50 * 8 * body.length)
})

test('text without the beginning of a credential is passed over without any comparison', () => {
  const redactor = new Redactor([bytes('ZZZZ-secret')])
  const body = bytes('plain lower case text, again and again. '.repeat(1000))
  redactor.push(body)
  redactor.flush()
  expect(redactor.work).toBe(0)
})

test('without credentials the body is returned untouched', () => {
  const body = bytes('anything')
  expect(new Sanitiser([]).redactBody(body)).toBe(body)
  expect(new Redactor([]).push(body)).toBe(body)
})

function fibonacciWord(order: number): string {
  let [shorter, longer] = ['b', 'a']
  for (let i = 0; i < order; i++) [shorter, longer] = [longer, longer + shorter]
  return longer
}
