// tier: all
/** The cost of the worst texts, counted in steps: it must not depend on their length or the number of guarded values. */
import { expect, test } from 'bun:test'
import { prepareGuard } from '../../src/leak_guard/guard.ts'
import { fibonacciWord } from './hostile.ts'

const utf8 = (text: string) => new Uint8Array(Buffer.from(text))
const guardOf = (values: readonly string[], used: readonly string[] = []) => {
  const named = (list: readonly string[]) =>
    list.map((value, at) => ({ name: `K${at}`, bytes: utf8(value) }))
  return prepareGuard(named(values)).forCall({ used: named(used) })
}

const count = (length: number) => Array.from({ length }, (_, at) => at)
const VALUES: Record<string, string[]> = {
  'one value': ['sk_live_4eC39HqLyjWDarjtT1zdp7dc'],
  '1,000 that begin alike': count(1000).map((at) => `sk_live_${Bun.hash(`${at}`)}${at}`),
  '1,000 of one letter': count(1000).map((at) => 'a'.repeat(8 + at)),
  '1,000 that are beginnings of one another but for the end': count(1000).map(
    (at) => `${'a'.repeat(8 + at)}b`,
  ),
  '1,000 of one letter but for the beginning': count(1000).map((at) => `b${'a'.repeat(8 + at)}`),
  '1,000 turns of one circle': count(1000).map((at) =>
    'abcdefghijk'.repeat(100).slice(at % 11, (at % 11) + 8 + at),
  ),
  'one of 64 KiB': [
    count(9000)
      .map((at) => `${at}`)
      .join(':')
      .slice(0, 65_536),
  ],
}

const TEXTS: Record<string, string> = {
  ...{ letter: 'a', circle: 'abcdefghijk', 'letters and an end': `${'a'.repeat(30)}b`, V: 'V' },
  ...{ beginnings: 'sk_live_', '&': '&', '\\': '\\', '%': '%', percent: '%73%6b', quote: '"\\"' },
  ...{ unicode: '\\u0073', twice: '%2573', reference: '&amp;#x61;', hex: '61', decimals: '97,' },
  ...{ spaced: '61 62 ', base64: 'YWFh', 'base64 twice': 'WVdGaFlXRmg', bracket: '[', zero: '\0' },
  ...{ wide: 'a\0', 'half surrogates': '\\ud83d', names: '&aaaaaaaaaaaaaaa', digits: '1 2,3' },
  ...{
    lines: 'YWFhYWFh\n',
    base32: 'MFQWCYLB',
    nested: '&#37;&#54;&#49;',
    long: '0:1:2:3:4:5:6:7:',
  },
}

/** The limit of steps for a byte: every reading checks each of its bytes a few times. */
const MOST = 60

test.each(Object.entries(VALUES))('%s', (_, values) => {
  const guard = guardOf(values, ['abcd', 'aaaa', 'aaaaa', 'aaaaaa', 'abab'])
  for (const [name, unit] of Object.entries(TEXTS)) {
    const work = [20_000, 80_000].map((length) => {
      const stream = guard.stream()
      const text = utf8(unit.repeat(Math.ceil(length / unit.length)))
      for (let from = 0; from < text.length; from += 1000)
        stream.push(text.subarray(from, from + 1000))
      stream.flush()
      return stream.work / text.length
    })
    expect([name, work.every((steps) => steps < MOST)]).toEqual([name, true])
    expect([name, (work[1] ?? 0) < 1.5 * (work[0] ?? 0) + 1]).toEqual([name, true])
  }
})

test.each([
  ['a prefix without end', `${'a'.repeat(4000)}b`, 'a'.repeat(200_000)],
  ['a periodic prefix', `${'ab'.repeat(2000)}c`, 'ab'.repeat(100_000)],
  ['the value without end', 'a'.repeat(4000), 'a'.repeat(200_000)],
  ['the escaped value without end', 'a'.repeat(4000), '%61'.repeat(70_000)],
  ['an escaped prefix', `${'a'.repeat(4000)}b`, '%61'.repeat(70_000)],
  ['escaped percent signs', `${'%25'.repeat(1500)}x`, '%25'.repeat(70_000)],
  ['twice escaped percent signs', `${'%25'.repeat(1500)}x`, '%2525'.repeat(40_000)],
  ['percent signs', `${'%'.repeat(3000)}x`, '%25'.repeat(70_000)],
  ['backslashes', `${'\\'.repeat(3000)}x`, '\\'.repeat(200_000)],
  ['ampersands', `${'&amp;'.repeat(900)}x`, '&amp;'.repeat(40_000)],
  ['ampersands upon ampersands', `${'&'.repeat(900)}x`, `&${'amp;'.repeat(50_000)}`],
  ['Fibonacci words', fibonacciWord(18), fibonacciWord(25)],
])('the work is linear in a body of %s', (_, value, body) => {
  const stream = guardOf([value]).stream()
  stream.push(utf8(body))
  stream.flush()
  expect(stream.work).toBeLessThan(MOST * body.length)
})

test('without values a body is returned untouched', () => {
  const body = utf8('anything')
  expect(guardOf([]).body(body)).toBe(body)
  const stream = guardOf([]).stream()
  expect(Buffer.concat([stream.push(body), stream.flush()]).toString()).toBe('anything')
})

test('preparing takes time in proportion to the size of the values', () => {
  const timeOf = (length: number) => {
    const values = count(200).map((at) =>
      `${at}${Bun.hash(`${at}`).toString(36)}`.repeat(20).slice(0, length),
    )
    const start = performance.now()
    guardOf(values)
    return performance.now() - start
  }
  timeOf(100)
  // A quadratic algorithm would take sixteen times as long for four times the size.
  expect(timeOf(200)).toBeLessThan(12 * timeOf(50) + 20)
})
